"""Local recoding, checked in plain Python: classes pass, no row is lost, more effort is never worse."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as given_settings
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from discreet.errors import InputError, LimitReached, NoSolution
from discreet.frequency.rollup import roll_up
from discreet.local import key_space as node_walks
from discreet.local.cell_generalization import generalize_cells
from discreet.measures.recoding_metrics import recoding_granularity
from discreet.model.class_recoding import SUPPRESSED, ClassRecoding, RecodingModel
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.settings import Settings
from tests.criteria_of_tests import Share
from tests.drawing import some_of
from tests.oracle.class_tests import EntropyDiversity, TCloseness
from tests.oracle.plain_criteria import classes_at, fails, random_criteria
from tests.oracle.plain_local import least_loss, levels_of, plain_greedy
from tests.oracle.random_tables import frequency_set_of, random_frequency_set, random_hierarchy

LIMITS = Settings(memory_limit=10**9, threads=2, private_log=Path("unused"))
Levels = tuple[int, ...]


def a_table(
    random: np.random.Generator, rows: int = 40, attributes: int = 3, leaves: int = 6
) -> FrequencySet:
    while True:
        found = random_frequency_set(
            random, attributes=attributes, height=3, leaves=leaves, rows=rows, sensitive=2
        )
        if found.rows:
            return found


def some_levels(frequency_set: FrequencySet, random: np.random.Generator) -> tuple[Levels, Levels]:
    tops = [h.height for h in frequency_set.hierarchies]
    high = tuple(int(random.integers(0, t + 1)) if random.random() < 0.4 else t for t in tops)
    return tuple(int(random.integers(0, h + 1)) if random.random() < 0.3 else 0 for h in high), high


def a_requirement(frequency_set: FrequencySet, random: np.random.Generator) -> Requirement:
    l = int(random.integers(1, 4)) if frequency_set.sensitive and random.random() < 0.5 else None
    return Requirement(int(random.integers(1, 6)) if l is None or random.random() < 0.5 else None, l)


def classes_of(recoding: ClassRecoding) -> dict[int, list[tuple[int, int]]]:
    found = defaultdict(list)
    for t, c, rows in zip(recoding.row_types, recoding.classes, recoding.rows, strict=True):
        found[int(c)].append((int(t), int(rows)))
    return found


def holds(frequency_set: FrequencySet, requirement: Requirement, members: list[int]) -> bool:
    if int(frequency_set.counts[members].sum()) < (requirement.k or 1):
        return False
    for sets, least in zip(
        frequency_set.sensitive, requirement.l_of(frequency_set.sensitive_attributes), strict=True
    ):
        values = {int(v) for t in members for v in sets.codes[sets.offsets[t] : sets.offsets[t + 1]]}
        if len(values) < (least or 0):
            return False
    return True


def check(
    frequency_set: FrequencySet, recoding: ClassRecoding, requirement: Requirement, low: Levels
) -> None:
    """Check that a recoding is complete and that each class passes and shows its lowest common ancestor."""
    rows = np.zeros(frequency_set.row_types, np.int64)
    np.add.at(rows, recoding.row_types, recoding.rows)
    assert rows.tolist() == frequency_set.counts.tolist()
    found = classes_of(recoding)
    found.pop(SUPPRESSED, None)
    assert sorted(found) == list(range(recoding.class_count))
    for c, members in found.items():
        types = [t for t, _ in members]
        assert sum(n for _, n in members) >= (requirement.k or 1)
        if requirement.l is not None:
            assert holds(frequency_set, requirement, types)
        for i, (hierarchy, level) in enumerate(
            zip(frequency_set.hierarchies, levels_of(frequency_set, types, low), strict=True)
        ):
            value = int(hierarchy.level_map(level)[frequency_set.codes[types[0], i]])
            labels = hierarchy.labels[level]
            expected = labels[value] if value < len(labels) else None
            assert recoding.cells[i].labels[recoding.shown[c, i]] == expected


@given(st.integers(0, 10**6))
@hypothesis_settings(max_examples=some_of(80), deadline=None)
def test_greedy_equals_plain_python(seed: int) -> None:
    random = np.random.default_rng(seed)
    frequency_set = a_table(random)
    low, high = some_levels(frequency_set, random)
    requirement = a_requirement(frequency_set, random)
    classes, rest = plain_greedy(frequency_set, lambda m: holds(frequency_set, requirement, m), low, high)
    fails = roll_up(frequency_set, high)
    lost = [
        t
        for t in range(frequency_set.row_types)
        if not holds(frequency_set, requirement, np.flatnonzero(fails.class_of == fails.class_of[t]).tolist())
    ]
    if not classes:
        with pytest.raises(NoSolution):
            generalize_cells(
                frequency_set, requirement, LIMITS, min_node=low, max_node=high, limit=frequency_set.rows
            )
        return
    found = generalize_cells(
        frequency_set, requirement, LIMITS, min_node=low, max_node=high, limit=frequency_set.rows
    ).recoding
    check(frequency_set, found, requirement, low)
    class_of = dict(zip(found.row_types.tolist(), found.classes.tolist(), strict=True))
    for c, members in enumerate(classes):
        assert {class_of[t] for t in members} == {c}
    assert sorted(t for t, c in class_of.items() if c == SUPPRESSED) == lost
    assert set(lost) <= set(rest)


@given(st.integers(0, 10**6), st.integers(1, 4))
@hypothesis_settings(max_examples=some_of(25), deadline=None)
def test_more_rounds_are_never_worse(seed: int, rounds: int) -> None:
    random = np.random.default_rng(seed)
    frequency_set = a_table(random, rows=30)
    low, high = some_levels(frequency_set, random)
    requirement = a_requirement(frequency_set, random)
    try:
        fast = generalize_cells(
            frequency_set, requirement, LIMITS, min_node=low, max_node=high, limit=frequency_set.rows
        )
    except NoSolution:
        return
    options = {"min_node": low, "max_node": high, "limit": frequency_set.rows, "seed": seed}
    fewer = generalize_cells(frequency_set, requirement, LIMITS, effort=rounds, **options)
    more = generalize_cells(frequency_set, requirement, LIMITS, effort=rounds + 1, **options)
    check(frequency_set, fewer.recoding, requirement, low)
    check(frequency_set, more.recoding, requirement, low)
    assert [p.granularity for p in more.curve[: len(fewer.curve)]] == [p.granularity for p in fewer.curve]
    curve = [p.granularity for p in more.curve]
    assert curve == sorted(curve)
    assert more.suppressed == fewer.suppressed == fast.suppressed
    assert more.granularity >= fast.granularity - 1e-12
    assert more.granularity == pytest.approx(recoding_granularity(frequency_set, more.recoding))


@given(st.integers(0, 10**6))
@hypothesis_settings(max_examples=some_of(40), deadline=None)
def test_bound_is_above_the_best_of_all_partitions(seed: int) -> None:
    random = np.random.default_rng(seed)
    frequency_set = a_table(random, rows=7, attributes=2)
    low, high = some_levels(frequency_set, random)
    k = int(random.integers(1, 4))
    best = least_loss(frequency_set, k, low, high)
    options = {"min_node": low, "max_node": high, "bound": True}
    if best is None:
        with pytest.raises(NoSolution):
            generalize_cells(frequency_set, Requirement(k), LIMITS, **options)
        return
    found = generalize_cells(frequency_set, Requirement(k), LIMITS, effort=3, **options)
    most = sum((1 - Fraction(1, len(h.leaves)) for h in frequency_set.hierarchies), start=Fraction(0))
    optimum = 1 - best / (most * frequency_set.rows) if most else Fraction(1)
    assert found.bound is not None
    assert found.bound >= float(optimum) - 1e-12
    assert found.granularity <= float(optimum) + 1e-12
    assert found.gap == pytest.approx(max(found.bound - found.curve[-1].granularity, 0))


@given(st.integers(0, 10**6))
@hypothesis_settings(max_examples=some_of(25), deadline=None)
def test_any_class_test_is_met(seed: int) -> None:
    random = np.random.default_rng(seed)
    hierarchies = [random_hierarchy(random, f"q{i}", 4, 2) for i in range(2)]
    rows = [
        (tuple(int(c) for c in random.integers(0, 4, 2)), (int(random.integers(0, 3)),)) for _ in range(30)
    ]
    frequency_set = with_counts(frequency_set_of(hierarchies, rows, ["s"], [3]), rows)
    table = np.bincount([s for _, (s,) in rows], minlength=3)
    test = TCloseness(0.3, table) if random.random() < 0.5 else EntropyDiversity(1.8)
    for effort in ("fast", 1):
        try:
            found = generalize_cells(frequency_set, Requirement(2), LIMITS, class_test=test, effort=effort)
        except NoSolution:
            assert not test.holds(30, [table])
            return
        for members in classes_of(found.recoding).values():
            values = np.zeros(3, np.int64)
            for t, _ in members:
                sets = frequency_set.sensitive[0]
                at = slice(sets.offsets[t], sets.offsets[t + 1])
                values[sets.codes[at]] += sets.counts[at]
            assert test.holds(sum(n for _, n in members), [values])


def with_counts(
    frequency_set: FrequencySet, rows: list[tuple[tuple[int, ...], tuple[int, ...]]]
) -> FrequencySet:
    from dataclasses import replace

    sets = frequency_set.sensitive[0]
    counts = [
        sum(1 for codes, (s,) in rows if codes == tuple(frequency_set.codes[t]) and s == value)
        for t in range(frequency_set.row_types)
        for value in sets.codes[sets.offsets[t] : sets.offsets[t + 1]].tolist()
    ]
    return replace(frequency_set, sensitive=(replace(sets, counts=np.array(counts)),))


def test_result_does_not_depend_on_threads() -> None:
    frequency_set = a_table(np.random.default_rng(3), rows=200, attributes=4, leaves=9)
    one = Settings(memory_limit=10**9, threads=1, private_log=Path("unused"))
    found = [generalize_cells(frequency_set, Requirement(3), s, effort=3, seed=7) for s in (one, LIMITS)]
    assert found[0].recoding.classes.tolist() == found[1].recoding.classes.tolist()
    assert found[0].rounds == found[1].rounds == 3


def test_time_budget_reports_repeatable_rounds() -> None:
    frequency_set = a_table(np.random.default_rng(5), rows=100)
    found = generalize_cells(frequency_set, Requirement(4), LIMITS, time_budget=0.2, seed=2)
    again = generalize_cells(frequency_set, Requirement(4), LIMITS, effort=found.rounds, seed=2)
    assert found.recoding.classes.tolist() == again.recoding.classes.tolist()


@pytest.mark.parametrize("shown", ["ranges", "sets"])
def test_ranges_and_sets_show_at_least_the_detail_of_ancestors(shown: str) -> None:
    frequency_set = a_table(np.random.default_rng(11), rows=80)
    plain = generalize_cells(frequency_set, Requirement(4), LIMITS)
    narrow = generalize_cells(frequency_set, Requirement(4), LIMITS, summary=shown)
    assert narrow.recoding.classes.tolist() == plain.recoding.classes.tolist()
    assert narrow.granularity >= plain.granularity
    assert narrow.recoding.warnings
    assert narrow.recoding.model is RecodingModel.CELL_GENERALIZATION


def test_keys_of_several_words_and_lattices_walked_lazily(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    hierarchies = [random_hierarchy(random, f"q{i}", 40, 4) for i in range(14)]
    rows = [(tuple(int(c) for c in random.integers(0, 41, 14)), ()) for _ in range(60)]
    frequency_set = frequency_set_of(hierarchies, rows)
    monkeypatch.setattr(node_walks, "WALKED_NODES", 64)
    monkeypatch.setattr(node_walks, "SAMPLED_NODES", 4096)
    found = generalize_cells(frequency_set, Requirement(5), LIMITS, seed=1, effort=1)
    check(frequency_set, found.recoding, Requirement(5), (0,) * 14)
    assert found.curve[1].granularity >= found.curve[0].granularity > 0


def test_weights_change_the_retained_detail() -> None:
    random = np.random.default_rng(1)
    hierarchies = [random_hierarchy(random, name, 6, 2) for name in ("a", "b")]
    rows = [(tuple(int(c) for c in random.integers(0, 6, 2)), ()) for _ in range(40)]
    frequency_set = frequency_set_of(hierarchies, rows)

    def kept(attribute: int, weights: dict[str, float]) -> float:
        found = generalize_cells(frequency_set, Requirement(4), LIMITS, weights=weights).recoding
        sizes = found.cells[attribute].sizes()[found.shown[found.classes, attribute]]
        return float((sizes * found.rows).sum())

    assert kept(0, {"a": 10.0}) < kept(0, {"b": 10.0})
    assert kept(1, {"b": 10.0}) < kept(1, {"a": 10.0})


def test_impossible_requirements_and_options_are_refused() -> None:
    frequency_set = a_table(np.random.default_rng(8), rows=20)
    rows = frequency_set.rows
    with pytest.raises(NoSolution, match="together do not meet it"):
        generalize_cells(frequency_set, Requirement(rows + 1), LIMITS)
    with pytest.raises(NoSolution, match="must be suppressed"):
        generalize_cells(
            frequency_set, Requirement(2), LIMITS, max_node=(0,) * len(frequency_set.hierarchies)
        )
    small = Settings(memory_limit=100, threads=1, private_log=Path("unused"))
    with pytest.raises(LimitReached):
        generalize_cells(frequency_set, Requirement(2), small)
    for options in (
        {"effort": -1},
        {"effort": "slow"},
        {"effort": True},
        {"time_budget": 0},
        {"seed": -1},
        {"summary": "means"},
        {"summary": "ranges", "min_node": (1,) * len(frequency_set.hierarchies)},
        {"max_node": (99,) * len(frequency_set.hierarchies)},
        {"weights": {"nobody": 1.0}},
    ):
        with pytest.raises(InputError):
            generalize_cells(frequency_set, Requirement(2), LIMITS, **options)
    with pytest.raises(InputError, match="no privacy criterion"):
        generalize_cells(frequency_set, Requirement(), LIMITS)


@given(st.integers(0, 10**6), st.sampled_from(["fast", 2]))
@given_settings(max_examples=some_of(60), deadline=None)
def test_every_class_meets_all_criteria(seed: int, effort: int | str) -> None:
    random = np.random.default_rng(seed)
    table = random_frequency_set(random, attributes=3, height=3, leaves=5, rows=40, sensitive=2)
    if not table.rows:
        return
    requirement = random_criteria(random, table)
    tops = tuple(h.height for h in table.hierarchies)
    high = tuple(int(random.integers(0, t + 1)) if random.random() < 0.4 else t for t in tops)
    groups = classes_at(table, high)
    hopeless = {t for types in groups if fails(table, types, requirement) for t in types}
    try:
        found = generalize_cells(
            table, requirement, LIMITS, effort=effort, max_node=high, limit=table.rows
        ).recoding
    except NoSolution:
        assert len(hopeless) == table.row_types
        return
    members: dict[int, list[int]] = {}
    for row_type, of_class in zip(found.row_types.tolist(), found.classes.tolist(), strict=True):
        members.setdefault(of_class, []).append(row_type)
    # If a group fails as a whole, a part of it may pass; if it passes, all of it is published.
    assert set(members.pop(SUPPRESSED, ())) <= hopeless
    assert not any(fails(table, types, requirement) for types in members.values())
    assert all(any(set(types) <= set(group) for group in groups) for types in members.values())


def test_notice_names_criteria_without_kernels() -> None:
    table = random_frequency_set(
        np.random.default_rng(8), attributes=3, height=2, leaves=4, rows=30, sensitive=2
    )
    notices: list[str] = []
    generalize_cells(
        table, Requirement(2, criteria=[Share(1.0)]), LIMITS, evaluator="kernels", notice=notices.append
    )
    assert notices == ["no compiled kernel for share: using plain Python, which is much slower"]
