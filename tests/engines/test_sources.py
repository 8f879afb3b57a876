"""The text of a cell, format by format."""

import gzip
import json
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from discreet.engines.duckdb.engine import DuckdbEngine
from discreet.engines.files.sources import describe_cell_reading, file_kind
from discreet.errors import InputError
from discreet.model.table_spec import SourceSpec
from tests.engines.conftest import Read


def test_csv_cells_are_text_and_nothing_is_inferred(read: Read) -> None:
    content = b"zip,n,flag,day,word\n02174,1.50,TRUE,2020-1-1,NULL\n+1, 7 ,nan,1e3,\\N\n"
    assert read(content) == [
        ("02174", "1.50", "TRUE", "2020-1-1", "NULL"),
        ("+1", " 7 ", "nan", "1e3", "\\N"),
    ]


def test_empty_unquoted_cell_is_null_and_quoted_one_is_empty_text(read: Read) -> None:
    assert read(b'a,b\n,""\n"",\n') == [(None, ""), ("", None)]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_line_ends_and_quotes_are_read(read: Read, line_end: str) -> None:
    lines = ['"a",b', '"x,y","say ""hi"""', '"two\nlines",2', ",3"]
    content = line_end.join(lines).encode()
    expected = [("x,y", 'say "hi"'), ("two\nlines", "2"), (None, "3")]
    assert sorted(read(content), key=str) == sorted(expected, key=str)


def test_blank_lines_are_skipped_or_are_null_in_a_single_column(read: Read) -> None:
    assert read(b"a,b\n1,2\n\n3,4\n\n") == [("1", "2"), ("3", "4")]
    assert read(b"a\n1\n\n3\n") == [("1",), (None,), ("3",)]


def test_null_values_are_whole_texts_quoted_or_not(read: Read) -> None:
    content = b'a,b\n?,"?"\n??, ?\n-1,x\n'
    assert read(content, null_values=("?", "-1")) == [(None, None), ("??", " ?"), (None, "x")]


@pytest.mark.parametrize(
    ("encoding", "codec"),
    [
        ("utf-8", "utf-8"),
        ("UTF8", "utf-8-sig"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("latin-1", "latin-1"),
        ("windows-1252", "cp1252"),
        ("cp437", "cp437"),
    ],
)
def test_encodings_are_read(read: Read, encoding: str, codec: str) -> None:
    sign = "€" if encoding == "windows-1252" else "é"  # unlike Latin-1
    assert read(f'näme,b\r\nü,"{sign}"\r\n'.encode(codec), encoding=encoding) == [("ü", sign)]


def test_delimiters_are_read(read: Read) -> None:
    assert read(b"a;b\n1,5;2\n") == [("1,5", "2")]
    assert read(b"a\tb\n1,5\t2\n", "people.tsv") == [("1,5", "2")]
    assert read(b"a,b\tc\n1\t2\n", "people.tsv") == [("1", "2")]
    assert read(b"a:b\n1:2\n", delimiter=":") == [("1", "2")]
    assert read(b"a,b\n'x,y',\"2\n", quote="'") == [("x,y", '"2')]


def test_very_long_cells_are_read(read: Read) -> None:
    long = "ü" * 3_000_000
    assert read(f'a,b\n{long},1\n"{long}",2\n'.encode()) == [(long, "1"), (long, "2")]


def test_gzip_files_are_read(read: Read) -> None:
    assert read(gzip.compress(b"a,b\n1,2\n"), "people.csv.gz") == [("1", "2")]
    assert read(gzip.compress("a\nü\n".encode("utf-16")), "people.csv.gz", encoding="utf-16") == [("ü",)]
    assert read(gzip.compress(b'{"a": 1}\n'), "people.jsonl.gz") == [("1",)]


@pytest.mark.parametrize(
    "name", ["it's.csv", "a*b?.csv", "x[1].csv", "no ending", "größe.txt", "k=1/people.csv"]
)
def test_path_with_special_characters_is_one_file(engine: DuckdbEngine, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"a\n1\n")
    (tmp_path / "axb1.csv").write_bytes(b"a\n2\n")
    table = engine.open_source(SourceSpec(path=path, format="csv"))
    assert table.columns == ("a",)
    assert engine.fetch_rows(f"SELECT * FROM {table.relation}") == [("1",)]


def test_columns_that_differ_in_case_or_have_odd_names_are_read(engine: DuckdbEngine, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text('Age,age,AGE,"a""b",,select,c0, x\n1,2,3,4,5,6,7,8\n')
    table = engine.open_source(SourceSpec(path=path))
    for value, name in enumerate(["Age", "age", "AGE", 'a"b', "", "select", "c0", " x"], start=1):
        assert engine.fetch_rows(f"SELECT {table.text(name)} FROM {table.relation}") == [(str(value),)]


def test_json_scalars_are_text_and_missing_keys_null(read: Read) -> None:
    lines = [
        {"a": "01", "Age": 1, "age": True, "k/y~": "x"},
        {"a": None, "age": 1.5, "*": "star", "": "empty"},
        {"a": "NULL", "Age": 12345678901234567890, "age": "", "a.b": "dot"},
    ]
    content = "\n".join(map(json.dumps, lines)).encode() + b"\n\n"
    assert read(content, "people.jsonl") == [
        ("01", "1", "true", "x", None, None, None),
        (None, None, "1.5", None, "star", "empty", None),
        ("NULL", "12345678901234567890", "", None, None, None, "dot"),
    ]


def test_parquet_cells_have_their_canonical_text(read: Read, tmp_path: Path) -> None:
    columns = {
        "text": ["01", None, ""],
        "whole": [1, None, -5],
        "real": [1.5, float("nan"), -0.0],
        "day": pyarrow.array([0, 1, None], pyarrow.date32()),
        "price": pyarrow.array([100, 250, None], pyarrow.int64()).cast(pyarrow.decimal128(21, 2)),
        "flag": [True, False, None],
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "people.parquet")
    assert read((tmp_path / "people.parquet").read_bytes(), "copy.parquet") == [
        ("01", "1", "1.5", "1970-01-01", "100.00", "true"),
        (None, None, "nan", "1970-01-02", "250.00", "false"),
        ("", "-5", "-0.0", None, None, None),
    ]


def test_parquet_names_that_differ_in_case_and_nested_columns_are_read(
    engine: DuckdbEngine, tmp_path: Path
) -> None:
    path = tmp_path / "people.parquet"
    nested = pyarrow.array([{"x": {"y": 1, "z": [2]}}])
    names = ["Age", "nest", "age", "raw"]
    pyarrow.parquet.write_table(
        pyarrow.table([pyarrow.array([1]), nested, pyarrow.array([2]), pyarrow.array([b"x"])], names=names),
        path,
    )
    table = engine.open_source(SourceSpec(path=path))
    assert table.columns == tuple(names)
    assert table.types["nest"].startswith("STRUCT")
    assert table.types["raw"] == "BLOB"
    cells = f"SELECT {table.text('Age')}, {table.text('age')} FROM {table.relation}"
    assert engine.fetch_rows(cells) == [("1", "2")]


@pytest.mark.parametrize(
    ("name", "format_name", "expected"),
    [
        ("a.CSV", None, "csv"),
        ("a.txt", None, "csv"),
        ("a.tsv.gz", None, "tsv"),
        ("a.pq", None, "parquet"),
        ("a.ndjson", None, "json"),
        ("a.csv", "jsonl", "json"),
        ("a", "TSV", "tsv"),
    ],
)
def test_format_is_inferred_from_the_name(name: str, format_name: str | None, expected: str) -> None:
    assert file_kind(Path(name), format_name) == expected


@pytest.mark.parametrize(("name", "format_name"), [("a.ods", None), ("a", None), ("a.csv", "excel")])
def test_unknown_formats_name_the_allowed_ones(name: str, format_name: str | None) -> None:
    with pytest.raises(InputError) as caught:
        file_kind(Path(name), format_name)
    assert "parquet" in str(caught.value.allowed)


def test_folder_has_no_extension_and_no_note_on_its_cells(tmp_path: Path) -> None:
    assert describe_cell_reading(SourceSpec(path=tmp_path)) == ()
