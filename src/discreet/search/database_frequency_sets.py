"""Frequency sets as temporary tables of a database, each created by one GROUP BY (LeFevre et al. 2005).

A table contains the positions of its attributes' values and the number of rows. If the requirement
counts distinct sensitive values or the spec names a subject, the groups contain these codes too, so that
every further frequency set can be computed from the table. The engine stores the tables, on disk if
necessary; only single numbers are fetched, except for l with a subject, where values and subjects of
undecided classes are matched here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engines.source_tables import TemporaryTables
from discreet.errors import LimitReached
from discreet.frequency.fact_counter import count_distinct_values
from discreet.model.criteria.base import BoundCriterion
from discreet.model.criterion_inputs import ClassStatistics, ClassValues
from discreet.model.requirement import Requirement, failing_mask
from discreet.search.search_problem import FactTable
from discreet.sql import star_schema as sql

_BYTES_PER_CELL = 8
_BYTES_PER_PAIR = 200


class DatabaseFrequencySet:
    """Frequency set in a table of the database; implements ``AttributeFrequencySet``."""

    def __init__(
        self, owner: DatabaseFrequencySets, name: str, attributes: tuple[int, ...], levels: tuple[int, ...]
    ) -> None:
        self._owner = owner
        self.name = name
        self.attributes = attributes
        self.levels = levels

    @cached_property
    def classes(self) -> int:
        """Number of groups: classes, divided by the sensitive codes and subjects that are counted."""
        return self._owner.number(sql.table_row_count(self.name))

    @property
    def nbytes(self) -> int:
        """Approximate size in bytes."""
        return self.classes * _BYTES_PER_CELL * (len(self.attributes) + len(self._owner.value_columns) + 1)

    @property
    def codes(self) -> list[str]:
        """Names of the columns of its attributes."""
        return [sql.code_name(a) for a in self.attributes]

    def roll_up(self, levels: Sequence[int]) -> DatabaseFrequencySet:
        """Return the frequency set of the same attributes at the same or higher levels."""
        steps = [
            self._owner.step(a, level, wanted)
            for a, level, wanted in zip(self.attributes, self.levels, levels, strict=True)
        ]
        return self._owner.derive(self.name, steps, self.attributes, tuple(levels), sql.ROWS_OF_COUNTS)

    def sum_out(self, attribute: int) -> DatabaseFrequencySet:
        """Return the frequency set of the other attributes at the same levels."""
        index = self.attributes.index(attribute)
        attributes = self.attributes[:index] + self.attributes[index + 1 :]
        levels = self.levels[:index] + self.levels[index + 1 :]
        steps = [self._owner.step(a, level, level) for a, level in zip(attributes, levels, strict=True)]
        return self._owner.derive(self.name, steps, attributes, levels, sql.ROWS_OF_COUNTS)

    def suppressed(self) -> int:
        """Count the rows in classes that fail the requirement."""
        return self._owner.suppressed(self)

    def release(self) -> None:
        """Drop its table; a second call does nothing."""
        self._owner.drop(self)


@dataclass(eq=False)
class DatabaseFrequencySets:
    """Frequency sets of a fact table; implements ``FrequencySets``.

    ``tables`` drops the tables that remain at its end.
    """

    table: FactTable
    requirement: Requirement
    memory_limit: int
    tables: TemporaryTables
    scans: int = 0
    _live: dict[str, DatabaseFrequencySet] = field(default_factory=dict)
    _free: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._bound = self.requirement.bound(self.table.sensitive_attributes)
        self._value_criteria = [one for one in self._bound if one.index is not None]
        places = sorted({one.index for one in self._value_criteria if one.index is not None})
        self.value_columns = tuple(map(sql.sensitive_name, places))
        if self.table.by_subject:
            self.value_columns += (sql.SUBJECT,)

    @property
    def used_bytes(self) -> int:
        """Approximate size in bytes of the tables that are not yet dropped."""
        return sum(s.nbytes for s in self._live.values())

    def count(self, attributes: Sequence[int], levels: Sequence[int]) -> DatabaseFrequencySet:
        """Compute the frequency set of some attributes at some levels with a GROUP BY over the fact table."""
        steps = [self.step(a, 0, level) for a, level in zip(attributes, levels, strict=True)]
        self.scans += 1
        return self.derive(self.table.facts, steps, tuple(attributes), tuple(levels), sql.ROWS_OF_FACTS)

    def step(self, attribute: int, level: int, target: int) -> sql.LevelStep:
        """Return the step of one attribute from a level to another."""
        top = self.table.hierarchies[attribute].height
        dimension = self.table.dimensions[attribute]
        return sql.LevelStep(attribute, dimension, level, None if level == target else target, target == top)

    def derive(
        self,
        source: str,
        steps: Sequence[sql.LevelStep],
        attributes: tuple[int, ...],
        levels: tuple[int, ...],
        rows: str,
    ) -> DatabaseFrequencySet:
        """Create a frequency set from the fact table or from another frequency set."""
        name = self._free.pop() if self._free else self.tables.new_name()
        self.table.engine.create_table(name, sql.frequency_set(source, steps, self.value_columns, rows))
        self._live[name] = DatabaseFrequencySet(self, name, attributes, levels)
        return self._live[name]

    def drop(self, released: DatabaseFrequencySet) -> None:
        """Drop a frequency set's table; its name is reused."""
        # A second release finds the name free or owned by a later frequency set.
        if self._live.get(released.name) is released:
            del self._live[released.name]
            self.tables.drop(released.name)
            self._free.append(released.name)

    def suppressed(self, of: DatabaseFrequencySet) -> int:
        """Count the rows in classes that fail the requirement."""
        by_subject = self.table.by_subject
        rows = self.number(sql.suppressed_row_count(of.name, of.codes, self._bound, by_subject=by_subject))
        return rows + self._unmatched(of) if by_subject and self._value_criteria else rows

    def number(self, query: str) -> int:
        """Return the single number of a query's result."""
        return int(self.table.engine.fetch_rows(query)[0][0])

    def _unmatched(self, of: DatabaseFrequencySet) -> int:
        """Count the rows in classes with enough values and subjects that cannot be matched."""
        engine = self.table.engine
        passing = sql.classes_to_match(engine.dialect, of.name, of.codes, self._bound)
        classes = self.tables.create(passing)
        unmatched: dict[int, int] = {}
        try:
            for one in self._value_criteria:
                assert one.index is not None
                query = sql.values_of_subjects(classes, of.name, of.codes, sql.sensitive_name(one.index))
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


def _unmatched_classes(pairs: dict[str, NDArray[Any]], one: BoundCriterion) -> dict[int, int]:
    """Return the classes, with their rows, in which too few values can be matched to different subjects."""
    order = np.argsort(pairs["g"], kind="stable")
    groups, rows, values, subjects = (pairs[name][order].astype(np.int64) for name in ("g", "n", "s", "u"))
    names, first, class_of = np.unique(groups, return_index=True, return_inverse=True)
    distinct = ClassValues(count_distinct_values(class_of, values, subjects, len(names)))
    few = failing_mask([BoundCriterion(one.criterion, 0)], ClassStatistics(rows[first], (distinct,)))
    return dict(zip(names[few].tolist(), rows[first[few]].tolist(), strict=True))
