"""Partitions by name: Adult's figures, refusals, NULLs, categories, classes, quasi-identifiers."""

from __future__ import annotations

import csv
import random
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.errors import InputError, NoSolution, RequirementNotMet
from discreet.model.release_kind import NULL_CODE, GroupRequirement, SensitiveColumn
from discreet.permutation.group_checks import check_partition
from discreet.permutation.heuristic_partitions import most_finest_groups
from discreet.permutation.partition_strategies import PartitionStrategy
from discreet.permutation.partitions import partition_rows
from discreet.permutation.subject_groups import count_group_facts
from discreet.permutation.value_runs import ValueRuns
from tests.drawing import some_of
from tests.oracle.plain_groups import meets, set_partitions
from tests.permutation.partition_errors import maximum_error, sum_of_errors
from tests.permutation.test_optimizers import column_of, members

Numbers = NDArray[np.int64] | NDArray[np.float64]


def group_requirement(k: int, e: int | str = 0) -> GroupRequirement:
    return GroupRequirement(k, Decimal(e))


def categories(texts: str) -> SensitiveColumn:
    found, codes = np.unique(list(texts), return_inverse=True)
    return SensitiveColumn("disease", codes.astype(np.int64), len(found), None)


def with_nulls(column: SensitiveColumn, places: list[int]) -> SensitiveColumn:
    codes = np.insert(column.codes, places, NULL_CODE)
    return SensitiveColumn(column.attribute, codes, column.distinct, column.numbers, column.scale)


def numbers_column(numbers: Numbers, scale: int = 0) -> SensitiveColumn:
    found, codes = np.unique(numbers, return_inverse=True)
    return SensitiveColumn("pay", codes.astype(np.int64), len(found), found, scale)


def ages(count: int, seed: int = 1) -> NDArray[np.int64]:
    return np.random.default_rng(seed).integers(17, 90, (count, 2))


@pytest.fixture(scope="module")
def losses(data_dir: Path) -> tuple[SensitiveColumn, NDArray[np.int64]]:
    """Return the capital losses of Adult above 0, and the ages of these people."""
    with (data_dir / "adult" / "adult_30162.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["capital_loss"] != "0"]
    own = np.array([[int(row["age"])] for row in rows])
    return column_of([int(row["capital_loss"]) for row in rows]), own


@pytest.mark.parametrize(
    ("k", "e", "total", "widest", "groups"),
    [(5, 0, 3274, 1352, 16), (5, 500, 3828, 1352, 5), (10, 500, 3952, 1809, 4), (10, 1000, 4044, 1809, 3)],
)
def test_partitions_of_adult_have_the_documented_figures(
    losses: tuple[SensitiveColumn, NDArray[np.int64]], k: int, e: int, total: int, widest: int, groups: int
) -> None:
    """Adult has the figures of docs/permutation-partitions.md."""
    column, _ = losses
    assert column.rows == 1427
    least = partition_rows(column, group_requirement(k, e))
    assert (least.error, least.group_count) == (total, groups)
    assert partition_rows(column, group_requirement(k, e), "min-max").error == widest
    assert partition_rows(column, group_requirement(k, e), "contiguous-min-max").error == widest


def test_numbers_near_the_ends_of_64_bits_are_exact() -> None:
    """Ranges beyond 2^63, with distances of one, are exact."""
    big = 1 << 62
    values = [-big, -big + 1, -big + 2, 0, 1, big - 1, big, big + 1]
    found = partition_rows(numbers_column(np.array(values)), group_requirement(2, 1), "min-sum")
    assert found.error == 5
    assert members(values, found)[0] == [-big, -big + 1, -big + 2]
    whole = partition_rows(numbers_column(np.array(values)), group_requirement(2, 2 * big), "min-max")
    assert whole.error == 2 * big
    assert whole.group_count == 2
    with pytest.raises(NoSolution):
        partition_rows(numbers_column(np.array(values)), group_requirement(2, 2 * big + 2))


def test_decimals_are_compared_in_their_own_units() -> None:
    """Decimals are compared exactly: 0.1 + 0.2 equals 0.3, unlike in doubles."""
    column = numbers_column(np.array([10, 20, 30, 40]), scale=2)
    found = partition_rows(column, group_requirement(2, "0.1"))
    assert found.error == Decimal("0.20")
    assert partition_rows(column, group_requirement(2, "0.1000000001")).error == Decimal("0.30")


@pytest.mark.parametrize("sizes", [(1.0,), (1.0, 1e300), (1.0, 5e-324)])
def test_doubles_are_compared_exactly(sizes: tuple[float, ...]) -> None:
    drawn = random.Random(4)
    for _ in range(some_of(60)):
        values = [drawn.randint(-9, 9) * 0.1 * drawn.choice(sizes) for _ in range(drawn.randint(2, 7))]
        e = drawn.choice(("0", "0.1", "0.30000000000000004", "0.3"))
        exact = [Fraction(value) for value in values]
        least = Fraction(Decimal(e))
        valid = [
            sum(max(g) - min(g) for g in groups)
            for groups in set_partitions(sorted(exact))
            if all(len(set(g)) >= 2 and max(g) - min(g) >= least for g in groups)
        ]
        column = numbers_column(np.array(values))
        if not valid:
            with pytest.raises(NoSolution):
                partition_rows(column, group_requirement(2, e))
            continue
        found = partition_rows(column, group_requirement(2, e))
        assert found.error == Decimal(repr(float(min(valid))))


def test_infinite_doubles_are_refused() -> None:
    column = SensitiveColumn("pay", np.array([0, 1]), 2, np.array([1.0, np.inf]))
    with pytest.raises(InputError, match="not finite"):
        partition_rows(column, group_requirement(2))


REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: partition_rows(column_of([1, 2]), group_requirement(0)), "k = 0"),
    (lambda: partition_rows(column_of([1, 2]), group_requirement(1)), "requires nothing"),
    (lambda: partition_rows(column_of([1, 2]), group_requirement(2, -1)), "e = -1"),
    (lambda: partition_rows(column_of([1, 2]), group_requirement(2, "NaN")), "e = NaN"),
    (lambda: partition_rows(column_of([1, 2]), group_requirement(2), "best"), "no partition 'best'"),
    (lambda: partition_rows(categories("ab"), group_requirement(2, 1)), "is not numeric"),
    (lambda: partition_rows(categories("ab"), group_requirement(2), "contiguous-min-max"), "needs numbers"),
    (
        lambda: partition_rows(column_of([1, 2]), group_requirement(2), "random", first=group_requirement(2)),
        "has no first group",
    ),
    (
        lambda: partition_rows(column_of([1, 2, 3]), group_requirement(3), first=group_requirement(2)),
        "a weaker requirement",
    ),
    (
        lambda: partition_rows(column_of([1, 2, 3]), group_requirement(2, 1), first=group_requirement(3)),
        "a weaker requirement",
    ),
    (
        lambda: partition_rows(column_of([1, 2]), group_requirement(2), "qi-aware"),
        "needs the rows' quasi-identifiers",
    ),
    (
        lambda: partition_rows(
            column_of([1, 2]), group_requirement(2), "qi-aware", quasi_identifiers=ages(3)
        ),
        "needs the rows' quasi-identifiers",
    ),
    (lambda: partition_rows(column_of([1, 2]), group_requirement(2), "recoding"), "needs the classes"),
]


@pytest.mark.parametrize(("case", "message"), REFUSED)
def test_invalid_requests_are_refused(case: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        case()


@pytest.mark.parametrize("strategy", ["min-sum", "min-max", "contiguous-min-max", "random"])
def test_impossible_requirement_is_refused_without_a_value_of_the_data(strategy: str) -> None:
    column = column_of([731, 731, 977])
    with pytest.raises(NoSolution, match="fewer than k = 3 distinct values: 2") as few:
        partition_rows(column, group_requirement(3), strategy)
    with pytest.raises(NoSolution, match="below e = 300") as narrow:
        partition_rows(column, group_requirement(2, 300), strategy)
    for error in (few.value, narrow.value):
        assert not any(text in str(error) for text in ("731", "977", "246"))
    with pytest.raises(NoSolution):
        partition_rows(with_nulls(column_of([5, 5]), [0]), group_requirement(2), strategy)
    with pytest.raises(NoSolution):
        partition_rows(
            SensitiveColumn("pay", np.array([NULL_CODE, NULL_CODE]), 0, np.zeros(0, np.int64)),
            group_requirement(2),
            strategy,
        )


@pytest.mark.parametrize("strategy", list(PartitionStrategy))
def test_every_strategy_meets_the_requirement_and_spreads_nulls(strategy: PartitionStrategy) -> None:
    drawn = np.random.default_rng(8)
    for k, e in product((2, 4), (0, 3)):
        values = drawn.integers(0, 30, 240).tolist()
        column = with_nulls(column_of(values), drawn.integers(0, 240, 60).tolist())
        classes = drawn.integers(0, 4, column.rows)
        found = partition_rows(
            column, group_requirement(k, e), strategy, quasi_identifiers=ages(column.rows), classes=classes
        )
        groups = [column.codes[found.groups == group] for group in range(found.group_count)]
        assert column.numbers is not None
        for codes in groups:
            assert meets(column.numbers[codes[codes >= 0]].tolist(), (k, e))
        nulls = [int((codes < 0).sum()) for codes in groups]
        assert sum(nulls) == 60
        if strategy not in (PartitionStrategy.RECODING, PartitionStrategy.QI_AWARE):
            shares = [60 * int((codes >= 0).sum()) / 240 for codes in groups]
            assert all(abs(own - share) <= 1 for own, share in zip(nulls, shares, strict=True))


def test_rows_of_equal_values_are_assigned_at_random() -> None:
    column = column_of([1, *[2] * 10, 3])
    found = {tuple(partition_rows(column, group_requirement(2)).groups.tolist()) for _ in range(20)}
    assert len(found) > 10
    assert all(Counter(groups) == {0: 6, 1: 6} for groups in found)


def test_same_draw_makes_the_same_partition() -> None:
    column = column_of([1, 2, 2, 2, 3, 4, 4, 5] * 9)
    for strategy in ("min-sum", "min-max", "random"):
        one, two = (
            partition_rows(column, group_requirement(2), strategy, draw=np.random.default_rng(5).permutation)
            for _ in range(2)
        )
        assert one.groups.tolist() == two.groups.tolist()


def test_e_of_0_equals_distinct_diversity() -> None:
    drawn = random.Random(3)
    for _ in range(some_of(200)):
        column = column_of([drawn.randint(0, 5) for _ in range(8)])
        groups = np.array([drawn.randint(0, 1) for _ in range(8)])
        l = drawn.randint(2, 4)
        diverse = all(
            len(set(column.codes[groups == group].tolist())) >= l for group in range(int(groups.max()) + 1)
        )
        assert check_partition(column, groups, group_requirement(l)).holds == diverse


def test_categories_make_the_most_groups() -> None:
    """Categories make as many groups as the best of all partitions, because every error is 0."""
    drawn = random.Random(6)
    for _ in range(some_of(150)):
        texts = "".join(drawn.choice("aabbcde") for _ in range(drawn.randint(3, 7)))
        k = drawn.choice((2, 3))
        valid = [len(p) for p in set_partitions(list(map(ord, texts))) if all(len(set(g)) >= k for g in p)]
        if not valid:
            continue
        for strategy in ("min-sum", "min-max"):
            found = partition_rows(categories(texts), group_requirement(k), strategy)
            assert found.group_count == max(valid)
            assert found.error == 0
            sizes = np.bincount(found.groups)
            assert sizes.max() - sizes.min() <= 1
    assert most_finest_groups(np.array([5, 1, 1]), 2) == 2


def test_random_groups_close_once_they_meet_the_requirement() -> None:
    values = [1, 1, 2, 9, 9, 3, 5, 5]
    found = partition_rows(column_of(values), group_requirement(2, 2), "random", draw=lambda n: np.arange(n))
    assert found.groups.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert found.error is None
    assert sum_of_errors(column_of(values), found.groups) == 14
    assert maximum_error(column_of(values), found.groups) == 8


def test_classes_become_groups_or_are_refused_or_merged() -> None:
    column = column_of([1, 2, 3, 4, 5, 5, 7, 8])
    classes = np.array([7, 7, 9, 9, 3, 3, 9, -1])
    good = np.array([7, 7, 9, 9, 9, 9, 7, 7])
    assert partition_rows(column, group_requirement(2), "recoding", classes=good).groups.tolist() == [
        0,
        0,
        1,
        1,
        1,
        1,
        0,
        0,
    ]
    with pytest.raises(RequirementNotMet, match="2 of 4 classes, 3 rows"):
        partition_rows(column, group_requirement(2), "recoding", classes=classes)
    merged = partition_rows(column, group_requirement(2), "recoding", classes=classes, merge_failing=True)
    assert len({*merged.groups[[4, 5, 7]].tolist()}) == 1
    assert merged.group_count == 3
    joined = partition_rows(
        column,
        group_requirement(2, 1),
        "recoding",
        classes=np.array([0] * 4 + [1] * 2 + [2] * 2),
        merge_failing=True,
    )
    assert joined.groups[4] == joined.groups[6]
    one = partition_rows(column, group_requirement(4), "recoding", classes=classes, merge_failing=True)
    assert one.group_count == 1


def test_partition_aware_of_quasi_identifiers_makes_no_row_worse(
    losses: tuple[SensitiveColumn, NDArray[np.int64]],
) -> None:
    column, own = losses
    runs = ValueRuns.of(column)
    plain = partition_rows(column, group_requirement(5, 500))
    near = partition_rows(column, group_requirement(5, 500), "qi-aware", quasi_identifiers=own)
    spans = [
        np.array(count_group_facts(runs, p.groups, p.group_count).ranges())[p.groups] for p in (plain, near)
    ]
    assert maximum_error(column, near.groups) <= maximum_error(column, plain.groups)
    assert near.group_count > 5 * plain.group_count
    assert spans[1].mean() <= spans[0].mean()


def test_pairs_of_like_rows_join() -> None:
    """Pairs of similar rows join, as in the module's example: the sum grows, but the young are separated."""
    column = column_of([0, 1, 0, 1])
    own = np.array([[20], [20], [60], [60]])
    found = partition_rows(column, group_requirement(2), "qi-aware", quasi_identifiers=own)
    assert found.groups[0] == found.groups[1] != found.groups[2] == found.groups[3]
    assert partition_rows(column, group_requirement(2)).group_count == 1


def test_rows_of_a_shared_value_join_the_nearer_side() -> None:
    column = column_of([1, 2, 2, 2, 2, 3])
    own = np.array([[20], [60], [21], [22], [61], [62]])
    found = partition_rows(column, group_requirement(2), "qi-aware", quasi_identifiers=own)
    assert found.groups[[0, 2, 3]].tolist() == [found.groups[0]] * 3
    assert found.groups[[1, 4, 5]].tolist() == [found.groups[5]] * 3


def test_categories_are_grouped_by_quasi_identifiers() -> None:
    column = categories("abcdabcdabcd")
    own = np.arange(12)[:, None]
    found = partition_rows(column, group_requirement(3), "qi-aware", quasi_identifiers=own)
    assert found.group_count >= 2
    assert check_partition(column, found.groups, group_requirement(3)).holds


Outcome = frozenset[frozenset[int]]


def outcomes(
    column: SensitiveColumn, strategy: str, *, own: NDArray[np.int64] | None = None
) -> Counter[Outcome]:
    """Count how often each partition results, over all draws."""
    found: Counter[Outcome] = Counter()
    for order in permutations(range(column.rows)):

        def draw(n: int, order: tuple[int, ...] = order) -> NDArray[np.int64]:
            return np.array([place for place in order if place < n])

        groups = partition_rows(
            column, group_requirement(2), strategy, draw=draw, quasi_identifiers=own
        ).groups.tolist()
        rows = range(column.rows)
        found[frozenset(frozenset(i for i in rows if groups[i] == g) for g in set(groups))] += 1
    return found


def dealt_out(column: SensitiveColumn, groups: Outcome) -> Iterator[SensitiveColumn]:
    """Yield every table from which the release of these groups could result."""
    members = [sorted(group) for group in groups]
    for orders in product(*(permutations(group) for group in members)):
        codes = column.codes.copy()
        for rows, order in zip(members, orders, strict=True):
            codes[rows] = column.codes[list(order)]
        yield SensitiveColumn(column.attribute, codes, column.distinct, column.numbers)


@pytest.mark.parametrize(
    ("values", "strategy"),
    [
        *product(([1, 2, 2, 3], [4, 4, 1, 1]), ("min-sum", "min-max", "contiguous-min-max", "random")),
        ([1, 2, 2, 3], "weighted-min-sum"),
        ([1, 2, 2, 3, 5], "random"),
        ("aabb", "min-sum"),
    ],
)
def test_knowing_the_algorithm_reveals_nothing_about_owners_of_values(
    values: list[int] | str, strategy: str
) -> None:
    """Knowing the algorithm reveals nothing about the owner of a value.

    Each table from which the release could result makes these groups with the same probability.
    """
    column = categories(values) if isinstance(values, str) else column_of(values)
    known: dict[tuple[int, ...], Counter[Outcome]] = {}
    for groups, times in outcomes(column, strategy).items():
        for other in dealt_out(column, groups):
            codes = tuple(other.codes.tolist())
            if codes not in known:
                known[codes] = outcomes(other, strategy)
            assert known[codes][groups] == times


def test_knowing_that_groups_are_divided_reveals_something_and_is_warned_about() -> None:
    column, own = column_of([0, 1, 1, 0]), np.array([[20], [20], [60], [60]])
    groups = frozenset({frozenset({0, 1}), frozenset({2, 3})})
    assert outcomes(column, "qi-aware", own=own)[groups] == 24
    found = partition_rows(column, group_requirement(2), "qi-aware", quasi_identifiers=own)
    assert any(warning.startswith("minimality") for warning in found.warnings)
    assert partition_rows(column, group_requirement(2)).warnings == ()
