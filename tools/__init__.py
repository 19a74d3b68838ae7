"""Scripts that check and generate parts of the repository; nothing here is installed."""
