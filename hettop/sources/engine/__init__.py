"""Inference in child processes: backends, the worker loop, the children and their reaper."""
