"""Distinction, separation (Motwani and Xu 2007) and prosecutor risk of every small set of columns.

The distinction of a set is the number of its distinct combinations divided by the rows; its separation is the
share of pairs of rows that differ in it, 1 − Σ f(f − 1) / n(n − 1). Cost: one sort of the row types per set,
for all sets of up to ``largest_set`` columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.declaration import Attack, AttackedTable, AttackInput
from discreet.attacks.finding import Finding, FoundTable, ValueKind, chance, columns, count
from discreet.frequency.encoding import sort_rows
from discreet.model.option import OptionKind, option

_MOST_SETS = 4096


@dataclass(frozen=True)
class SetRisk:
    """Risk of one set of columns of a table; chances are the prosecutor's."""

    attributes: tuple[str, ...]
    combinations: int
    distinction: float
    separation: float
    unique_rows: int
    highest: float
    over: int


@dataclass(frozen=True)
class ColumnSets(Attack):
    """Attack by every small set of columns, as if the attacker knew only these columns."""

    name: ClassVar[str] = "column-sets"
    title: ClassVar[str] = "Risk of each set of columns"
    text: ClassVar[str] = "An attacker knows only some columns: how many rows does each set identify?"
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

    def run(self, attack_input: AttackInput) -> Finding:
        """Report the sets of each side, worst first: by separation, then by rows singled out."""
        figures, tables, notes = [], [], []
        for side in attack_input.sides:
            size = limit_column_sets(len(side.attributes), self.largest_set)
            if size < min(self.largest_set, len(side.attributes)):
                notes.append(f"Sets of up to {size} columns were counted in the {side.title}: it is wide.")
            # The least class size whose chance 1/size does not exceed the threshold, rounded up.
            floor = -(-attack_input.threshold.denominator // attack_input.threshold.numerator)
            risks = list(compute_set_risks(side, size, floor))
            figures += [
                count(f"sets_{side.name}", f"sets of columns, {side.title}", len(risks)),
                chance(
                    f"separation_{side.name}",
                    f"highest separation, {side.title}",
                    max((r.separation for r in risks), default=0.0),
                ),
            ]
            worst = sorted(risks, key=lambda r: (-r.separation, -r.unique_rows, len(r.attributes)))
            over = f"rows with a chance above {float(attack_input.threshold):g}"
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
                    tuple(
                        (
                            ", ".join(r.attributes),
                            r.distinction,
                            r.separation,
                            r.unique_rows,
                            r.highest,
                            r.over,
                        )
                        for r in worst[: self.listed_sets]
                    ),
                    note="Distinction: different combinations by rows, and the mean chance. Separation: "
                    "pairs of rows that differ.",
                )
            )
        return self.build_finding(attack_input, tuple(figures), tuple(tables), tuple(notes))


def compute_set_risks(side: AttackedTable, largest: int, floor: int = 20) -> Iterator[SetRisk]:
    """Compute the risk of each set of up to ``largest`` columns, smaller sets first.

    A row exceeds the threshold in a combination of fewer than ``floor`` rows.
    """
    total = side.total
    pairs = total * (total - 1)
    for size in range(1, largest + 1):
        for chosen in combinations(range(len(side.attributes)), size):
            sizes = count_combination_sizes(side, chosen)
            alike = int((sizes * (sizes - 1)).sum())
            yield SetRisk(
                attributes=tuple(side.attributes[i] for i in chosen),
                combinations=len(sizes),
                distinction=len(sizes) / total if total else 0.0,
                separation=1 - alike / pairs if pairs else 1.0,
                unique_rows=int((sizes == 1).sum()),
                highest=1.0 / int(sizes.min()) if len(sizes) else 0.0,
                over=int(sizes[sizes < floor].sum()),
            )


def count_combination_sizes(side: AttackedTable, chosen: Sequence[int]) -> NDArray[np.int64]:
    """Count the rows of each distinct combination of values in some columns."""
    if not len(side.rows):
        return side.rows
    order, starts = sort_rows([side.codes[:, i] for i in chosen], [len(side.labels[i]) for i in chosen])
    sizes: NDArray[np.int64] = np.add.reduceat(side.rows[order], starts)
    return sizes


def limit_column_sets(width: int, largest: int) -> int:
    """Return the largest set size, at least 1, with no more than ``_MOST_SETS`` (4,096) sets to count."""
    return largest_affordable_size(min(largest, width), _MOST_SETS, lambda size: comb(width, size))


def largest_affordable_size(largest: int, budget: int, cost: Callable[[int], int]) -> int:
    """Return the largest size, at least 1 and at most ``largest``, whose sizes up to it cost the budget."""
    while largest > 1 and sum(map(cost, range(1, largest + 1))) > budget:
        largest -= 1
    return largest
