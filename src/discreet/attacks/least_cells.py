"""What cells tell that are as fine as their class allows (downcoding, Cohen 2022), of local recodings.

A local recoding shows each class the least values of the hierarchies that cover its rows. Whoever knows that
knows of each such cell that its rows are not all under one of the values below it. Nobody is told which row
is which, and classes overlap, so that the release does not tell which people are in which: what is told is
what the attacker may expect, who knows how common values are, each independently of the others.

With shares p of the values below a cell that n rows show, a row is under value j with chance
(p_j - p_j^n) / (1 - Σ p_i^n), as not all are under one. Without that knowledge it is taken for the commonest.
Two rows over two values that occur are one under each, for sure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.finding import Figure, FoundTable, ValueKind, columns, count
from discreet.attacks.grounds import Grounds
from discreet.model.class_recoding import RecodingModel
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.workload.labels import read_cells

Real = NDArray[np.float64]
_LCA = "lca"


@dataclass(frozen=True)
class LeastCells:
    """One quasi-identifier: rows in such cells, how many are guessed right, classes split for sure."""

    attribute: str
    rows: int = 0
    right_before: float = 0.0
    right: float = 0.0
    sure: int = 0

    def with_cell(self, shares: Real, rows: int) -> LeastCells:
        """With a further cell, whose values below it have these shares, shown by so many rows of a class."""
        before, after = chances(shares, rows)
        return LeastCells(
            self.attribute,
            self.rows + rows,
            self.right_before + rows * before,
            self.right + rows * after,
            self.sure + (rows == 2 and len(shares) == 2),
        )


def chances(shares: Real, rows: int) -> tuple[float, float]:
    """The chance that a guess of a row's value below the cell is right: the commonest value, and the best.

    >>> chances(np.array([0.8, 0.2]), 2)
    (0.5, 0.5)
    """
    powers = shares**rows
    conditional = (shares - powers) / (1.0 - powers.sum())
    return float(conditional[shares.argmax()].round(12)), float(conditional.max().round(12))


def shows_least_cells(grounds: Grounds) -> bool:
    """Whether a release is a local recoding whose classes show least common values."""
    manifest = grounds.manifest
    if manifest is None:
        return False
    return manifest.model == RecodingModel.CELL_GENERALIZATION and manifest.summary == _LCA


def least_cells(grounds: Grounds) -> tuple[LeastCells, ...]:
    """What each quasi-identifier's cells tell; those that a least level may have raised tell nothing."""
    original, published = grounds.ground.original, grounds.published
    assert original is not None
    counted = original.frequency_set
    found = []
    for i, name in enumerate(published.attributes):
        place = counted.attributes.index(name)
        hierarchy = counted.hierarchies[place]
        nullable = bool((counted.codes[:, place] == hierarchy.null_code).any())
        cells = read_cells(hierarchy, published.labels[i], nullable=nullable).cells
        common = np.bincount(counted.codes[:, place], counted.counts, minlength=hierarchy.null_code + 1)
        least = original.spec.request.min_level.get(name, 0)
        told = LeastCells(name)
        for cell in np.unique(published.shown[:, i]).tolist():
            codes = np.flatnonzero(cells.cover(np.full(len(common), cell), np.arange(len(common))))
            shares = shares_below(hierarchy, codes, common, least)
            if shares is not None:
                for rows in published.rows[published.shown[:, i] == cell].tolist():
                    told = told.with_cell(shares, rows)
        found.append(told)
    return tuple(found)


def shares_below(
    hierarchy: GeneralizationHierarchy, codes: NDArray[np.int64], common: NDArray[Any], least: int
) -> Real | None:
    """The shares of the values below the one that covers some leaves; None where there is nothing to tell.

    ``common`` is how common each leaf is, ``least`` the level that no cell is below.
    """
    for level in range(hierarchy.height - 1, least - 1, -1):
        values = hierarchy.level_map(level)[codes]
        rows = np.bincount(values, common[codes])
        if (rows > 0).sum() > 1:
            shares: Real = rows[rows > 0] / rows.sum()
            return shares
        if len(np.unique(values)) > 1:
            return None
    return None


def found_of(cells: tuple[LeastCells, ...]) -> tuple[tuple[Figure, ...], FoundTable]:
    """What is told of them."""
    figures = (
        count("cells", "rows in a cell that is as fine as its class allows", sum(c.rows for c in cells)),
        count("sure", "classes whose rows are told apart for sure, by column", sum(c.sure for c in cells)),
    )
    table = FoundTable(
        "Cells guessed right one value finer, expected",
        columns(
            "column",
            ("rows", ValueKind.COUNT),
            ("right without it", ValueKind.CHANCE),
            ("right with it", ValueKind.CHANCE),
            ("classes split for sure", ValueKind.COUNT),
        ),
        tuple(
            (c.attribute, c.rows, c.right_before / c.rows, c.right / c.rows, c.sure) for c in cells if c.rows
        ),
        note=(
            "A cell is the least value that covers its class: not all of its rows are under one value below."
        ),
    )
    return figures, table
