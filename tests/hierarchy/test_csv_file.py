"""Hierarchy files: real, unusual and invalid ones, and round trips."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.hierarchy.csv_file import FileHierarchy, write_hierarchy_csv
from discreet.hierarchy.level_table import hierarchy_from_columns, hierarchy_from_rows
from tests.hierarchy.soundness import assert_sound, paths

HEIGHTS = {
    "adult/hierarchies_negotiation": {
        "age": 4,
        "education": 4,
        "marital_status": 3,
        "occupation": 2,
        "race": 2,
        "work_class": 3,
    },
    "adult/hierarchies_incognito": {
        "age": 4,
        "sex": 1,
        "race": 1,
        "marital_status": 2,
        "education": 3,
        "native_country": 2,
        "work_class": 2,
        "occupation": 2,
        "salary_class": 1,
    },
    "adult/hierarchies_arx": {
        "age": 4,
        "sex": 1,
        "race": 1,
        "marital_status": 2,
        "education": 3,
        "native_country": 2,
        "work_class": 2,
        "occupation": 2,
        "salary_class": 1,
    },
    "arx_benchmark/fars_hierarchies": {
        "iage": 5,
        "irace": 2,
        "ideathmon": 3,
        "ideathday": 3,
        "isex": 1,
        "ihispanic": 2,
        "istatenum": 3,
        "iinjury": 2,
    },
}


@pytest.mark.parametrize("folder", HEIGHTS)
def test_hierarchies_of_adult_load_with_their_heights(folder: str, data_dir: Path) -> None:
    heights = {}
    for path in sorted((data_dir / folder).glob("*.csv")):
        rows = [line.split(";") for line in path.read_text(encoding="utf-8").splitlines()]
        hierarchy = FileHierarchy(path).build(path.stem, [row[0] for row in rows])
        assert_sound(hierarchy, [row[0] for row in rows])
        assert sorted(paths(hierarchy)) == sorted(";".join(row) for row in rows)
        assert hierarchy.origin == path.name
        assert not hierarchy.from_data
        heights[path.stem] = hierarchy.height
    assert heights == HEIGHTS[folder]


def read(folder: Path, content: str | bytes, values: tuple[str, ...] = (), **options: str) -> list[str]:
    path = folder / "h.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return paths(FileHierarchy(path, **options).build("x", values))


GOOD = {
    "semicolons": ("a;A;*\nb;A;*\n", ["a;A;*", "b;A;*"]),
    "commas": ("a,A,*\nb,A,*", ["a;A;*", "b;A;*"]),
    "carriage returns": ("a;A;*\r\nb;A;*\r\n", ["a;A;*", "b;A;*"]),
    "old carriage returns": ("a;A;*\rb;A;*\r", ["a;A;*", "b;A;*"]),
    "a byte order mark": ("\ufeffa;*\nb;*\n", ["a;*", "b;*"]),
    "blank lines": ("\n\na;*\n   \nb;*\n\n", ["a;*", "b;*"]),
    "quotes": ('"a";"A ""b""";*\n"c;d";e;"*"\n', ['a;A "b";*', "c;d;e;*"]),
    "quoted delimiter in a comma file": ('"a;b",x,*\n"c;d",x,*\n', ["a;b;x;*", "c;d;x;*"]),
    "commas within values": ("Bosnia, north;Europe;*\nKorea;Asia, east;*\n", None),
    "semicolon in some comma lines": ("a,A;1,*\nb,B,*\n", ["a;A;1;*", "b;B;*"]),
    "bracketed intervals": ("20;[20, 25[;*\n", ["20;[20, 25[;*"]),
    "a line break within quotes": ('"a\nb";*\n', ["a\nb;*"]),
    "blanks belong to values": (" a ;A;*\n", [" a ;A;*"]),
    "a quote within a cell": ('5" pipe;pipe;*\n', ['5" pipe;pipe;*']),
    "unicode": ("Zürich;Schweiz;*\nİzmir;Türkiye;*\n😀;?;*\n", None),
}


@pytest.mark.parametrize("name", GOOD)
def test_file_is_read(name: str, tmp_path: Path) -> None:
    content, expected = GOOD[name]
    assert read(tmp_path, content) == (expected or content.splitlines())


def test_other_delimiters_and_encodings_are_read(tmp_path: Path) -> None:
    assert read(tmp_path, "é|*\n".encode("latin-1"), delimiter="|", encoding="latin-1") == ["é;*"]
    assert read(tmp_path, "é;*\n".encode("utf-16"), encoding="utf-16") == ["é;*"]
    assert read(tmp_path, "é;*\n".encode("utf-8-sig"), encoding="UTF8") == ["é;*"]


BAD: dict[str, tuple[str | bytes, list[str]]] = {
    "empty": ("", ["is empty", "leaf;level 1;…;*"]),
    "blank": ("\n \n", ["is empty"]),
    "one column": ("a\nb\n", ["1 column", "delimiter"]),
    "not UTF-8": (b"a;A;*\nb;\xe9;*\n", ["line 2", "byte 0xe9 is not utf-8", "latin-1"]),
    "UTF-16": ("a;*\n".encode("utf-16"), ["line 1", "byte 0xff", 'encoding = "utf-16"']),
    "an open quote": ('a;A;*\n"b;A;*\n', ["line 2", "quote"]),
    "text after a quote": ('a;"A"x;*\n', ["line 1", "quotes"]),
    "unequal rows": ("a;A;*\n\nb;*\n", ["line 3: 2 columns", "line 1 has 3"]),
    "unequal rows with commas": ("a,A,*\nb,*\n", ["line 2: 2 columns"]),
    "a leaf twice": ('"a\n1";B;*\nb;B;*\nb;C;*\n', ["line 4, column 1 (level 0)", "leaf 'b'", "line 3"]),
    "two tops": ("a;A;*\nb;B;+\n", ["line 2, column 3 (level 2)", "'+'", "'*'"]),
    "two parents": ("a;A;X;*\nb;A;Y;*\n", ["line 2, column 3 (level 2)", "'A'", "'X'", "'Y'"]),
    "a delimiter at the end": ("a;*;\nb;*;\n", ["line 1, column 3 (level 2)", "empty value"]),
    "a header": ("age;band;all\n17;<18;*\n18;≥18;*\n", ["line 1, column 3", "Is line 1 a header?"]),
    "a header over one row": ("age;all\n17;*\n", ["line 1, column 2", "Is line 1 a header?"]),
    "a header, another top": ("\nage;all\n17;any\n18;any\n", ["line 2, column 2", "Is line 2 a header?"]),
    "bars": ("17|<18|*\n18|≥18|*\n", ["separated by '|'", '{kind = "file", path = "…", delimiter = "|"}']),
    "tabs": ("17\t<18\t*\n18\t≥18\t*\n", ["separated by tabs", 'delimiter = "\\t"}']),
    "a value without a leaf": ("a;*\n", ["attribute 'x'", "h.csv", "'b'", "null_values"]),
}


@pytest.mark.parametrize("name", BAD)
def test_wrong_file_is_refused(name: str, tmp_path: Path) -> None:
    content, parts = BAD[name]
    with pytest.raises(InputError) as caught:
        read(tmp_path, content, ("b",) if name == "a value without a leaf" else ())
    assert "h.csv" in caught.value.message
    for part in parts:
        assert part in str(caught.value)


def test_missing_file_and_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.csv of attribute 'x' does not exist.*relative to the spec"):
        FileHierarchy(tmp_path / "none.csv").build("x", [])
    with pytest.raises(InputError, match="of attribute 'x' cannot be read: Is a directory"):
        FileHierarchy(tmp_path).build("x", [])
    with pytest.raises(InputError, match="of attribute 'x' cannot be read"):
        FileHierarchy(tmp_path / "a\0b").build("x", [])


ODD = st.text(st.one_of(st.sampled_from(';,"\r\n\t \ufeff\0*'), st.characters(codec="utf-8")), min_size=1)


@given(st.lists(st.tuples(ODD, ODD), min_size=1, max_size=8, unique_by=lambda row: row[0]))
def test_written_hierarchy_is_read_back_equal(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    path = tmp_path_factory.mktemp("h") / "h.csv"
    hierarchy = hierarchy_from_rows("x", [[*row, "*"] for row in rows], origin="rows")
    write_hierarchy_csv(hierarchy, path)
    back = FileHierarchy(path).build("x", hierarchy.leaves)
    assert back.labels == hierarchy.labels
    assert [a.tolist() for a in back.ancestors] == [a.tolist() for a in hierarchy.ancestors]
    assert back.digest == hierarchy.digest


def test_written_file_is_quoted_and_replaced_only_on_request(tmp_path: Path) -> None:
    hierarchy = hierarchy_from_rows("x", [["a", "A;B", "*"], [" b", 'C"', "*"]], origin="rows")
    path = tmp_path / "h.csv"
    write_hierarchy_csv(hierarchy, path)
    assert path.read_bytes() == b'a;"A;B";*\n" b";"C""";*\n'
    with pytest.raises(InputError, match="exists"):
        write_hierarchy_csv(hierarchy, path)
    write_hierarchy_csv(hierarchy, path, overwrite=True)
    with pytest.raises(InputError, match="cannot be written: No such file"):
        write_hierarchy_csv(hierarchy, tmp_path / "none" / "h.csv")
    with pytest.raises(InputError, match="no value to write"):
        write_hierarchy_csv(hierarchy_from_columns("x", [[], []], origin="b"), tmp_path / "empty.csv")


def test_long_file_is_read(tmp_path: Path) -> None:
    letters = string.ascii_lowercase
    lines = [f"{a}{b}{c};{a}{b};{a};*" for a in letters for b in letters for c in letters]
    assert read(tmp_path, "\n".join(lines)) == lines


def test_repeated_line_is_noted_and_not_refused(tmp_path: Path) -> None:
    path = tmp_path / "h.csv"
    path.write_text("a;A;*\nb;A;*\na;A;*\n\nb;A;*\n", encoding="utf-8")
    found = FileHierarchy(path).build("x", ("a", "b"))
    assert paths(found) == ["a;A;*", "b;A;*"]
    assert [note.replace(str(tmp_path), "") for note in found.notes] == [
        "/h.csv, line 3: the same as /h.csv, line 1, and left out; so are 1 more."
    ]
    with pytest.raises(InputError, match=r"line 4, column 1 .* leaf 'b' is repeated; first at .*line 2"):
        read(tmp_path, "a;A;*\nb;A;*\na;A;*\nb;B;*\n")


NO_HIERARCHIES = {
    "passwd": "root:x:0:0:root:/root:/bin/sh\nann:x:1:1:Ann, Secret:/:/bin/sh\n",
    "a table": "name,disease\nSecret,flu\nSecret,cold\n",
    "keys": "[secrets]\npassword = Secret\ntoken = a;b\n",
    "a header and tops": "leaf;Secret\nSecret;x\ny;z\n",
}


@pytest.mark.parametrize("text", NO_HIERARCHIES.values(), ids=NO_HIERARCHIES)
@pytest.mark.parametrize("delimiter", [None, ":", "=", ","])
def test_error_of_another_file_quotes_no_cell(text: str, delimiter: str | None, tmp_path: Path) -> None:
    path = tmp_path / "h.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"h\.csv") as error:
        FileHierarchy(path, delimiter).build("x", ["1"])
    assert not any(word in str(error.value) for word in ("Secret", "root:", "flu", "ann", "password"))
