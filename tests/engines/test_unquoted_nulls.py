"""Unquoted NULL words, in files that quote their texts and in files that do not."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from discreet.model.table_spec import SourceSpec
from discreet.settings import Settings
from tests.engines.rows import Rows, rows_of

FILES: dict[str, tuple[str, Rows]] = {
    "as R writes it": (
        '"sex","age","ill"\n"M",NA,"flu"\n"F",3,NA\n"F",4,"NA"\n',
        [("M", None, "flu"), ("F", "3", None), ("F", "4", "NA")],
    ),
    "names of rows": ('"","ill"\n"1","flu"\n"2",NA\n', [("1", "flu"), ("2", None)]),
    "names without quotes": ('sex,ill\n"M",NA\n"F","flu"\n', [("M", None), ("F", "flu")]),
    "truths, dates, times and infinity are no texts": (
        '"a","b","c","d","e"\n"x",TRUE,2024-01-31,Inf,2024-01-31T10:00:00Z\n"y",NA,NA,1e-05,NA\n',
        [("x", "TRUE", "2024-01-31", "Inf", "2024-01-31T10:00:00Z"), ("y", None, None, "1e-05", None)],
    ),
    "words of other programs": (
        '"a","b"\n"x",NULL\n"y",None\n"z",NaN\n"NULL",\\N\n',
        [("x", None), ("y", None), ("z", None), ("NULL", None)],
    ),
    "a quoted word tells, though other texts are bare": (
        'land,ill\nDE,flu\n"NA",gout\nNA,flu\n',
        [("DE", "flu"), ("NA", "gout"), (None, "flu")],
    ),
    "nothing is quoted": ("sex,ill\nM,NA\nF,flu\n", [("M", "NA"), ("F", "flu")]),
    "quoted where it must be": (
        'name,land\n"Roe, Ann",NA\n"Doe, ""Bo""",NA\n',
        [("Roe, Ann", "NA"), ('Doe, "Bo"', "NA")],
    ),
    "some texts are bare": ('name,ill\n"Ann",flu\n"Bo",NA\n', [("Ann", "flu"), ("Bo", "NA")]),
    "empty cells stay": ('"a","b"\n"x",\n"y",""\n"z",NA\n', [("x", None), ("y", ""), ("z", None)]),
    "lines within cells": ('"a","b"\n"x\ny,NA\n",NA\n"z",NA\n', [("x\ny,NA\n", None), ("z", None)]),
}


@pytest.mark.parametrize("name", FILES)
def test_unquoted_words_are_null_where_a_file_quotes_its_texts(
    name: str, settings: Settings, tmp_path: Path
) -> None:
    text, expected = FILES[name]
    path = tmp_path / "f.csv"
    path.write_text(text, newline="")
    assert rows_of(settings, SourceSpec(path=path)) == expected


OTHER_FORMS: dict[str, tuple[str, bytes, dict[str, Any]]] = {
    "tab": ("f.tsv", b'"a"\t"b"\n"x"\tNA\n"NA"\t1\n', {}),
    "semicolon": ("f.csv", b'"a";"b"\r\n"x";NA\r\n"NA";1\r\n', {}),
    "gzip": ("f.csv.gz", gzip.compress(b'"a","b"\n"x",NA\n"NA",1\n'), {}),
    "mark of bytes": ("f.csv", '\ufeff"a","b"\n"x",NA\n"NA",1\n'.encode(), {}),
    "another encoding": ("f.csv", '"a","b"\n"x",NA\n"NA",1\n'.encode("utf-16"), {"encoding": "utf-16"}),
    "another quote": ("f.csv", b"'a','b'\n'x',NA\n'NA',1\n", {"quote": "'"}),
}


@pytest.mark.parametrize("name", OTHER_FORMS)
def test_unquoted_words_in_other_forms_stay_texts(name: str, settings: Settings, tmp_path: Path) -> None:
    file, content, options = OTHER_FORMS[name]
    (tmp_path / file).write_bytes(content)
    found = rows_of(settings, SourceSpec(path=tmp_path / file, **options))
    assert found == [("x", None), ("NA", "1")]


def test_unquoted_nulls_are_inferred_from_all_files_of_a_table(settings: Settings, tmp_path: Path) -> None:
    for i, line in enumerate(('"x",NA', '"NA",1')):
        (tmp_path / f"f{i}.csv").write_text(f'"a","b"\n{line}\n')
    assert rows_of(settings, SourceSpec(path=tmp_path / "f*.csv")) == [("x", None), ("NA", "1")]


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ('"M",NA', None, ("M", None)),
        ('"M",NA', (), ("M", "NA")),
        ('"M",NA', ("-",), ("M", "NA")),
        ("M,NA", ("NA",), ("M", None)),
        ('M,"NA"', ("NA",), ("M", "NA")),
    ],
)
def test_unquoted_nulls_of_the_spec_take_precedence(
    text: str, words: tuple[str, ...] | None, expected: Any, settings: Settings, tmp_path: Path
) -> None:
    path = tmp_path / "f.csv"
    path.write_text(f'"sex","ill"\n{text}\n')
    assert rows_of(settings, SourceSpec(path=path, unquoted_nulls=words)) == [expected]
