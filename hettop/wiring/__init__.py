"""The one place that joins sources to the stream, and the stream to those who read it."""
