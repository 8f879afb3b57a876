"""Fixtures of releases: a PostgreSQL database with a source table and a target schema."""

from tests.engines.clinic import clinic

__all__ = ["clinic"]
