"""Hierarchies in CSV files, in ARX's form: one line per leaf, ``leaf;level 1;…;*``, no header."""

from __future__ import annotations

import csv
import gc
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, NamedTuple

from discreet.errors import InputError
from discreet.hierarchy.messages import shown
from discreet.hierarchy.plain_levels import plain_levels
from discreet.hierarchy.table import check_coverage, hierarchy_from_levels, hierarchy_from_rows
from discreet.model.hierarchy import TOP, GeneralizationHierarchy, Given
from discreet.places.regular_file import read_bytes

DELIMITERS = (";", ",")
_OTHER_DELIMITERS = {"\t": "\\t", "|": "|"}
"""Delimiters that a spec has to name, as it writes them."""
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")


class _Record(NamedTuple):
    """The cells of one record and the line that it begins on."""

    line: int
    cells: list[str]


@dataclass(frozen=True)
class FileHierarchy:
    """A hierarchy read from a file when it is built.

    ``delimiter`` None: ``;`` or ``,``, whichever makes a table with one top value of the file. Cells may be
    quoted by ``"``; blank lines and a byte order mark are ignored; blanks in cells belong to the values.
    ``least_level`` is the least level where a request names none (``model.hierarchy.least_level``).
    """

    path: Path
    delimiter: str | None = None
    encoding: str = "utf-8"
    least_level: int = 0
    from_data: ClassVar[bool] = False
    """The file was there before the data."""
    given: ClassVar[Given] = Given.HIERARCHY
    """All of it."""

    def __post_init__(self) -> None:
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n'):
            raise InputError(f"delimiter {shown(self.delimiter)}", allowed="one character, such as ; or ,")
        try:
            "a".encode(self.encoding)
        except (LookupError, UnicodeError):
            raise InputError(
                f"encoding {shown(self.encoding)} is not known", allowed="utf-8, latin-1, utf-16, cp1252, …"
            ) from None

    @property
    def origin(self) -> str:
        """The file's name."""
        return self.path.name

    def build(
        self, attribute: str, values: Sequence[str], counts: Sequence[int] | None = None
    ) -> GeneralizationHierarchy:
        """The file's hierarchy; ``InputError`` where it cannot be read, is wrong, or misses a value."""
        with _collector_paused():
            hierarchy = self._read(attribute)
        found = replace(hierarchy, origin=self.origin, notes=(*hierarchy.notes, *self._held_back(hierarchy)))
        check_coverage(found, values, origin=str(self.path))
        return found

    def _read(self, attribute: str) -> GeneralizationHierarchy:
        text, origin = self._text(attribute), str(self.path)
        for delimiter in (self.delimiter,) if self.delimiter else DELIMITERS:
            levels = plain_levels(text, delimiter)
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

    def _held_back(self, hierarchy: GeneralizationHierarchy) -> list[str]:
        """A note of the least level; ``InputError`` for one that is not there."""
        if self.least_level > hierarchy.height:
            raise InputError(
                f"attribute {shown(hierarchy.attribute)}: least_level = {self.least_level}, above the top of "
                f"{self.path}",
                allowed=f"0 to {hierarchy.height}",
            )
        if not self.least_level:
            return []
        return [
            f"The least level of {shown(hierarchy.attribute)} is {self.least_level}, unless min_level says "
            "another."
        ]

    def _check_form(self, records: Sequence[_Record]) -> None:
        """Raise ``InputError`` for what has not the form of a hierarchy, without a cell of it.

        A path may lead to any file by mistake, and cells of that are nobody's to print. What has as many
        cells in each line, and one last value (or ``*`` in most lines), is a hierarchy: of that the checks
        that follow name the cells.
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
        """Raise where every line but the first has one top value, and the first another: it is a header."""
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
            wide = data.startswith(_WIDE_MARKS)
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
            return read_bytes(self.path, f"the hierarchy file {self.path} of attribute {shown(attribute)}")
        except FileNotFoundError:
            raise InputError(
                f"the hierarchy file {self.path} of attribute {shown(attribute)} does not exist",
                advice="Paths in a spec are relative to the spec's folder.",
            ) from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(
                f"the hierarchy file {self.path} of attribute {shown(attribute)} cannot be read: {reason}"
            ) from None

    def _records(self, text: str) -> list[_Record]:
        found = self._parse(text, self.delimiter) if self.delimiter else self._parse_either(text)
        if not found:
            raise InputError(f"{self.path} is empty", allowed="one line per value: leaf;level 1;…;*")
        return found

    def _parse_either(self, text: str) -> list[_Record]:
        """The records by the delimiter that makes a sound table, or else by the one in the first line."""
        for delimiter in DELIMITERS:
            try:
                records = self._parse(text, delimiter)
            except InputError:
                continue
            if _is_sound(records):
                return records
        self._check_delimiter(text)
        first_line = text.lstrip().partition("\n")[0]
        return self._parse(text, ";" if ";" in first_line else ",")

    def _check_delimiter(self, text: str) -> None:
        """Raise where another delimiter than ours makes a table of the text."""
        for delimiter, written in _OTHER_DELIMITERS.items():
            try:
                widths = {len(record.cells) for record in self._parse(text, delimiter)}
            except InputError:
                continue
            if len(widths) == 1 and max(widths) > 1:
                name = "tabs" if delimiter == "\t" else f"'{delimiter}'"
                raise InputError(
                    f"{self.path}: cells are divided by {name}",
                    allowed="; or , unless the delimiter is named",
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
def _collector_paused() -> Iterator[None]:
    """No search for garbage: many thousand records are made, none is any, and looking takes half the time."""
    active = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if active:
            gc.enable()


def hierarchy_rows(text: str, label: str = "the hierarchy", delimiter: str | None = None) -> list[list[str]]:
    """The rows of a hierarchy in ARX's form, unchecked; ``InputError`` where quotes are wrong.

    An empty text has no row.
    """
    file = FileHierarchy(Path(label), delimiter)
    return [record.cells for record in file._records(text)] if text.strip() else []


def hierarchy_csv_text(hierarchy: GeneralizationHierarchy) -> str:
    """Return a hierarchy in ARX's form (``;``, LF), leaves in the publisher's order."""
    codes = hierarchy.codes_in_order.tolist()
    return "".join(";".join(_cell_text(value) for value in hierarchy.path(code)) + "\n" for code in codes)


def write_hierarchy_csv(hierarchy: GeneralizationHierarchy, path: Path, *, overwrite: bool = False) -> None:
    """Write a hierarchy in ARX's form (``;``, UTF-8, LF), leaves in the publisher's order.

    Reading the file gives the hierarchy back. ``InputError`` where the file exists (unless ``overwrite``) or
    cannot be written, or where the hierarchy has no leaf.
    """
    if not hierarchy.leaves:
        raise InputError(f"the hierarchy of {shown(hierarchy.attribute)} has no value to write")
    try:
        with path.open("w" if overwrite else "x", encoding="utf-8", newline="") as file:
            file.write(hierarchy_csv_text(hierarchy))
    except FileExistsError:
        raise InputError(f"{path} exists", advice="Remove it, or choose another name.") from None
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"the hierarchy file {path} cannot be written: {reason}") from None


def _cell_text(value: str) -> str:
    plain = not any(c in ';,"\r\n\ufeff' for c in value) and value.strip() == value != ""
    return value if plain else '"' + value.replace('"', '""') + '"'


def _is_sound(records: Sequence[_Record]) -> bool:
    """Whether all records have as many cells, more than one, and end in the same top value."""
    widths = {len(record.cells) for record in records}
    return len(widths) == 1 and max(widths) > 1 and len({record.cells[-1] for record in records}) == 1
