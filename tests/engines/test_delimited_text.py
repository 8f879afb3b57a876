"""The second count of records, and the header, both without the engine."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.engines.files.delimited_text import DelimitedText, count_records_quickly, read_delimited_header
from discreet.errors import InputError

PIECES = st.sampled_from(["a", '"', ",", "\n", "\r\n", "\r", " ", "é", ";"])
CELLS = st.lists(PIECES, max_size=6).map("".join)


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[i : i + size] for i in range(0, len(data), size))


TABLES = st.integers(1, 3).flatmap(
    lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=8)
)


@given(TABLES, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.integers(1, 40))
def test_quick_count_agrees_with_the_csv_module(
    rows: list[list[str]], line_end: str, last_end: bool, size: int
) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator=line_end, quoting=csv.QUOTE_ALL).writerows(rows)
    data = text.getvalue() if last_end else text.getvalue().removesuffix(line_end)
    assert count_records_quickly(pieces(data.encode(), size), '"', len(rows[0])) == len(rows)


@pytest.mark.parametrize(
    ("data", "quote", "width", "expected"),
    [
        (b"a,b\n1,2\n3,4\n", '"', 2, 3),
        (b"a,b\n1,2\n3,4", '"', 2, 3),
        (b"a,b\r\n1,2\r\n\r\n\r\n", '"', 2, 2),
        (b'a,b\n1,"x\ny"\n3,""\n', '"', 2, 3),
        (b'a,b\n1,"say ""\n"""\n', '"', 2, 2),
        (b'a,b\n1,"x\n\n\ny"\n\n\n', '"', 2, 2),
        (b'a,b\n1,"x\n', '"', 2, None),
        (b"a\n1\n\n2\n\n", '"', 1, 5),
        (b'a,b\n1,"\n2,"\n', "", 2, 3),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_quick_count_equals_the_number_of_records(
    data: bytes, quote: str, width: int, expected: int | None, size: int
) -> None:
    assert count_records_quickly(pieces(data, size), quote, width) == expected


@pytest.mark.parametrize(
    ("content", "number"),
    [
        ("a,b\n\n1,2\n\n\n3,4\n", 2),
        ('a,b\n1,x"y\n3,4\n5,6\n', 3),
        ("a,b\r1,2\r3,4\r", 2),
        ("a\n\n1\n", 2),
        ("a,b\n", 0),
    ],
)
def test_records_are_parsed_where_the_quick_count_is_wrong(tmp_path: Path, content: str, number: int) -> None:
    text = header(tmp_path, content)
    assert text.has_records(number)
    assert not text.has_records(number + 1)


def header(folder: Path, content: str, delimiter: str | None = None, quote: str = '"') -> DelimitedText:
    path = folder / "people.csv"
    path.write_bytes(content.encode())
    return read_delimited_header(path, "people.csv", delimiter, quote)


@pytest.mark.parametrize(
    ("content", "delimiter", "quote", "columns"),
    [
        ("a,b\n", None, '"', ("a", "b")),
        ("a;b c;d\n", None, '"', ("a", "b c", "d")),
        ("a\tb\n", None, '"', ("a", "b")),
        ("a|b\n", None, '"', ("a", "b")),
        ("\ufeffa,b\r\n", None, '"', ("a", "b")),
        ('"a,1";b\n', None, '"', ("a,1", "b")),
        ('"say ""hi""","x\ny",, leading,größe\n', None, '"', ('say "hi"', "x\ny", "", " leading", "größe")),
        ("Age,age\n", None, '"', ("Age", "age")),
        ("a,b;c\n", ";", '"', ("a,b", "c")),
        ("'a,b',c\n", ",", "'", ("a,b", "c")),
        ('"a,b"\n', ",", "", ('"a', 'b"')),
    ],
)
def test_header_names_the_columns(
    tmp_path: Path, content: str, delimiter: str | None, quote: str, columns: tuple[str, ...]
) -> None:
    assert header(tmp_path, content, delimiter, quote).columns == columns


@pytest.mark.parametrize(("delimiter", "quote"), [(",,", '"'), ("\n", '"'), ('"', '"'), (",", "''")])
def test_impossible_delimiters_and_quotes_are_refused(tmp_path: Path, delimiter: str, quote: str) -> None:
    with pytest.raises(InputError):
        header(tmp_path, "a,b\n", delimiter, quote)


def test_records_have_their_line_numbers(tmp_path: Path) -> None:
    text = header(tmp_path, '"a\nx",b\n1,"2\n3"\n\n4,5\n')
    assert list(text.records()) == [(3, ["1", "2\n3"]), (6, ["4", "5"])]
    assert text.line_of(0, "4") == 6
    assert text.line_of(0, "7") is None
