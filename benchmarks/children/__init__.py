"""Programs that benchmarks run in a process of their own, each as `python -m benchmarks.children.NAME`."""
