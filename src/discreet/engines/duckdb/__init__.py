"""The embedded engine: DuckDB in this process."""
