from discreet.sql import group_counts as sql


def test_rows_are_grouped_by_every_key_at_once() -> None:
    assert sql.group_rows('"source_1"', ['"c3"', 'CAST("c0" AS VARCHAR)']) == (
        'SELECT "c3" AS k0, CAST("c0" AS VARCHAR) AS k1, count(*) AS n FROM "source_1" GROUP BY 1, 2'
    )


def test_texts_are_made_of_the_groups_and_no_more_of_them_than_fit() -> None:
    assert sql.groups_as_texts("SELECT 1", ["k0", "CAST(k1 AS VARCHAR)"], 8) == (
        "SELECT k0 AS k0, CAST(k1 AS VARCHAR) AS k1, n FROM (SELECT 1) AS g LIMIT 8"
    )


def test_codes_come_from_the_groups_alone() -> None:
    assert sql.enum_type("v0", "g", "k0") == (
        'CREATE OR REPLACE TEMP TYPE "v0" AS ENUM (SELECT DISTINCT k0 FROM "g" WHERE k0 IS NOT NULL)'
    )
    assert sql.encoded_groups("g", [sql.value_code("k0", "v0", 7)]) == (
        'SELECT coalesce(enum_code((k0)::"v0"), 7) AS c0, n FROM "g" AS g'
    )


def test_subjects_are_numbered_by_a_table_that_may_spill() -> None:
    query = sql.encoded_groups("g", ["k0"], subjects="s", subject_text="k1")
    assert query == (
        'SELECT k0 AS c0, coalesce(s.i, -1) AS subject, n FROM "g" AS g LEFT JOIN "s" AS s ON (k1) = s.v'
    )
    assert sql.numbered_values("g", "k1").endswith('(SELECT DISTINCT k1 AS v FROM "g" WHERE k1 IS NOT NULL)')


def test_keys_of_many_values_are_joined() -> None:
    codes = [sql.value_code("k0", "v0", 7), sql.joined_code(1, 9)]
    assert sql.encoded_groups("g", codes, joined={1: "v1"}) == (
        'SELECT coalesce(enum_code((k0)::"v0"), 7) AS c0, coalesce(j1.i, 9) AS c1, n'
        ' FROM "g" AS g LEFT JOIN "v1" AS j1 ON k1 = j1.v'
    )
    assert sql.sorted_texts("g", "k1").startswith("SELECT v, row_number() OVER (ORDER BY v) - 1 AS i FROM (")
