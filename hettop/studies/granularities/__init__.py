"""Parallel execution at every granularity: within operators, between them, by slices, by inputs."""
