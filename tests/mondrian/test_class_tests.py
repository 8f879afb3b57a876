"""Mondrian under any monotone requirement, with any cut chooser, and relaxed Mondrian with l."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from discreet.errors import InputError, InternalError, NoSolution
from discreet.model.class_recoding import ClassRecoding, ClassTest
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.mondrian.mondrian_options import Cut, MondrianOptions
from discreet.mondrian.partition import partition_table
from discreet.mondrian.space import Fragment, ProposedCut, WidestFirst, count_rows_below
from discreet.settings import Settings
from tests.drawing import some_of
from tests.mondrian.numbered import random_table
from tests.oracle.class_tests import EntropyDiversity, TCloseness
from tests.oracle.random_tables import plain_ranks


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
def test_classes_meet_the_test_and_cannot_be_cut(kind: str, cut: Cut, settings: Settings) -> None:
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


def test_a_class_test_needs_rows_by_value(settings: Settings) -> None:
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


def test_a_chooser_of_ones_own(settings: Settings) -> None:
    """A custom chooser proposes its cuts first and the paper's after them."""

    class AtPlace:
        def __init__(self, attribute: int, last: int) -> None:
            self.wanted = ProposedCut(attribute, last)
            self.otherwise = WidestFirst(MondrianOptions())

        def __call__(self, fragment: Fragment) -> Iterator[ProposedCut]:
            if self.wanted.last in count_rows_below(fragment, self.wanted.attribute)[0]:
                yield self.wanted
            yield from self.otherwise(fragment)

    cut = 0
    for table in tables():
        if table.rows < 4:
            continue
        found = partition_table(table, Requirement(2), settings, chooser=AtPlace(0, 0))
        assert found.class_rows().min() >= 2
        plain = partition_table(table, Requirement(2), settings)
        if not np.array_equal(found.classes, plain.classes):
            cut += 1
    assert cut > 3


def test_a_cut_with_nothing_on_one_side_is_a_bug_of_the_chooser(settings: Settings) -> None:

    def beyond(fragment: Fragment) -> list[ProposedCut]:
        del fragment
        return [ProposedCut(0, 99)]

    with pytest.raises(InternalError, match="one side empty"):
        partition_table(next(tables()), Requirement(1), settings, chooser=beyond)


def test_relaxed_classes_keep_l_whatever_is_drawn(settings: Settings) -> None:
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
