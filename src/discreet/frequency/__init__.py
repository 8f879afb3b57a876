"""Frequency sets: row types counted by one scan of a source, and statistics of their classes."""
