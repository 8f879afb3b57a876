"""Roles, hierarchies and requests of other tools, read as a spec's mapping."""
