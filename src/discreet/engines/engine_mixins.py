"""Mixins of engines: closing on exit, sequential processing of groups, loading without appending.

Engines that run no Python next to the rows fetch a group, pass it to the function, and load its result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import ColumnData, Engine, GroupFunction, SourceTable
from discreet.engines.source_tables import TemporaryTables
from discreet.sql import group_counts as sql
from discreet.sql.quoting import literal


class ContextMixin(Protocol):
    """Mixin that makes an ``Engine`` a context manager, with a default for ``leave_room``."""

    def close(self) -> None:
        """Release all resources; a second call does nothing."""

    def leave_room(self, size: int) -> None:
        """Do nothing: an engine without arrays in this process has no memory to release (see ``Engine``)."""
        del size

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


_ENTRIES_PER_PART = 1 << 20


class SequentialGroupsMixin:
    """Mixin for an ``Engine`` that fetches groups one by one to apply functions to them."""

    @property
    def groups_at_once(self) -> int:
        """One group at a time."""
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
        """Create a temporary table from a function's results for each group (see ``Engine``).

        Results are loaded into tables of about ``_ENTRIES_PER_PART`` rows each.
        """
        names, loaded, pending, entries = list(columns), list[str](), list[ColumnData](), 0
        with TemporaryTables(self) as tables:
            for done, number in enumerate(numbers, start=1):
                pending.append(function(self.fetch_arrays(sql.select_group(query, group, number))))
                entries += len(pending[-1][names[0]])
                if entries >= _ENTRIES_PER_PART or done == len(numbers):
                    loaded.append(
                        tables.load({n: _concatenated([part[n] for part in pending]) for n in names})
                    )
                    pending, entries = [], 0
                if progress is not None:
                    progress(done, len(numbers))
            self.create_table(name, sql.union_all(loaded, names))


def _concatenated(parts: Sequence[Any]) -> NDArray[Any] | list[str | None]:
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    return [text for part in parts for text in part]


class SingleLoadMixin:
    """Mixin for an ``Engine`` that loads all parts at once; memory holds all parts together."""

    def load_parts(self: Engine, name: str, parts: Iterable[ColumnData]) -> None:
        """Create a temporary table from arrays in parts (see ``Engine``)."""
        all_parts = list(parts)
        self.load_table(
            name, {column: np.concatenate([part[column] for part in all_parts]) for column in all_parts[0]}
        )


class UnorderedRowsMixin:
    """Mixin for an ``Engine`` of a database, which omits no rows and does not number them."""

    def confirm_rows(self, table: SourceTable, rows: int) -> None:
        """Do nothing: a database omits no rows."""

    def locate(self: Engine, table: SourceTable, name: str, value: str) -> str:
        """Return in words the number of rows with a cell text, since they have no positions; one scan."""
        query = f"SELECT count(*) FROM {table.relation} WHERE {table.text(name)} = {literal(value)}"
        count = self.fetch_rows(query)[0][0]
        return f"{count:,} row{'s' * (count != 1)}"
