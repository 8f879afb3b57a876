"""Temporary tables of an engine: named so that nothing else has the name, dropped in the end."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from numpy.typing import NDArray

from discreet.engines.base import Columns, Engine
from discreet.errors import DiscreetError


class TemporaryTables:
    """Names of temporary tables, which are dropped when the context ends."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._prefix = f"scratch_{secrets.token_hex(4)}"
        self._names: list[str] = []

    def new_name(self) -> str:
        """A name that nothing else has, for a table that the caller creates."""
        self._names.append(f"{self._prefix}_{len(self._names)}")
        return self._names[-1]

    def load(self, columns: Mapping[str, Sequence[str | None] | NDArray[Any]]) -> str:
        """A new table with the given columns; its name."""
        name = self.new_name()
        self._engine.load_table(name, columns)
        return name

    def load_parts(self, parts: Iterable[Columns]) -> str:
        """A new table of columns that come in parts (as ``Engine.load_parts``); its name."""
        name = self.new_name()
        self._engine.load_parts(name, parts)
        return name

    def create(self, query: str, *, shared: bool = False) -> str:
        """A new table of a query's result (``shared`` as in ``Engine``); its name."""
        name = self.new_name()
        self._engine.create_table(name, query, shared=shared)
        return name

    def drop(self, name: str) -> None:
        """Drop a table before the context ends."""
        self._engine.drop_table(name)

    def __enter__(self) -> TemporaryTables:
        return self

    def __exit__(self, *_error: object) -> None:
        for name in reversed(self._names):
            with suppress(DiscreetError):
                self._engine.drop_table(name)
        self._names.clear()
