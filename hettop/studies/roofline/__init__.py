"""The roofline: what this machine can do, and where each layer lies."""
