"""Aggregate queries answered by bounds, on permuted and on generalized releases."""
