"""Hierarchies in CSV files in ARX's format: one line per leaf, ``leaf;level 1;…;*``, no header.

A text without quotes, with LF only and the same number of cells in each line, is split as bytes, all lines at
once; every other text is read by the standard library's CSV reader. Both give the same hierarchy.
"""

from __future__ import annotations

import csv
import gc
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, replace
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.hierarchy.level_table import (
    LevelColumn,
    check_coverage,
    hierarchy_from_levels,
    hierarchy_from_rows,
)
from discreet.hierarchy.messages import quote_value
from discreet.model.hierarchy import TOP, GeneralizationHierarchy, PublicPart
from discreet.model.option import spec_key
from discreet.places.file_access import read_bytes

_CSV_CHARACTERS = ('"', "\r", "\0")
_NEWLINE = ord("\n")
_WORD_BYTES = 8
_LONGEST_CELL = 64


def parse_plain_levels(text: str, delimiter: str) -> list[LevelColumn] | None:
    """Parse a table of several columns with unique first values and one last value, vectorized.

    Returns None if the text is not such a table, or if a CSV reader might find other cells or an error in it.
    """
    if not text or not delimiter.isascii() or any(character in text for character in _CSV_CHARACTERS):
        return None
    raw = text.removesuffix("\n").encode("utf-8", "surrogatepass")
    bounds = _cell_bounds(raw, delimiter)
    if bounds is None:
        return None
    starts, stops = bounds
    lengths = stops - starts
    if lengths.max() > min(_LONGEST_CELL, csv.field_size_limit()):
        return None
    # An overlapping view: entry i is the eight bytes from byte i on; zeros are appended for the last ones.
    words = np.ndarray(len(raw), "<u8", raw + bytes(_WORD_BYTES), strides=(1,))
    levels = []
    for column in range(starts.shape[1]):
        runs = _run_starts(words, starts[:, column], lengths[:, column])
        places = zip(starts[runs, column].tolist(), stops[runs, column].tolist(), strict=True)
        if len(raw) == len(text.removesuffix("\n")):  # ASCII: offsets of bytes are those of characters
            values = [text[start:stop] for start, stop in places]
        else:
            values = [raw[start:stop].decode("utf-8", "surrogatepass") for start, stop in places]
        levels.append(LevelColumn.of_runs(values, runs, len(starts)))
    if len(levels[-1].labels) > 1 or len(levels[0].labels) < len(starts):
        return None
    return levels


def _cell_bounds(raw: bytes, delimiter: str) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return each cell's start and end, shape ``(lines, columns)``; None if lines differ in their cells."""
    data = np.frombuffer(raw, np.uint8)
    ends = np.flatnonzero(data == _NEWLINE)
    between = np.flatnonzero(data == ord(delimiter))
    lines = len(ends) + 1
    inner = len(between) // lines
    if not inner or len(between) != lines * inner:
        return None
    inside = between.reshape(lines, inner)
    if (inside[:-1, -1] > ends).any() or (inside[1:, 0] < ends).any():
        return None
    first, last = np.append(-1, ends), np.append(ends, len(raw))
    starts = np.column_stack((first, inside)) + 1
    return starts, np.column_stack((inside, last))


def _run_starts(
    words: NDArray[np.uint64], starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the rows whose cell differs from that of the row before, including the first row.

    Cells are compared eight bytes at a time: ``words`` has at each byte offset the eight bytes from there.
    """
    fresh = np.ones(len(starts), np.bool_)
    fresh[1:] = lengths[1:] != lengths[:-1]
    for done in range(0, int(lengths.max()), _WORD_BYTES):
        bits = 8 * np.clip(lengths - done, 0, _WORD_BYTES)
        # A shift by all 64 bits of a word is undefined and acts as no shift, so the count is at least one.
        mask = np.where(bits > 0, ~np.uint64(0) >> (np.uint64(64) - np.maximum(bits, 1).astype(np.uint64)), 0)
        chunk = words[np.minimum(starts + done, len(words) - 1)] & mask
        fresh[1:] |= chunk[1:] != chunk[:-1]
    return np.flatnonzero(fresh)


HIERARCHY_DELIMITERS = (";", ",")
_OTHER_DELIMITERS = {"\t": "\\t", "|": "|"}
"""Delimiters that a spec must name, as it writes them."""
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class _Record(NamedTuple):
    """Cells of one record and the line that it begins on."""

    line: int
    cells: list[str]


SUFFIX = ".csv"


def is_hierarchy_file(path: Path) -> bool:
    """Return whether a file of a folder of hierarchies is read as one, by its suffix."""
    return path.suffix.lower() == SUFFIX


@dataclass(frozen=True)
class FileHierarchy:
    """A hierarchy that is read from a file when it is built.

    ``delimiter`` None means ``;`` or ``,``, whichever makes the file a table with one top value. Cells may be
    quoted by ``"``; blank lines and a byte order mark are ignored; blanks in cells belong to the values.
    ``least_level`` is the least level if a request names none (``model.hierarchy.least_level``).
    """

    path: Path = spec_key(
        "The file: a line for each leaf, followed by its levels.",
        '"city.csv"',
        "the path of a file in quotes",
        min_length=1,
        default=MISSING,
    )
    delimiter: str | None = spec_key(
        "Delimiter of cells; detected if omitted.", '"|"', 'one character, such as ";" or ","'
    )
    encoding: str = spec_key(
        "Encoding of the file.",
        '"latin-1"',
        "the name of an encoding, such as utf-8 or latin-1",
        default="utf-8",
    )
    least_level: int = spec_key(
        "The least level of a release, unless min_level is set: lower levels are withheld.",
        "1",
        "a whole number of at least 0",
        ge=0,
        default=0,
    )
    from_data: ClassVar[bool] = False
    """False: the file is independent of the data."""
    public_part: ClassVar[PublicPart] = PublicPart.HIERARCHY
    """The whole hierarchy is public."""

    def __post_init__(self) -> None:
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n'):
            raise InputError(
                f"delimiter {quote_value(self.delimiter)}", allowed="one character, such as ; or ,"
            )
        try:
            "a".encode(self.encoding)
        except (LookupError, UnicodeError):
            raise InputError(
                f"encoding {quote_value(self.encoding)} is not known",
                allowed="utf-8, latin-1, utf-16, cp1252, …",
            ) from None

    @property
    def origin(self) -> str:
        """Name of the file."""
        return self.path.name

    def build(
        self, attribute: str, values: Sequence[str], counts: Sequence[int] | None = None
    ) -> GeneralizationHierarchy:
        """Build the file's hierarchy; raise ``InputError`` if it is unreadable, wrong, or misses a value."""
        with _garbage_collection_paused():
            hierarchy = self._read(attribute)
        result = replace(
            hierarchy, origin=self.origin, notes=(*hierarchy.notes, *self._least_level_notes(hierarchy))
        )
        check_coverage(result, values, origin=str(self.path))
        return result

    def _read(self, attribute: str) -> GeneralizationHierarchy:
        text, origin = self._text(attribute), str(self.path)
        for delimiter in (self.delimiter,) if self.delimiter else HIERARCHY_DELIMITERS:
            levels = parse_plain_levels(text, delimiter)
            if levels is not None:
                return hierarchy_from_levels(
                    attribute, levels, origin=origin, where=lambda row: f"{origin}, line {row + 1}"
                )
        records = self._records(text)
        self._check_form(records)
        return hierarchy_from_rows(
            attribute,
            [record.cells for record in records],
            origin=origin,
            where=lambda row: f"{origin}, line {records[row].line}",
        )

    def _least_level_notes(self, hierarchy: GeneralizationHierarchy) -> list[str]:
        """Return a note about the least level; raise ``InputError`` for one above the top."""
        if self.least_level > hierarchy.height:
            raise InputError(
                f"attribute {quote_value(hierarchy.attribute)}: least_level = {self.least_level}, above the "
                f"top of {self.path}",
                allowed=f"0 to {hierarchy.height}",
            )
        if not self.least_level:
            return []
        return [
            f"The least level of {quote_value(hierarchy.attribute)} is {self.least_level}, unless min_level "
            "is set."
        ]

    def _check_form(self, records: Sequence[_Record]) -> None:
        """Raise ``InputError`` if the records do not have the form of a hierarchy, without printing a cell.

        A path may point to any file by mistake, and the cells of such a file must not be printed. A file with
        the same number of cells in each line and one last value (or ``*`` in most lines) is a hierarchy; the
        checks that follow name its cells.
        """
        first = records[0]
        for record in records:
            if len(record.cells) != len(first.cells):
                number = len(record.cells)
                raise InputError(
                    f"{self.path}, line {record.line}: {number} column{'s' * (number != 1)}, "
                    f"but line {first.line} has {len(first.cells)}",
                    allowed="the same number of levels in every row",
                    advice="Repeat a value where it is not generalized further at a level; or check that the "
                    "file is a hierarchy.",
                )
        tops = [record.cells[-1] for record in records]
        self._check_header(first, tops)
        if len(first.cells) > 1 and 2 * tops.count(TOP) < len(tops) and tops.count(tops[0]) < len(tops):
            line = next(record.line for record in records if record.cells[-1] != tops[0])
            raise InputError(
                f"{self.path}, line {line}, column {len(first.cells)}: another top value than in line "
                f"{first.line}",
                allowed="exactly one top value, the same in every row",
                advice=f"End every row with {TOP}; or check that the file is a hierarchy, and its delimiter.",
            )

    def _check_header(self, first: _Record, tops: Sequence[str]) -> None:
        """Raise ``InputError`` if only the first line has another top value: it is a header."""
        rest = set(tops[1:])
        if len(first.cells) > 1 and len(rest) == 1 and tops[0] not in rest and (TOP in rest or len(tops) > 2):
            raise InputError(
                f"{self.path}, line {first.line}, column {len(first.cells)}: another top value than in every "
                "other line",
                allowed="exactly one top value, the same in every row, and no header",
                advice=f"Is line {first.line} a header? Remove it: every line is a value and its levels.",
            )

    def _text(self, attribute: str) -> str:
        data = self._bytes(attribute)
        encoding = self.encoding
        if encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
            encoding = "utf-8-sig"
        try:
            return data.decode(encoding)
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            wide = data.startswith(_UTF_16_MARKS)
            raise InputError(
                f"{self.path}, line {line}: byte 0x{data[error.start]:02x} is not {self.encoding}",
                allowed="UTF-8, or the encoding that is named",
                advice="Save the file as UTF-8, or give the hierarchy as "
                f'{{kind = "file", path = "…", encoding = "{"utf-16" if wide else "latin-1"}"}}.',
            ) from None
        except UnicodeError as error:
            raise InputError(f"{self.path} is not {self.encoding}: {error}") from None

    def _bytes(self, attribute: str) -> bytes:
        try:
            return read_bytes(
                self.path, f"the hierarchy file {self.path} of attribute {quote_value(attribute)}"
            )
        except FileNotFoundError:
            raise InputError(
                f"the hierarchy file {self.path} of attribute {quote_value(attribute)} does not exist",
                advice="Paths in a spec are relative to the spec's folder.",
            ) from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(
                f"the hierarchy file {self.path} of attribute {quote_value(attribute)} cannot be read: "
                f"{reason}"
            ) from None

    def _records(self, text: str) -> list[_Record]:
        result = self._parse(text, self.delimiter) if self.delimiter else self._parse_either(text)
        if not result:
            raise InputError(f"{self.path} is empty", allowed="one line per value: leaf;level 1;…;*")
        return result

    def _parse_either(self, text: str) -> list[_Record]:
        """Return the records by the delimiter that makes a sound table, else by the one in the first line."""
        for delimiter in HIERARCHY_DELIMITERS:
            try:
                records = self._parse(text, delimiter)
            except InputError:
                continue
            if _is_rectangular_with_one_top(records):
                return records
        self._check_delimiter(text)
        first_line = text.lstrip().partition("\n")[0]
        return self._parse(text, ";" if ";" in first_line else ",")

    def _check_delimiter(self, text: str) -> None:
        """Raise ``InputError`` if a delimiter other than ; and , makes a table of the text."""
        for delimiter, written in _OTHER_DELIMITERS.items():
            try:
                widths = {len(record.cells) for record in self._parse(text, delimiter)}
            except InputError:
                continue
            if len(widths) == 1 and max(widths) > 1:
                name = "tabs" if delimiter == "\t" else f"'{delimiter}'"
                raise InputError(
                    f"{self.path}: cells are separated by {name}",
                    allowed="; or , unless a delimiter is given",
                    advice="Write ; between cells, or give the hierarchy as "
                    f'{{kind = "file", path = "…", delimiter = "{written}"}}.',
                )

    def _parse(self, text: str, delimiter: str) -> list[_Record]:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        records, line = [], 1
        try:
            for cells in reader:
                if len(cells) > 1 or (cells and cells[0].strip()):
                    records.append(_Record(line, cells))
                line = reader.line_num + 1
        except csv.Error as error:
            raise InputError(
                f"{self.path}, line {line}: {error}",
                allowed='cells without quotes, or wholly between quotes with each inner quote doubled ("")',
            ) from None
        return records


@contextmanager
def _garbage_collection_paused() -> Iterator[None]:
    """Pause the garbage collector: reading makes many thousand records, none of them garbage.

    Searching them for garbage would take half the time.
    """
    active = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if active:
            gc.enable()


def parse_hierarchy_rows(
    text: str, label: str = "the hierarchy", delimiter: str | None = None
) -> list[list[str]]:
    """Return the rows of a hierarchy in ARX's format, unchecked; raise ``InputError`` for wrong quotes.

    An empty text has no row.
    """
    file = FileHierarchy(Path(label), delimiter)
    return [record.cells for record in file._records(text)] if text.strip() else []


def format_hierarchy_csv(hierarchy: GeneralizationHierarchy) -> str:
    """Format a hierarchy in ARX's format (``;``, LF), leaves in the publisher's order."""
    codes = hierarchy.codes_in_order.tolist()
    return "".join(";".join(_cell_text(value) for value in hierarchy.path(code)) + "\n" for code in codes)


def write_hierarchy_csv(hierarchy: GeneralizationHierarchy, path: Path, *, overwrite: bool = False) -> None:
    """Write a hierarchy in ARX's format (``;``, UTF-8, LF), leaves in the publisher's order.

    Reading the file returns the same hierarchy. Raises ``InputError`` if the file exists (unless
    ``overwrite``) or cannot be written, or if the hierarchy has no leaf.
    """
    if not hierarchy.leaves:
        raise InputError(f"the hierarchy of {quote_value(hierarchy.attribute)} has no value to write")
    try:
        with path.open("w" if overwrite else "x", encoding="utf-8", newline="") as file:
            file.write(format_hierarchy_csv(hierarchy))
    except FileExistsError:
        raise InputError(f"{path} exists", advice="Remove it, or choose another name.") from None
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"the hierarchy file {path} cannot be written: {reason}") from None


def _cell_text(value: str) -> str:
    plain = not any(c in ';,"\r\n\ufeff' for c in value) and value.strip() == value != ""
    return value if plain else '"' + value.replace('"', '""') + '"'


def _is_rectangular_with_one_top(records: Sequence[_Record]) -> bool:
    """Return whether all records have the same number of cells, more than one, and the same top value."""
    widths = {len(record.cells) for record in records}
    return len(widths) == 1 and max(widths) > 1 and len({record.cells[-1] for record in records}) == 1
