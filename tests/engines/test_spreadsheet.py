"""Spreadsheets: each cell's text, one sheet, and refusals."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import discreet
from discreet.engines.base import Engine
from discreet.errors import InputError
from discreet.model.table_spec import SourceSpec
from tests.cli.conftest import Run, run
from tests.engines.rows import Rows, sorted_rows

__all__ = ["run"]

HEADER = ["age", "seen", "paid", "note"]


def cells(engine: Engine, path: Path, table: str | None = None) -> Rows:
    return sorted_rows(engine, SourceSpec(path=path, table=table))


def book(path: Path, **sheets: Sequence[Sequence[object]]) -> Path:
    """Write a workbook with these sheets."""
    import openpyxl

    found = openpyxl.Workbook()
    found.remove(found.active)
    for name, rows in sheets.items():
        sheet = found.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    found.save(path)
    return path


def test_cells_are_read_as_text_of_their_values(engine: Engine, tmp_path: Path) -> None:
    rows = [
        HEADER,
        [7, datetime.datetime(2023, 4, 1), 12.5, 'say "no", or\nnothing'],
        [8.0, datetime.datetime(2023, 4, 1, 10, 15), True, "  "],
        [None, None, 1e20, "007"],
        [],
        [9, None, "NA"],
    ]
    path = book(tmp_path / "people.xlsx", People=rows, Empty=[])
    assert cells(engine, path) == [
        ("7", "2023-04-01", "12.5", 'say "no", or\nnothing'),
        ("8", "2023-04-01T10:15:00", "true", "  "),
        ("9", None, "NA", None),
        (None, None, "1e+20", "007"),
    ]


def test_one_of_several_sheets_must_be_named(engine: Engine, tmp_path: Path) -> None:
    path = book(tmp_path / "two.xlsx", First=[HEADER, [1, 2, 3, 4]], Second=[HEADER, [5, 6, 7, 8]])
    with pytest.raises(InputError, match="several sheets") as error:
        cells(engine, path)
    assert "First, Second" in str(error.value)
    assert cells(engine, path, "Second") == [("5", "6", "7", "8")]
    with pytest.raises(InputError, match=r"no sheet 'Third'.*First, Second"):
        cells(engine, path, "Third")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([HEADER, [1, 2, 3, 4, 5]], "row 2: 5 cells, but the header has 4"),
        ([["age", None, "paid"], [1, 2, 3]], "row 1, cell 2: a column without a name"),
        ([[], HEADER], "row 1 is blank"),
        ([HEADER, [1, "=1+1", 3, 4]], "row 2, cell 2: a formula that was never computed"),
        ([["age", "age"], [1, 2]], "two columns 'age'"),
        ([], "no sheet with cells"),
    ],
)
def test_sheets_without_a_table_are_refused(
    rows: Sequence[Sequence[object]], expected: str, engine: Engine, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=expected):
        cells(engine, book(tmp_path / "bad.xlsx", Sheet=rows))


def test_sheet_may_be_named_on_the_command_line_and_in_python(run: Run, tmp_path: Path) -> None:
    rows = [["age", "city"], *([20 + i % 5, "AB"[i % 2]] for i in range(60))]
    path = book(tmp_path / "work" / "two.xlsx", Notes=[["see the other sheet"]], People=rows)
    refused = run("init", "two.xlsx")
    assert refused.status == 2
    assert "Allowed: Notes, People" in refused.err
    assert "Did you mean 'People'?" in run("init", "two.xlsx", "--table", "people").err
    assert run("init", "two.xlsx", "--table", "People").status == 0
    assert 'table = "People"' in (tmp_path / "work" / "discreet.toml").read_text()
    with pytest.raises(InputError, match="table=SHEET"):
        discreet.init(path)
    proposed = discreet.init(path, table="People")
    assert sorted(proposed.mapping["attributes"]) == ["age", "city"]
    assert discreet.open(path, proposed.mapping).inspect().rows == 60


def test_unreadable_spreadsheet_or_a_missing_library_is_named(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "text.xlsx").write_text("age,city\n", encoding="utf-8")
    with pytest.raises(InputError, match="not a readable spreadsheet"):
        cells(engine, tmp_path / "text.xlsx")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(InputError, match=r"pip install 'discreet\[excel\]'"):
        cells(engine, tmp_path / "text.xlsx")
