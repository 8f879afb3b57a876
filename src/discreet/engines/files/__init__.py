"""Input and output formats of the embedded engine: one module per format."""
