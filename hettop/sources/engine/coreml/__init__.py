"""What running Core ML takes: whether it is here, what compiled models want, values as it takes them, coremltools."""
