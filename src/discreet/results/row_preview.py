"""Some rows before and after a node's generalization, for the publisher's eyes only.

The rows are real. They are for whoever has the table anyway, and are written into no release, log or report.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.class_facts import FactCounter
from discreet.frequency.rollup import roll_up
from discreet.model.class_facts import ClassPopulation
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.judge import failing, suppressed
from discreet.model.lattice import LatticeNode
from discreet.model.requirement import Requirement
from discreet.printing.document import Column, Document, Grid, heading
from discreet.printing.printed import Printed

_SEED = 1


@dataclass(frozen=True)
class PreviewedRow:
    """One row type: its values, what a release shows of them, and the class that it falls in.

    ``before`` and ``after`` run beside the quasi-identifiers, None being NULL. ``size`` is the class's rows,
    or subjects where the spec names one; ``distinct`` its distinct values per sensitive attribute.
    """

    before: tuple[str | None, ...]
    after: tuple[str | None, ...]
    rows: int
    size: int
    distinct: dict[str, int]
    suppressed: bool

    def as_json(self) -> dict[str, Any]:
        """The row as a document."""
        return {
            "before": list(self.before),
            "after": list(self.after),
            "rows": self.rows,
            "size": self.size,
            "distinct": self.distinct,
            "suppressed": self.suppressed,
        }


@dataclass(frozen=True, repr=False)
class RowPreview(Printed):
    """Some row types of a table under a node and a requirement; the same ones for every node."""

    attributes: tuple[str, ...]
    rows: tuple[PreviewedRow, ...]

    def as_json(self) -> dict[str, Any]:
        """The preview as a document."""
        return {"attributes": list(self.attributes), "rows": [row.as_json() for row in self.rows]}

    def document(self) -> Document:
        """Before and after, one row type below the other."""
        columns = (Column(""), *(Column(name) for name in self.attributes), Column("class", right=True))
        rows: list[tuple[str, ...]] = []
        for row in self.rows:
            rows.append(("before", *map(_shown, row.before), ""))
            after = ("*",) * len(row.after) if row.suppressed else tuple(map(_shown, row.after))
            rows.append(("after", *after, "suppressed" if row.suppressed else f"{row.size:,}"))
        return (heading("Rows before and after"), Grid(columns, tuple(rows)))


def preview_rows(
    table: FrequencySet, node: LatticeNode, requirement: Requirement, number: int = 8
) -> RowPreview:
    """``number`` row types, drawn by their rows with a fixed seed, so that they stay while the node changes.

    ``InputError`` for a criterion of an attribute that is not sensitive. Cost: one generalization of the row
    types, and one comparison of them all with each row that is shown.
    """
    columns = [
        hierarchy.level_map(level)[table.codes[:, i]]
        for i, (hierarchy, level) in enumerate(zip(table.hierarchies, node, strict=True))
    ]
    drawn = _drawn(table, number)
    class_of = np.full(table.row_types, -1)
    for place, position in enumerate(drawn):
        if class_of[position] < 0:
            class_of[_members(columns, position)] = place
    counter = FactCounter.of(table, requirement.of_classes, exact=True)
    facts = counter.facts(class_of, len(drawn), population=_population(table, node, drawn))
    if requirement.of_classes == requirement and not any(one.of_rest for one in requirement.criteria):
        fails = failing(counter.bound, facts)
    else:
        fails = _of_release(table, node, requirement)[drawn]
    distinct = [values.distinct for values in facts.values if values is not None]
    found = []
    for position in drawn:
        c = int(class_of[position])
        found.append(
            PreviewedRow(
                before=_cells(table.hierarchies, (0,) * len(node), table.codes[position].tolist()),
                after=_cells(table.hierarchies, node, [int(column[position]) for column in columns]),
                rows=int(table.counts[position]),
                size=int(facts.sizes[c]),
                distinct={
                    name: int(of_class[c])
                    for name, of_class in zip(table.sensitive_attributes, distinct, strict=True)
                },
                suppressed=bool(fails[c]),
            )
        )
    return RowPreview(table.attributes, tuple(found))


def _of_release(table: FrequencySet, node: LatticeNode, requirement: Requirement) -> NDArray[np.bool_]:
    """Whether the class of each row type goes, where all classes of the node are judged together."""
    classes = roll_up(table, node)
    facts = FactCounter.of(table, requirement)
    found: NDArray[np.bool_] = suppressed(facts.bound, facts.at_node(classes))[classes.class_of]
    return found


def _members(columns: Sequence[NDArray[np.int64]], position: int) -> NDArray[np.int64]:
    """The row types that are generalized as the one at ``position`` is."""
    same = np.ones(len(columns[0]), dtype=np.bool_)
    for column in columns:
        same &= column == column[position]
    return np.flatnonzero(same)


def _drawn(table: FrequencySet, number: int) -> list[int]:
    if not table.row_types:
        return []
    order = np.lexsort(table.codes.T[::-1])
    chance = np.random.default_rng(_SEED)
    share = table.counts[order] / table.rows
    picked = chance.choice(table.row_types, min(number, table.row_types), replace=False, p=share)
    return [int(order[place]) for place in np.sort(picked)]


def _cells(
    hierarchies: tuple[GeneralizationHierarchy, ...], node: LatticeNode, shown: list[int]
) -> tuple[str | None, ...]:
    return tuple(
        hierarchy.labels[level][cell] if cell < len(hierarchy.labels[level]) else None
        for hierarchy, level, cell in zip(hierarchies, node, shown, strict=True)
    )


def _shown(cell: str | None) -> str:
    return "NULL" if cell is None else cell


def _population(table: FrequencySet, node: LatticeNode, drawn: Sequence[int]) -> ClassPopulation | None:
    """The people who match the class of each row type that was drawn; None without a population."""
    if table.population is None:
        return None
    found = roll_up(table, node)
    whole = found.population
    return None if whole is None else ClassPopulation(whole.people[found.class_of[drawn]], whole.absent)
