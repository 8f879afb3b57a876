"""Aggregate queries on a table, parsed from SQL or generated."""
