"""Frequency sets as temporary tables of a database, each created by one GROUP BY (LeFevre et al. 2005).

A table contains the positions of its attributes' values and the number of rows. If the requirement
counts distinct sensitive values or the spec names a subject, the groups contain these codes too, so that
every further frequency set can be computed from the table. The engine stores the tables, on disk if
necessary; only single numbers are fetched, except for l with a subject, where values and subjects of
undecided classes are matched here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engines.source_tables import TemporaryTables
from discreet.errors import LimitReached
from discreet.frequency.fact_counter import count_distinct_values
from discreet.model.criteria.base import BoundCriterion
from discreet.model.criterion_inputs import ClassStatistics, ClassValues
from discreet.model.requirement import Requirement, failing_mask
from discreet.search.frequency_sets import AttributeFrequencySet, FrequencySets, MemoryFrequencySets
from discreet.search.search_problem import FactTable, SearchProblem
from discreet.sql import star_schema as sql

_BYTES_PER_CELL = 8
_BYTES_PER_PAIR = 200


@dataclass(eq=False)
class DatabaseFrequencySets(FrequencySets):
    """Frequency sets of a fact table; the content of each is the name of its table.

    ``tables`` drops the tables that remain at its end.
    """

    table: FactTable
    requirement: Requirement
    memory_limit: int
    tables: TemporaryTables
    scans: int = 0
    _live: dict[str, AttributeFrequencySet] = field(default_factory=dict)
    _free: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._bound = self.requirement.bound(self.table.sensitive_attributes)
        self._value_criteria = [one for one in self._bound if one.index is not None]
        places = sorted({one.index for one in self._value_criteria if one.index is not None})
        self._value_columns = tuple(map(sql.sensitive_name, places))
        if self.table.by_subject:
            self._value_columns += (sql.SUBJECT,)

    @property
    def used_bytes(self) -> int:
        """Approximate size in bytes of the tables that are not yet dropped."""
        return sum(s.nbytes for s in self._live.values())

    def count(self, attributes: Sequence[int], levels: Sequence[int]) -> AttributeFrequencySet:
        """Compute the frequency set of some attributes at some levels with a GROUP BY over the fact table."""
        self.scans += 1
        facts = AttributeFrequencySet(self, tuple(attributes), (0,) * len(attributes), self.table.facts)
        return self._create(facts, tuple(attributes), tuple(levels), sql.ROWS_OF_FACTS)

    def derive(
        self, source: AttributeFrequencySet, attributes: tuple[int, ...], levels: tuple[int, ...]
    ) -> AttributeFrequencySet:
        """Create a frequency set from another one."""
        return self._create(source, attributes, levels, sql.ROWS_OF_COUNTS)

    def _create(
        self, source: AttributeFrequencySet, attributes: tuple[int, ...], levels: tuple[int, ...], rows: str
    ) -> AttributeFrequencySet:
        level_of = dict(zip(source.attributes, source.levels, strict=True))
        steps = [self._step(a, level_of[a], level) for a, level in zip(attributes, levels, strict=True)]
        name = self._free.pop() if self._free else self.tables.new_name()
        query = sql.frequency_set(source.content, steps, self._value_columns, rows)
        self.table.engine.create_table(name, query)
        self._live[name] = AttributeFrequencySet(self, attributes, levels, name)
        return self._live[name]

    def _step(self, attribute: int, level: int, target: int) -> sql.LevelStep:
        """Return the step of one attribute from a level to another."""
        top = self.table.hierarchies[attribute].height
        dimension = self.table.dimensions[attribute]
        return sql.LevelStep(attribute, dimension, level, None if level == target else target, target == top)

    def count_classes(self, of: AttributeFrequencySet) -> int:
        """Return the number of groups: classes, divided by the counted sensitive codes and subjects."""
        return self.number(sql.table_row_count(of.content))

    def count_bytes(self, of: AttributeFrequencySet) -> int:
        """Return the approximate size in bytes."""
        return of.classes * _BYTES_PER_CELL * (len(of.attributes) + len(self._value_columns) + 1)

    def release(self, released: AttributeFrequencySet) -> None:
        """Drop a frequency set's table; its name is reused."""
        # A second release finds the name free or owned by a later frequency set.
        if self._live.get(released.content) is released:
            del self._live[released.content]
            self.tables.drop(released.content)
            self._free.append(released.content)

    def suppressed(self, of: AttributeFrequencySet) -> int:
        """Count the rows in classes that fail the requirement."""
        by_subject, codes = self.table.by_subject, _code_columns(of)
        rows = self.number(sql.suppressed_row_count(of.content, codes, self._bound, by_subject=by_subject))
        return rows + self._unmatched(of) if by_subject and self._value_criteria else rows

    def number(self, query: str) -> int:
        """Return the single number of a query's result."""
        return int(self.table.engine.fetch_rows(query)[0][0])

    def _unmatched(self, of: AttributeFrequencySet) -> int:
        """Count the rows in classes with enough values and subjects that cannot be matched."""
        engine = self.table.engine
        passing = sql.classes_to_match(engine.dialect, of.content, _code_columns(of), self._bound)
        classes = self.tables.create(passing)
        unmatched: dict[int, int] = {}
        try:
            for one in self._value_criteria:
                assert one.index is not None
                query = sql.values_of_subjects(
                    classes, of.content, _code_columns(of), sql.sensitive_name(one.index)
                )
                self._check_pairs(query)
                unmatched |= _unmatched_classes(engine.fetch_arrays(query), one)
        finally:
            self.tables.drop(classes)
        return sum(unmatched.values())

    def _check_pairs(self, query: str) -> None:
        pairs = self.number(f"SELECT count(*) FROM ({query}) AS pairs")
        if pairs * _BYTES_PER_PAIR > self.memory_limit:
            raise LimitReached(
                f"{pairs:,} pairs of a sensitive value and a subject need about "
                f"{pairs * _BYTES_PER_PAIR:,} bytes, but the memory limit is {self.memory_limit:,}",
                advice="Raise DISCREET_MEMORY_LIMIT, or request only k: matching needs the pairs in memory.",
            )


def _code_columns(of: AttributeFrequencySet) -> list[str]:
    return [sql.code_name(attribute) for attribute in of.attributes]


def _unmatched_classes(pairs: dict[str, NDArray[Any]], one: BoundCriterion) -> dict[int, int]:
    """Return the classes, with their rows, in which too few values can be matched to different subjects."""
    order = np.argsort(pairs["g"], kind="stable")
    groups, rows, values, subjects = (pairs[name][order].astype(np.int64) for name in ("g", "n", "s", "u"))
    names, first, class_of = np.unique(groups, return_index=True, return_inverse=True)
    distinct = ClassValues(count_distinct_values(class_of, values, subjects, len(names)))
    few = failing_mask([BoundCriterion(one.criterion, 0)], ClassStatistics(rows[first], (distinct,)))
    return dict(zip(names[few].tolist(), rows[first[few]].tolist(), strict=True))


@contextmanager
def open_frequency_sets(task: SearchProblem) -> Iterator[FrequencySets]:
    """Open the frequency sets of a problem's table, in memory or in its database.

    They are released when the context ends.
    """
    limit = task.settings.memory_limit
    if not isinstance(task.table, FactTable):
        yield MemoryFrequencySets(task.table, task.requirement, limit)
        return
    with TemporaryTables(task.table.engine) as tables:
        yield DatabaseFrequencySets(task.table, task.requirement, limit, tables)
