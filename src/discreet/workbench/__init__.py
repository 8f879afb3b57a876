"""The verbs of the Python API: wiring between rooms, and results that print."""
