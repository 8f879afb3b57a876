"""Tests of the fuzz: its rules report each planted fault in a release, or in the publisher."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.errors import NoSolution
from tests.fuzz.attempt import Outcome, attempt, outcome_of
from tests.fuzz.cases import HOSTILE, ROW, Column, Trial
from tests.fuzz.files import Record, read_release
from tests.fuzz.hostile_tables import drawn
from tests.fuzz.publishing import Workplace, publish
from tests.fuzz.recount import Wrong, check_recoded, covers, diversity
from tests.fuzz.recount_permuted import check_permuted
from tests.fuzz.shrinking import shrunken

AGES, TOWNS, ILLS = ("20", "21", "30", "31"), ("Kiel", "Kiel", "Bonn", "Bonn"), ("a", "b", "010", "10")


def case(**changes: Any) -> Trial:
    columns = (
        Column("age", "quasi-identifier", "text", AGES, {"kind": "intervals", "widths": [10]}),
        Column("town", "quasi-identifier", "text", TOWNS),
        Column("ill", "sensitive", "text", ILLS),
        Column(ROW, "insensitive", "text", tuple(f"row-{i}" for i in range(4))),
    )
    given = {"seed": 1, "columns": columns, "source": "csv", "release": "csv", "model": "full-domain", "k": 2}
    return Trial(**(given | {"journey": HOSTILE} | changes))


def records() -> list[Record]:
    """A correct release of the case."""
    return [
        {"age": f"{age[0]}0-{age[0]}9", "town": town, "ill": ill, ROW: f"row-{i}"}
        for i, (age, town, ill) in enumerate(zip(AGES, TOWNS, ILLS, strict=True))
    ]


def test_correct_release_passes() -> None:
    check_recoded(case(l=2), records(), 0)


PLANTED: dict[str, tuple[Callable[[list[Record]], object], str]] = {
    "a text as a number": (lambda rows: rows[2].update(ill="10"), "sensitive and insensitive cells"),
    "a cell of another row": (lambda rows: rows[0].update(ill="b"), "sensitive and insensitive cells"),
    "an interval beside the value": (lambda rows: rows[0].update(age="30-39"), "a quasi-identifier's cell"),
    "a row twice": (lambda rows: rows[1].update(rows[0]), "sensitive and insensitive cells"),
    "a row lost": (lambda rows: rows.pop(), "the number of rows"),
    "a row starred": (lambda rows: rows[0].update(age="*", town="*", ill="*"), "sensitive and insensitive"),
    "a class too small": (lambda rows: rows[0].update(age="20"), "k"),
    "a column too many": (lambda rows: [row.update(name="Ann") for row in rows], "the published columns"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_fault_is_reported(name: str) -> None:
    plant, rule = PLANTED[name]
    rows = records()
    plant(rows)
    with pytest.raises(Wrong) as caught:
        check_recoded(case(), rows, 0)
    assert str(caught.value.args[0]).startswith(rule)


def test_too_few_values_are_reported() -> None:
    with pytest.raises(Wrong, match="'l'"):
        check_recoded(case(l=3), records(), 0)
    assert diversity([("flu", 1), ("cold", 1), ("flu", 2)]) == 2
    assert diversity([("flu", 1), ("cold", 1)]) == 1


def test_permuted_release_is_distinguished_from_another(tmp_path: Path) -> None:
    trial = case(model="permutation", options={"form": "one-table"})
    place = Workplace.in_folder(trial, tmp_path)
    publish(place, place.opened(), place.path)
    check_permuted(trial, place.path)
    text = place.path.read_text(encoding="utf-8")
    for old, new, rule in (
        ("010", "10", "a group's values"),
        ("Kiel", "Köln", "all but the permuted column"),
    ):
        place.path.write_text(text.replace(old, new), encoding="utf-8")
        with pytest.raises(Wrong, match=rule):
            check_permuted(trial, place.path)


LEVELS = {"kind": "levels", "rows": [["a", "{a, b}", "*"], ["b", "{a, b}", "*"]]}


@pytest.mark.parametrize(
    ("hierarchy", "value", "shown", "holds"),
    [
        (None, "a", "a", True),
        (None, "a", "*", True),
        (None, "a", "b", False),
        (None, None, "a", False),
        (None, "", None, False),
        (LEVELS, "a", "{a, b}", True),
        (LEVELS, "c", "{a, b}", False),
        (None, "b", "a … c", True),
        (None, "b", "a … z", False),
        (None, "a, b", '{"a, b", c}', True),
        (None, "b", '"a … z" … c', False),
        (None, "b", 'a … "a … c"', True),
        ({"kind": "mask"}, "02138", "021**", True),
        ({"kind": "mask"}, "02138", "022**", False),
        ({"kind": "intervals"}, "19", "20-24", False),
        ({"kind": "intervals"}, "-0.1", "[-0.5, 0[", True),
        ({"kind": "dates"}, "2020-03-17", "2020-Q1", True),
        ({"kind": "dates"}, "2020-03-17", "2010-2019", False),
    ],
)
def test_cell_represents_only_its_values(hierarchy: Any, value: str, shown: str, holds: bool) -> None:
    column = Column("x", "quasi-identifier", "text", (value,), hierarchy)
    assert covers(column, ["a", "b", "c", "a, b", "a … c", None, value], value, shown) is holds


def test_case_is_reproduced_from_its_seed() -> None:
    assert repr(drawn(7)) == repr(drawn(7)) != repr(drawn(8))
    assert {drawn(seed).model for seed in range(200)} >= {"permutation", "mondrian", "local", "patterns"}


@pytest.mark.parametrize("command", [False, True])
def test_exception_is_a_failure_and_refusal_is_not(command: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    assert attempt(case(command=command)).result == "published"
    assert attempt(case(k=5, command=command)).result == "refused"

    def fails(*_: object, **__: object) -> None:
        raise ZeroDivisionError("row of Ann")

    monkeypatch.setattr("discreet.engines.duckdb.engine.DuckdbEngine.open_source", fails)
    found = attempt(case(command=command))
    assert (found.result, "ZeroDivisionError" in found.why) == ("failed", True)


def test_refusal_under_a_looser_limit_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    publish = discreet.verbs.table.Table.publish

    def strange(table: Any, *arguments: Any, **options: Any) -> Any:
        if options["max_suppressed"]:
            raise NoSolution("nothing is left")
        return publish(table, *arguments, **options)

    monkeypatch.setattr("discreet.verbs.table.Table.publish", strange)
    found = outcome_of(case(limit="100%"))
    assert (found.result, found.why) == ("failed", "wrong: a looser limit refuses (full-domain)")


def test_failing_case_gets_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    def judge(tried: Trial) -> Outcome:
        bad = any(cell == "010" for column in tried.columns for cell in column.cells)
        return Outcome("failed" if bad else "published", "wrong: planted")

    found = shrunken(case(star=True, command=True), "wrong: planted", judge)
    assert (found.rows, found.star, found.command) == (1, False, False)
    assert [column.cells for column in found.of("sensitive")] == [("010",)]


def test_files_are_read_as_written(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('a,"b"\n,""\n"x,\n""",1\n', encoding="utf-8")
    assert read_release(path) == [{"a": None, "b": ""}, {"a": 'x,\n"', "b": "1"}]
