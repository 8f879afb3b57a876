"""Privacy criteria, one a file: what a requirement may ask of every equivalence class."""
