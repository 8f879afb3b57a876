"""Groups from recodings: full-domain nodes, Mondrian under any class test, rows divided among classes."""

from __future__ import annotations

import random

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.errors import InputError, NoSolution, RequirementNotMet
from discreet.model.class_recoding import ClassTest
from discreet.model.frequency_set import FrequencySet
from discreet.model.release_kind import NULL_CODE, SensitiveColumn
from discreet.model.requirement import Requirement
from discreet.mondrian.mondrian_options import MondrianOptions
from discreet.mondrian.partition import partition_table as mondrian
from discreet.permutation.group_checks import check_partition
from discreet.permutation.heuristic_partitions import (
    leaf_coordinates,
    row_classes_at_node,
    row_classes_of_recoding,
)
from discreet.permutation.partitions import partition_rows
from discreet.settings import Settings
from tests.mondrian.numbered import random_table
from tests.oracle.class_tests import EntropyDiversity, TCloseness
from tests.oracle.random_tables import plain_ranks
from tests.permutation.test_partitions import group_requirement


def rows_of(table: FrequencySet, seed: int) -> tuple[NDArray[np.int64], SensitiveColumn]:
    """Return the row type of each row, shuffled, and the rows' values of the first sensitive attribute."""
    sets = table.sensitive[0]
    assert sets.counts is not None
    row_types: list[int] = []
    codes: list[int] = []
    for row_type in range(table.row_types):
        places = range(int(sets.offsets[row_type]), int(sets.offsets[row_type + 1]))
        own = [int(sets.codes[p]) for p in places for _ in range(int(sets.counts[p]))]
        own += [NULL_CODE] * (int(table.counts[row_type]) - len(own))
        codes += own
        row_types += [row_type] * len(own)
    order = np.random.default_rng(seed).permutation(len(codes))
    column = SensitiveColumn(sets.attribute, np.array(codes)[order], sets.size, None)
    return np.array(row_types)[order], column


def tables(count: int) -> list[FrequencySet]:
    found = [random_table(np.random.default_rng(seed), rows=60) for seed in range(count)]
    return [table for table in found if table.sensitive]


def test_classes_of_a_node_are_the_rows_with_equal_labels() -> None:
    drawn = random.Random(2)
    for number, table in enumerate(tables(20)):
        row_types, _ = rows_of(table, number)
        codes = table.codes[row_types].astype(np.int64)
        node = tuple(drawn.randint(0, hierarchy.height) for hierarchy in table.hierarchies)
        classes = row_classes_at_node(table.hierarchies, node, codes)
        shown = [
            tuple(
                int(h.level_map(level)[code])
                for h, level, code in zip(table.hierarchies, node, row, strict=True)
            )
            for row in codes.tolist()
        ]
        pairs = set(zip(classes.tolist(), shown, strict=True))
        assert len(pairs) == len(set(shown)) == len(set(classes.tolist()))


@pytest.mark.parametrize("kind", ["entropy", "closeness"])
def test_partitions_for_other_objectives_are_checked(kind: str, settings: Settings) -> None:
    """Groups from Mondrian under entropy l and t-closeness.

    Entropy of ln l implies l distinct values; closeness implies none.
    """
    refused, met = 0, 0
    for number, table in enumerate(tables(30)):
        row_types, column = rows_of(table, number)
        sets = table.sensitive[0]
        whole = np.bincount(column.codes[column.codes >= 0], minlength=sets.size)
        if np.count_nonzero(whole) < 2:
            continue
        test: ClassTest = EntropyDiversity(2) if kind == "entropy" else TCloseness(0.4, whole)
        try:
            recoding = mondrian(table, Requirement(2), settings, class_test=test)
        except NoSolution:
            continue
        classes = row_classes_of_recoding(recoding, row_types)
        assert np.bincount(classes).tolist() == recoding.class_rows().tolist()
        if check_partition(column, classes, group_requirement(2)).holds:
            found = partition_rows(column, group_requirement(2), "recoding", classes=classes)
            assert found.group_count == recoding.class_count
            met += 1
        else:
            assert kind == "closeness"
            with pytest.raises(RequirementNotMet):
                partition_rows(column, group_requirement(2), "recoding", classes=classes)
            refused += 1
    assert met > 5
    assert refused or kind == "entropy"


def test_rows_of_a_row_type_in_several_classes_are_assigned(settings: Settings) -> None:
    several = 0
    for number, table in enumerate(tables(20)):
        row_types, _ = rows_of(table, number)
        try:
            recoding = mondrian(table, Requirement(2), settings, MondrianOptions(relaxed=True))
        except NoSolution:
            continue
        classes = row_classes_of_recoding(recoding, row_types)
        parts = dict[tuple[int, int], int]()
        for pair in zip(row_types.tolist(), classes.tolist(), strict=True):
            parts[pair] = parts.get(pair, 0) + 1
        expected = zip(recoding.row_types, recoding.classes, recoding.rows, strict=True)
        assert parts == {(int(t), int(c)): int(n) for t, c, n in expected}
        several += len(parts) > table.row_types
    assert several


def test_recoding_of_another_table_is_refused(settings: Settings) -> None:
    table = tables(5)[0]
    row_types, _ = rows_of(table, 0)
    recoding = mondrian(table, Requirement(1), settings)
    with pytest.raises(InputError, match="counts other rows"):
        row_classes_of_recoding(recoding, row_types[1:])


def test_coordinates_are_ordered_by_value_where_leaves_are_numbers() -> None:
    for table in tables(12):
        codes = table.codes.astype(np.int64)
        places = leaf_coordinates(table.hierarchies, codes)
        for attribute, hierarchy in enumerate(table.hierarchies):
            if not hierarchy.leaves[0].replace(".", "").isdigit():
                ranks = [*plain_ranks(hierarchy), hierarchy.null_code]
                assert places[:, attribute].tolist() == [ranks[code] for code in codes[:, attribute].tolist()]
                continue
            known = codes[:, attribute] < hierarchy.null_code
            numbers = [float(hierarchy.leaves[code]) for code in codes[known, attribute].tolist()]
            ordered = [number for _, number in sorted(zip(places[known, attribute], numbers, strict=True))]
            assert ordered == sorted(numbers)
