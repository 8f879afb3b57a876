"""Attribute disclosure: homogeneity, skewness and background knowledge of sensitive values per class.

- Homogeneity (Machanavajjhala et al. 2006): distinct l, entropy l = exp(−Σ p ln p), share of the most
  frequent value.
- Skewness (Li, Li and Venkatasubramanian 2007): gain q − p, quotient q/p and variational distance ½ Σ |q − p|
  of a class from the table.
- Background knowledge: the highest chance of a value given b negations (Machanavajjhala et al. 2006) or b
  simple implications about any person (Martin et al. 2007). The least ratio 1/R over b + 1 atoms is found in
  one pass over the classes; within a class P = Π (n − i − F(k_i)) / (n − i). Cost: b³ per class, and the
  partitions of b + 1.

NULL adds to the rows of a class, never to its values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.declaration import Attack, AttackInput, AttackRequirement
from discreet.attacks.finding import Figure, Finding, FoundTable, ValueKind, chance, columns
from discreet.attacks.published_table import NO_VALUE, ValueCounts
from discreet.model.option import OptionKind, option


@dataclass(frozen=True)
class AttributeDisclosure:
    """Disclosure of one sensitive attribute.

    ``fewest_values`` is the observed distinct l, ``entropy_l`` the least entropy l of any unit (0 where a
    unit has no value). ``homogeneous`` units have at most one value and contain ``homogeneous_rows`` rows.
    ``dominated_rows`` are in units where one value exceeds the requested share. ``guessed`` is the share of
    rows that a guess of each unit's most frequent value gets right, ``baseline`` the same for the whole
    table.
    """

    attribute: str
    units: int
    rows: int
    fewest_values: int
    entropy_l: float
    homogeneous: int
    homogeneous_rows: int
    dominated_rows: int
    largest_share: float
    guessed: float
    baseline: float

    def as_json(self) -> dict[str, Any]:
        """Return the JSON document's part."""
        return {
            "attribute": self.attribute,
            "units": self.units,
            "rows": self.rows,
            "l": self.fewest_values,
            "entropy_l": self.entropy_l,
            "homogeneous_units": self.homogeneous,
            "homogeneous_rows": self.homogeneous_rows,
            "dominated_rows": self.dominated_rows,
            "largest_share": self.largest_share,
            "guessed_right": self.guessed,
            "guessed_right_without_release": self.baseline,
        }


def compute_disclosure(counts: ValueCounts, dominance: Fraction) -> AttributeDisclosure:
    """Compute the disclosure of one sensitive attribute from its counts per unit."""
    units, rows = len(counts.unit_rows), int(counts.unit_rows.sum())
    named = counts.values != NO_VALUE
    unit, frequency = counts.units[named], counts.rows[named]
    distinct = np.bincount(unit, minlength=units)
    most = np.zeros(units, dtype=np.int64)
    np.maximum.at(most, unit, frequency)
    with_value = np.bincount(unit, frequency, minlength=units)
    share = frequency / with_value[unit]
    entropy = np.bincount(unit, -share * np.log(share), minlength=units)
    entropy_l = np.where(distinct > 0, np.exp(entropy), 0.0)
    alike = distinct <= 1
    over = most * dominance.denominator > counts.unit_rows * dominance.numerator
    by_value = np.bincount(counts.values[named], frequency) if named.any() else np.zeros(1)
    return AttributeDisclosure(
        attribute=counts.attribute,
        units=units,
        rows=rows,
        fewest_values=int(distinct.min(initial=len(counts.texts))) if units else 0,
        entropy_l=float(entropy_l.min()) if units else 0.0,
        homogeneous=int(alike.sum()),
        homogeneous_rows=int(counts.unit_rows[alike].sum()),
        dominated_rows=int(counts.unit_rows[over].sum()),
        largest_share=float((most / counts.unit_rows).max()) if units else 0.0,
        guessed=int(most.sum()) / rows if rows else 0.0,
        baseline=float(by_value.max()) / rows if rows else 0.0,
    )


@dataclass(frozen=True)
class AttributeSkew:
    """Difference between the units of a release and the table; all 0 where no row has a value.

    ``distance`` is the largest distance of a unit, ``mean_distance`` the mean over rows. ``over`` rows are in
    units where a value's share is at least the requested multiple of its share in the table.
    """

    attribute: str
    gain: float
    times: float
    distance: float
    mean_distance: float
    over: int


@dataclass(frozen=True)
class Skewness(Attack):
    """Attack by the distance of classes from the table."""

    name: ClassVar[str] = "skewness"
    title: ClassVar[str] = "Values of a class against the table's"
    text: ClassVar[str] = (
        "An attacker finds the person's class: how much likelier is a value there than in the table?"
    )
    source: ClassVar[str] = "Li, Li and Venkatasubramanian 2007"
    requirements: ClassVar[tuple[AttackRequirement, ...]] = (AttackRequirement.SENSITIVE,)

    times: float = option(
        2.0,
        kind=OptionKind.DECIMAL,
        least=1,
        metavar="X",
        help="count rows in classes where a value is X times likelier",
        label="Factor by which a value is likelier",
    )

    def run(self, attack_input: AttackInput) -> Finding:
        """Report the skew of each sensitive attribute."""
        found = [compute_skew(values, self.times) for values in attack_input.published.sensitive]
        figures = [
            chance(f"distance_{each.attribute}", f"largest distance, {each.attribute}", each.distance)
            for each in found
        ]
        rows = [(e.attribute, e.gain, e.times, e.distance, e.mean_distance, e.over) for e in found]
        table = FoundTable(
            "Classes against the table",
            columns(
                "sensitive attribute",
                ("largest gain", ValueKind.CHANCE),
                ("times likelier", ValueKind.NUMBER),
                ("largest distance", ValueKind.CHANCE),
                ("mean distance", ValueKind.CHANCE),
                (f"rows where a value is {self.times:g} times likelier", ValueKind.COUNT),
            ),
            tuple(rows),
        )
        return self.build_finding(attack_input, tuple(figures), (table,))


def compute_skew(values: ValueCounts, times: float = 2.0) -> AttributeSkew:
    """Compute the skew of one sensitive attribute."""
    named = values.values != NO_VALUE
    unit, value, rows = values.units[named], values.values[named], values.rows[named]
    if not len(rows):
        return AttributeSkew(values.attribute, 0.0, 0.0, 0.0, 0.0, 0)
    units = len(values.unit_rows)
    table_shares = np.bincount(value, rows, minlength=len(values.texts)) / rows.sum()
    with_value = np.bincount(unit, rows, minlength=units)
    here, there = rows / with_value[unit], table_shares[value]
    # A value that a unit lacks adds its whole share: together 1 minus the table's shares of the unit's
    # values.
    far = np.bincount(unit, np.abs(here - there) - there, minlength=units) + 1
    distance = np.where(with_value > 0, far / 2, 0.0)
    likelier = np.zeros(units, dtype=np.bool_)
    likelier[unit[here >= times * there]] = True
    return AttributeSkew(
        attribute=values.attribute,
        gain=float((here - there).max()),
        times=float((here / there).max()),
        distance=float(distance.max()),
        mean_distance=float((distance * values.unit_rows).sum() / values.unit_rows.sum()),
        over=int(values.unit_rows[likelier].sum()),
    )


@dataclass(frozen=True)
class BackgroundKnowledge(Attack):
    """Attack by the worst ``facts`` facts about people."""

    name: ClassVar[str] = "background-knowledge"
    title: ClassVar[str] = "Background knowledge"
    text: ClassVar[str] = (
        "An attacker finds the person's class and knows some facts: how sure of a value, at worst?"
    )
    source: ClassVar[str] = "Martin et al. 2007; Machanavajjhala et al. 2006"
    requirements: ClassVar[tuple[AttackRequirement, ...]] = (AttackRequirement.SENSITIVE,)

    facts: int = option(
        3, kind=OptionKind.WHOLE, least=0, most=8, help="up to N facts", label="Facts that are known"
    )

    def run(self, attack_input: AttackInput) -> Finding:
        """Report the chances of each sensitive attribute by number of facts."""
        figures: list[Figure] = []
        tables: list[FoundTable] = []
        for values in attack_input.published.sensitive:
            counts = sort_unit_counts(values)
            negated = [compute_negation_chance(counts, b) for b in range(self.facts + 1)]
            implied = compute_implication_chances(counts, self.facts)
            rows = [(b, negated[b], implied[b]) for b in range(self.facts + 1)]
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
                        ("implications about any person", ValueKind.CHANCE),
                    ),
                    tuple(rows),
                )
            )
        return self.build_finding(attack_input, tuple(figures), tuple(tables))


UnitCounts = list[tuple[int, NDArray[np.int64]]]
"""Number of rows of each unit, and row counts of its values, most frequent first."""


def sort_unit_counts(values: ValueCounts) -> UnitCounts:
    """Return the row counts of the units of one sensitive attribute, sorted by frequency."""
    named = values.values != NO_VALUE
    order = np.lexsort((-values.rows[named], values.units[named]))
    units, rows = values.units[named][order], values.rows[named][order]
    starts = np.searchsorted(units, np.arange(len(values.unit_rows) + 1))
    total = values.unit_rows.tolist()
    return [(total[i], rows[starts[i] : starts[i + 1]]) for i in range(len(total))]


def compute_negation_chance(counts: UnitCounts, facts: int) -> float:
    """Compute the highest chance of a value when ``facts`` other values are ruled out."""
    result = 0.0
    for total, rows in counts:
        for index, number in enumerate(rows[: facts + 1].tolist()):
            others = int(rows[: facts + 1].sum()) - number if index <= facts else int(rows[:facts].sum())
            result = max(result, number / (total - others))
    return result


def compute_implication_chances(counts: UnitCounts, facts: int) -> list[float]:
    """Compute the highest chance of an atom, given the worst 0, 1, … ``facts`` implications."""
    without = np.ones(1 + facts)
    without[1:] = np.inf
    concluded = np.full(1 + facts, np.inf)
    for total, rows in counts:
        if not len(rows):
            continue
        none = np.array([_least_absence_chance(total, rows, number) for number in range(facts + 2)])
        of_conclusion = none[1:] * total / int(rows[0])
        concluded = np.minimum(
            _combine_products(concluded, none[:-1]), _combine_products(without, of_conclusion)
        )
        without = _combine_products(without, none[:-1])
    least = np.minimum.accumulate(concluded)
    return [0.0 if np.isinf(ratio) else float(1 / (1 + ratio)) for ratio in least.tolist()]


def _combine_products(before: NDArray[np.float64], here: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the least product by number of atoms used, with some of them in this unit."""
    number = len(before)
    result = np.full(number, np.inf)
    for used in range(number):
        # The mask avoids inf · 0, which is NaN.
        reached = ~np.isinf(before[: number - used])
        product = np.where(reached, np.where(reached, before[: number - used], 1.0) * here[used], np.inf)
        result[used:] = np.minimum(result[used:], product)
    return result


def _least_absence_chance(total: int, rows: NDArray[np.int64], atoms: int) -> float:
    """Compute the least chance that none of ``atoms`` atoms of a unit holds."""
    top = [0, *np.cumsum(rows).tolist()]
    result = 1.0
    for parts in list_integer_partitions(atoms):
        if len(parts) > total:
            continue
        product = 1.0
        for person, number in enumerate(parts):
            left = total - person
            product *= max(left - top[min(number, len(rows))], 0) / left
        result = min(result, product)
    return result


@cache
def list_integer_partitions(number: int) -> tuple[tuple[int, ...], ...]:
    """List the partitions of a number, with parts in descending order.

    >>> list_integer_partitions(3)
    ((3,), (2, 1), (1, 1, 1))
    """

    def parts(left: int, most: int) -> Iterator[tuple[int, ...]]:
        if not left:
            yield ()
        for first in range(min(left, most), 0, -1):
            for rest in parts(left - first, first):
                yield (first, *rest)

    return tuple(parts(number, number))
