"""Generated tables: a census for demonstrations."""
