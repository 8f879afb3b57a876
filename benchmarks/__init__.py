"""Benchmarks of speed, memory and size, each as a ratio to a baseline measured in the same run."""
