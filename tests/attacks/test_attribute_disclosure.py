"""Disclosure of sensitive values, checked against loops over rows, all worlds and all facts."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations, product
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from discreet.attacks.attribute_disclosure import (
    compute_disclosure,
    compute_implication_chances,
    compute_negation_chance,
    compute_skew,
    sort_unit_counts,
)
from discreet.attacks.published_table import NO_VALUE, ValueCounts
from tests.drawing import some_of

Units = list[list[str | None]]
UNITS = st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=3), min_size=1, max_size=2)
WITH_NULL = st.lists(
    st.lists(st.sampled_from([*"abc", None]), min_size=1, max_size=5), min_size=1, max_size=4
)


def counts_of(units: Units) -> ValueCounts:
    entries = sorted(
        (u, NO_VALUE if v is None else "abc".index(v), n)
        for u, values in enumerate(units)
        for v, n in Counter(values).items()
    )
    columns = np.array(entries, dtype=np.int64).T
    return ValueCounts("s", ("a", "b", "c"), *columns, np.array([len(values) for values in units]))


def entropy_l(counted: Counter[str]) -> float:
    total = counted.total()
    return exp(-sum(n / total * log(n / total) for n in counted.values())) if total else 0.0


@given(WITH_NULL)
def test_disclosure_equals_a_plain_loop(units: Units) -> None:
    found = compute_disclosure(counts_of(units), Fraction(2, 3))
    rows = sum(map(len, units))
    values = [Counter(v for v in unit if v is not None) for unit in units]
    modes = [max(counted.values(), default=0) for counted in values]
    assert (found.rows, found.units) == (rows, len(units))
    assert found.fewest_values == min(map(len, values))
    pairs = list(zip(units, values, modes, strict=True))
    assert found.homogeneous_rows == sum(len(unit) for unit, counted, _ in pairs if len(counted) <= 1)
    assert found.dominated_rows == sum(len(unit) for unit, _, mode in pairs if 3 * mode > 2 * len(unit))
    assert found.guessed == pytest.approx(sum(modes) / rows)
    whole = sum(values, Counter[str]())
    assert found.baseline == pytest.approx(max(whole.values(), default=0) / rows)
    assert found.entropy_l == pytest.approx(min(map(entropy_l, values)))


def worlds(units: Units) -> list[tuple[str | None, ...]]:
    """Return every equally likely assignment of values to persons."""
    each = [list(permutations(values)) for values in units]
    return [tuple(v for part in world for v in part) for world in product(*each)]


@given(UNITS, st.integers(0, 2))
@examples(max_examples=some_of(40), deadline=None)
def test_worst_implications_equal_an_exhaustive_search(units: Units, facts: int) -> None:
    every = worlds(units)
    atoms = list(product(range(len(every[0])), "abc"))
    holds = {(p, v): frozenset(i for i, w in enumerate(every) if w[p] == v) for p, v in atoms}
    everywhere = frozenset(range(len(every)))
    facts_of = {(everywhere - holds[a]) | holds[b] for a in atoms for b in atoms}
    best = 0.0
    for number in range(facts + 1):
        for known in combinations(facts_of, number):
            left = everywhere.intersection(*known)
            best = max([best, *(len(left & holds[a]) / len(left) for a in atoms if left)])
    assert compute_implication_chances(sort_unit_counts(counts_of(units)), facts)[-1] == pytest.approx(best)


@given(UNITS, st.integers(0, 2))
def test_worst_negations_equal_an_exhaustive_search(units: Units, facts: int) -> None:
    best = 0.0
    for values in units:
        for number in range(facts + 1):
            for gone in combinations("abc", number):
                left = [v for v in values if v not in gone]
                best = max([best, *(left.count(v) / len(left) for v in left)])
    assert compute_negation_chance(sort_unit_counts(counts_of(units)), facts) == pytest.approx(best)


@given(UNITS)
def test_skew_equals_its_definition(units: Units) -> None:
    whole = [v for values in units for v in values]
    shares = {v: whole.count(v) / len(whole) for v in set(whole)}
    found = compute_skew(counts_of(units))
    distances = [sum(abs(u.count(v) / len(u) - p) for v, p in shares.items()) / 2 for u in units]
    assert found.distance == pytest.approx(max(distances))
    assert found.mean_distance == pytest.approx(
        sum(d * len(u) for d, u in zip(distances, units, strict=True)) / len(whole)
    )
    assert found.gain == pytest.approx(max(u.count(v) / len(u) - shares[v] for u in units for v in u))
    assert found.times == pytest.approx(max(u.count(v) / len(u) / shares[v] for u in units for v in u))
    assert found.over == sum(len(u) for u in units if any(u.count(v) / len(u) >= 2 * shares[v] for v in u))
