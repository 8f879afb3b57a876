"""Aggregate queries: what an analyst asks of a table, read from SQL or generated."""
