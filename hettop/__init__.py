"""hettop: a terminal live profiler for on-device inference."""

__version__ = "0.1.0"
