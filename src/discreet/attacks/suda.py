"""Special uniques (SUDA2: Manning, Haglin and Keane 2008) with scores (Elliot et al. 2005).

A minimal sample unique of k of the ATT columns adds the product of ATT − i for i from k to M to its row's
*SUDA score*, M being the largest set looked for, ATT − 1 at most: the fewer columns single a row out, and
the more such sets there are, the higher. With U rows alone in the table, P pairs of equal rows and a sampling
fraction δ, the chance that a unique row matches a unique person is (Skinner and Elliot 2002)

    DIS = U δ / (U δ + 2 P (1 − δ)),

and *DIS-SUDA* shares it out by the scores s of the rows that have one, with Q = 1 + (8 − ATT)/20 and
A = Σ 1/s^Q:

    1 / (1 + (U/DIS − U) / (s^Q A)).

Both are those that sdcMicro computes. Its first version, and the figures of DIS-SUDA in its guide, weighted a
set by (2^(ATT − k) − 1) / (ATT over k) instead (``ihsn``). A column's *contribution* is the share of all
scores that sets with it make up. The sets are found by ``attacks.minimal_sets``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.declaration import Attack
from discreet.attacks.finding import (
    Figure,
    Finding,
    FoundTable,
    Value,
    ValueKind,
    chance,
    columns,
    count,
    number,
    shown_rows,
)
from discreet.attacks.grounds import Grounds, Side
from discreet.attacks.minimal_sets import MinimalSets, minimal_sets
from discreet.model.option import OptionKind, option

Real = NDArray[np.float64]

_WIDEST = 20
_BANDS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)


@dataclass(frozen=True, eq=False)
class SudaScores:
    """Scores of row types, each 0 where a row is not alone; shapes ``(row types,)`` and ``(columns,)``.

    ``contributions`` add up to more than 1, as a set has several columns. ``dis`` is the whole table's.
    """

    sets: MinimalSets
    scores: Real
    dis_scores: Real
    dis: float
    contributions: Real


@dataclass(frozen=True)
class Suda(Attack):
    """SUDA2 with SUDA and DIS-SUDA scores."""

    name: ClassVar[str] = "suda2"
    title: ClassVar[str] = "Special uniques (SUDA2)"
    text: ClassVar[str] = "Rows that few columns already single out, scored by how few and how often."
    source: ClassVar[str] = "Manning, Haglin and Keane 2008; Elliot et al. 2005"

    largest_unique: int | None = option(
        kind=OptionKind.WHOLE,
        least=1,
        metavar="N",
        shown="every column",
        help="sets of up to N columns",
        label="Columns in a set",
    )
    fraction: float = option(
        0.01,
        kind=OptionKind.DECIMAL,
        least=0,
        most=1,
        metavar="P",
        help="the share of the population that the table is a sample of",
        label="Sampling fraction",
    )
    weights: str = option(
        "elliot", choices=("elliot", "ihsn"), help="how a set counts by its size", label="Weights of sets"
    )
    listed_rows: int = option(
        10,
        kind=OptionKind.WHOLE,
        least=1,
        most=1000,
        help="the rows that are listed with --persons, worst first",
        label="Rows listed",
    )

    def run(self, grounds: Grounds) -> Finding:
        """The scores of each side's rows."""
        figures: list[Figure] = []
        tables: list[FoundTable] = []
        notes: list[str] = []
        for side in grounds.sides:
            sets = minimal_sets(side.codes, side.rows, self.largest_unique, progress=grounds.advance)
            found = suda_scores(sets, side.rows, self.fraction, self.weights)
            wanted = min(self.largest_unique or len(side.attributes), len(side.attributes))
            if sets.largest < wanted:
                notes.append(
                    f"Sets of up to {sets.largest} columns were looked for in the {side.title}: it is wide."
                )
            figures += _figures(side, found)
            if len(sets.rows):
                tables += self._tables(side, found, persons=grounds.persons)
            else:
                notes.append(f"No row is alone in the {side.title}, whatever the columns.")
        return self.found(grounds, tuple(figures), tuple(tables), tuple(notes))

    def _tables(self, side: Side, found: SudaScores, *, persons: bool) -> list[FoundTable]:
        tables = [_by_size(side, found), _by_score(side, found), _by_column(side, found)]
        return [*tables, self._rows(side, found)] if persons else tables

    def _rows(self, side: Side, found: SudaScores) -> FoundTable:
        """The rows with the highest scores."""
        worst = np.argsort(-found.scores, kind="stable")[: self.listed_rows]
        worst = worst[found.scores[worst] > 0]
        cells = shown_rows(side.labels, side.codes[worst].tolist())
        return FoundTable(
            f"Rows of the {side.title} with the highest scores",
            columns(("score", ValueKind.NUMBER), ("DIS-SUDA", ValueKind.CHANCE), *side.attributes),
            tuple(
                (float(found.scores[row]), float(found.dis_scores[row]), *values)
                for row, values in zip(worst.tolist(), cells, strict=True)
            ),
            persons=True,
        )


def suda_scores(
    sets: MinimalSets, counts: NDArray[np.int64], fraction: float, weighting: str = "elliot"
) -> SudaScores:
    """SUDA and DIS-SUDA scores of row types of ``counts`` rows by their minimal sets."""
    weigh = _of_ihsn if weighting == "ihsn" else _of_elliot
    weights = weigh(sets.width, sets.largest)[sets.sizes]
    scores = np.bincount(sets.rows, weights, minlength=len(counts)).astype(np.float64)
    uniques, pairs = int((counts == 1).sum()), int((counts == 2).sum())
    inside = uniques * fraction
    dis = inside / (inside + 2 * pairs * (1 - fraction)) if inside else 0.0
    scored = scores > 0
    power = 1 + (8 - min(sets.width, _WIDEST)) / 20
    dis_scores = np.zeros(len(counts))
    if scored.any() and dis > 0:
        raised = scores[scored] ** power
        dis_scores[scored] = 1 / (1 + (uniques / dis - uniques) / (raised * (1 / raised).sum()))
    whole = weights.sum()
    contributions = [weights[sets.has(i)].sum() / whole if whole else 0.0 for i in range(sets.width)]
    return SudaScores(sets, scores, dis_scores, dis, np.array(contributions))


def _of_ihsn(width: int, largest: int) -> Real:
    """The weights of the first version."""
    return np.array([(2.0 ** (width - size) - 1) / comb(width, size) for size in range(largest + 1)])


def _of_elliot(width: int, largest: int) -> Real:
    """What a minimal set of each size adds to a score; the entry 0 is of no set."""
    found = np.ones(largest + 1)
    for size in range(1, largest + 1):
        factors = [width - i for i in range(size, min(largest, width - 1) + 1)]
        found[size] = float(np.prod(np.array(factors, dtype=np.float64))) if factors else 1.0
    return found


def _figures(side: Side, found: SudaScores) -> list[Figure]:
    return [
        count(f"uniques_{side.name}", f"rows alone, {side.title}", int((side.rows == 1).sum())),
        count(f"sets_{side.name}", f"minimal sets, {side.title}", len(found.sets.rows)),
        number(f"score_{side.name}", f"highest score, {side.title}", float(found.scores.max(initial=0.0))),
        chance(f"dis_{side.name}", f"DIS of the whole {side.title}", found.dis),
    ]


def _by_size(side: Side, found: SudaScores) -> FoundTable:
    sizes = found.sets.sizes
    smallest = np.full(len(side.rows), found.sets.largest + 1)
    np.minimum.at(smallest, found.sets.rows, sizes)
    rows: list[tuple[Value, ...]] = [
        (size, int((sizes == size).sum()), int((smallest == size).sum()))
        for size in range(1, found.sets.largest + 1)
    ]
    return FoundTable(
        f"Minimal sets in the {side.title}",
        columns(
            ("columns", ValueKind.COUNT),
            ("minimal sets", ValueKind.COUNT),
            ("rows with none smaller", ValueKind.COUNT),
        ),
        tuple(rows),
    )


def _by_score(side: Side, found: SudaScores) -> FoundTable:
    total = side.total
    rows: list[tuple[Value, ...]] = []
    for least in _BANDS:
        over = int((found.dis_scores > least).sum())
        rows.append((f"above {least:g}", over, over / total if total else 0.0))
    return FoundTable(
        f"Rows of the {side.title} by DIS-SUDA score",
        columns("score", ("rows", ValueKind.COUNT), ("share", ValueKind.CHANCE)),
        tuple(rows),
    )


def _by_column(side: Side, found: SudaScores) -> FoundTable:
    shares = found.contributions
    order = np.argsort(-shares, kind="stable").tolist()
    return FoundTable(
        f"What each column contributes in the {side.title}",
        columns("column", ("share of all scores", ValueKind.CHANCE), ("rows it helps", ValueKind.COUNT)),
        tuple(
            (side.attributes[i], float(shares[i]), len(np.unique(found.sets.rows[found.sets.has(i)])))
            for i in order
        ),
        note="Sets have several columns, so that shares add up to more than all.",
    )
