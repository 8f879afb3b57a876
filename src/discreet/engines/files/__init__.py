"""How the embedded engine reads and writes: a module per format."""
