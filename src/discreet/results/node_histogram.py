"""The histogram of one node: the classes of each size, and of each number of sensitive values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.class_facts import FactCounter
from discreet.frequency.rollup import roll_up
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import Lattice, LatticeNode
from discreet.model.requirement import Requirement
from discreet.printing.document import BLANK, Column, Document, Grid, Line, count, heading
from discreet.printing.printed import Printed

_BAR = 24
_MOST_LINES = 30


@dataclass(frozen=True)
class HistogramLine:
    """The classes of one value, a size or a number of distinct sensitive values.

    ``rows`` are those of the classes, ``upto`` those of all classes of at most this value: so many rows are
    suppressed where one more is required.
    """

    value: int
    classes: int
    rows: int
    upto: int

    def as_json(self) -> dict[str, int]:
        """The line as a document."""
        return {"value": self.value, "classes": self.classes, "rows": self.rows, "upto": self.upto}


@dataclass(frozen=True, repr=False)
class NodeHistogram(Printed):
    """The classes of one node by their size and, for each sensitive attribute, by its distinct values.

    ``unit`` is what sizes count: rows, or subjects where the spec names one.
    """

    levels: dict[str, int]
    rows: int
    classes: int
    unit: str
    sizes: tuple[HistogramLine, ...]
    distinct: dict[str, tuple[HistogramLine, ...]]

    def as_json(self) -> dict[str, Any]:
        """The histogram as a document, a line for every value that occurs."""
        return {
            "levels": self.levels,
            "rows": self.rows,
            "classes": self.classes,
            "unit": self.unit,
            "sizes": [line.as_json() for line in self.sizes],
            "distinct": {name: [line.as_json() for line in lines] for name, lines in self.distinct.items()},
        }

    def document(self) -> Document:
        """A grid with bars for the sizes, and one for each sensitive attribute; long ones are cut."""
        levels = " ".join(f"{level}" for level in self.levels.values())
        found: list[Line | Grid] = [
            heading(f"Node {levels}: {count(self.rows, 'row')} in {count(self.classes, 'class', 'classes')}")
        ]
        found += _grid(f"class size in {self.unit}", self.sizes)
        for name, lines in self.distinct.items():
            found += [BLANK, *_grid(f"distinct values of {name}", lines)]
        return tuple(found)


def histogram_of(table: FrequencySet, node: LatticeNode, lattice: Lattice) -> NodeHistogram:
    """Count the classes of one node by size and by distinct sensitive values, in one roll-up."""
    classes = roll_up(table, node)
    facts = FactCounter.of(table, Requirement(1), exact=True).at_node(classes)
    rows = np.bincount(classes.class_of, table.counts, facts.classes).astype(np.int64)
    occurring = rows > 0
    return NodeHistogram(
        levels=lattice.levels_of(node),
        rows=int(rows.sum()),
        classes=int(occurring.sum()),
        unit="rows" if table.subjects is None else "subjects",
        sizes=_lines(facts.sizes[occurring], rows[occurring]),
        distinct={
            name: _lines(values.distinct[occurring], rows[occurring])
            for name, values in zip(table.sensitive_attributes, facts.values, strict=True)
            if values is not None
        },
    )


def _lines(values: NDArray[np.int64], rows: NDArray[np.int64]) -> tuple[HistogramLine, ...]:
    kinds, kind, classes = np.unique(values, return_inverse=True, return_counts=True)
    of_kind = np.bincount(kind.reshape(-1), rows, len(kinds)).astype(np.int64)
    columns = (kinds, classes, of_kind, np.cumsum(of_kind))
    return tuple(HistogramLine(*line) for line in zip(*(c.tolist() for c in columns), strict=True))


def _grid(what: str, lines: tuple[HistogramLine, ...]) -> Iterable[Line | Grid]:
    """The lines with a bar of the rows of each; of many the first, and how many are left out."""
    shown = lines if len(lines) <= _MOST_LINES else lines[: _MOST_LINES - 1]
    most = max((line.rows for line in lines), default=1)
    columns = (
        Column(what, right=True),
        *(Column(title, right=True) for title in ("classes", "rows", "rows up to it")),
        Column(""),
    )
    yield Grid(
        columns,
        tuple(
            (
                f"{line.value:,}",
                f"{line.classes:,}",
                f"{line.rows:,}",
                f"{line.upto:,}",
                "█" * max(round(_BAR * line.rows / most), int(line.rows > 0)),
            )
            for line in shown
        ),
    )
    rest = lines[len(shown) :]
    if rest:
        classes, rows = sum(line.classes for line in rest), sum(line.rows for line in rest)
        yield Line(
            f"Larger values, up to {rest[-1].value:,}: {count(classes, 'class', 'classes')} of "
            f"{count(rows, 'row')}. --json lists all."
        )
