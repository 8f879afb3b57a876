"""Fixtures of releases: a database of PostgreSQL with a table to publish from, and a schema to publish to."""

from tests.engines.clinic import clinic

__all__ = ["clinic"]
