"""Delimited text (CSV, TSV): header, reader options, a second record count, and unquoted NULL words.

Cells are always text. An empty unquoted cell is NULL; if a file quotes its texts, unquoted words such as
``NA`` are NULL. DuckDB's reader can omit malformed records silently, so records are counted a second time
without it.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.engines.files.text_file import check_utf8, is_compressed, open_bytes, read_chunks
from discreet.errors import InputError
from discreet.sql.cell_expressions import column_name
from discreet.sql.quoting import glob_literal, identifier, literal

NULL_WORDS = ("NA", "NULL", "Null", "null", "None", "NaN", "nan", "nil", "<NA>", "\\N")
"""Words that programs write without quotes for a missing value."""

_SAMPLED_BYTES = 1 << 18
_SEARCHED = 1 << 26
_LETTER = re.compile(r"[^\W\d_]")
_NO_TEXT = re.compile(
    r"true|false|t|f|[-+]?inf(inity)?|[-+]?[0-9.,]*[0-9]e[-+]?[0-9]+"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}t[0-9:.]+(z|[-+][0-9:]+)?",
    re.IGNORECASE,
)


def detect_unquoted_nulls(path: Path, delimiter: str, quote: str) -> tuple[str, ...]:
    """Return the words that are NULL if unquoted in a file; empty if its texts are unquoted, too."""
    if not quote:
        return ()
    with open_bytes(path) as handle:
        sample = handle.read(_SAMPLED_BYTES).decode("utf-8-sig", errors="replace")
    _, end, body = sample.partition("\n")
    if not end or quote not in body:
        return ()
    if any(f"{quote}{word}{quote}" in body for word in NULL_WORDS):
        return NULL_WORDS
    needless = False
    for quoted, text in _cells(body, delimiter, quote):
        if quoted:
            needless = needless or not _needs_quotes(text, delimiter, quote)
        elif text not in NULL_WORDS and _is_word(text):
            return ()
    return NULL_WORDS if needless else ()


def find_bare_words(path: Path, delimiter: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words that occur as unquoted cells in the first 64 MiB of a file."""
    ends, found, searched = (delimiter, "\r", "\n"), set(), 0
    for chunk in read_chunks(path):
        for word in words:
            cells = (f"{start}{word}{end}".encode() for start in (delimiter, "\n") for end in ends)
            if word not in found and any(cell in chunk for cell in cells):
                found.add(word)
        searched += len(chunk)
        if searched >= _SEARCHED:
            break
    return tuple(word for word in words if word in found)


def _cells(text: str, delimiter: str, quote: str) -> Iterator[tuple[bool, str]]:
    """Yield the complete cells of the beginning of a file, each with whether it is quoted."""
    d, q = re.escape(delimiter), re.escape(quote)
    cell = re.compile(rf"(?:{q}((?:[^{q}]|{q}{q})*){q}|([^{q}{d}\r\n][^{d}\r\n]*|))({d}|\r\n|\n|\r)")
    start = 0
    while (match := cell.match(text, start)) is not None:
        quoted, bare, _ = match.groups()
        yield quoted is not None, bare if quoted is None else quoted
        start = match.end()


def _needs_quotes(text: str, delimiter: str, quote: str) -> bool:
    return not text or text != text.strip() or any(mark in text for mark in (delimiter, quote, "\r", "\n"))


def _is_word(text: str) -> bool:
    return _LETTER.search(text) is not None and _NO_TEXT.fullmatch(text.strip()) is None


DELIMITER_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
"""Possible delimiters and their names."""
_LONGEST_LINE = 1 << 24
_BUFFER = 1 << 25
_LONGEST_HEADER = 1 << 20
_SEVERAL_ROWS = 2


@dataclass(frozen=True)
class DelimitedText:
    """Delimited text file in UTF-8 with its reader options.

    ``path`` is the file that DuckDB reads (a transcoded copy if the encoding requires one); ``label`` is the
    publisher's name of the file. ``quote`` is empty if no character quotes. ``unquoted_nulls`` are texts that
    are NULL if they are not quoted (``detect_unquoted_nulls``).
    """

    path: Path
    label: str
    columns: tuple[str, ...]
    delimiter: str
    quote: str
    unquoted_nulls: tuple[str, ...] = ()

    def relation(self, *, serial: bool = False) -> str:
        """Return the file for a FROM clause, with columns ``c0``, ``c1``, …; ``serial`` uses one thread."""
        columns = ", ".join(f"'{column_name(i)}': 'VARCHAR'" for i in range(len(self.columns)))
        nulls = ", ".join(literal(text) for text in ("", *self.unquoted_nulls))
        options = {
            "columns": f"{{{columns}}}",
            "auto_detect": "false",
            "header": "true",
            "delim": literal(self.delimiter),
            "quote": literal(self.quote),
            "escape": literal(self.quote),
            "nullstr": f"[{nulls}]" if self.unquoted_nulls else nulls,
            "allow_quoted_nulls": "false",
            "strict_mode": "true",
            "null_padding": "false",
            "hive_partitioning": "false",
            "compression": "'gzip'" if is_compressed(self.path) else "'none'",
            "max_line_size": str(_LONGEST_LINE),
            "buffer_size": str(_BUFFER),
            "parallel": "false" if serial else "true",
        }
        return f"read_csv({glob_literal(self.path)}, {', '.join(f'{k}={v}' for k, v in options.items())})"

    def has_records(self, number: int) -> bool:
        """Return True if the file has this number of records; raises ``InputError`` for a malformed one.

        If the quick count agrees, it decides. If it differs (blank lines, quotes inside unquoted cells, old
        line ends, or omitted records), every record is parsed.
        """
        quick = count_records_quickly(read_chunks(self.path), self.quote, len(self.columns))
        return quick == number + 1 or self.parse_records() == number

    def fault(self) -> InputError:
        """Return the error of a file, found by parsing it record by record."""
        try:
            self.parse_records()
        except InputError as error:
            return error
        return InputError(
            f"{self.label}: line ends differ, a line is longer than 16 MiB, or quotes are irregular",
            allowed="one kind of line end throughout, and quotes according to RFC 4180",
            advice="Convert the line ends (with dos2unix, for example), or save the table again as CSV in "
            "UTF-8.",
        )

    def parse_records(self) -> int:
        """Return the number of records below the header; parses each and checks its number of cells."""
        number = 0
        for line, cells in self.records():
            if len(cells) != len(self.columns):
                self._check_header(line, len(cells))
                raise InputError(
                    f"{self.label}, line {line}: {len(cells)} cell{'s' * (len(cells) != 1)}, "
                    f"but the header has {len(self.columns)}",
                    allowed="the header's number of cells in every line",
                    advice=self._what_to_do(line, len(cells)),
                )
            number += 1
        return number

    def _check_header(self, line: int, cells: int) -> None:
        """Raise ``InputError`` if all records have the same number of cells, but the header another one.

        Then the header is wrong, not a single line. A file with one record does not show which one is wrong.
        """
        names, rows = len(self.columns), 0
        if line != 2 or cells == 1:
            return
        for _, found in self.records():
            rows += 1
            if len(found) != cells:
                return
        if rows < _SEVERAL_ROWS:
            return
        raise InputError(
            f"{self.label}, line 1: the header has {names} name{'s' * (names != 1)}, but each of the "
            f"{rows:,} rows below it has {cells} cells",
            allowed="a name in the header for each cell of a row",
            advice=_header_remedies(self.columns, cells),
        )

    def _what_to_do(self, line: int, cells: int) -> str:
        """Return advice for a line whose number of cells differs from the header's."""
        check = f"Check line {line} for a missing quote or an extra delimiter."
        if len(self.columns) == 1 < cells:
            return f"{check} Remove lines above the one that names the columns."
        return f"{check} Remove notes below the table and rules in it." if cells == 1 else check

    def line_of(self, position: int, text: str) -> int | None:
        """Return the line of the first record with a text in a column; None if there is none."""
        return next(
            (line for line, cells in self.records() if cells[position : position + 1] == [text]), None
        )

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield each record below the header with the number of its first line; blank lines are omitted.

        In a file with one column a blank line is a record: an empty cell.
        """
        with _reader(self.path, self.delimiter, self.quote) as reader:
            line = 1
            try:
                for number, cells in enumerate(reader):
                    if number and (cells or len(self.columns) == 1):
                        yield line, cells or [""]
                    line = reader.line_num + 1
            except csv.Error as error:
                raise InputError(
                    f"{self.label}, line {line}: the record is malformed ({error})",
                    advice="Quote cells that contain delimiters, quotes or line ends; double quotes inside.",
                ) from None
            except UnicodeDecodeError:
                check_utf8(self.path)
                raise


def _header_remedies(names: Sequence[str], cells: int) -> str:
    """Return advice for a header with more or fewer names than each row has cells."""
    more = len(names) - cells
    if more < 0:
        missing = f"the {-more} missing name{'s' * (more != -1)}"
        if more == -1:
            missing += " (R leaves out the one of row numbers; write.csv has row.names = FALSE)"
        return (
            "If line 1 is a title or a comment, remove it: the first line names the columns. If it names "
            f"them, add {missing}."
        )
    cut = "the delimiter at its end" if more == 1 else f"the {more} delimiters at its end"
    if any(name.strip() for name in names[cells:]):
        cut = "the extra name" if more == 1 else f"the {more} extra names"
    return (
        f"Remove {cut} from line 1; or, if the rows lack their last cell, also write the delimiter at the "
        "end of each row."
    )


SPOOLED_NULL = "\\N"
"""Unquoted text of NULL in rows that a server's engine spools to a file."""


def spooled_rows_query(path: Path, names: Sequence[str], types: Sequence[str], cells: Sequence[str]) -> str:
    """Return the query by which DuckDB reads spooled rows in their order.

    In the file each cell is a quoted text, or an unquoted ``SPOOLED_NULL``, so that a quoted text ``\\N``
    stays a text. ``cells`` are expressions over the columns ``c0``, ``c1``, … that are cast to the types.
    """
    texts = ", ".join(f"'{column_name(i)}': 'VARCHAR'" for i in range(len(names)))
    selected = ", ".join(
        f"CAST({cell} AS {kind}) AS {identifier(name)}"
        for cell, kind, name in zip(cells, types, names, strict=True)
    )
    # One thread keeps the order of rows.
    options = (
        f"columns={{{texts}}}, auto_detect=false, header=false, delim=',', quote='\"', escape='\"', "
        f"new_line='\\n', nullstr='{SPOOLED_NULL}', allow_quoted_nulls=false, compression='none', "
        f"parallel=false, max_line_size={1 << 27}, buffer_size={1 << 28}"
    )
    return f"SELECT {selected} FROM read_csv({literal(str(path))}, {options})"


def read_delimited_header(path: Path, label: str, delimiter: str | None, quote: str) -> DelimitedText:
    """Read the columns of a file from its first line.

    Without a delimiter, the one of ``,`` ``;`` tab ``|`` that yields the most names is used. Raises
    ``InputError`` for an empty file or a duplicate name.
    """
    _check_dialect(delimiter, quote)
    header = _header_text(path, label)
    chosen, names = _split_header(header, label, (delimiter,) if delimiter else tuple(DELIMITER_NAMES), quote)
    if any("\udc80" <= c <= "\udcff" for name in names for c in name):
        check_utf8(path)
    check_unique_names(names, label)
    return DelimitedText(path, label, tuple(names), chosen, quote)


def header_size(file: DelimitedText) -> int:
    """Return the header's size in bytes of a file in UTF-8, with byte order mark and line end."""
    with open_bytes(file.path) as handle:
        start = handle.read(_LONGEST_HEADER)
    mark = len(codecs.BOM_UTF8) if start.startswith(codecs.BOM_UTF8) else 0
    lines = io.StringIO(start[mark:].decode("utf-8", errors="surrogateescape"), newline="")
    next(csv.reader(lines, _dialect(file.delimiter, file.quote)))
    return mark + len(lines.getvalue()[: lines.tell()].encode("utf-8", errors="surrogateescape"))


def check_unique_names(names: Sequence[str], label: str) -> None:
    """Raise ``InputError`` if two columns have the same name."""
    places: dict[str, int] = {}
    for position, name in enumerate(names):
        first = places.setdefault(name, position)
        if first != position:
            raise InputError(
                f"{label} has two columns '{name}', at positions {first + 1} and {position + 1}",
                allowed="each column name once",
                advice="Rename one of them."
                if name
                else "Name them; remove lines above the table and delimiters at the end of lines.",
            )


def check_no_byte_order_mark(names: Sequence[str], label: str) -> None:
    """Raise ``InputError`` if a byte order mark would begin a release: no reader would keep it."""
    if names and names[0].startswith("\ufeff"):
        raise InputError(
            f"{label}: the name of the first column begins with a byte order mark, which is invisible",
            allowed=f"'{names[0].lstrip(chr(0xFEFF))}'",
            advice='Rename it, or read the file anew as "utf-8-sig".',
        )


def count_records_quickly(chunks: Iterator[bytes], quote: str, width: int) -> int | None:
    """Count the records of delimited text, including the header, by its line ends outside quotes.

    Parameters
    ----------
    chunks : iterator of bytes
        Bytes of the text in order.
    quote : str
        Quote character, empty if no character quotes.
    width : int
        Number of columns.

    Returns
    -------
    int or None
        Number of records, None if the text ends inside quotes or the quote is longer than one byte.

    Notes
    -----
    The count includes blank lines between records of several columns, is too small for line ends without LF,
    and is wrong if quotes occur inside unquoted cells; a number that differs from DuckDB's is therefore not
    conclusive. Cost: two passes over the bytes, or three if they contain quotes; memory for one chunk.
    """
    mark = quote.encode()
    if len(mark) > 1:
        return None
    inside, number, trailing, ended = False, 0, 0, True
    for chunk in chunks:
        outside, inside = _line_ends_outside(chunk, mark, inside)
        number += outside
        last = chunk[len(chunk.rstrip(b"\r\n")) :]
        trailing = last.count(b"\n") + (trailing if len(last) == len(chunk) else 0)
        ended = chunk.endswith(b"\n")
    if inside:
        return None
    return number + (not ended) - (max(trailing - 1, 0) if width > 1 else 0)


def _line_ends_outside(chunk: bytes, mark: bytes, inside: bool) -> tuple[int, bool]:
    """Count line ends outside quotes, and return whether the chunk ends inside quotes."""
    if not mark or mark not in chunk:
        return (0 if inside else int(np.count_nonzero(np.frombuffer(chunk, np.uint8) == 10))), inside
    # Only quotes and line ends are kept; the number of quotes before a line end is then its index minus the
    # number of line ends before it.
    marks = np.frombuffer(chunk.translate(None, bytes({*range(256)} - {*mark, 10})), np.uint8)
    ends = np.flatnonzero(marks == 10)
    quotes_before = ends - np.arange(len(ends))
    outside = int(np.count_nonzero(quotes_before % 2 == inside))
    return outside, inside ^ bool((len(marks) - len(ends)) % 2)


def _check_dialect(delimiter: str | None, quote: str) -> None:
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '\r\n"' or delimiter == quote):
        raise InputError(f"delimiter '{delimiter}'", allowed="one character, such as , ; | or a tab")
    if len(quote) > 1 or quote in ("\r", "\n"):
        raise InputError(f"quote '{quote}'", allowed="one character, or none")


def _header_text(path: Path, label: str) -> str:
    """Return the beginning of the file, long enough to contain the header."""
    with open_bytes(path) as handle:
        start = handle.read(_LONGEST_HEADER)
    if not start:
        raise InputError(f"{label} is empty", allowed="a header line and at least one row")
    text = start.decode("utf-8-sig", errors="surrogateescape").removeprefix("\ufeff")  # some write it twice
    if not re.split(r"[\r\n]", text, maxsplit=1)[0].strip():
        raise InputError(f"{label}, line 1 is blank", allowed="the column names in the first line")
    return text


def _split_header(text: str, label: str, delimiters: Sequence[str], quote: str) -> tuple[str, list[str]]:
    """Return the delimiter that yields the most names, and the names."""
    best: tuple[str, list[str]] | None = None
    problem = ""
    for delimiter in delimiters:
        lines = io.StringIO(text, newline="")
        try:
            names = next(csv.reader(lines, _dialect(delimiter, quote)))
        except csv.Error as error:
            problem = str(error)
            continue
        if len(text) > _LONGEST_HEADER // 4 and lines.tell() == len(text):
            problem = f"longer than {_LONGEST_HEADER // 4} characters"
        elif best is None or len(names) > len(best[1]):
            best = delimiter, names
    if best is None or (problem and len(best[1]) == 1):
        raise InputError(
            f"{label}, line 1: the header is malformed ({problem})",
            allowed="names separated by , ; | or a tab, in quotes if they contain one",
            advice="Give another delimiter: delimiter in [source], as in --delimiter ' '.",
        )
    return best


def _dialect(mark: str, quote: str) -> type[csv.Dialect]:
    class Dialect(csv.Dialect):
        delimiter = mark
        quotechar = quote or None
        quoting = csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE
        doublequote = True
        strict = True
        lineterminator = "\n"

    return Dialect


@contextmanager
def _reader(path: Path, delimiter: str, quote: str) -> Iterator[Any]:
    limit = csv.field_size_limit(_LONGEST_LINE)
    try:
        with (
            open_bytes(path) as handle,
            io.TextIOWrapper(handle, encoding="utf-8-sig", newline="") as text,
        ):
            yield csv.reader(text, _dialect(delimiter, quote))
    finally:
        csv.field_size_limit(limit)
