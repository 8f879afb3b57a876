"""Bounds equal those of enumerating every table that a release may represent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.bounds.queryable_release import open_release
from discreet.bounds.release_answer import answer_release_query
from discreet.engines.base import Engine
from discreet.model.hierarchy import TOP, GeneralizationHierarchy
from tests.bounds.releases import SETTINGS, write_classes, write_permuted
from tests.drawing import some_of
from tests.oracle import possible_worlds

Row = Mapping[str, str | None]
AGGREGATES = 'COUNT(*) AS "ROWS", COUNT(salary), SUM(salary), AVG(salary), MIN(salary), MAX(salary)'
AGES, SEXES = ("20", "25", "30", "35"), ("F", "M")


def _number(text: str | None) -> int:
    return int(text) if text is not None else -1


CONDITIONS: dict[str, Callable[[Row], bool]] = {
    "TRUE": lambda _: True,
    "age BETWEEN 25 AND 30": lambda r: r["age"] in ("25", "30"),
    "sex = 'F' OR age > 30": lambda r: r["sex"] == "F" or _number(r["age"]) > 30,
    "NOT (age < 30 AND sex = 'M')": lambda r: (
        (r["age"] is not None and _number(r["age"]) >= 30) or (r["sex"] is not None and r["sex"] != "M")
    ),
    "age IS NULL OR age % 10 = 5": lambda r: r["age"] is None or r["age"].endswith("5"),
    "sex LIKE '%M' AND age IN (20, 35)": lambda r: r["sex"] == "M" and r["age"] in ("20", "35"),
    "CASE WHEN sex = 'M' THEN age ELSE age + 10 END >= 35": lambda r: (
        r["age"] is not None and _number(r["age"]) + (0 if r["sex"] == "M" else 10) >= 35
    ),
    "coalesce(sex, 'none') <> 'F' AND age IS NOT NULL": lambda r: r["sex"] != "F" and r["age"] is not None,
    "sex IS DISTINCT FROM 'F'": lambda r: r["sex"] != "F",
}
KEYS: dict[str, Callable[[Row], object]] = {
    "": lambda _: (),
    "sex": lambda r: (r["sex"],),
    "age >= 30": lambda r: (None if r["age"] is None else _number(r["age"]) >= 30,),
    "sex, CASE WHEN age < 25 THEN 'young' ELSE 'other' END": lambda r: (
        r["sex"],
        "young" if r["age"] is not None and _number(r["age"]) < 25 else "other",
    ),
}


def hierarchies() -> dict[str, GeneralizationHierarchy]:
    levels = (AGES, ("2*", "3*"), (TOP,))
    ancestors = (np.arange(4), np.array([0, 0, 1, 1]), np.zeros(4, dtype=np.int64))
    flat = (np.arange(2), np.zeros(2, dtype=np.int64))
    return {
        "age": GeneralizationHierarchy("age", levels, ancestors, "test"),
        "sex": GeneralizationHierarchy("sex", (SEXES, (TOP,)), flat, "test"),
    }


def shown(name: str, value: str | None, level: int) -> str | None:
    """Return a value's label at a level; NULL joins the top."""
    hierarchy = hierarchies()[name]
    if value is None:
        return TOP if level == hierarchy.height else None
    return hierarchy.path(hierarchy.code_of_leaf[value])[level]


def covers(name: str, label: str | None) -> Sequence[str | None]:
    """Return the values that a label may represent."""
    leaves = AGES if name == "age" else SEXES
    if label == TOP:
        return (*leaves, None)
    if label is None or label in leaves:
        return (label,)
    return tuple(leaf for leaf in leaves if leaf[0] == label[0])


cells = st.tuples(st.sampled_from([*AGES, None]), st.sampled_from([*SEXES, None]))
amounts = st.one_of(
    st.none(), st.integers(-3, 3).map(str), st.sampled_from(["0.5", "-1.25", "100000000000000000"])
)
tables = st.lists(st.tuples(cells, st.integers(1, 2), amounts), min_size=1, max_size=5)
questions = st.tuples(st.sampled_from([*CONDITIONS]), st.sampled_from([*KEYS]))


def answers(
    engine: Engine,
    path: Path,
    condition: str,
    key: str,
    generalized: bool = False,
    of: str = "salary",
    hold: bool = False,
) -> dict[object, dict[str, tuple[object, object]]]:
    """Return the answers of a release by group and aggregate."""
    aggregates = AGGREGATES.replace("salary", of)
    text = f"SELECT {aggregates} FROM people WHERE {condition}" + (f" GROUP BY {key}" if key else "")
    known = hierarchies() if generalized else None
    with open_release(engine, path, SETTINGS, known, hold=hold) as release:
        found: dict[object, dict[str, tuple[object, object]]] = {}
        rows = answer_release_query(release, text).rows
        ends = [row for row in rows if row.aggregate.startswith(("MIN", "MAX"))]
        for chosen in () if key else (ends[:1], ends[1:], ends):
            shorter = text.replace(aggregates, ", ".join(row.aggregate for row in chosen))
            assert answer_release_query(release, shorter).rows == tuple(chosen)
        for row in rows:
            name = row.aggregate.split("(")[0]
            found.setdefault(row.group, {})[name] = (row.lower, row.upper)
            if row.lower is not None and row.upper is not None and row.estimate is not None:
                assert row.lower <= row.estimate <= row.upper
    return found


def check(
    ours: dict[object, dict[str, tuple[object, object]]],
    wanted: dict[object, dict[str, tuple[Fraction | None, Fraction | None]]],
    key: str,
) -> None:
    if not key and not wanted:
        assert ours == {
            (): dict.fromkeys(("SUM", "AVG", "MIN", "MAX"), (None, None))
            | dict.fromkeys(("ROWS", "COUNT"), (0, 0))
        }
        return
    assert set(ours) == set(wanted)
    for group, of_group in wanted.items():
        for aggregate, ends in of_group.items():
            for end, other in zip(ours[group][aggregate], ends, strict=True):
                close = other is None if end is None else end == pytest.approx(float(other), rel=1e-12)  # type: ignore[arg-type]
                assert close, (group, aggregate, ours[group][aggregate], ends)


@given(tables, questions, st.booleans())
@settings(max_examples=some_of(70))
def test_permuted_bounds_are_those_of_all_permutations(
    shared_engine: Engine, rows: list, question: tuple[str, str], two_tables: bool
) -> None:
    condition, key = question
    people = [dict(zip(("age", "sex"), row, strict=True)) for row, _, _ in rows]
    values = [None if v is None else Fraction(Decimal(v)) for _, _, v in rows]
    groups = [group for _, group, _ in rows]
    with TemporaryDirectory() as folder:
        path = write_permuted(
            Path(folder),
            ("age", "sex"),
            [row for row, _, _ in rows],
            groups,
            [v for _, _, v in rows],
            two_tables=two_tables,
        )
        ours = [answers(shared_engine, path, condition, key, hold=hold) for hold in (False, True)]
    worlds = possible_worlds.permuted(people, groups, values)
    wanted = possible_worlds.bounds(worlds, CONDITIONS[condition], KEYS[key])
    for found in ours:
        check(found, wanted, key)


PAY = {
    "salary > 0": lambda v: v is not None and v > 0,
    "NOT (salary BETWEEN 0 AND 2)": lambda v: v is not None and not 0 <= v <= 2,
    "salary IS NULL": lambda v: v is None,
    "salary % 2 = 1 OR salary < 0": lambda v: v is not None and (v % 2 == 1 or v < 0),
}
PAY_KEYS: dict[str, Callable[[Row, Fraction | None], object]] = {
    "": lambda _row, _value: (),
    "salary > 1": lambda _row, v: (None if v is None else v > 1,),
    "salary >= 0, sex": lambda r, v: (None if v is None else v >= 0, r["sex"]),
}
hidden = st.tuples(
    st.sampled_from([*CONDITIONS]), st.sampled_from([*PAY]), st.sampled_from([*PAY_KEYS]), st.booleans()
)


@given(tables, hidden, st.booleans())
@settings(max_examples=some_of(70))
def test_conditions_on_permuted_values_are_bounded_by_all_permutations(
    shared_engine: Engine, rows: list, question: tuple[str, str, str, bool], two_tables: bool
) -> None:
    condition, of_pay, key, negated = question
    where = f"NOT (NOT ({condition}) OR NOT ({of_pay}))" if negated else f"({condition}) AND ({of_pay})"
    people = [dict(zip(("age", "sex"), row, strict=True)) for row, _, _ in rows]
    texts = [v for _, _, v in rows]
    values = [None if v is None else Fraction(Decimal(v)) for v in texts]
    groups = [group for _, group, _ in rows]
    with TemporaryDirectory() as folder:
        path = write_permuted(
            Path(folder), ("age", "sex"), [r for r, _, _ in rows], groups, texts, two_tables=two_tables
        )
        ours = answers(shared_engine, path, where, key)
        known = any(row["age"] for row in people)  # AVG without any number is refused
        of_age = answers(shared_engine, path, where, key, of="age") if known else {}
    worlds = [
        [({**row, "salary": value}, value) for row, value in world]
        for world in possible_worlds.permuted(people, groups, values)
    ]
    for found, measure in ((ours, "salary"), (of_age, "age"))[: 1 + known]:
        wanted = possible_worlds.bounds(
            iter(worlds),  # type: ignore[arg-type]
            lambda r: CONDITIONS[condition](r) and PAY[of_pay](r["salary"]),  # type: ignore[no-untyped-call]
            lambda r: PAY_KEYS[key](r, r["salary"]),  # type: ignore[arg-type]
            lambda r, _, name=measure: None if r[name] is None else Fraction(r[name]),  # type: ignore[misc]
        )
        check(found, wanted, key)


small_tables = st.lists(st.tuples(cells, st.integers(1, 2), amounts), min_size=1, max_size=3)
levels_drawn = st.tuples(st.integers(0, 2), st.integers(0, 1))


@given(small_tables, questions, levels_drawn, st.booleans())
@settings(max_examples=some_of(70))
def test_bounds_of_labels_are_those_of_all_tables_they_represent(
    shared_engine: Engine, rows: list, question: tuple[str, str], levels: tuple[int, int], permute: bool
) -> None:
    condition, key = question
    named = dict(zip(("age", "sex"), levels, strict=True))
    labels = [
        tuple(shown(n, v, named[n]) for n, v in zip(("age", "sex"), row, strict=True)) for row, _, _ in rows
    ]
    people = [dict(zip(("age", "sex"), row, strict=True)) for row in labels]
    texts = [v for _, _, v in rows]
    groups = [group if permute else place for place, (_, group, _) in enumerate(rows)]
    with TemporaryDirectory() as folder:
        if permute:
            path = write_permuted(Path(folder), ("age", "sex"), labels, groups, texts, levels=named)
        else:
            path = write_classes(Path(folder), ("age", "sex"), labels, texts, levels=named)
        ours = answers(shared_engine, path, condition, key, generalized=True)
    values = [None if v is None else Fraction(Decimal(v)) for v in texts]
    worlds = possible_worlds.recoded(possible_worlds.permuted(people, groups, values), covers)
    check(ours, possible_worlds.bounds(worlds, CONDITIONS[condition], KEYS[key]), key)


@given(st.lists(st.tuples(cells, amounts), min_size=1, max_size=12), questions, levels_drawn)
@settings(max_examples=some_of(40))
def test_bounds_of_generalized_rows_contain_those_of_the_same_groups_permuted(
    shared_engine: Engine, rows: list, question: tuple[str, str], levels: tuple[int, int]
) -> None:
    """Bounds of generalized rows contain those of the same groups permuted (Theorem 2 of the paper)."""
    condition, key = question
    named = dict(zip(("age", "sex"), levels, strict=True))
    labels = [
        tuple(shown(n, v, named[n]) for n, v in zip(("age", "sex"), row, strict=True)) for row, _ in rows
    ]
    classes = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    texts = [v for _, v in rows]
    with TemporaryDirectory() as folder:
        exact = write_permuted(
            Path(folder),
            ("age", "sex"),
            [row for row, _ in rows],
            [classes[label] for label in labels],
            texts,
        )
        permuted = answers(shared_engine, exact, condition, key)
        coarse = write_classes(Path(folder), ("age", "sex"), labels, texts, levels=named)
        generalized = answers(shared_engine, coarse, condition, key, generalized=True)
    for group, of_group in permuted.items():
        for aggregate, (low, high) in of_group.items():
            if low is None or high is None:
                continue
            wide_low, wide_high = generalized[group][aggregate]
            slack = 1e-12 * (abs(low) + abs(high))
            assert wide_low - slack <= low, (group, aggregate)
            assert wide_high + slack >= high, (group, aggregate)
