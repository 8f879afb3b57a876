"""Inference of a file's format, encoding, delimiter and quote from its name and bytes.

The format follows from the path's ending; the encoding from a byte order mark, zero bytes (UTF-16) or
validity as UTF-8 (first 64 MiB); delimiter and quote from the header. The engine decides when it reads.
"""

from __future__ import annotations

import codecs
import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from discreet.engines.files.delimited_text import DELIMITER_NAMES
from discreet.engines.files.output_files import STATISTICS_PROGRAMS
from discreet.engines.files.parquet_files import folder_kind
from discreet.engines.files.sources import check_file, file_kind
from discreet.engines.files.text_file import open_bytes
from discreet.errors import InputError
from discreet.hierarchy.messages import quote_value
from discreet.model.release_address import FileOptions
from discreet.places.file_access import is_pattern, matching_files

_SAMPLE = 1 << 20
_MOST_BYTES_CHECKED = 1 << 26
_WIDE_SHARE = 0.3
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_GUESS = (
    "a guess: the bytes are not UTF-8, and those of western Europe fit; "
    "where letters are wrong, say --encoding"
)
_BOTH = (
    "a guess: some bytes are UTF-8 and others are not, as if two files had been joined; "
    "letters will be wrong, unless you write the file in one encoding"
)


@dataclass(frozen=True)
class FileFormat:
    """Inferred format, encoding, delimiter and quote of a file.

    ``format`` is a value of ``engines.files.sources.FILE_FORMATS``; ``delimiter`` is None and ``quote`` empty
    if the format has none. ``reasons`` gives the evidence for each.
    """

    format: str
    encoding: str
    delimiter: str | None
    quote: str
    reasons: dict[str, str]


def infer_file_format(
    path: Path, label: str, format_name: str | None = None, *, known: FileOptions | None = None
) -> FileFormat:
    """Infer the format of a file, or of all files of a pattern.

    The files of a pattern must agree in everything that ``known`` does not set. Raises ``InputError`` if a
    file cannot be opened, if its ending implies no format, or if two files differ.
    """
    if not is_pattern(path):
        return _file_format(path, label, format_name)
    first, *remainder = ((file, _file_format(file, str(file), format_name)) for file in matching_files(path))
    for file, form in remainder:
        for key in ("format", "encoding", "delimiter", "quote"):
            if getattr(form, key) != getattr(first[1], key) and getattr(known, key, None) is None:
                said = [quote_value(getattr(found, key)) for found in (first[1], form)]
                one = f"If one {key} is right for all, set it: --{key} VALUE. Otherwise convert the files."
                raise InputError(
                    f"the {key} of {first[0]} seems to be {said[0]}, and that of {file} {said[1]}",
                    allowed="files that are written the same way",
                    advice="Write a narrower pattern, such as 'data/*.csv'." if key == "format" else one,
                )
    return first[1]


def _folder_format(path: Path, label: str, format_name: str | None) -> FileFormat:
    kind = folder_kind(path)
    if kind is None or format_name not in (None, "parquet"):
        raise InputError(
            f"{label} is a folder without Parquet files" if kind is None else f"{label} is a folder",
            allowed="a file; a folder of Parquet files; a table of Delta Lake or Apache Iceberg",
        )
    reason = "a folder of Parquet files" if kind == "Parquet" else f"a table of {kind}"
    return FileFormat("parquet", "utf-8", None, "", {"format": reason})


def _file_format(path: Path, label: str, format_name: str | None) -> FileFormat:
    if path.is_dir():
        return _folder_format(path, label, format_name)
    check_file(path, label)
    kind = file_kind(path, format_name)
    ending = "".join(path.suffixes[-2:]) if path.suffix.lower() == ".gz" else path.suffix
    reasons = {"format": f"the ending {ending}" if format_name is None else "as you set it"}
    if kind in ("parquet", "xlsx", "sqlite", *STATISTICS_PROGRAMS):
        return FileFormat(kind, "utf-8", None, "", reasons)
    with open_bytes(path) as handle:
        sample = handle.read(_SAMPLE)
        encoding, reasons["encoding"] = _infer_encoding(sample, handle)
    if kind == "json":
        return FileFormat(kind, encoding, None, "", reasons)
    header = sample.decode(encoding, errors="replace").removeprefix("\ufeff").partition("\n")[0].rstrip("\r")
    quote = "'" if header.startswith("'") and header.count("'") >= 2 else '"'
    delimiter, number = _infer_delimiter(header, quote)
    reasons["delimiter"] = (
        f"{DELIMITER_NAMES[delimiter]}: the header then has {number} name{'s' * (number != 1)}"
    )
    reasons["quote"] = "the header's first character" if quote == "'" else "according to RFC 4180"
    return FileFormat(kind, encoding, delimiter, quote, reasons)


def _infer_encoding(sample: bytes, remainder: BinaryIO) -> tuple[str, str]:
    """Infer the encoding of a file that begins with ``sample``; also return the evidence for it."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if sample.startswith(mark):
            return encoding, "its byte order mark"
    for encoding, zeros in (("utf-16-le", sample[1::2]), ("utf-16-be", sample[::2])):
        if zeros.count(0) > _WIDE_SHARE * len(zeros):
            return encoding, "every other byte is zero"
    decoder = codecs.getincrementaldecoder("utf-8")()
    chunk, bytes_checked, wide = sample, 0, False
    while chunk and bytes_checked < _MOST_BYTES_CHECKED:
        bytes_checked += len(chunk)
        try:
            wide = wide or not decoder.decode(chunk).isascii()
        except UnicodeDecodeError as error:
            wide = wide or not chunk[: error.start].isascii()
            return _single_byte_encoding(chunk), _BOTH if wide else _GUESS
        chunk = remainder.read(_SAMPLE)
    return "utf-8", "the bytes are UTF-8" + (", as far as the first 64 MiB" if chunk else "")


def _single_byte_encoding(chunk: bytes) -> str:
    """Choose Windows-1252 or Latin-1; they differ in bytes for which Latin-1 has no letters."""
    return "windows-1252" if any(0x80 <= byte < 0xA0 for byte in chunk) else "latin-1"


def _infer_delimiter(header: str, quote: str) -> tuple[str, int]:
    numbers = {}
    for delimiter in DELIMITER_NAMES:
        try:
            rows = list(csv.reader(io.StringIO(header), delimiter=delimiter, quotechar=quote))
        except csv.Error:
            rows = []
        numbers[delimiter] = len(rows[0]) if rows else 0
    best = max(numbers, key=lambda delimiter: numbers[delimiter])
    return best, max(1, numbers[best])
