"""Files that a pattern names, read as one table: Parquet in place, text joined in the engine's own folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from discreet.engines.files.delimited_text import DelimitedText, header_bytes, quick_count, read_header
from discreet.engines.files.text_file import check_byte_order_mark, chunks_of, open_bytes, transcode
from discreet.errors import InputError
from discreet.sql.source import column_name


def one_of(kinds: Sequence[tuple[Path, str]]) -> str:
    """The kind of file that all files are; ``InputError`` names one that is another."""
    (first, kind), *rest = kinds
    for path, other in rest:
        if other != kind:
            raise InputError(
                f"{path} is {other}, and {first} is {kind}",
                allowed="files of one kind in a pattern",
                advice="Write a narrower pattern, such as 'data/*.csv'.",
            )
    return kind


def joined_text(
    files: Sequence[Path],
    target: Path,
    encoding: str,
    delimiter: str | None,
    quote: str,
) -> str:
    """Join files of delimited text as UTF-8 in ``target`` (owner-only), one header first; the delimiter.

    ``InputError`` names a file whose columns are not those of the first, and one that ends within quotes, as
    its last cell would go on in the next file.
    """
    first: DelimitedText | None = None
    for number, file in enumerate(files):
        part = target.with_name(f"{target.stem}.{number}.part")
        check_byte_order_mark(file, encoding)
        try:
            transcode(file, encoding, part)
            known = read_header(part, str(file), delimiter if first is None else first.delimiter, quote)
            _check_columns(known, first)
            if quick_count(chunks_of(part), quote, len(known.columns)) is None:
                raise InputError(
                    f"{file} ends within quotes", advice="Check its last lines for a missing quote."
                )
            first = first or known
            _append(part, target, header_bytes(known) if number else 0, _line_end(known))
        finally:
            part.unlink(missing_ok=True)
    assert first is not None
    return first.delimiter


def with_plain_header(file: DelimitedText, target: Path) -> DelimitedText:
    """The file, or a copy in ``target`` (owner-only) where a name has a line's end in it.

    DuckDB takes such a line's end for that of all records: of a spreadsheet's file, whose records end with
    CRLF and the lines within a cell with LF, it yields no row and says nothing. In the copy names are others.
    """
    if not any(end in name for name in file.columns for end in "\r\n"):
        return file
    names = file.delimiter.join(column_name(place) for place in range(len(file.columns)))
    size = header_bytes(file)
    with open_bytes(file.path) as handle:
        header = handle.read(size)
    target.touch(mode=0o600, exist_ok=False)
    target.write_bytes(names.encode() + header[len(header.rstrip(b"\r\n")) :])
    _append(file.path, target, size)
    return replace(file, path=target)


def joined_lines(files: Sequence[Path], target: Path, encoding: str) -> None:
    """Join files of JSON lines as UTF-8 in ``target`` (owner-only)."""
    for number, file in enumerate(files):
        part = target.with_name(f"{target.stem}.{number}.part")
        check_byte_order_mark(file, encoding)
        try:
            transcode(file, encoding, part)
            _append(part, target, 0)
        finally:
            part.unlink(missing_ok=True)


def _check_columns(known: DelimitedText, first: DelimitedText | None) -> None:
    if first is None or known.columns == first.columns:
        return
    different = sorted(set(known.columns) ^ set(first.columns))
    fact = f"'{different[0]}' is not a column of both" if different else "the columns come in another order"
    raise InputError(
        f"{first.label} and {known.label}: {fact}",
        allowed="files of the same columns, in the same order",
        advice="Write them alike, or write a narrower pattern.",
    )


def _line_end(file: DelimitedText) -> bytes:
    """What the header ends with; DuckDB takes no file with lines of different ends."""
    with open_bytes(file.path) as handle:
        return b"\r\n" if handle.read(header_bytes(file)).endswith(b"\r\n") else b"\n"


def _append(part: Path, target: Path, start: int, end: bytes = b"\n") -> None:
    """Add a file's bytes from ``start`` on, the last line ended."""
    last = b"\n"
    with target.open("ab") as handle:
        target.chmod(0o600)
        for chunk in chunks_of(part):
            kept, start = chunk[start:], max(0, start - len(chunk))
            handle.write(kept)
            last = kept[-1:] or last
        if last != b"\n":
            handle.write(end)
