"""Releases read from files, own and foreign, with NULL, stars and missing rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from discreet.engines.base import Engine
from discreet.errors import InputError
from discreet.frequency.table_scan import count_frequency_set
from discreet.queries.workload_text import parse_workload
from discreet.settings import Settings
from discreet.spec.spec_reader import spec_from_mapping
from discreet.workload.answerable_table import AnswerableTable, read_original, read_release
from discreet.workload.query_answer import WorkloadError, measure_workload_error

PEOPLE = """age,town,income
23,Kiel,10
24,Kiel,20
27,Bonn,30
,Bonn,40
31,Bonn,
38,Mainz,60
"""
DOCUMENT: dict[str, Any] = {
    "source": {"path": "people.csv"},
    "attributes": {
        "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [5, 10]}},
        "town": {"role": "quasi-identifier"},
        "income": {"role": "sensitive"},
    },
}
GENERALIZED = """income,age,town
10,20-24,Kiel
20,20-24,Kiel
30,"[27, 31]",Bonn
40,,Bonn
,"[27, 31]",Bonn
"""


def error_of_release(
    engine: Engine, settings: Settings, folder: Path, release: str, queries: str, **source: object
) -> tuple[WorkloadError, AnswerableTable]:
    (folder / "people.csv").write_text(PEOPLE, encoding="utf-8")
    (folder / "release.csv").write_text(release, encoding="utf-8")
    document = {**DOCUMENT, "source": {**DOCUMENT["source"], **source}}
    spec = spec_from_mapping(document, base=folder, label="the people")
    counted = count_frequency_set(engine, spec, settings)
    original = read_original(engine, spec, counted, ("income",), settings)
    found = read_release(engine, folder / "release.csv", spec, original, counted.hierarchies, settings)
    return measure_workload_error(parse_workload(queries), original, found), found


def answers(error: WorkloadError) -> list[tuple[float | None, ...]]:
    return [(q.truth, q.answer.estimate, q.answer.lower, q.answer.upper) for q in error.queries]


def test_foreign_release_with_null_and_missing_row_is_answered(
    engine: Engine, settings: Settings, tmp_path: Path
) -> None:
    queries = """
    SELECT COUNT(*) FROM t WHERE age <= 23;
    SELECT COUNT(*) FROM t WHERE age IS NULL;
    SELECT COUNT(*) FROM t WHERE age IS NOT NULL AND town = 'Bonn';
    SELECT SUM(income) FROM t WHERE age >= 25;
    SELECT SUM(income) FROM t WHERE town = 'Kiel';
    SELECT AVG(income) FROM t WHERE age < 24;
    """
    error, found = error_of_release(engine, settings, tmp_path, GENERALIZED, queries)
    assert (found.table.total, found.missing, found.starred) == (5, 1, 0)
    assert answers(error) == [
        (1, 1.0, 0, 3),
        (1, 1.0, 1, 2),
        (2, 2.0, 2, 3),
        (90, 30.0, 30, 90),
        (30, 30.0, 30, 90),
        (10, pytest.approx(15.0), 10, 60),
    ]
    assert error.outside == 0


def test_starred_rows_may_be_anything(engine: Engine, settings: Settings, tmp_path: Path) -> None:
    starred = GENERALIZED + "*,*,*\n"
    error, found = error_of_release(
        engine, settings, tmp_path, starred, "SELECT COUNT(*) FROM t WHERE age BETWEEN 30 AND 39; "
        "SELECT SUM(income) FROM t"
    )  # fmt: skip
    assert (found.missing, found.starred) == (0, 1)
    assert answers(error)[0] == (2, pytest.approx(2 / 2 + 2 / 5), 0, 3)
    assert answers(error)[1][2:] == (100, 160)


def test_dropped_nulls_are_not_part_of_the_original(
    engine: Engine, settings: Settings, tmp_path: Path
) -> None:
    release = "age,town,income\n20-29,*,10\n20-29,*,20\n20-29,*,30\n30-39,*,60\n"
    error, found = error_of_release(
        engine, settings, tmp_path, release, "SELECT COUNT(*) FROM t WHERE town = 'Kiel'", null_policy="drop"
    )
    assert found.missing == 0
    assert answers(error) == [(2, pytest.approx(4 / 3), 0, 4)]


@pytest.mark.parametrize(
    ("release", "message"),
    [
        ("age,town,income\n90-99,Kiel,10\n", "column 'age' of the release: 1 of 2 labels"),
        ("age,town,income\n23,Kiel,11\n", "column 'income' of the release: 1 of 1 values"),
        ("age,income\n23,10\n", "no column 'town'"),
        (PEOPLE + "23,Kiel,10\n", "has 7 rows, more than the 6"),
    ],
)
def test_file_that_is_no_release_of_the_table_is_refused(
    engine: Engine, settings: Settings, tmp_path: Path, release: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        error_of_release(engine, settings, tmp_path, release, "SELECT COUNT(*) FROM t")
