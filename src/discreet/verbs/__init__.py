"""Verbs of the Python API: each one reads a spec, calls the algorithms, and returns a result."""
