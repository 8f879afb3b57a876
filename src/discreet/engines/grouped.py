"""A function of arrays applied to each group of a query's rows, where one group is held at a time.

For engines that run no Python beside the rows: a group is fetched, and what comes of it is loaded. Spark
sends the function to the groups instead (``spark_groups``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Columns, Engine, GroupFunction
from discreet.engines.scratch import TemporaryTables
from discreet.sql import groups as sql

_ENTRIES_PER_PART = 1 << 20


class GroupAtATime:
    """The part of an ``Engine`` that applies functions to groups, for one that has to fetch them."""

    @property
    def groups_at_once(self) -> int:
        """One."""
        return 1

    def apply_to_groups(
        self: Engine,
        name: str,
        query: str,
        group: str,
        numbers: Sequence[int],
        function: GroupFunction,
        columns: Mapping[str, str],
        *,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Create a temporary table of what a function makes of each group (see ``Engine``)."""
        with TemporaryTables(self) as tables:
            parts = _Parts(tables, list(columns))
            for done, number in enumerate(numbers, start=1):
                parts.add(function(self.fetch_arrays(sql.one_group(query, group, number))))
                if progress is not None:
                    progress(done, len(numbers))
            self.create_table(name, sql.united(parts.loaded(), list(columns)))


class _Parts:
    """What came of the groups, loaded in tables of some size."""

    def __init__(self, tables: TemporaryTables, names: Sequence[str]) -> None:
        self._tables, self._names = tables, names
        self._held: list[Columns] = []
        self._entries = 0
        self._loaded: list[str] = []

    def add(self, found: Columns) -> None:
        """Take in what came of one group."""
        self._held.append(found)
        self._entries += len(found[self._names[0]])
        if self._entries >= _ENTRIES_PER_PART:
            self._load()

    def loaded(self) -> list[str]:
        """The tables of all that was taken in."""
        if self._held:
            self._load()
        return self._loaded

    def _load(self) -> None:
        self._loaded.append(
            self._tables.load({name: _joined([held[name] for held in self._held]) for name in self._names})
        )
        self._held, self._entries = [], 0


def _joined(parts: Sequence[Any]) -> NDArray[Any] | list[str | None]:
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    return [text for part in parts for text in part]
