"""Loss tables, grouping power and risk, checked by hand and against their definitions."""

from __future__ import annotations

from fractions import Fraction
from math import prod

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.measures.grouping_power import GroupingPower, grouping_power
from discreet.measures.loss import LossTables, level_losses
from discreet.measures.recoding_metrics import ProsecutorRisk, prosecutor_risk
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import TOP, GeneralizationHierarchy
from discreet.model.lattice import Lattice, LatticeNode
from tests.oracle.brute_lattice import value_at
from tests.oracle.random_tables import frequency_set_of, random_frequency_set

AGE = GeneralizationHierarchy(
    "age",
    (("21", "25", "38", "60"), ("20s", "30s", "60s"), ("young", "old"), (TOP,)),
    tuple(np.array(a) for a in ([0, 1, 2, 3], [0, 0, 1, 2], [0, 0, 0, 1], [0, 0, 0, 0])),
    "test",
)


def share_by_hand(table: FrequencySet, attribute: int, level: int) -> Fraction:
    """Return the mean of m/D over all rows, looking up each row's value by its label."""
    hierarchy = table.hierarchies[attribute]
    leaves = len(hierarchy.leaves)
    total = Fraction(0)
    for codes, count in zip(table.codes.tolist(), table.counts.tolist(), strict=True):
        value = value_at(hierarchy, codes[attribute], level)
        under = [leaf for leaf in range(leaves) if value_at(hierarchy, leaf, level) == value]
        total += count * Fraction(1 if value is None else len(under), leaves)
    return total / table.rows


def loss_by_hand(table: FrequencySet, node: LatticeNode, weights: dict[str, float]) -> float:
    factors = []
    largest = max(weights.get(name, 1.0) for name in table.attributes) or 1.0
    given = weights if any(weights.get(name, 1.0) for name in table.attributes) else {}
    for i, hierarchy in enumerate(table.hierarchies):
        leaves = len(hierarchy.leaves)
        least = Fraction(1, leaves)
        x = (share_by_hand(table, i, node[i]) - least) / (1 - least) if leaves > 1 else Fraction(0)
        factors.append(1 + float(x) * given.get(hierarchy.attribute, 1.0) / largest)
    return prod(factors) ** (1 / len(factors)) - 1


def test_loss_of_every_node_equals_its_definition() -> None:
    tried = 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        table = random_frequency_set(random, attributes=3, height=3, leaves=6, rows=15, sensitive=0)
        if not table.rows:
            continue
        weights = {
            name: float(random.integers(0, 4)) / 2 for name in table.attributes if random.random() < 0.5
        }
        tables = LossTables.of(table, weights)
        lattice = Lattice(table.attributes, tuple(h.height for h in table.hierarchies))
        for i, node in enumerate(lattice.nodes()):
            expected = loss_by_hand(table, node, weights)
            assert tables.losses[i] == pytest.approx(expected, abs=1e-12)
            assert tables.loss_of_node(node) == pytest.approx(expected, abs=1e-12)
            tried += 1
    assert tried > 500


SEX = GeneralizationHierarchy("sex", (("F",), (TOP,)), (np.array([0]), np.array([0])), "test")


@pytest.mark.parametrize(
    ("hierarchy", "rows_by_code", "expected"),
    [
        # 21, 21, 38, 60 cover 2, 2, 1, 1 leaves at level 1 and 3, 3, 3, 1 at level 2.
        (AGE, [2, 0, 1, 1, 0], [0, 2 / 12, 6 / 12, 1]),
        (AGE, [1, 0, 0, 0, 1], [0, 1 / 6, 2 / 6, 1]),  # NULL is separate below the top and joins it there
        (AGE, [0, 0, 0, 5, 0], [0, 0, 0, 1]),  # a leaf without rows counts
        (AGE, [3 * 2**40, 0, 2**40, 0, 0], [0, 3 / 12, 2 / 3, 1]),
        (SEX, [3, 1], [0, 0]),
    ],
)
def test_level_losses_equal_those_by_hand(
    hierarchy: GeneralizationHierarchy, rows_by_code: list[int], expected: list[float]
) -> None:
    assert level_losses(hierarchy, np.array(rows_by_code)).tolist() == pytest.approx(expected)


def test_losses_are_exactly_zero_at_the_bottom_and_one_at_the_top() -> None:
    tables = LossTables.of(frequency_set_of([AGE, AGE], [((0, 1), ()), ((2, 3), ()), ((4, 0), ())]))
    assert (tables.losses[0], tables.losses[-1]) == (0, 1)
    assert LossTables.of(frequency_set_of([AGE], [])).losses.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("weights", "fact"),
    [
        ({"zip": 1.0}, "a weight was given for 'zip', which is not a quasi-identifier"),
        ({"age": -1.0}, "weight -1.0 of 'age'"),
        ({"age": float("nan")}, "weight nan of 'age'"),
    ],
)
def test_invalid_weights_are_refused(weights: dict[str, float], fact: str) -> None:
    with pytest.raises(InputError) as error:
        LossTables.of(frequency_set_of([AGE], []), weights)
    assert error.value.message == fact


def test_grouping_power_is_measured_with_other_attributes_at_level_zero() -> None:
    """Levels are judged with all others at zero: nodes 00 … 21 have 8, 6, 4, 3, 1, 1 classes of 16 rows."""
    lattice = Lattice(("age", "sex"), (2, 1))
    assert grouping_power(lattice, 16, np.array([8, 6, 4, 3, 1, 1])) == (
        GroupingPower("age", 0, 8, 2.0, 0.5),
        GroupingPower("age", 1, 4, 4.0, 2.0),
        GroupingPower("age", 2, 1, 16.0, 4.0),
        GroupingPower("sex", 0, 8, 2.0, 6 / 8),
        GroupingPower("sex", 1, 6, 16 / 6, 8 / 6),
    )
    assert grouping_power(Lattice(("sex",), (0,)), 4, np.array([2])) == (
        GroupingPower("sex", 0, 2, 2.0, 1.0),
    )
    assert grouping_power(Lattice(("sex",), (1,)), 0, np.array([0, 0])) == (
        GroupingPower("sex", 0, 0, 0.0, 1.0),
        GroupingPower("sex", 1, 0, 0.0, 1.0),
    )


def test_prosecutor_risk_equals_one_by_the_class_size() -> None:
    assert prosecutor_risk(np.array([1, 1, 3, 5])) == ProsecutorRisk(1.0, 4 / 10, 2 / 10)
    assert prosecutor_risk(np.array([2, 2, 2, 5, 5])) == ProsecutorRisk(0.5, 5 / 16, 0.0)
    assert prosecutor_risk(np.array([], dtype=np.int64)) == ProsecutorRisk(0.0, 0.0, 0.0)
