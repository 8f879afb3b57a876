"""A recoding by classes whose row types and classes are tables of an engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.engines.base import Engine
from discreet.engines.scratch import TemporaryTables
from discreet.model.class_recoding import RecodingModel
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.requirement import Requirement
from discreet.sql import partition as sql


@dataclass(frozen=True, eq=False)
class NumberedClasses:
    """The classes of all fragments, numbered through in the fragments' order, in tables of an engine.

    ``row_types`` names a table with the leaf codes of each row type (``c0``, …) and its ``class``; ``shown``
    one with, for each ``class``, the numbers of what it shows (``q0``, …) and its rows (``n``); ``labels[i]``
    one with the distinct ``label`` of each such number, ``position``. ``leaves`` says of which attributes
    each class shows one leaf as it is, ``derived`` of which it shows texts derived from the data.
    """

    row_types: str
    shown: str
    labels: tuple[str, ...]
    leaves: tuple[bool, ...]
    derived: tuple[bool, ...]
    rows: int
    classes: int


@dataclass(frozen=True, eq=False)
class StoredPartition:
    """A recoding by classes whose row types and classes stay in the engine.

    ``tables`` live as long as the context that made them. ``fragments`` says into how many the engine cut the
    table, and ``scans`` how often it read the row types for that.
    """

    model: RecodingModel
    hierarchies: tuple[GeneralizationHierarchy, ...]
    requirement: Requirement
    tables: NumberedClasses
    dropped: int
    set_apart: int
    fragments: int
    scans: int
    warnings: tuple[str, ...]

    @property
    def rows(self) -> int:
        """Rows after the NULL policy."""
        return self.tables.rows

    @property
    def classes(self) -> int:
        """The number of classes."""
        return self.tables.classes


def number_through(
    engine: Engine, tables: TemporaryTables, finished: str, fragments: Sequence[int], attributes: int
) -> NumberedClasses:
    """Number the classes and cells of finished fragments through (``sql.partition``), in the engine.

    What comes here are the totals of each fragment, and two facts of each attribute.
    """
    totals = {int(f): (int(c), int(n)) for f, c, n in engine.fetch_rows(sql.totals(finished))}
    classes = np.array([totals[fragment][0] for fragment in fragments], dtype=np.int64)
    first = np.cumsum(classes) - classes
    offsets = tables.load({sql.FRAGMENT: np.array(fragments, dtype=np.int64), sql.FIRST: first})
    facts = sorted(engine.fetch_rows(sql.cell_facts(finished)))
    numbers = tables.create(sql.numbered_cells(engine.dialect, finished))
    mapped = tables.create(sql.cell_numbers(finished, numbers))
    found = NumberedClasses(
        row_types=tables.create(sql.classed_row_types(finished, offsets, attributes)),
        shown=tables.create(sql.shown_cells(finished, offsets, mapped, attributes)),
        labels=tuple(tables.create(sql.labels(numbers, attribute)) for attribute in range(attributes)),
        leaves=tuple(bool(leaves) for _, leaves, _ in facts),
        derived=tuple(bool(derived) for *_, derived in facts),
        rows=sum(n for _, n in totals.values()),
        classes=int(classes.sum()),
    )
    for done in (finished, mapped, numbers, offsets):
        tables.drop(done)
    return found
