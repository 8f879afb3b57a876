"""Mondrian, checked against plain recursion, and its kernels against their numpy twin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from discreet.errors import InputError, NoSolution
from discreet.model.class_recoding import ClassRecoding, RecodingModel, requirement_test
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import TOP, GeneralizationHierarchy
from discreet.model.requirement import Requirement
from discreet.mondrian import partition
from discreet.mondrian.mondrian_options import Categorical, Cut, MondrianOptions, Tie
from discreet.mondrian.partition import partition_table
from discreet.settings import Settings
from tests.drawing import some_of
from tests.mondrian.numbered import random_table
from tests.oracle.plain_criteria import fails, random_criteria
from tests.oracle.plain_mondrian import PlainMondrian
from tests.oracle.random_tables import frequency_set_of

VARIANTS = [
    MondrianOptions(cut=cut, categorical=categorical, tie=tie)
    for cut in Cut
    for categorical in Categorical
    for tie in Tie
]


def classes_of(recoding: ClassRecoding) -> set[frozenset[int]]:
    members: dict[int, set[int]] = {}
    for row_type, number in zip(recoding.row_types.tolist(), recoding.classes.tolist(), strict=True):
        members.setdefault(number, set()).add(row_type)
    return {frozenset(found) for found in members.values()}


def parts_of(recoding: ClassRecoding) -> list[Counter[int]]:
    members: dict[int, Counter[int]] = {}
    parts = zip(recoding.row_types.tolist(), recoding.classes.tolist(), recoding.rows.tolist(), strict=True)
    for row_type, number, rows in parts:
        members.setdefault(number, Counter())[row_type] += rows
    return [members[number] for number in sorted(members)]


class PlainCriteria(PlainMondrian):
    """The same recursion, with every class tested in plain Python."""

    requirement: Requirement

    def holds(self, members: Sequence[int]) -> bool:
        return not fails(self.table, members, self.requirement)


def plain(table: FrequencySet, requirement: Requirement, options: MondrianOptions) -> PlainCriteria:
    found = PlainCriteria(
        table,
        requirement.k or 1,
        best=options.cut == "best",
        hierarchical=options.categorical == "hierarchy",
        fewest=options.tie == "fewest-values",
    )
    found.requirement = requirement
    return found


def random_requirement(random: np.random.Generator, table: FrequencySet) -> Requirement:
    l = int(random.integers(1, 4)) if table.sensitive and random.random() < 0.6 else None
    return Requirement(int(random.integers(1, 7)) if l is None or random.random() < 0.5 else None, l)


@pytest.mark.parametrize("options", VARIANTS, ids=lambda o: f"{o.cut}-{o.categorical}-{o.tie}")
def test_strict_classes_equal_plain_recursion(options: MondrianOptions, settings: Settings) -> None:
    cut = 0
    for seed in range(some_of(40)):
        random = np.random.default_rng(seed)
        table = random_table(random)
        requirement = random_criteria(random, table)
        expected = plain(table, requirement, options)
        if not expected.holds(range(table.row_types)):
            with pytest.raises(NoSolution):
                partition_table(table, requirement, settings, options, evaluator="twin")
            continue
        notices: list[str] = []
        found = partition_table(
            table, requirement, settings, options, evaluator="twin", notice=notices.append
        )
        assert classes_of(found) == expected.classes(), seed
        assert found.model is RecodingModel.ORDERED_MULTI
        cut += found.class_count > 1
        if requirement.others:
            assert notices == ["no compiled kernel for share: using numpy, which is much slower"]
    assert cut > 6


def test_relaxed_classes_equal_plain_recursion(settings: Settings) -> None:
    for seed in range(some_of(60)):
        random = np.random.default_rng(seed)
        table = random_table(random, sensitive=0)
        k = int(random.integers(1, 6))
        if table.rows < k:
            continue
        options = MondrianOptions(relaxed=True)
        found = partition_table(table, Requirement(k), settings, options, evaluator="twin")
        assert parts_of(found) == plain(table, Requirement(k), options).relaxed()
        assert found.model is RecodingModel.RELAXED_MULTI
        assert k <= found.class_rows().min() <= found.class_rows().max() <= max(2 * k - 1, 1)


@pytest.mark.parametrize(
    "options",
    [*VARIANTS, MondrianOptions(relaxed=True)],
    ids=lambda o: f"{o.cut}-{o.categorical}-{o.tie}-{o.relaxed}",
)
def test_kernels_and_twin_make_equal_classes(options: MondrianOptions, settings: Settings) -> None:
    for seed in range(some_of(45)):
        random = np.random.default_rng(seed)
        sensitive = 0 if options.relaxed else 2
        leaves = int(random.integers(2, 30))
        table = random_table(random, attributes=4, rows=300, sensitive=sensitive, leaves=leaves)
        requirement = random_requirement(random, table)
        try:
            twin = partition_table(table, requirement, settings, options, evaluator="twin")
        except NoSolution:
            continue
        kernels = partition_table(table, requirement, settings, options, evaluator="kernels")
        assert parts_of(twin) == parts_of(kernels), seed
        assert np.array_equal(twin.shown, kernels.shown)


def test_result_does_not_depend_on_threads(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition, "_FEWEST_SHARED_TYPES", 64)
    for seed in range(some_of(20)):
        table = random_table(np.random.default_rng(seed), attributes=4, rows=600, sensitive=0, leaves=30)
        for options in (MondrianOptions(), MondrianOptions(relaxed=True)):
            one, three = (
                partition_table(
                    table, Requirement(2), replace(settings, threads=n), options, evaluator="kernels"
                )
                for n in (1, 3)
            )
            assert parts_of(one) == parts_of(three), seed


def test_kernels_and_twin_agree_on_many_positions_and_words(settings: Settings) -> None:
    """Fields need several words, and positions are so numerous that the median is found by bisection."""
    random = np.random.default_rng(5)
    hierarchies = [number_line(f"q{i}", 5000) for i in range(7)]
    rows = [(tuple(int(5000 * random.random() ** 3) for _ in hierarchies), ()) for _ in range(400)]
    table = frequency_set_of(hierarchies, rows)
    for options in (MondrianOptions(), MondrianOptions(cut=Cut.MEDIAN), MondrianOptions(relaxed=True)):
        found = [
            partition_table(table, Requirement(3), settings, options, evaluator=evaluator)
            for evaluator in ("twin", "kernels")
        ]
        assert parts_of(found[0]) == parts_of(found[1])


def test_impossible_requirements_and_options_are_refused(settings: Settings) -> None:
    hierarchy = number_line("age", 3)
    table = frequency_set_of([hierarchy], [((0,), (0,)), ((1,), (0,))], ["s"], [1])
    with pytest.raises(NoSolution, match="2 rows, does not meet k=3"):
        partition_table(table, Requirement(3), settings)
    with pytest.raises(NoSolution, match="l=2"):
        partition_table(table, Requirement(1, 2), settings)
    with pytest.raises(NoSolution):
        partition_table(frequency_set_of([hierarchy], []), Requirement(1), settings)
    with pytest.raises(InputError, match="no requirement"):
        partition_table(table, Requirement(), settings)
    with pytest.raises(InputError, match="cut = 'mean'"):
        MondrianOptions(cut="mean")  # type: ignore[arg-type]
    relaxed = MondrianOptions(relaxed=True)
    with pytest.raises(InputError, match="class test cannot be guaranteed"):
        partition_table(
            table, Requirement(1), settings, relaxed, class_test=requirement_test(Requirement(1), ())
        )


def test_subjects_with_one_row_each_are_rows(settings: Settings) -> None:
    random = np.random.default_rng(9)
    hierarchy = number_line("age", 9)
    rows = [((int(random.integers(0, 9)),), (int(random.integers(0, 3)),)) for _ in range(60)]
    plain_rows = frequency_set_of([hierarchy], rows, ["s"], [3])
    named = frequency_set_of([hierarchy], rows, ["s"], [3], subjects=list(range(60)))
    requirement = Requirement(4, 2)
    expected = partition_table(plain_rows, requirement, settings)
    assert np.array_equal(partition_table(named, requirement, settings).classes, expected.classes)
    twice = frequency_set_of([hierarchy], rows, ["s"], [3], subjects=[n // 2 for n in range(60)])
    with pytest.raises(InputError, match="60 rows belong to 30 subjects"):
        partition_table(twice, Requirement(4), settings, MondrianOptions(relaxed=True))


def number_line(attribute: str, leaves: int) -> GeneralizationHierarchy:
    ancestors = (np.arange(leaves), np.zeros(leaves, dtype=np.int64))
    return GeneralizationHierarchy(attribute, (tuple(map(str, range(leaves))), (TOP,)), ancestors, "numbers")
