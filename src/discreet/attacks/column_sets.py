"""How much each set of columns gives away: distinction and separation (Motwani and Xu 2007), and the risks.

Of a set of quasi-identifiers in a table of n rows, the *distinction* is the number of different combinations
of their values divided by n, and the *separation* the share of pairs of rows that differ in one of them at
least: 1 − Σ f(f − 1) / n(n − 1) over combinations of f rows. A set of distinction 1 is a key. Both terms are
ARX's, too. Beside them stand the rows that the set singles out and the prosecutor's chances, for an attacker
who knows these columns and no others; distinction is also the mean of those chances.

Cost: a sort of the row types per set, and all sets of up to ``largest_set`` columns are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.declaration import Attack
from discreet.attacks.finding import Finding, FoundTable, Value, ValueKind, chance, columns, count
from discreet.attacks.grounds import Grounds, Side
from discreet.frequency.merge import sort_rows
from discreet.model.option import OptionKind, option

_MOST_SETS = 4096


@dataclass(frozen=True)
class SetRisk:
    """What a set of columns gives away of a table; chances are the prosecutor's."""

    attributes: tuple[str, ...]
    combinations: int
    distinction: float
    separation: float
    unique_rows: int
    highest: float
    over: int


@dataclass(frozen=True)
class ColumnSets(Attack):
    """Every small set of columns, as if the attacker knew these alone."""

    name: ClassVar[str] = "column-sets"
    title: ClassVar[str] = "What each set of columns gives away"
    text: ClassVar[str] = "An attacker knows some columns and no others: how many rows does each set tell?"
    source: ClassVar[str] = "Motwani and Xu 2007"

    largest_set: int = option(
        3, kind=OptionKind.WHOLE, least=1, most=8, help="sets of up to N columns", label="Columns in a set"
    )
    listed_sets: int = option(
        15,
        kind=OptionKind.WHOLE,
        least=1,
        most=1000,
        help="the sets that are listed, worst first",
        label="Sets listed",
    )

    def run(self, grounds: Grounds) -> Finding:
        """The sets of each side, worst first: by separation, then by what is singled out."""
        figures, tables, notes = [], [], []
        for side in grounds.sides:
            size = affordable(len(side.attributes), self.largest_set)
            if size < min(self.largest_set, len(side.attributes)):
                notes.append(f"Sets of up to {size} columns were counted in the {side.title}: it is wide.")
            floor = -(-grounds.threshold.denominator // grounds.threshold.numerator)
            risks = list(set_risks(side, size, floor))
            figures += [
                count(f"sets_{side.name}", f"sets of columns, {side.title}", len(risks)),
                chance(
                    f"separation_{side.name}",
                    f"highest separation, {side.title}",
                    max((r.separation for r in risks), default=0.0),
                ),
            ]
            worst = sorted(risks, key=lambda r: (-r.separation, -r.unique_rows, len(r.attributes)))
            over = f"rows with a chance above {float(grounds.threshold):g}"
            tables.append(
                FoundTable(
                    f"Sets of columns in the {side.title}",
                    columns(
                        "columns",
                        ("distinction", ValueKind.CHANCE),
                        ("separation", ValueKind.CHANCE),
                        ("rows singled out", ValueKind.COUNT),
                        ("highest chance", ValueKind.CHANCE),
                        (over, ValueKind.COUNT),
                    ),
                    tuple(_row(risk) for risk in worst[: self.listed_sets]),
                    note="Distinction: different combinations by rows, and the mean chance. Separation: "
                    "pairs of rows that differ.",
                )
            )
        return self.found(grounds, tuple(figures), tuple(tables), tuple(notes))


def set_risks(side: Side, largest: int, floor: int = 20) -> Iterator[SetRisk]:
    """What each set of up to ``largest`` columns gives away, smaller sets first.

    A row is over the threshold in a combination of fewer than ``floor`` rows.
    """
    total = side.total
    pairs = total * (total - 1)
    for size in range(1, largest + 1):
        for chosen in combinations(range(len(side.attributes)), size):
            sizes = class_sizes(side, chosen)
            alike = int((sizes * (sizes - 1)).sum())
            yield SetRisk(
                attributes=tuple(side.attributes[i] for i in chosen),
                combinations=len(sizes),
                distinction=len(sizes) / total if total else 0.0,
                separation=1 - alike / pairs if pairs else 1.0,
                unique_rows=int((sizes == 1).sum()),
                highest=_highest(sizes),
                over=int(sizes[sizes < floor].sum()),
            )


def class_sizes(side: Side, chosen: Sequence[int]) -> NDArray[np.int64]:
    """The rows of each different combination of some columns."""
    if not len(side.rows):
        return side.rows
    order, starts = sort_rows([side.codes[:, i] for i in chosen], [len(side.labels[i]) for i in chosen])
    sizes: NDArray[np.int64] = np.add.reduceat(side.rows[order], starts)
    return sizes


def affordable(width: int, largest: int) -> int:
    """The largest size of sets, at least 1, of which there are not too many."""
    size = min(largest, width)
    while size > 1 and sum(comb(width, each) for each in range(1, size + 1)) > _MOST_SETS:
        size -= 1
    return size


def _highest(sizes: NDArray[np.int64]) -> float:
    return 1.0 / int(sizes.min()) if len(sizes) else 0.0


def _row(risk: SetRisk) -> tuple[Value, ...]:
    return (
        ", ".join(risk.attributes),
        risk.distinction,
        risk.separation,
        risk.unique_rows,
        risk.highest,
        risk.over,
    )
