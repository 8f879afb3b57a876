"""The engine of a run."""

from __future__ import annotations

from discreet.engines.base import Engine
from discreet.settings import Settings


def connect(settings: Settings) -> Engine:
    """The embedded engine within the memory and threads of ``settings``; close it, or use it as a context."""
    from discreet.engines.duckdb import DuckdbEngine

    return DuckdbEngine(settings)
