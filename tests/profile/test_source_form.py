"""Detection of a file's form from its first bytes."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from discreet.errors import InputError
from discreet.profile.file_format_inference import FileFormat, infer_file_format

TEXT = "Ort;Größe\nZürich;1\n"


def form_of(path: Path, data: bytes) -> FileFormat:
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return infer_file_format(path, path.name)


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (TEXT.encode(), "utf-8"),
        (b"\xef\xbb\xbf" + TEXT.encode(), "utf-8"),
        (TEXT.encode("utf-16"), "utf-16"),
        (TEXT.encode("latin-1"), "latin-1"),
        ("a;b\n“x”;ü\n".encode("windows-1252"), "windows-1252"),
    ],
)
def test_encoding_is_inferred(data: bytes, encoding: str, tmp_path: Path) -> None:
    found = form_of(tmp_path / "t.csv", data)
    assert (found.encoding, found.delimiter, found.quote) == (encoding, ";", '"')
    assert set(found.reasons) == {"format", "encoding", "delimiter", "quote"}


@pytest.mark.parametrize(
    ("header", "delimiter", "quote"),
    [
        ("a,b,c", ",", '"'),
        ("a\tb", "\t", '"'),
        ("a|b,c|d", "|", '"'),
        ("'a,1';'b'", ";", "'"),
        ("one", ",", '"'),
    ],
)
def test_delimiter_and_quote_are_inferred(header: str, delimiter: str, quote: str, tmp_path: Path) -> None:
    found = form_of(tmp_path / "t.csv", f"{header}\n".encode())
    assert (found.delimiter, found.quote) == (delimiter, quote)


def test_other_formats_are_inferred(tmp_path: Path) -> None:
    assert form_of(tmp_path / "t.jsonl", b'{"a": 1}\n').format == "json"
    assert form_of(tmp_path / "t.csv.gz", b"a,b\n1,2\n").delimiter == ","
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    assert infer_file_format(tmp_path / "t.parquet", "t").delimiter is None
    with pytest.raises(InputError, match="has no known format"):
        form_of(tmp_path / "t.doc", b"")
