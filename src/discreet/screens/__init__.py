"""What only the browser's pages show, as values."""
