"""``discreet query``: output, JSON, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from discreet.cli.main import main
from tests.bounds.releases import write_permuted

ROWS = [
    ("30", "F", "TX"),
    ("35", "M", "TX"),
    ("41", "F", "TX"),
    ("38", "F", "NY"),
    ("36", "M", "TX"),
    ("33", "F", "TX"),
]
QUERY = "SELECT AVG(salary) FROM people WHERE age BETWEEN 30 AND 40 AND state = 'TX' GROUP BY sex"


@pytest.fixture
def release(tmp_path: Path) -> Path:
    return write_permuted(
        tmp_path, ("age", "sex", "state"), ROWS, [1, 1, 1, 2, 2, 2], ["10", "20", "30", "5", "7", "50"]
    )


def test_bounds_are_printed_as_an_aligned_table(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", str(release), QUERY]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["sex", "aggregate", "lower", "upper", "estimate", "width"]
    assert [line.split() for line in lines[2:]] == [
        ["F", "AVG(salary)", "7.5000", "40", "20.3333", "32.5000"],
        ["M", "AVG(salary)", "7.5000", "40", "20.3333", "32.5000"],
    ]


def test_query_json_follows_the_contract(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", str(release), QUERY, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["columns"] == ["sex"]
    assert document["warnings"] == []
    first = document["rows"][0]
    assert first["estimate"] == pytest.approx(61 / 3)
    assert {**first, "estimate": 0} == {
        "group": {"sex": "F"},
        "aggregate": "AVG(salary)",
        "lower": 7.5,
        "upper": 40.0,
        "estimate": 0,
    }
    lines = duckdb.connect().execute(document["sql"]).fetchall()
    assert [line[:3] for line in lines] == [("F", 7.5, 40.0), ("M", 7.5, 40.0)]


def test_explain_prints_sql_that_runs(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", str(release), QUERY, "--explain"]) == 0
    assert duckdb.connect().execute(capsys.readouterr().out).fetchall()[0][:3] == ("F", 7.5, 40.0)
    assert main(["query", str(release), QUERY, "--explain", "--sql", "postgres", "--help-table", "h"]) == 0
    assert 'JOIN "h" AS help' in capsys.readouterr().out


def test_views_are_statements_of_the_dialect(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", str(release), "--views", "--sql", "spark", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["statements"]) == 2
    assert main(["query", str(release), "--views"]) == 0
    assert 'CREATE MACRO "salary_bounds"(condition)' in capsys.readouterr().out


def test_several_releases_are_answered_separately(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", str(release), str(release), QUERY]) == 0
    assert capsys.readouterr().out.count("people.csv") == 4


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["SELECT SUM(salary) FROM people WHERE salary > 3 OR age > 3"], "salary"),
        (["SELECT SUM(salary) FROM people", "--sql", "mysql"], "dialect 'mysql'"),
        (["SELECT SUM(salary) FROM people", "--sql", "mariadb"], "a query of a release in MariaDB"),
        (["SELECT SUM(salary) FROM people; DROP TABLE people"], "2 statements"),
        ([], "the query is empty"),
        (["x", "--views"], "--views with more"),
    ],
)
def test_query_refusals_give_the_reason(
    release: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], reason: str
) -> None:
    assert main(["query", str(release), *arguments, "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["kind"] == "bad-input"
    assert reason in error["message"]
    assert error["allowed"]
