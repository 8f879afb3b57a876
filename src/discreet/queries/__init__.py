"""Aggregate queries: read from SQL text, held as frozen values."""
