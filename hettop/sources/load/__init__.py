"""Competing load: child processes that keep cores and memory busy at a stated level."""
