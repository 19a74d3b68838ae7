"""Measures the figures hettop has to reach: `python -m benchmarks`. It measures and prints; it judges nobody."""
