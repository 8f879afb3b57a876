"""Profiling a table and proposing a spec."""
