"""A measurement: sources, session and recording joined, with its options and its header."""
