"""The verbs of the Python API: wiring."""
