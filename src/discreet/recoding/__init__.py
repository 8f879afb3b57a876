"""Applying a recoding on an engine."""
