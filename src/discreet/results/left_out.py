"""Who is left out of a release at a node, by value, and which attribute costs them most.

For the publisher's eyes only: small counts of rare values are what suppression protects. They are written
into no release, log or report.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import Lattice, LatticeNode
from discreet.model.requirement import Requirement
from discreet.printing.document import BLANK, Column, Document, Grid, Line, heading, rows_and_share
from discreet.printing.printed import Printed
from discreet.results.kept_rows import kept_types

_SHOWN = 12
"""Values of an attribute that are printed."""


class Suppressing(Protocol):
    """What knows any node's suppression."""

    def suppressed(self, node: LatticeNode, requirement: Requirement) -> int:
        """The rows that a node leaves out."""


@dataclass(frozen=True)
class LeftOutValue:
    """One value of an attribute, None being NULL: its ``rows``, and those ``left_out`` of the release."""

    value: str | None
    rows: int
    left_out: int

    def as_json(self) -> dict[str, Any]:
        """The value as a document."""
        return {"value": self.value, "rows": self.rows, "left_out": self.left_out}


@dataclass(frozen=True)
class LeftOutAttribute:
    """One attribute: its values of which rows are left out, most rows first, and what it costs.

    ``level`` of ``height`` is the node's. ``at_top`` are the rows that would be left out were this attribute
    wholly generalized and all others as they are; ``costs`` are the rows that would then stay.
    """

    name: str
    level: int
    height: int
    at_top: int
    costs: int
    values: tuple[LeftOutValue, ...]

    def as_json(self) -> dict[str, Any]:
        """The attribute as a document."""
        return {
            "name": self.name,
            "level": self.level,
            "height": self.height,
            "at_top": self.at_top,
            "costs": self.costs,
            "values": [value.as_json() for value in self.values],
        }


@dataclass(frozen=True, repr=False)
class LeftOut(Printed):
    """The rows that a node leaves out of a release, counted by value, per attribute."""

    rows: int
    suppressed: int
    attributes: tuple[LeftOutAttribute, ...]

    @property
    def costliest(self) -> LeftOutAttribute | None:
        """The attribute that most rows are left out for, the first of equal ones; None where none is."""
        found = max(self.attributes, key=lambda attribute: attribute.costs, default=None)
        return found if found is not None and found.costs > 0 else None

    def sentence(self) -> str:
        """Which attribute costs most, in one sentence."""
        if self.suppressed == 0:
            return "No row is suppressed."
        found = self.costliest
        if found is None:
            return f"No attribute alone keeps any of the {self.suppressed:,}: their values are rare together."
        if found.costs == self.suppressed:
            return f"{found.name} costs most: without its detail all {self.suppressed:,} would stay."
        stay = f"{found.costs:,} of the {self.suppressed:,}"
        return f"{found.name} costs most: without its detail {stay} would stay."

    def as_json(self) -> dict[str, Any]:
        """The same as a document."""
        return {
            "rows": self.rows,
            "suppressed": self.suppressed,
            "sentence": self.sentence(),
            "attributes": [attribute.as_json() for attribute in self.attributes],
        }

    def document(self) -> Document:
        """The sentence, and for each attribute the values of which most rows are left out."""
        title = f"Suppressed: {rows_and_share(self.suppressed, self.rows)}"
        columns = (
            Column("attribute"),
            Column("value", shrinks=True),
            Column("suppressed", right=True),
            Column("of rows", right=True),
        )
        lines = tuple(
            (
                attribute.name if place == 0 else "",
                "NULL" if value.value is None else value.value,
                f"{value.left_out:,}",
                f"{value.rows:,}",
            )
            for attribute in self.attributes
            for place, value in enumerate(attribute.values[:_SHOWN])
        )
        return (heading(title), Line(self.sentence()), BLANK, Grid(columns, lines))


def left_out(
    table: FrequencySet, lookup: Suppressing, lattice: Lattice, node: LatticeNode, requirement: Requirement
) -> LeftOut:
    """Count what a node leaves out. Cost: one roll-up, and one look-up per attribute.

    ``InputError`` for a criterion of an attribute that is not sensitive.
    """
    lost = np.where(kept_types(table, node, requirement), 0, table.counts)
    suppressed = int(lost.sum())
    found = []
    for i, (hierarchy, level) in enumerate(zip(table.hierarchies, node, strict=True)):
        top = (*node[:i], lattice.heights[i], *node[i + 1 :])
        at_top = suppressed if level == hierarchy.height else lookup.suppressed(top, requirement)
        by_value = np.bincount(table.codes[:, i], lost, hierarchy.null_code + 1).astype(np.int64)
        rows = np.bincount(table.codes[:, i], table.counts, hierarchy.null_code + 1).astype(np.int64)
        order = [code for code in np.argsort(-by_value, kind="stable").tolist() if by_value[code] > 0]
        values = tuple(
            LeftOutValue(
                hierarchy.leaves[code] if code < hierarchy.null_code else None,
                int(rows[code]),
                int(by_value[code]),
            )
            for code in order
        )
        costs = max(0, suppressed - at_top)
        found.append(LeftOutAttribute(hierarchy.attribute, level, hierarchy.height, at_top, costs, values))
    return LeftOut(int(table.counts.sum()), suppressed, tuple(found))
