"""Tests of the audit of a release in every place, against the embedded engine and plain Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.engines.source_tables import table_digest
from discreet.errors import InputError, InternalError
from tests.every_engine.auditing import audited, drawn, drawn_enough, texts
from tests.every_engine.places import SLOW_ON_SPARK, Columns, DuckdbPlace, Place, once_on_spark

NAMES = ['the "age"', "Town", "town", "s", "t"]
CELLS = st.sampled_from(["*", "a", "A", "é", "e\u0301", "", "'", None])
TABLES = st.lists(
    st.tuples(CELLS, CELLS, st.sampled_from([1, 2**62, None]), CELLS, st.sampled_from(["*", "x", "y", None])),
    max_size=16,
)
EVERYTHING: list[tuple[Any, ...]] = [
    ("*", "*", 1, "*", "*"),
    ("a", "A", 1, "é", "x"),
    ("a", "A", 2**62, "e\u0301", "y"),
    ("a", "A", None, None, "x"),
    (None, "'", 1, "'", None),
    (None, "'", 1, "'", None),
    ("", "é", 1, "", "*"),
    ("", "é", 2, "A", "x"),
]


def columns_of(rows: list[tuple[Any, ...]], names: list[str] = NAMES) -> Columns:
    columns = texts(rows, names)
    return columns | {names[2]: ("BIGINT", columns[names[2]][1])}


@drawn(15)
@example(rows=EVERYTHING, sensitive=2, apart=True)
@given(rows=TABLES, sensitive=st.integers(0, 2), apart=st.booleans())
def test_audits_of_tiny_tables_equal_duckdbs(
    place: Place, duckdb_place: DuckdbPlace, rows: list[tuple[Any, ...]], sensitive: int, apart: bool
) -> None:
    if drawn_enough(place):
        return
    names = NAMES if place.distinguishes_case else [*NAMES[:2], "village", *NAMES[3:]]
    values = NAMES[3 : 3 + sensitive]
    options: dict[str, Any] = {"keys": NAMES[:2], "values": values, "k": 2, "l": 2 if sensitive else None}
    found, expected = (
        audited(where, where.put(columns_of(rows, names)), starred_apart=apart, **options)
        for where in (place, duckdb_place)
    )
    assert found == expected
    classes = Counter(row[:2] for row in rows)
    assert (found.rows, found.classes) == (len(rows), len(classes))
    assert found.class_sizes == Counter(classes.values())
    distinct: dict[Any, set[Any]] = defaultdict(set)
    for row in rows:
        distinct[row[:2]] |= {row[3]} - {None, "*"}
    if sensitive:
        assert found.l["s"] == min(map(len, distinct.values()), default=0)
    assert found.failing_classes == len(
        [
            key
            for key, number in classes.items()
            if number < 2 or (sensitive and _fewest(rows, key, sensitive) < 2)
        ]
    )


@once_on_spark("names", [NAMES, NAMES[:2] + NAMES[3:4], NAMES[:2]], NAMES[:2] + NAMES[3:4])
def test_distinct_rows_suffice_for_the_audit(place: Place, names: list[str]) -> None:
    """The distinct rows of a digest are sufficient for the audit's counts."""
    drawn = [("a", None, 1, "x", "y"), ("*", "A", 2**62, None, "*"), ("a", "é", None, "*", None)]
    rows = [drawn[i * i % 3] for i in range(9)] + [("a", None, 2, "X", "y"), ("*", "*", None, "*", "*")]
    columns = {name: column for name, column in columns_of(rows).items() if name in names}
    source, values = place.put(columns | _floats(rows, names)), [n for n in names if n in NAMES[3:]]
    options: dict[str, Any] = {"keys": names[:2], "values": values, "k": 2, "l": 2 if values else None}
    by_rows = audited(place, source, **options)
    found = audited(place, source, **options, digest=True)
    assert replace(found, sha256=None) == by_rows
    with place.connect(source) as engine:
        assert found.sha256 == table_digest(engine, source)


def _floats(rows: list[tuple[Any, ...]], names: list[str]) -> Columns:
    """Build a column whose equal numbers have different texts, if all columns are used."""
    return {"note": ("DOUBLE", [(-0.0, 0.0)[i % 2] for i in range(len(rows))])} if names == NAMES else {}


def _fewest(rows: list[tuple[Any, ...]], key: tuple[Any, ...], sensitive: int) -> int:
    held = [row for row in rows if row[:2] == key]
    return min(len({row[3 + i] for row in held} - {None, "*"}) for i in range(sensitive))


def test_classes_are_listed_smallest_first_in_the_order_of_code_points(place: Place) -> None:
    keys = ["b", "B", "a", "é", "z", "Z", None, "", "ä", "1"]
    columns: Columns = {"q": ("VARCHAR", keys), "d": ("DATE", [date(2024, 2, 29)] * len(keys))}
    report = audited(place, place.put(columns), k=2, keys=["q", "d"], values=[])
    assert [each.values["q"] for each in report.failing] == [
        None,
        *sorted(key for key in keys if key is not None),
    ]
    assert {each.values["d"] for each in report.failing} == {"2024-02-29"}


@SLOW_ON_SPARK
def test_starred_rows_and_unchecked_columns_are_reported(place: Place) -> None:
    rows = [("*", "*", "*", "*")] * 2 + [("a", "x", "1", str(i)) for i in range(20)]
    source = place.put(texts(rows, ["q", "s", "w", "id"]))
    report = audited(place, source, k=20)
    assert (report.passed, report.rows, report.starred, report.k) == (True, 20, 2, 20)
    assert report.warnings[1:] == (
        "Published unchanged and unchecked: 'w', 'id'.",
        "id: 20 of 20 rows have a value that no other row has; anyone who knows it finds the row. Within "
        "their group 20 are the only ones with theirs.",
    )
    together = audited(place, source, k=3, starred_apart=False)
    assert (together.passed, together.rows, together.k) == (False, 22, 2)


def test_invalid_columns_are_refused(place: Place) -> None:
    source = place.put({"a": ("VARCHAR", ["x"]), "b": ("VARCHAR", ["y"])})
    for keys, values, message in [
        (["c"], [], "no column 'c'"),
        ([], [], "no quasi-identifier"),
        (["a"], ["a"], "both as a quasi-identifier and as sensitive"),
    ]:
        with pytest.raises(InputError, match=message):
            audited(place, source, k=2, keys=keys, values=values)


LENT = ["q", "s", "who", "starred"]


@SLOW_ON_SPARK
def test_subjects_are_counted_by_a_witness(place: Place) -> None:
    """Two subjects share values, so that fewer subjects than values can each have one."""
    rows = [("a", f"v{i}", "ann", "false") for i in range(4)] + [("a", "v0", "bob", "false")]
    rows += [("b", f"v{i % 3}", f"p{i}", "false") for i in range(6)]
    rows += [("c", f"v{i % 3}", f"p{i % 4}", "false") for i in range(12)] + [("*", "*", "eve", "true")]
    source, witness = place.put(texts(rows)), place.put(texts(rows, LENT))
    report = audited(place, source, k=2, l=4, subjects=witness)
    assert (report.rows, report.starred, report.k, report.l) == (len(rows) - 1, 1, 2, {"s": 2})
    assert report.class_sizes == {2: 1, 4: 1, 6: 1}
    assert report.failing_classes == 3
    other = place.put(texts(rows[1:], LENT))
    with pytest.raises(InternalError, match="differs from 1 of the written rows"):
        audited(place, source, k=2, subjects=other)
