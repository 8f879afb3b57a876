"""SPSS, Stata and SAS files: labels, codes, missing values, and refusals."""

from __future__ import annotations

import datetime
import sys
from pathlib import Path
from typing import Any

import pandas
import pyreadstat
import pytest

import discreet
from discreet.engines.base import Engine
from discreet.errors import InputError
from discreet.model.table_spec import SourceSpec
from discreet.verbs.spec_editor import source_as_mapping
from tests.engines.rows import Rows, text_rows

LABELS = {"sex": {1: "male", 2: "female"}, "ward": {1: "same", 2: "same"}}


def people(*, dates: bool = False) -> pandas.DataFrame:
    rows: dict[str, Any] = {
        "sex": [1, 2, 9, None],
        "ward": [1.0, 2, 1, 2],
        "age": [30.0, 41.5, 20, 99],
        "name": ["Ada", 'say "no"', "", "d"],
    }
    if dates:
        rows["born"] = [datetime.date(2000, 1, 1)] * 4
    return pandas.DataFrame(rows)


def cells(engine: Engine, path: Path, **options: Any) -> Rows:
    rows = text_rows(engine, SourceSpec(path=path, **options))
    return sorted(rows, key=lambda row: (row[0] is None, row))


@pytest.fixture
def spss(tmp_path: Path) -> Path:
    path = tmp_path / "people.sav"
    pyreadstat.write_sav(
        people(dates=True),
        path,
        variable_value_labels=LABELS,
        column_labels={"sex": "Sex of the respondent"},
        missing_ranges={"age": [99]},
    )
    return path


def test_labels_replace_codes_and_missing_is_null(engine: Engine, spss: Path) -> None:
    assert cells(engine, spss) == [
        ("9", "1", "20", "", "2000-01-01"),  # no label: the code
        ("female", "2", "41.5", 'say "no"', "2000-01-01"),
        ("male", "1", "30", "Ada", "2000-01-01"),
        (None, "2", None, "d", "2000-01-01"),
    ]
    assert [row[0] for row in cells(engine, spss, keep_codes=True)] == ["1", "2", "9", None]


def test_columns_read_by_labels_are_reported(spss: Path) -> None:
    notes = " ".join(discreet.init(spss).guesses)
    assert "Labels replace codes in sex; keep_codes = true" in notes
    assert "Codes are kept in ward, where two values would have one label." in notes
    assert "sex: Sex of the respondent" in notes


def test_spec_keeps_the_codes(spss: Path) -> None:
    spec = f'[source]\npath = "{spss.name}"\nkeep_codes = true\n[attributes.sex]\nrole = "quasi-identifier"\n'
    path = spss.with_name("discreet.toml")
    path.write_text(spec)
    assert discreet.open(path).frequency_set.hierarchies[0].leaves == ("1", "2", "9")


def test_files_of_stata_and_sas_are_read(engine: Engine, tmp_path: Path) -> None:
    stata, sas = tmp_path / "people.dta", tmp_path / "people.xpt"
    pyreadstat.write_dta(people(), stata, variable_value_labels={"sex": LABELS["sex"]})
    pyreadstat.write_xport(people(), sas, file_format_version=8)
    assert [row[0] for row in cells(engine, stata)] == ["9", "female", "male", None]
    assert cells(engine, sas) == [
        ("1", "1", "30", "Ada"),
        ("2", "2", "41.5", 'say "no"'),
        ("9", "1", "20", None),
        (None, "2", "99", "d"),
    ]


def test_unreadable_files_are_refused(
    engine: Engine, tmp_path: Path, spss: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "text.dta").write_text("age\n1\n")
    with pytest.raises(InputError, match="is not a readable file of Stata"):
        cells(engine, tmp_path / "text.dta")
    with pytest.raises(InputError, match="files of the kind sav"):
        cells(engine, tmp_path / "*.sav")
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(InputError, match=r"discreet\[stats\]"):
        cells(engine, spss)


def test_written_source_has_keep_codes_where_set() -> None:
    assert source_as_mapping(SourceSpec(path=Path("people.sav"), keep_codes=True)) == {"keep_codes": True}
    assert source_as_mapping(SourceSpec(path=Path("people.sav"))) == {}
