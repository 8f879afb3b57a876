"""From a task to the frequency sets that its table gives."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from discreet.engines.scratch import TemporaryTables
from discreet.search.database_sets import DatabaseFrequencies
from discreet.search.fact_table import FactTable
from discreet.search.frequencies import Frequencies
from discreet.search.memory_sets import MemoryFrequencies
from discreet.search.task import SearchTask


@contextmanager
def frequencies_of(task: SearchTask) -> Iterator[Frequencies]:
    """The frequency sets of a task's table, in memory or in its database; gone when the context ends."""
    limit = task.settings.memory_limit
    if not isinstance(task.table, FactTable):
        yield MemoryFrequencies(task.table, task.requirement, limit)
        return
    with TemporaryTables(task.table.engine) as tables:
        yield DatabaseFrequencies(task.table, task.requirement, limit, tables)
