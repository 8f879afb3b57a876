"""Embedded engine: DuckDB in this process."""
