"""Tests of stars on every engine: not a value in a sensitive column, and not a person in a row of stars."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from discreet.engines.column_scans import MissingMark, find_missing_marks
from discreet.engines.source_tables import open_source_table
from discreet.errors import InputError
from discreet.frequency.table_scan import count_frequency_set
from discreet.model.cell_format import is_star
from discreet.model.table_spec import NullPolicy
from discreet.search.star_schema_loader import star_schema
from discreet.sql.cell_expressions import readable_star_predicate
from discreet.sql.cell_expressions import star_predicate as is_star_in_sql
from tests.every_engine.auditing import audited
from tests.every_engine.places import Columns, Place
from tests.frequency.conftest import counted, table_spec

TEXTS = ["*", " * ", "**", "\t*", "* *", "*\u00a0", "\ufeff***", "", " ", "\t", "a", "81***", "*a"]
TEXTS += ["+", "(", "é*"]


def columns_of(**cells: list[str | None]) -> Columns:
    return {name: ("VARCHAR", values) for name, values in cells.items()}


def test_predicate_in_sql_equals_pythons(place: Place) -> None:
    columns = {"id": ("BIGINT", list(range(len(TEXTS) + 1))), **columns_of(v=[*TEXTS, None])}
    source = place.put(columns)
    with place.connect(source) as engine, open_source_table(engine, source) as table:
        text = table.text("v")
        test = is_star_in_sql(text, table.dialect)
        words = readable_star_predicate(text, table.dialect)
        shown = table.column("id")
        query = f"SELECT {shown}, CASE WHEN {test} THEN 1 ELSE 0 END, CASE WHEN {words} THEN 1 ELSE 0 END"
        found = {int(i): (a, b) for i, a, b in engine.fetch_rows(f"{query} FROM {table.relation}")}
    assert [bool(found[i][0]) for i in range(len(TEXTS))] == [is_star(text) for text in TEXTS]
    for i, text in enumerate(TEXTS):
        if not {*text} - {"*", " "}:
            assert bool(found[i][1]) == is_star(text)
        assert is_star(text) or not found[i][1]
    assert found[len(TEXTS)] == (0, 0)


def test_sensitive_star_is_null_under_a_spec(place: Place) -> None:
    columns = columns_of(q=["a", "a", "a", "b"], s=["flu", " *", None, "**"])
    source = place.put(columns)
    with place.connect(source) as engine:
        found = count_frequency_set(engine, table_spec(source, ["q"], ["s"]), place.settings)
    (values,) = found.sensitive
    assert values.size == 1
    assert counted(found) == Counter({("a",): 3, ("b",): 1})


def test_audit_does_not_count_stars_as_values(place: Place) -> None:
    source = place.put(columns_of(q=["m"] * 3 + ["f"] * 3, s=["flu", "*", "flu", "gout", " * ", None]))
    report = audited(place, source, k=3, l=2)
    assert (report.passed, report.k, report.l, report.failing_classes) == (False, 3, {"s": 1}, 2)


@pytest.mark.parametrize("policy", NullPolicy)
def test_rows_of_stars_belong_to_no_subject(place: Place, policy: NullPolicy) -> None:
    columns = columns_of(
        a=["x", "x", "*", "*", None, "NA", "*", None],
        b=["y", "y", "*", " **", "*", "*", "y", None],
        s=["1", "2", "1", "2", "1", "2", "1", "2"],
    )
    source = place.put(columns, null_values=("NA",), null_policy=policy)
    spec = table_spec(source, ["a", "b"], ["s"])
    expected = Counter({("x", "y"): 2, ("*", "y"): 1, (None, None): 1})
    if policy is NullPolicy.DROP:
        del expected[None, None]
    with place.connect(source) as engine:
        found = count_frequency_set(engine, spec, place.settings)
        with open_source_table(engine, spec.source) as table:
            seen = engine.fetch_rows(f"SELECT count(*) FROM {table.relation}")[0][0]
        if place.name != "mariadb":
            with star_schema(engine, spec, place.settings) as facts:
                assert (facts.rows, facts.set_apart, facts.dropped) == (
                    found.rows,
                    found.set_apart,
                    found.dropped,
                )
    assert counted(found) == expected
    assert (found.set_apart, found.dropped) == (4, 0 if policy is NullPolicy.VALUE else 1)
    assert int(seen) == 4, "whoever opens the spec's source sees none of them"


def test_table_of_only_stars_is_refused(place: Place) -> None:
    source = place.put(columns_of(q=["*", "*"], s=["1", "2"]))
    with place.connect(source) as engine, pytest.raises(InputError, match="has \\* or NULL in every"):
        count_frequency_set(engine, table_spec(source, ["q"], ["s"]), place.settings)


def test_missing_marks_are_found_everywhere(place: Place) -> None:
    columns: Columns = {
        **columns_of(ill=["flu", "Unknown", "(missing)", "*", "k. A.", "Unknown", None, "-9"]),
        "score": ("BIGINT", [1, 2, 3, 4, 5, 99, 99, -9]),
        "pay": ("BIGINT", [0, 99, 500, 10, 700, 30, 5, 60]),
    }
    source = place.put(columns)
    with place.connect(source) as engine, open_source_table(engine, replace(source)) as table:
        found = find_missing_marks(engine, table, ["ill", "score", "pay"], ["ill", "score", "pay"])
    assert found == {
        "ill": (
            MissingMark("Unknown", 2, starred=False),
            MissingMark("(missing)", 1, starred=False),
            MissingMark("*", 1, starred=True),
            MissingMark("-9", 1, starred=False),
            MissingMark("k. A.", 1, starred=False),
        ),
        "score": (MissingMark("99", 2, starred=False), MissingMark("-9", 1, starred=False)),
    }
