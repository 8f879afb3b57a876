"""Spark as an engine."""
