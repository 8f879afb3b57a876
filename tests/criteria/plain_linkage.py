"""Linkage criteria in plain Python, from the people of a population that match a class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import exp, factorial

from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode

Cells = tuple[str | None, ...]


def classes_at(
    table: FrequencySet, rows: Iterable[tuple[Sequence[int], int]], node: LatticeNode
) -> Counter[Cells]:
    """Count rows by their labels at a node; ``rows`` are leaf codes with their counts."""
    found: Counter[Cells] = Counter()
    for codes, number in rows:
        cells = []
        for hierarchy, code, level in zip(table.hierarchies, codes, node, strict=True):
            if level == hierarchy.height:
                cells.append("*")
            elif code == hierarchy.null_code:
                cells.append(None)
            else:
                cells.append(hierarchy.labels[level][int(hierarchy.ancestors[level][code])])
        found[tuple(cells)] += number
    return found


def both_at(table: FrequencySet, node: LatticeNode) -> tuple[Counter[Cells], Counter[Cells]]:
    """Count the rows of a table and the people of its population by their labels at a node."""
    assert table.population is not None
    own = zip(table.codes.tolist(), table.counts.tolist(), strict=True)
    people = zip(table.population.codes.tolist(), table.population.counts.tolist(), strict=True)
    return classes_at(table, own, node), classes_at(table, people, node)


def below_k_map(table: FrequencySet, node: LatticeNode, k: int) -> set[Cells]:
    """Return the classes that fewer than k people match."""
    rows, people = both_at(table, node)
    return {cells for cells in rows if people[cells] < k}


def outside_presence(table: FrequencySet, node: LatticeNode, least: Fraction, most: Fraction) -> set[Cells]:
    """Return the classes whose share of people in the table is outside the allowed range."""
    return outside(*both_at(table, node), least, most)


def outside(rows: Counter[Cells], people: Counter[Cells], least: Fraction, most: Fraction) -> set[Cells]:
    """Return the classes with a share outside the range, from counted rows and people."""
    return {cells for cells in rows if not least <= Fraction(rows[cells], people[cells]) <= most}


def suppressed_rows_fail(
    table: FrequencySet, node: LatticeNode, gone: set[Cells], least: Fraction, most: Fraction
) -> bool:
    """Return True if, of the people that match no published class, too few or too many are in the table."""
    return fails_without(*both_at(table, node), gone, least, most)


def fails_without(
    rows: Counter[Cells], people: Counter[Cells], gone: set[Cells], least: Fraction, most: Fraction
) -> bool:
    """Return the same from counted rows and people."""
    suppressed = sum(rows[cells] for cells in gone)
    unmatched = sum(number for cells, number in people.items() if cells in gone or cells not in rows)
    return unmatched > 0 and not least <= Fraction(suppressed, unmatched) <= most


def chance_of_rows(rows: int, mean: float, *, truncated: bool) -> float:
    """Return the probability that a class has at least ``rows`` rows."""
    if rows <= 0:
        return 1.0
    fewer = sum(exp(-mean) * mean**i / factorial(i) for i in range(int(truncated), rows))
    return 1 - fewer / (1 - exp(-mean) if truncated else 1)


def fewest_rows(k: int, fraction: float, significance: float, *, truncated: bool) -> int:
    """Return the fewest rows of a class of k people with at most probability ``significance``, else k."""
    return next(
        (f for f in range(1, k) if chance_of_rows(f, fraction * k, truncated=truncated) <= significance), k
    )
