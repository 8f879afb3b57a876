"""The SQL text of a star schema's frequency sets."""

from __future__ import annotations

from discreet.model.requirement import Requirement
from discreet.sql import star_schema as sql


def test_a_frequency_set_of_facts_joins_the_dimensions_of_raised_levels_only() -> None:
    steps = [
        sql.LevelStep(0, "age", 0, 2),
        sql.LevelStep(1, "sex", 0, None),
        sql.LevelStep(3, "city", 0, 1, top=True),
    ]
    assert sql.frequency_set("facts", steps, ("s0",), sql.ROWS_OF_FACTS) == (
        "SELECT d0.high AS c0, f.c1 AS c1, 0 AS c3, f.s0 AS s0, count(*) AS n "
        'FROM "facts" AS f JOIN (SELECT DISTINCT l0 AS low, l2 AS high FROM "age") AS d0 ON f.c0 = d0.low '
        "GROUP BY d0.high, f.c1, f.s0"
    )


def test_a_roll_up_adds_rows() -> None:
    assert sql.frequency_set("below", [sql.LevelStep(1, "sex", 1, None)], (), sql.ROWS_OF_COUNTS) == (
        'SELECT f.c1 AS c1, CAST(sum(f.n) AS BIGINT) AS n FROM "below" AS f GROUP BY f.c1'
    )


def test_a_frequency_set_of_tops_alone_groups_by_nothing() -> None:
    steps = [sql.LevelStep(0, "age", 0, 3, top=True), sql.LevelStep(1, "sex", 0, 1, top=True)]
    assert sql.frequency_set("facts", steps, (), sql.ROWS_OF_FACTS) == (
        'SELECT 0 AS c0, 0 AS c1, count(*) AS n FROM "facts" AS f'
    )


def test_suppressed_rows_by_rows_alone() -> None:
    assert sql.suppressed_row_count("set", ["c0"], Requirement(5).bound(()), by_subject=False) == (
        'SELECT CAST(coalesce(sum(n), 0) AS BIGINT) FROM "set" WHERE n < 5'
    )


def test_suppressed_rows_by_subjects_and_values() -> None:
    asked = Requirement.of(5, {"b": 3}).bound(("a", "b"))
    assert sql.suppressed_row_count("set", ["c0", "c1"], asked, by_subject=True) == (
        "SELECT CAST(coalesce(sum(n), 0) AS BIGINT) FROM (SELECT c0, c1, CAST(sum(n) AS BIGINT) AS n, "
        "count(DISTINCT u) AS subjects, count(DISTINCT CASE WHEN s1 >= 0 THEN s1 END) AS distinct_s1 "
        'FROM "set" GROUP BY c0, c1) AS g WHERE subjects < 5 OR distinct_s1 < 3 OR subjects < 3'
    )


def test_one_counted_column_is_distinct_as_it_is() -> None:
    assert "count(CASE WHEN s0 >= 0 THEN s0 END)" in sql.suppressed_row_count(
        "set", ["c0"], Requirement(l=2).bound(("a",)), by_subject=False
    )


def test_facts_read_each_text_through_its_codes() -> None:
    columns = [sql.CodedColumn("c0", "age", "l0", 9), sql.CodedColumn("s0", "numbers", "i", -1)]
    assert sql.fact_table("texts", columns, "TRUE") == (
        'SELECT coalesce(d0.l0, 9) AS c0, coalesce(d1.i, -1) AS s0 FROM "texts" AS t '
        'LEFT JOIN "age" AS d0 ON t.t0 = d0.v LEFT JOIN "numbers" AS d1 ON t.t1 = d1.v WHERE TRUE'
    )
