"""Frozen values that cross the walls between rooms; no I/O, no SQL."""
