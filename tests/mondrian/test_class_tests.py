"""Mondrian under any requirement, with any cut chooser, and its bounds (LeFevre et al. 2006)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from discreet.errors import InputError, InternalError, NoSolution
from discreet.model.class_recoding import ClassRecoding, ClassTest
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import TOP, GeneralizationHierarchy
from discreet.model.requirement import Requirement
from discreet.mondrian.external import partition_in_engine
from discreet.mondrian.mondrian_options import Cut, MondrianOptions, Tie
from discreet.mondrian.partition import partition_table
from discreet.mondrian.space import Fragment, ProposedCut
from discreet.settings import Settings
from tests.criteria_of_tests import Share
from tests.drawing import some_of
from tests.mondrian.numbered import random_table
from tests.oracle.class_tests import EntropyDiversity, TCloseness
from tests.oracle.plain_criteria import MostRows
from tests.oracle.random_tables import frequency_set_of, plain_ranks


def counts_of(table: FrequencySet, members: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Count rows by value of the first sensitive attribute, in plain Python."""
    sets = table.sensitive[0]
    assert sets.counts is not None
    found = np.zeros(sets.size, dtype=np.int64)
    for member in members:
        for place in range(int(sets.offsets[member]), int(sets.offsets[member + 1])):
            found[sets.codes[place]] += sets.counts[place]
    return found


def members_of(recoding: ClassRecoding, number: int) -> list[int]:
    found: list[int] = recoding.row_types[recoding.classes == number].tolist()
    return found


@pytest.mark.parametrize("kind", ["entropy", "closeness", "ordered closeness"])
@pytest.mark.parametrize("cut", list(Cut))
def test_classes_pass_the_test_and_cannot_be_cut(kind: str, cut: Cut, settings: Settings) -> None:
    several = 0
    for seed in range(some_of(30)):
        random = np.random.default_rng(seed)
        table = random_table(random, rows=60)
        if not table.sensitive:
            continue
        whole = counts_of(table, list(range(table.row_types)))
        test: ClassTest = EntropyDiversity(1.6)
        if kind != "entropy":
            test = TCloseness(0.3, whole, ordered=kind.startswith("ordered"))
        k = int(random.integers(1, 4))
        try:
            found = partition_table(
                table, Requirement(k), settings, MondrianOptions(cut=cut), class_test=test
            )
        except NoSolution:
            assert not test.holds(table.rows, [whole]) or table.rows < k
            continue
        several += found.class_count > 1
        for number in range(found.class_count):
            members = members_of(found, number)
            assert table.counts[members].sum() >= k
            assert test.holds(0, [counts_of(table, members)])
            if cut is Cut.BEST:
                assert not cuttable(table, members, k, test)
    assert several > 3


def cuttable(table: FrequencySet, members: list[int], k: int, test: ClassTest) -> bool:
    """Return True if some cut of the leaves gives two passing classes; numbers are ordered by value."""
    for attribute, hierarchy in enumerate(table.hierarchies):
        codes = table.codes[members, attribute]
        try:
            key = np.array([*(float(leaf) for leaf in hierarchy.leaves), np.inf])[codes]
        except ValueError:
            key = np.array([*plain_ranks(hierarchy), np.inf])[codes]
        for bound in np.unique(key)[:-1]:
            sides = [np.array(members)[key <= bound].tolist(), np.array(members)[key > bound].tolist()]
            if all(
                table.counts[side].sum() >= k and test.holds(0, [counts_of(table, side)]) for side in sides
            ):
                return True
    return False


def test_class_test_without_rows_by_value_is_refused(settings: Settings) -> None:
    table = next(t for t in tables() if t.sensitive)
    sets = table.sensitive[0]
    bare = type(sets)(sets.attribute, sets.size, sets.offsets, sets.codes)
    uncounted = FrequencySet(table.hierarchies, table.codes, table.counts, (bare,))
    assert partition_table(uncounted, Requirement(1, 1), settings).class_count > 0
    with pytest.raises(InputError, match="no row counts by value of 's0'"):
        partition_table(uncounted, Requirement(1), settings, class_test=EntropyDiversity(1))
    with pytest.raises(InputError, match="needs the rows by value of 's0'"):
        partition_table(uncounted, Requirement(1, 1), settings, MondrianOptions(relaxed=True))


def tables() -> Iterator[FrequencySet]:
    for seed in range(some_of(40)):
        yield random_table(np.random.default_rng(seed), rows=60)


def test_cut_with_an_empty_side_is_an_internal_error(settings: Settings) -> None:

    def beyond(fragment: Fragment) -> list[ProposedCut]:
        del fragment
        return [ProposedCut(0, 99)]

    with pytest.raises(InternalError, match="one side empty"):
        partition_table(next(tables()), Requirement(1), settings, chooser=beyond)


def test_relaxed_classes_have_l_values_for_every_draw(settings: Settings) -> None:
    """Relaxed classes keep l for every draw of rows of split row types, simulated at its worst.

    The worst draw takes the commonest values first.
    """
    split = several = 0
    for table in tables():
        if not table.sensitive:
            continue
        requirement = Requirement(2, 2)
        try:
            found = partition_table(table, requirement, settings, MondrianOptions(relaxed=True))
        except NoSolution:
            continue
        several += found.class_count > 1
        parts = zip(found.row_types.tolist(), found.classes.tolist(), found.rows.tolist(), strict=True)
        sure: list[set[int]] = [set() for _ in range(found.class_count)]
        for row_type, number, rows in parts:
            split += rows < table.counts[row_type]
            counts = counts_of(table, [row_type])
            for value in np.flatnonzero(counts).tolist():
                if table.counts[row_type] - counts[value] < rows:
                    sure[number].add(value)
        assert found.class_rows().min() >= 2
        assert min(map(len, sure)) >= 2
    assert several > 3
    assert split


def a_table() -> FrequencySet:
    for seed in range(some_of(100)):
        table = random_table(np.random.default_rng(seed), rows=40)
        if table.sensitive:
            return table
    raise AssertionError


def test_relaxed_mondrian_refuses_criteria_other_than_k_and_l(settings: Settings) -> None:
    requirement = Requirement(2, criteria=[Share(0.9)])
    with pytest.raises(InputError, match=r"share=0.9 \(share of a value\) cannot be guaranteed") as error:
        partition_table(a_table(), requirement, settings, MondrianOptions(relaxed=True))
    assert error.value.allowed == "k and l with relaxed Mondrian, or strict Mondrian"


def test_criterion_that_is_not_monotone_is_refused(settings: Settings) -> None:
    with pytest.raises(InputError, match=r"most-rows=7 of a search that divides or merges classes"):
        partition_table(a_table(), Requirement(2, criteria=[MostRows(7)]), settings)


def test_rows_by_value_must_have_been_counted(settings: Settings) -> None:
    table = a_table()
    bare = replace(table, sensitive=tuple(replace(sets, counts=None) for sets in table.sensitive))
    with pytest.raises(InputError, match=r"share\(.*\)=0.9: the frequency set contains no rows by value"):
        partition_table(bare, Requirement(2, criteria=[Share(0.9)]), settings)


class Facts:
    """A fact table that must not be read."""

    by_subject = False


def test_engine_refuses_criteria_other_than_k_and_l(settings: Settings) -> None:
    requirement = Requirement(2, criteria=[Share(0.9)])
    with (
        pytest.raises(InputError, match=r"share=0.9: Mondrian in the engine does not evaluate") as error,
        partition_in_engine(Facts(), requirement, settings),  # type: ignore[arg-type]
    ):
        raise AssertionError
    assert error.value.advice == "Raise --memory-limit."


def line(attribute: str, leaves: int) -> GeneralizationHierarchy:
    ancestors = (np.arange(leaves), np.zeros(leaves, dtype=np.int64))
    return GeneralizationHierarchy(attribute, (tuple(map(str, range(leaves))), (TOP,)), ancestors, "numbers")


@pytest.mark.parametrize("tie", list(Tie))
def test_best_cuts_satisfy_the_bounds(tie: Tie, settings: Settings) -> None:
    tight = 0.0
    for seed in range(some_of(80)):
        random = np.random.default_rng(seed)
        table = random_table(random, attributes=4, rows=200, sensitive=0, leaves=int(random.integers(1, 9)))
        k = int(random.integers(1, 8))
        if table.rows < k:
            continue
        options = MondrianOptions(tie=tie)
        sizes = partition_table(table, Requirement(k), settings, options).class_rows()
        bound = 2 * len(table.attributes) * (k - 1) + int(table.counts.max())
        assert k <= sizes.min()
        assert sizes.max() <= bound
        assert k * table.rows <= (sizes**2).sum() <= bound * table.rows
        assert 1 <= table.rows / len(sizes) / k <= bound / k
        tight = max(tight, sizes.max() / bound)
    assert tight == 1


def test_class_may_reach_the_bound(settings: Settings) -> None:
    """A class may reach the bound.

    With d attributes, k - 1 points on each side of a point of m rows along each axis, no cut is allowable.
    """
    d, k, m = 3, 4, 5
    middle = [1] * d
    points = [tuple(middle)] * m
    for axis in range(d):
        for side in (0, 2):
            point = list(middle)
            point[axis] = side
            points += [tuple(point)] * (k - 1)
    table = frequency_set_of([line(f"q{i}", 3) for i in range(d)], [(point, ()) for point in points])
    assert table.rows == 2 * d * (k - 1) + m
    assert partition_table(table, Requirement(k), settings).class_count == 1
    more = frequency_set_of([line(f"q{i}", 3) for i in range(d)], [(p, ()) for p in [*points, (0, 1, 1)]])
    assert partition_table(more, Requirement(k), settings).class_count == 2


def test_median_cuts_may_miss_an_allowable_cut(settings: Settings) -> None:
    """Medians only may miss an allowable cut: the paper's greedy does not test all cuts."""
    rows = [((0,), ())] + [((1,), ())] * 5 + [((2,), ())] * 4
    table = frequency_set_of([line("q", 3)], rows)
    requirement = Requirement(4)
    assert partition_table(table, requirement, settings, MondrianOptions(cut=Cut.MEDIAN)).class_count == 2
    table = frequency_set_of([line("q", 3)], [((0,), ())] * 4 + [((1,), ())] * 5 + [((2,), ())])
    assert partition_table(table, requirement, settings, MondrianOptions(cut=Cut.MEDIAN)).class_count == 1
    assert partition_table(table, requirement, settings).class_rows().tolist() == [4, 6]
