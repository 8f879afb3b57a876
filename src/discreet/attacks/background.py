"""What a class tells an attacker who knows b facts besides.

Two kinds of facts are told apart; either is the worst that so many of its kind can do, over all classes and
values, where every assignment of a class's values to its rows is as likely as any other.

* *Negations*: values that the person does not have (Machanavajjhala et al. 2006). In a class of n rows the
  chance of a value of c rows rises to c / (n − the rows of the b most frequent other values).
* *Implications* about anybody in the table: "if this person has that value, the other has this one" (the
  basic implications of Martin et al. 2007, with one atom on each side). The worst b of them conclude the same
  atom A_0, and leave the chance 1 / (1 + R), R being the least of P(no A_0, …, A_b) / P(A_0) over b + 1
  atoms. Within a class the atoms of several persons take its most frequent values each, k_0 ≥ k_1 ≥ … of
  them: P = Π (n − i − F(k_i)) / (n − i), F(k) the rows of the k most frequent values. Classes are
  independent, so a pass over them with the atoms used, and whether A_0 was, finds the least product.

A NULL is a row of the class and no value. Cost: b³ per class, and the partitions of b + 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.declaration import Attack, Need
from discreet.attacks.finding import Figure, Finding, FoundTable, Value, ValueKind, chance, columns
from discreet.attacks.grounds import Grounds
from discreet.attacks.published import NO_VALUE, ValueCounts
from discreet.model.option import OptionKind, option


@dataclass(frozen=True)
class BackgroundKnowledge(Attack):
    """The worst that up to ``facts`` facts can do."""

    name: ClassVar[str] = "background-knowledge"
    title: ClassVar[str] = "Knowing some facts besides"
    text: ClassVar[str] = (
        "An attacker finds the person's class and knows some facts: how sure of a value, at worst?"
    )
    source: ClassVar[str] = "Martin et al. 2007; Machanavajjhala et al. 2006"
    needs: ClassVar[tuple[Need, ...]] = (Need.SENSITIVE,)

    facts: int = option(
        3, kind=OptionKind.WHOLE, least=0, most=8, help="up to N facts", label="Facts that are known"
    )

    def run(self, grounds: Grounds) -> Finding:
        """The chances of each sensitive attribute by number of facts."""
        figures: list[Figure] = []
        tables: list[FoundTable] = []
        for values in grounds.published.sensitive:
            counts = unit_counts(values)
            negated = [worst_by_negations(counts, b) for b in range(self.facts + 1)]
            implied = worst_by_implications(counts, self.facts)
            rows: list[tuple[Value, ...]] = [(b, negated[b], implied[b]) for b in range(self.facts + 1)]
            figures += [
                chance(f"negations_{values.attribute}", f"{values.attribute}, by negations", negated[-1]),
                chance(
                    f"implications_{values.attribute}", f"{values.attribute}, by implications", implied[-1]
                ),
            ]
            tables.append(
                FoundTable(
                    f"Highest chance of a value of {values.attribute}",
                    columns(
                        ("facts", ValueKind.COUNT),
                        ("values the person does not have", ValueKind.CHANCE),
                        ("implications about anybody", ValueKind.CHANCE),
                    ),
                    tuple(rows),
                )
            )
        return self.found(grounds, tuple(figures), tuple(tables))


UnitCounts = list[tuple[int, NDArray[np.int64]]]
"""The rows of each unit, and the rows of its values, most frequent first."""


def unit_counts(values: ValueCounts) -> UnitCounts:
    """The units of one sensitive attribute, each different one once: the worst does not ask how many."""
    named = values.values != NO_VALUE
    order = np.lexsort((-values.rows[named], values.units[named]))
    units, rows = values.units[named][order], values.rows[named][order]
    starts = np.searchsorted(units, np.arange(len(values.unit_rows) + 1))
    total = values.unit_rows.tolist()
    return [(total[i], rows[starts[i] : starts[i + 1]]) for i in range(len(total))]


def worst_by_negations(counts: UnitCounts, facts: int) -> float:
    """The highest chance of a value where so many others are ruled out."""
    found = 0.0
    for total, rows in counts:
        for place, number in enumerate(rows[: facts + 1].tolist()):
            others = int(rows[: facts + 1].sum()) - number if place <= facts else int(rows[:facts].sum())
            found = max(found, number / (total - others))
    return found


def worst_by_implications(counts: UnitCounts, facts: int) -> list[float]:
    """The highest chance of an atom, given the worst 0, 1, … ``facts`` implications."""
    without = np.ones(1 + facts)
    without[1:] = np.inf
    concluded = np.full(1 + facts, np.inf)
    for total, rows in counts:
        if not len(rows):
            continue
        none = np.array([_none_of(total, rows, number) for number in range(facts + 2)])
        of_conclusion = none[1:] * total / int(rows[0])
        concluded = np.minimum(_joined(concluded, none[:-1]), _joined(without, of_conclusion))
        without = _joined(without, none[:-1])
    least = np.minimum.accumulate(concluded)
    return [0.0 if np.isinf(ratio) else float(1 / (1 + ratio)) for ratio in least.tolist()]


def _joined(before: NDArray[np.float64], here: NDArray[np.float64]) -> NDArray[np.float64]:
    """The least product by the atoms used so far, some of them in this unit."""
    number = len(before)
    found = np.full(number, np.inf)
    for used in range(number):
        reached = ~np.isinf(before[: number - used])
        product = np.where(reached, np.where(reached, before[: number - used], 1.0) * here[used], np.inf)
        found[used:] = np.minimum(found[used:], product)
    return found


def _none_of(total: int, rows: NDArray[np.int64], atoms: int) -> float:
    """The least chance that none of so many atoms of a unit holds."""
    top = [0, *np.cumsum(rows).tolist()]
    found = 1.0
    for parts in partitions(atoms):
        if len(parts) > total:
            continue
        product = 1.0
        for person, number in enumerate(parts):
            left = total - person
            product *= max(left - top[min(number, len(rows))], 0) / left
        found = min(found, product)
    return found


@cache
def partitions(number: int) -> tuple[tuple[int, ...], ...]:
    """The ways to write a number as a sum of parts that do not grow.

    >>> partitions(3)
    ((3,), (2, 1), (1, 1, 1))
    """

    def parts(left: int, most: int) -> Iterator[tuple[int, ...]]:
        if not left:
            yield ()
        for first in range(min(left, most), 0, -1):
            for rest in parts(left - first, first):
                yield (first, *rest)

    return tuple(parts(number, number))
