"""Each kind of bad source: the error names the fact and no other cell of the data."""

import gzip
import os
import random
from pathlib import Path
from typing import Any

import pytest

from discreet.engines.duckdb.engine import DuckdbEngine
from discreet.errors import InputError
from discreet.model.table_spec import SourceSpec
from tests.engines.conftest import Read, as_nobody

SECRET = "hiv-positive"

BAD: list[tuple[str, bytes, str, dict[str, Any], str]] = [
    ("empty", b"", "p.csv", {}, "p.csv is empty"),
    ("blank first line", b"\n\na,b\n1,2\n", "p.csv", {}, "line 1 is blank"),
    ("duplicate name", b"a,b,a\n", "p.csv", {}, "two columns 'a', at positions 1 and 3"),
    ("short row", b"a,b\nhiv-positive,2\n3\n", "p.csv", {}, "line 3: 1 cell, but the header has 2"),
    ("long row", b'a,b\n"x\ny",hiv-positive\n3,4,5\n', "p.csv", {}, "line 4: 3 cells, but the header has 2"),
    (
        "delimiter behind header",
        b"a,b,\n1,2\n3,4\n",
        "p.csv",
        {},
        "Remove the delimiter at its end from line 1; or",
    ),
    ("name too many", b"a;b;c;d\n1;2\n3;4\n", "p.csv", {}, "Remove the 2 extra names from line 1; or"),
    (
        "title above",
        b"Sales, 2023\na,b,c\n1,2,3\n",
        "p.csv",
        {},
        "header has 2 names, but each of the 2 rows",
    ),
    (
        "comment above",
        b"# note\na,b\n1,2\n",
        "p.csv",
        {},
        "line 1: the header has 1 name, but each of the 2 rows",
    ),
    ("rows of two widths", b"a,b,c\n1,2\n3,4\n5\n", "p.csv", {}, "line 2: 2 cells, but the header has 3"),
    ("one row only", b"a,b,c\n1,2\n", "p.csv", {}, "line 2: 2 cells, but the header has 3"),
    ("open quote", b'a,b\n1,2\n3,"hiv-positive\n5,6\n', "p.csv", {}, "line 3: the record is malformed"),
    ("text behind quote", b'a,b\n1,"hiv-positive"x\n', "p.csv", {}, "line 2: the record is malformed"),
    ("open quote in header", b'a,"b\n1,2\n', "p.csv", {}, "line 1: the header is malformed"),
    ("mixed line ends", b"a,b\n1,hiv-positive\r\n3,4\n", "p.csv", {}, "line ends differ"),
    ("not utf-8", b"a,b\n1,hiv-positive\n2,\xe9\n", "p.csv", {}, "line 3: bytes that are not utf-8"),
    ("not utf-8 in header", b"\xe9,b\n1,2\n", "p.csv", {}, "line 1: bytes that are not utf-8"),
    ("utf-16 unannounced", "a,b\n1,2\n".encode("utf-16"), "p.csv", {}, "byte-order mark of UTF-16"),
    ("not utf-16", b"a,b\n1,2", "p.csv", {"encoding": "utf-16"}, "bytes that are not utf-16"),
    ("undefined byte", b"a\n\x81\n", "p.csv", {"encoding": "windows-1252"}, "line 2: bytes that are not"),
    ("unknown encoding", b"a\n1\n", "p.csv", {"encoding": "klingon"}, "encoding 'klingon' is unknown"),
    ("no text encoding", b"a\n1\n", "p.csv", {"encoding": "base64"}, "encoding 'base64' is unknown"),
    ("long line", b"a,b\n1," + b"x" * (17 << 20) + b"\n", "p.csv", {}, "longer than 16 MiB|is malformed"),
    ("no gzip", b"a,b\n1,2\n", "p.csv.gz", {}, "not a complete gzip file"),
    ("cut gzip", gzip.compress(os.urandom(5000))[:-9], "p.csv.gz", {}, "not a complete gzip file"),
    ("no parquet", b"hello, I am text", "p.parquet", {}, "not a complete Parquet file"),
    ("empty parquet", b"", "p.parquet", {}, "not a complete Parquet file"),
    ("empty json", b" \n", "p.jsonl", {}, "p.jsonl is empty"),
    ("json array", b'[{"a": 1}]', "p.json", {}, "one JSON array"),
    ("no object", b'{"a": 1}\n7\n', "p.jsonl", {}, "row 2: not a JSON object"),
    ("cut json", b'{"a": "hiv-positive"}\n\n{"a": "hiv-positive"\n', "p.jsonl", {}, "line 3: not valid JSON"),
    ("json not utf-8", b'{"a": 1}\n{"a": "\xe9"}\n', "p.jsonl", {}, "line 2: bytes that are not utf-8"),
    ("two objects", b'{"a": 1} {"a": 2}\n', "p.jsonl", {}, "line 1: not valid JSON"),
    ("key twice", b'{"a": 1, "b": 2, "a": "hiv-positive"}\n', "p.jsonl", {}, "row 1: duplicate key 'a'"),
    ("no column", b"{}\n{}\n", "p.jsonl", {}, "has no columns"),
]


@pytest.mark.parametrize(
    ("content", "name", "options", "message"), [case[1:] for case in BAD], ids=[case[0] for case in BAD]
)
def test_bad_files_are_refused_without_their_content(
    read: Read, content: bytes, name: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(content, name, **options)
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_missing_files_and_folders_are_refused(engine: DuckdbEngine, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is missing"):
        engine.open_source(SourceSpec(path=tmp_path / "people.csv"))
    with pytest.raises(InputError, match="is a folder"):
        engine.open_source(SourceSpec(path=tmp_path))
    with pytest.raises(InputError, match="names no source"):
        engine.open_source(SourceSpec())


def test_unreadable_files_are_refused(engine: DuckdbEngine, open_folder: Path) -> None:
    path = open_folder / "people.csv"
    path.write_bytes(b"a\n1\n")
    path.chmod(0)
    with as_nobody(), pytest.raises(InputError, match="cannot be read"):
        engine.open_source(SourceSpec(path=path))


def test_damaged_parquet_file_is_refused_on_reading(read: Read, tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    path = tmp_path / "whole.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"a": [os.urandom(8).hex() for _ in range(5000)]}), path)
    content = bytearray(path.read_bytes())
    content[100:4000] = b"\xff" * 3900
    with pytest.raises(InputError, match=r"p\.parquet cannot be read"):
        read(bytes(content), "p.parquet")


def test_rows_omitted_by_the_engine_are_refused(engine: DuckdbEngine, tmp_path: Path) -> None:
    """Rows that the engine omits are detected.

    Malformed rows just after a border of scanning threads end the engine's reading without an error.
    """
    path = tmp_path / "people.csv"
    line = b"1" * 124 + b",22\n"
    for shift in range(117, 128):
        rows = ((1 << 24) - 8) // 128
        path.write_bytes(b"a,b\n" + b"1" * shift + line * rows + b"3,4,5\n" * 3 + line * 5)
        with pytest.raises(InputError, match=f"line {rows + 2}: 3 cells, but the header has 2"):  # noqa: PT012
            table = engine.open_source(SourceSpec(path=path))
            found = engine.fetch_rows(f"SELECT count(*), count(c1) FROM {table.relation}")[0][0]
            engine.confirm_rows(table, found)


def quoted_rows(number: int) -> tuple[bytes, list[tuple[str, str, str]]]:
    """Return rows with cells that look like rows, which scanning threads cannot distinguish from them."""
    chance = random.Random(1)
    rows = []
    for i in range(number):
        lookalike = f"{i % 10},x,y\n" * chance.randint(1, 20_000)
        rows.append((str(i), lookalike if i % 3 else '"' * (i % 5) + ',\n"', "\n" if i % 7 else "z"))
    quoted = ('"' + '","'.join(cell.replace('"', '""') for cell in row) + '"\n' for row in rows)
    return ("a,b,c\n" + "".join(quoted)).encode(), rows


def test_quoted_line_ends_are_read_correctly_by_several_threads(read: Read) -> None:
    content, rows = quoted_rows(600)
    assert sorted(read(content)) == sorted(rows)


def test_open_quote_is_refused_where_one_thread_reads(read: Read) -> None:
    content, _ = quoted_rows(600)
    lines = content.count(b"\n")
    with pytest.raises(InputError, match=f"line {lines + 1}: the record is malformed"):
        read(content + b'1,2,"open\n')


def test_confirm_rows_refuses_another_number(engine: DuckdbEngine, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(b'a,b\n1,"x\n\ny"\n3,4\n')
    table = engine.open_source(SourceSpec(path=path))
    engine.confirm_rows(table, 2)
    with pytest.raises(InputError, match="1 records could be read; the file has more"):
        engine.confirm_rows(table, 1)
