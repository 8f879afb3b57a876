"""Queries of published releases, in every format and form, run separately and by discreet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

import discreet
from discreet.bounds.queryable_release import OpenPermutedRelease, open_release
from discreet.bounds.release_answer import answer_release_query
from discreet.engines.base import Engine
from discreet.errors import InputError
from discreet.models import Permutation
from discreet.settings import Settings
from discreet.sql.help_table import by_group_query
from discreet.verbs.release_query import compare_query, query
from discreet.verbs.table import Table
from tests.bounds.releases import write_classes, write_permuted
from tests.drawing import in_turn

AGES, SEXES, PAYS = ("20", "25", "31", "38", "44"), ("F", "M"), ("10", "", "35", "-4", "120.5", "7", "61")
SPEC = {
    "source": {"null_values": []},
    "attributes": {
        "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [10, 20]}},
        "sex": {"role": "quasi-identifier"},
        "zip": {"role": "quasi-identifier"},
        "pay": {"role": "sensitive"},
    },
}
QUERY = (
    "SELECT COUNT(*), COUNT(pay), SUM(pay), AVG(pay), MIN(pay) AS least, MAX(pay) FROM people "
    "WHERE age BETWEEN 25 AND 40 AND NOT zip LIKE '%9' GROUP BY sex"
)


@pytest.fixture
def table(tmp_path: Path, settings: Settings) -> Table:
    lines = ["age,sex,zip,pay"]
    for i in range(70):
        lines.append(f"{AGES[i % 5]},{SEXES[i % 2]},0{2170 + i % 9},{PAYS[i % 7]}")
    source = tmp_path / "people.csv"
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return discreet.open(source, SPEC, settings=settings)


def published(table: Table, path: Path, **options: object) -> Path:
    table.publish(Permutation(sensitive="pay", **options), path, k=2)  # type: ignore[arg-type]
    return path


@pytest.mark.parametrize(
    ("name", "form"), in_turn(["r.csv", "r.parquet", "r.duckdb"], ["one-table", "two-tables"])
)
def test_rewritten_sql_runs_outside_discreet(table: Table, out: Path, name: str, form: str) -> None:
    path = published(table, out / name, form=form)
    result = query(path, QUERY)
    assert result.sql is not None
    assert result.columns == ("sex",)
    database = str(path) if name.endswith("duckdb") else ":memory:"
    with duckdb.connect(database, read_only=database != ":memory:") as connection:
        lines = connection.execute(result.sql).fetchall()
    found = [(line[0], *line[1 + 3 * a : 4 + 3 * a]) for line in lines for a in range(6)]
    assert len(found) == len(result.rows) == 12
    for row, (key, lower, upper, estimate) in zip(result.rows, found, strict=True):
        assert row.group == {"sex": key}
        assert (row.lower, row.upper) == (pytest.approx(float(lower)), pytest.approx(float(upper)))
        assert row.estimate == pytest.approx(float(estimate))
        assert row.lower <= row.estimate <= row.upper
    hit = [i for i in range(0, 70, 2) if AGES[i % 5] in ("25", "31", "38")]
    assert result.rows[0].lower == result.rows[0].upper == sum((2170 + i % 9) % 10 != 9 for i in hit)
    assert "pay" in result.warnings[0]


def test_release_held_in_memory_answers_the_same(
    table: Table, out: Path, engine: Engine, settings: Settings
) -> None:
    path = published(table, out / "r.csv")
    whole = QUERY.partition(" GROUP BY ")[0]
    found, estimates = [], []
    for hold in (False, True):
        with open_release(engine, path, settings, hold=hold) as release:
            assert isinstance(release, OpenPermutedRelease)
            assert (release.permuted.in_engine.by_group is not None) == hold
            rows = [row for text in (QUERY, whole) for row in answer_release_query(release, text).rows]
            found.append([(r.group, r.aggregate, r.lower, r.upper) for r in rows])
            estimates.append([r.estimate for r in rows])
    assert found[0] == found[1]
    assert len(found[0]) == 18
    assert estimates[0] == pytest.approx(estimates[1], rel=1e-12)


@pytest.mark.parametrize(
    "lines", [[1, 2, 4], [1, 2, 2], [2, 3], [1, 2, 3, 4]], ids=["gap", "twice", "first", "more"]
)
def test_help_table_with_missing_lines_is_not_read_by_place(lines: list[int]) -> None:
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE help (g BIGINT, hits BIGINT, group_rows BIGINT, group_values BIGINT)"
        )
        for group, hits in ((1, [3, 1, 2]), (2, lines)):
            connection.executemany("INSERT INTO help VALUES (?, ?, 3, 3)", [(group, h) for h in hits])
        query = by_group_query("help", "g", numeric=False, has_null=False)
        assert connection.execute(query).fetchall() == [(1, 3, 3)]


def test_views_and_macro_of_a_database_give_the_bounds(table: Table, out: Path) -> None:
    path = published(table, out / "r.duckdb")
    wanted = query(path, "SELECT SUM(pay), AVG(pay), MIN(pay) FROM people WHERE age > 25 AND sex = 'F'").rows
    with duckdb.connect(str(path), read_only=True) as connection:
        tight = connection.sql("FROM pay_bounds(age > 25 AND sex = 'F')").fetchall()[0]
        names = connection.sql("FROM pay_bounds(age > 25 AND sex = 'F')").columns
        wide = connection.sql(
            "SELECT sum(pay_lower), sum(pay_upper), min(pay_lower) FROM release_with_bounds "
            "WHERE age > 25 AND sex = 'F'"
        ).fetchall()[0]
        groups = connection.sql(
            "SELECT sum(group_rows), sum(group_values), min(least) FROM groups"
        ).fetchall()
    macro = dict(zip(names, tight, strict=True))
    for row, name in zip(wanted, ("sum_of", "avg_of", "min_of"), strict=True):
        assert (row.lower, row.upper) == pytest.approx(
            (float(macro[f"{name}_lower"]), float(macro[f"{name}_upper"]))
        )
    assert float(wide[0]) <= wanted[0].lower <= wanted[0].upper <= float(wide[1])
    assert float(wide[2]) <= wanted[2].lower
    assert [float(cell) for cell in groups[0]] == [70, 60, -4]


def test_generalized_quasi_identifiers_of_a_permuted_release_are_bounded(table: Table, out: Path) -> None:
    exact = query(published(table, out / "a.csv"), QUERY)
    path = published(table, out / "b.csv", level={"age": 1})
    coarse = query(path, QUERY, spec=table)
    for unknown, known in zip(query(path, QUERY).rows, coarse.rows, strict=True):
        assert unknown.lower <= known.lower <= known.upper <= unknown.upper
    assert coarse.sql is None
    counts = [(a, b) for a, b in zip(exact.rows, coarse.rows, strict=True) if a.aggregate == "COUNT(*)"]
    assert all(b.lower <= a.lower <= b.upper for a, b in counts)
    assert any(b.width for _, b in counts)
    by_sex = "SELECT SUM(pay) FROM people WHERE zip = '02170' GROUP BY sex"
    assert query(path, by_sex).sql is not None


def test_releases_of_classes_answer_the_same_question(table: Table, out: Path) -> None:
    table.publish("mondrian", out / "m.csv", k=5)
    permuted = published(table, out / "p.csv")
    compared = compare_query([permuted, out / "m.csv"], QUERY, spec=table)
    document = compared.as_json()
    assert [Path(r["release"]).name for r in document["releases"]] == ["p.csv", "m.csv"]
    assert {row["aggregate"] for row in document["releases"][1]["rows"]} >= {"COUNT(*)", "AVG(pay)", "least"}
    shown = str(compared)
    assert "p.csv" in shown
    assert "m.csv" in shown


@pytest.mark.parametrize("policy", ["drop", "star"])
def test_suppressed_rows_are_left_out_and_reported(
    tmp_path: Path, engine: Engine, settings: Settings, policy: str
) -> None:
    rows = [("30", "F"), ("31", "M"), *([("*", "*")] if policy == "star" else [])]
    values = ["5", "7", *(["*"] if policy == "star" else [])]
    path = write_classes(
        tmp_path, ("age", "sex"), rows, values, levels={"age": 0, "sex": 0}, suppressed=1, suppression=policy
    )
    with open_release(engine, path, settings) as release:
        answered = answer_release_query(release, "SELECT COUNT(*), SUM(salary) FROM people WHERE age > 0")
    assert [(row.lower, row.upper) for row in answered.rows] == [(2, 2), (12, 12)]
    assert "1 rows were suppressed" in answered.warnings[0]


def test_categorical_attribute_is_only_counted(tmp_path: Path, engine: Engine, settings: Settings) -> None:
    path = write_permuted(
        tmp_path, ("sex",), [("F",), ("M",), ("F",)], [1, 1, 1], ["flu", None, "cold"], numeric=False
    )
    with open_release(engine, path, settings) as release:
        answered = answer_release_query(release, "SELECT COUNT(salary) FROM people WHERE sex = 'F'")
        assert [(r.lower, r.upper) for r in answered.rows] == [(1, 2)]
        with pytest.raises(InputError, match="not numeric"):
            answer_release_query(release, "SELECT SUM(salary) FROM people")


def test_changed_file_and_a_file_without_a_manifest_are_refused(
    tmp_path: Path, engine: Engine, settings: Settings
) -> None:
    path = write_permuted(tmp_path, ("sex",), [("F",), ("M",)], [1, 1], ["1", "2"])
    with path.open("a", encoding="utf-8") as file:
        file.write("F,1,3\n")
    with (
        pytest.raises(InputError, match="has 3 rows, but its manifest says 2"),
        open_release(engine, path, settings),
    ):
        pass
    with (
        pytest.raises(InputError, match="does not exist"),
        open_release(engine, tmp_path / "x.csv", settings),
    ):
        pass


def test_columns_that_differ_only_in_case_are_refused(
    tmp_path: Path, engine: Engine, settings: Settings
) -> None:
    path = write_permuted(tmp_path, ("sex", "Sex"), [("F", "M")], [1], ["1"])
    with pytest.raises(InputError, match="only in case"), open_release(engine, path, settings):
        pass


def test_columns_may_have_the_names_of_the_rewritten_query(
    tmp_path: Path, engine: Engine, settings: Settings
) -> None:
    names = ("hits", "key_1", "sum_lower", "count_lower")
    rows = [("1", "2", "3", "a"), ("1", "9", "3", None), ("2", "2", "3", "a")]
    path = write_permuted(tmp_path, names, rows, [1, 1, 1], ["10", "20", "30"])
    text = "SELECT COUNT(*), SUM(salary), MIN(salary) FROM hits WHERE hits.hits = 1 OR key_1 > 5 GROUP BY "
    with open_release(engine, path, settings) as release:
        found = answer_release_query(release, text + "key_1, count_lower ORDER BY key_1 DESC")
    assert found.columns == ("key_1", "count_lower 2")
    assert [row.group for row in found.rows[::3]] == [("9", None), ("2", "a")]
    assert [(row.lower, row.upper) for row in found.rows[:3]] == [(1, 1), (10, 30), (10, 30)]
    assert found.sql is not None
    assert duckdb.connect().execute(found.sql).fetchall()[0][:4] == ("9", None, 1, 1)


@pytest.mark.parametrize(
    "refuse",
    [
        lambda r: answer_release_query(r, "SELECT 1"),
        lambda r: answer_release_query(r, "SELECT SUM(ssn) FROM x"),
    ],
)
def test_nothing_is_executed_for_a_refused_query(
    tmp_path: Path, engine: Engine, settings: Settings, monkeypatch: pytest.MonkeyPatch, refuse: Callable
) -> None:
    path = write_permuted(tmp_path, ("sex",), [("F",), ("M",)], [1, 1], ["1", "2"])
    with open_release(engine, path, settings) as release, monkeypatch.context() as patch:
        for name in ("execute", "fetch_rows", "fetch_arrays", "load_table"):
            patch.setattr(engine, name, lambda *_: pytest.fail("something was executed"))
        with pytest.raises(InputError):
            refuse(release)


def test_comparisons_of_too_many_combinations_are_refused(
    tmp_path: Path, engine: Engine, settings: Settings
) -> None:
    rows = [(str(i), str(i), str(i)) for i in range(150)]
    path = write_classes(tmp_path, ("a", "b", "c"), rows, ["1"] * 150, levels={"a": 0, "b": 0, "c": 0})
    with open_release(engine, path, settings) as release:
        with pytest.raises(InputError, match="combinations of values of a, b, c") as error:
            answer_release_query(release, "SELECT COUNT(*) FROM x WHERE a || b || c = '111'")
        assert error.value.allowed
        with pytest.raises(InputError, match="GROUP BY makes more than"):
            answer_release_query(release, "SELECT COUNT(*) FROM x GROUP BY a, b")
        assert (
            answer_release_query(release, "SELECT COUNT(*) FROM x WHERE a || b = '11' AND c = 1")
            .rows[0]
            .lower
            == 1
        )


def test_conditions_on_permuted_values_are_answered_or_refused(
    tmp_path: Path, engine: Engine, settings: Settings
) -> None:
    rows = [("F", "20"), ("F", "30"), ("M", "40"), ("M", "50")]
    ill = ["flu", "cold", "flu", "hiv"]
    path = write_permuted(tmp_path, ("sex", "age"), rows, [1, 1, 2, 2], ill, sensitive="ill", numeric=False)
    with open_release(engine, path, settings) as release:
        found = answer_release_query(
            release, "SELECT COUNT(*), AVG(age) FROM p WHERE ill = 'flu' AND sex = 'F'"
        )
        assert [(row.lower, row.upper, row.estimate) for row in found.rows] == [(1, 1, 1.0), (20, 30, 25.0)]
        found = answer_release_query(
            release, "SELECT ill, COUNT(*) FROM p WHERE age > 20 GROUP BY ill ORDER BY ill DESC"
        )
        assert [(row.group, row.lower, row.upper) for row in found.rows] == [
            (("hiv",), 1, 1),
            (("flu",), 1, 2),
            (("cold",), 0, 1),
        ]
        assert found.sql is None
        for query in (
            "SELECT COUNT(*) FROM p WHERE ill = 'flu' OR sex = 'F'",
            "SELECT COUNT(*) FROM p WHERE ill || sex = 'fluF'",
            "SELECT COUNT(*) FROM p GROUP BY ill || sex",
        ):
            with pytest.raises(InputError, match="assignment of 'ill' to rows is hidden"):
                answer_release_query(release, query)
        with pytest.raises(InputError, match="has values"):
            answer_release_query(release, "SELECT COUNT(*) FROM p WHERE label(ill) = 'flu'")


def test_groups_of_numbers_are_in_their_order(tmp_path: Path, engine: Engine, settings: Settings) -> None:
    ages = ["100", "9", "n/a", "20", None, "1e1"]
    path = write_classes(tmp_path, ("age",), [(age,) for age in ages], ["1"] * 6, levels={"age": 0})
    with open_release(engine, path, settings) as release:
        found = answer_release_query(release, "SELECT COUNT(*) FROM p GROUP BY age")
        back = answer_release_query(release, "SELECT COUNT(*) FROM p GROUP BY age ORDER BY age DESC")
    assert [row.group[0] for row in found.rows] == ["9", "1e1", "20", "100", "n/a", None]
    assert [row.group[0] for row in back.rows] == ["n/a", "100", "20", "1e1", "9", None]
