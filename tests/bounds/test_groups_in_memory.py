"""Queries of a release held in arrays give the results of the rewritten query."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from discreet.bounds import queryable_release
from discreet.bounds.queryable_release import OpenPermutedRelease, open_release
from discreet.bounds.release_answer import answer_release_query
from discreet.engines.base import Engine
from discreet.settings import Settings
from tests.bounds.random_queries import QueryMaker
from tests.bounds.releases import write_csv, write_permuted
from tests.drawing import some_of

NAMES = ("age", "hours", "town", "sex")
TOWNS = ("Kiel", "Bonn", "Ulm", None)
AGES = (*map(str, range(20, 61)), None)
MAKER = QueryMaker(
    "salary",
    {"age": (20, 60), "hours": (0, 40)},
    {"town": ["Kiel", "Bonn", "Ulm"], "sex": ["f", "m"]},
    ["town", "sex"],
)
ROWS = 300


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queryable_release, "FEWEST_ARRAY_ROWS", 1)


def written(folder: Path, value: Callable[[Random], str | None]) -> Path:
    draw = Random(3)
    rows = [
        (draw.choice(AGES), str(draw.randint(0, 40)), draw.choice(TOWNS), draw.choice("fm"))
        for _ in range(ROWS)
    ]
    groups = sorted(draw.randint(1, 30) for _ in range(ROWS - 30)) + list(range(1, 31))
    draw.shuffle(groups)
    return write_permuted(
        folder, NAMES, rows, groups, [value(draw) for _ in range(ROWS)], null_policy="value"
    )


def whole(draw: Random) -> str:
    return str(draw.randint(-40, 90))


def decimal(draw: Random) -> str:
    return f"{draw.randint(-4000, 9000) / 100:.2f}"


@pytest.mark.parametrize("value", [whole, decimal])
@pytest.mark.parametrize("kernels", [False, True])
def test_random_queries_equal_those_of_the_engine(
    tmp_path: Path,
    engine: Engine,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    value: Callable[[Random], str],
    kernels: bool,
) -> None:
    monkeypatch.setattr("discreet.bounds.permuted_tables.choose_kernels", lambda *_, **__: kernels)
    path = written(tmp_path, value)
    ordered = "SELECT town, sex, AVG(salary), COUNT(*) FROM x GROUP BY town, sex ORDER BY sex DESC"
    nobody = "SELECT COUNT(salary), SUM(salary), AVG(salary), MIN(salary), MAX(salary) FROM x WHERE age > 99"
    by_number = "SELECT CAST({0} AS INTEGER) AS a, MIN(salary) FROM x WHERE hours > 20 GROUP BY a"
    by_age = by_number.format("age - 40")
    texts = [ordered, nobody, by_age, f"{by_age} ORDER BY a DESC", by_number.format("9999 * age")]
    texts += [f"{nobody.replace('SELECT', 'SELECT town,')} GROUP BY town"]
    texts += [query.text() for query in MAKER.queries(some_of(40), seed=5)]
    found, estimates = [], []
    for hold in (False, True):
        with open_release(engine, path, settings, hold=hold) as release:
            assert isinstance(release, OpenPermutedRelease)
            assert (release.permuted.groups is not None) == hold
            rows = [row for text in texts for row in answer_release_query(release, text).rows]
            found.append([(r.group, r.aggregate, r.lower, r.upper) for r in rows])
            estimates.append([r.estimate for r in rows])
    assert found[0] == found[1]
    assert estimates[0] == pytest.approx(estimates[1], rel=1e-9)


@pytest.mark.parametrize("value", [None, "4503599627370496"], ids=["none", "beyond exact doubles"])
def test_other_values_are_left_to_the_engine(
    tmp_path: Path, engine: Engine, settings: Settings, value: str | None
) -> None:
    path = written(tmp_path, lambda draw: draw.choice((value, "7")))
    assert answers_by_the_engine(path, engine, settings)


@pytest.mark.parametrize(
    ("name", "column", "cell"),
    [
        ("people.help.csv", "hits", "1"),
        ("people.help.csv", "group_id", "31"),
        ("people.help.csv", "group_rows", "3"),
        ("people.help.csv", "lowest", "99"),
        ("people.help.csv", "lowest", ""),
        ("people.csv", "group_id", "31"),
        ("people.csv", "group_id", ""),
    ],
)
def test_tables_with_other_lines_are_left_to_the_engine(
    tmp_path: Path, engine: Engine, settings: Settings, name: str, column: str, cell: str
) -> None:
    path = written(tmp_path, whole)
    with (tmp_path / name).open(encoding="utf-8", newline="") as file:
        header, *lines = csv.reader(file)
    place = header.index(column)
    lines[1] = [*lines[1][:place], cell, *lines[1][place + 1 :]]
    write_csv(tmp_path / name, header, [[cell or None for cell in line] for line in lines])
    assert answers_by_the_engine(path, engine, settings)


def answers_by_the_engine(path: Path, engine: Engine, settings: Settings) -> bool:
    with open_release(engine, path, settings, hold=True) as release:
        assert isinstance(release, OpenPermutedRelease)
        assert answer_release_query(release, "SELECT COUNT(salary) FROM x WHERE age > 30").rows
        return release.permuted.groups is None
