"""Writing a release to a file of SPSS, Stata or SAS.

A column is written as numbers, dates or codes only if each cell reads back unchanged, else as text. Only
labels of values in the release are written, and no time stamp. The table is kept in memory. Loaded on demand
(pyreadstat, pandas).
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from math import copysign, isfinite
from pathlib import Path
from typing import Any

import numpy as np

from discreet.engines import failures
from discreet.engines.files.output_files import STATISTICS_PROGRAMS, Codebook, check_distinct_names
from discreet.engines.files.spreadsheet import sheet_cell_text
from discreet.engines.files.statistics_files import (
    CODED_RELEASE_LABEL,
    RELEASE_LABEL,
    original_name,
    program_names,
    truncate_title,
)
from discreet.errors import InputError, InternalError
from discreet.sql.cell_expressions import column_name

ColumnTexts = Sequence[str | None]
CellParser = Callable[[str], Any]

_EXACT = 2**53
_MOST_DECIMALS = 16
_EARLIEST = datetime.date(1583, 1, 1)
"""First date of SPSS, which counts seconds from the beginning of the Gregorian calendar."""


@dataclass(frozen=True)
class ProgramLimits:
    """Limits of a program's file: bytes of a text and of a value's label, numbers, and columns.

    ``padded`` means that trailing blanks of texts are lost, ``text_codes`` that texts can have labels,
    ``fractions`` that non-integers can have labels.
    """

    text: int
    label: int
    largest: float
    smallest: float = 0.0
    padded: bool = False
    text_codes: bool = False
    fractions: bool = False
    columns: int = 2**31 - 1


PROGRAM_LIMITS: Mapping[str, ProgramLimits] = {
    "SPSS": ProgramLimits(32_767, 120, 1e300, padded=True, text_codes=True, fractions=True),
    "Stata": ProgramLimits(1_000_000_000, 32_000, 8e307, columns=32_767),
    "SAS": ProgramLimits(32_767, 0, 7e75, 1e-77, padded=True),
}
_SHORTEST_CODE = 8
_LARGEST_CODE = 2_147_483_620


@dataclass(frozen=True)
class EncodedColumn:
    """Cells of a column as a file stores them, their labels, and the display format of numbers in SPSS."""

    cells: Sequence[Any]
    numeric: bool = False
    labels: Mapping[Any, str] = field(default_factory=dict)
    form: str | None = None

    @property
    def texts(self) -> bool:
        """True if every cell is a text or missing, and at least one is a text."""
        found = {type(cell) for cell in self.cells} - {type(None)}
        return found == {str}

    @property
    def on_scale(self) -> bool:
        """True if values are numbers, days or moments instead of codes."""
        return not self.labels and not all(cell is None or isinstance(cell, str) for cell in self.cells)


def encode_column(
    name: str, kind: str, texts: ColumnTexts, labels: Mapping[str, str], limits: ProgramLimits
) -> EncodedColumn:
    """Encode a column of a release that is read by labels; its cells had the house type ``kind``.

    ``labels`` are the labels of codes in the source. Raises ``InputError`` for a text that a file cannot
    store.
    """
    distinct = {text for text in texts if text is not None}
    return _by_labels(texts, distinct, labels, limits) or _by_values(name, kind, texts, distinct, limits)


def encode_coded_column(
    name: str, kind: str, texts: ColumnTexts, labels: Mapping[str, str], limits: ProgramLimits
) -> EncodedColumn:
    """Encode a column of a release that is read by its codes; ``labels`` explain the codes.

    Arguments and errors are those of ``encode_column``.
    """
    distinct = {text for text in texts if text is not None}
    coded = _by_values(name, kind, texts, distinct, limits)
    found = {_code(text, numeric=coded.numeric): labels[text] for text in distinct & labels.keys()}
    if not all(_takes_label(code, limits) for code in found):
        return coded
    cut = {code: label.encode()[: limits.label].decode(errors="ignore") for code, label in found.items()}
    return EncodedColumn(
        coded.cells, coded.numeric, {code: label for code, label in cut.items() if label}, coded.form
    )


def _by_labels(
    texts: ColumnTexts, distinct: Collection[str], labels: Mapping[str, str], limits: ProgramLimits
) -> EncodedColumn | None:
    """Encode labels as their codes with value labels; return None if a cell would be ambiguous or invalid."""
    codes = {label: code for code, label in labels.items()}
    used = {text: codes[text] for text in distinct if text in codes}
    others = [text for text in distinct if text not in codes]
    if not used or len(codes) < len(labels) or any(text in labels for text in others):
        return None
    if any(len(label.encode()) > limits.label or label != label.strip() for label in used):
        return None
    every = [*used.values(), *others]
    numeric = all(map(_is_number, every)) and all(_is_within(float(code), limits) for code in every)
    found = {_code(code, numeric=numeric): label for label, code in used.items()}
    if not all(_takes_label(code, limits) for code in found) or (others and not numeric):
        return None
    values = {text: _code(used.get(text, text), numeric=numeric) for text in distinct}
    cells = [None if text is None else values[text] for text in texts]
    return EncodedColumn(cells, numeric, found, _form(every) if numeric else None)


def _by_values(
    name: str, kind: str, texts: ColumnTexts, distinct: Collection[str], limits: ProgramLimits
) -> EncodedColumn:
    base = kind.partition("(")[0]
    for read in _parsers(base, limits) if distinct else ():
        values = _parse_all(read, distinct)
        if values is not None:
            numeric = isinstance(next(iter(values.values())), float)
            cells = [None if text is None else values[text] for text in texts]
            return EncodedColumn(cells, numeric, form=_form(distinct) if numeric else None)
    for text in distinct:
        _check_text(name, text, limits)
    return EncodedColumn(texts)


def _parsers(base: str, limits: ProgramLimits) -> tuple[CellParser, ...]:
    """Return the possible parsers for a column type in order; each raises ``ValueError`` for other texts."""

    def number(text: str) -> float:
        value = float(text)
        read = sheet_cell_text(value)
        same = Decimal(str(read)) == Decimal(text) if base in _BY_VALUE else read == text
        negative_zero = value == 0 and copysign(1, value) < 0
        if not isfinite(value) or not _is_within(value, limits) or not same or negative_zero:
            raise ValueError(text)
        return value

    def day(text: str) -> datetime.date:
        result = datetime.date.fromisoformat(text)
        if result.isoformat() != text or result < _EARLIEST:
            raise ValueError(text)
        return result

    def moment(text: str) -> datetime.datetime:
        result = datetime.datetime.fromisoformat(text)
        same = base.startswith("TIMESTAMP") or sheet_cell_text(result) == text
        if not same or result.microsecond or result.tzinfo or result.date() < _EARLIEST:
            raise ValueError(text)
        return result

    if base in ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"):
        return (moment,)
    return (day,) if base == "DATE" else (number, day, moment)


_BY_VALUE = ("DOUBLE", "FLOAT", "DECIMAL")


def _parse_all(read: CellParser, distinct: Collection[str]) -> dict[str, Any] | None:
    try:
        return {text: read(text) for text in distinct}
    except (ValueError, ArithmeticError):
        return None


def _is_number(text: str) -> bool:
    return _parse_all(lambda cell: float(cell), [text]) is not None and sheet_cell_text(float(text)) == text


def _is_within(value: float, limits: ProgramLimits) -> bool:
    return value == 0 or limits.smallest < abs(value) < limits.largest


def _code(text: str, *, numeric: bool) -> float | str:
    return float(text) if numeric else text


def _takes_label(code: float | str, limits: ProgramLimits) -> bool:
    """Return True if a value of a file can have a label."""
    if limits.label == 0:
        return False
    if isinstance(code, str):
        return limits.text_codes and 0 < len(code.encode()) <= _SHORTEST_CODE and code == code.strip()
    return limits.fractions or (code.is_integer() and abs(code) <= _LARGEST_CODE)


def _form(numbers: Collection[str]) -> str:
    """Return the SPSS display format for numbers: their width and number of decimals."""
    parts = [f"{Decimal(text):f}".partition(".") for text in numbers]
    decimals = min(_MOST_DECIMALS, max(len(behind) for _, _, behind in parts))
    width = max(len(before) for before, _, _ in parts) + (decimals + 1 if decimals else 0)
    return f"F{min(40, max(width, decimals + 2))}.{decimals}"


def _check_text(name: str, text: str, limits: ProgramLimits) -> None:
    if not text:
        raise InputError(
            f"the column {name} has an empty text, which is a missing value in such a file",
            advice='Read it as NULL with null_values = [""] in [source], or write Parquet.',
        )
    if "\0" in text or len(text.encode()) > limits.text:
        what = "a NUL character" if "\0" in text else f"a text of more than {limits.text:,} bytes"
        raise InputError(f"the column {name} has {what}", advice="Write Parquet.")
    if limits.padded and text.endswith(" "):
        raise InputError(
            f"the column {name} has a text that ends with a blank, which such a file does not keep",
            advice="Remove blanks with strip = true in [source], or write Parquet.",
        )


_WRITERS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "sav": ("write_sav", {"row_compress": True}),
    "zsav": ("write_sav", {"compress": True}),
    "dta": ("write_dta", {"version": 14}),
    "xpt": ("write_xport", {"file_format_version": 8, "table_name": "RELEASE"}),
}
_HEADER = 1024
_SPSS_TIME = ((92, rb"\d\d \w{3} \d\d\d\d:\d\d:\d\d", b"01 Jan 7000:00:00"),)
_SAS_TIME = tuple((at, rb"\d\d\w{3}\d\d:\d\d:\d\d:\d\d", b"01JAN70:00:00:00") for at in (144, 160, 464, 480))
_STATA_TIME = (rb"\d\d \w{3} \d{4} \d\d:\d\d", b"01 Jan 1970 00:00")


def text_query(query: str, columns: int) -> str:
    """Return a query for each cell's text."""
    names = [column_name(i) for i in range(columns)]
    cells = ", ".join(f"CAST({name} AS VARCHAR) AS {name}" for name in names)
    return f"SELECT {cells} FROM ({query}) AS t({', '.join(names)})"


def write_statistics_file(
    path: Path,
    kind: str,
    columns: Sequence[tuple[str, str]],
    arrays: Mapping[str, Any],
    codebook: Codebook,
) -> None:
    """Write texts into an existing empty file.

    ``columns`` are names with the house types that their cells had, ``arrays`` the texts of each by position.
    Raises ``InputError`` for names that such a file considers equal, for a text that it cannot store, and if
    a library is missing.
    """
    program = STATISTICS_PROGRAMS[kind]
    if len(columns) > PROGRAM_LIMITS[program].columns:
        raise InputError(
            f"the release has {len(columns):,} columns",
            allowed=f"at most {PROGRAM_LIMITS[program].columns:,} in a file of {program}",
            advice="Write Parquet, or leave columns out: give them the role identifier.",
        )
    check_distinct_names([name for name, _ in columns], program)
    names = program_names([name for name, _ in columns], program)
    hold = encode_coded_column if codebook.coded else encode_column
    written, titles = {}, {}
    for index, (own, (name, of_type)) in enumerate(zip(names, columns, strict=True)):
        labels = codebook.labels.get(name, {})
        written[own] = hold(
            name, of_type, _texts(arrays[column_name(index)]), labels, PROGRAM_LIMITS[program]
        )
        titles[own] = _title(own, name, codebook.titles.get(name), program)
    _write(path, kind, written, titles, CODED_RELEASE_LABEL if codebook.coded else RELEASE_LABEL)
    _remove_time(path, kind)


def _texts(array: Any) -> ColumnTexts:
    texts = np.array(np.ma.getdata(array), dtype=object)
    texts[np.ma.getmaskarray(array)] = None
    return list(texts)


def _title(label: str, name: str, title: str | None, program: str) -> str | None:
    """Return a column's label: its original name if that was adapted, else the source's label.

    A source's label that would be read as an original name is dropped.
    """
    if label != name:
        return name
    found = truncate_title(title or "", program)
    return found if original_name(label, found, program) is None and found else None


def _write(
    path: Path, kind: str, columns: Mapping[str, EncodedColumn], titles: Mapping[str, str | None], label: str
) -> None:
    try:
        import pandas
        import pyreadstat
    except ModuleNotFoundError as error:
        raise InputError(
            f"a file of {STATISTICS_PROGRAMS[kind]} is to be written, and {error.name} is not installed",
            advice="pip install 'discreet[stats]', or write CSV or Parquet.",
        ) from None
    # In Stata a missing text is an empty text, and the library cannot write NULL in a column of long texts.
    empty = {name for name, values in columns.items() if kind == "dta" and values.texts}
    frame = pandas.DataFrame(
        {
            name: pandas.Series(
                ["" if cell is None else cell for cell in values.cells] if name in empty else values.cells,
                dtype="float64" if values.numeric else "object",
            )
            for name, values in columns.items()
        }
    )
    writer, options = _WRITERS[kind]
    found: dict[str, Any] = dict(options)
    if kind != "xpt":
        sorted_labels = {name: dict(sorted(values.labels.items())) for name, values in columns.items()}
        found["variable_value_labels"] = {name: labels for name, labels in sorted_labels.items() if labels}
    if STATISTICS_PROGRAMS[kind] == "SPSS":
        found["variable_format"] = {name: h.form for name, h in columns.items() if h.form}
        found["variable_measure"] = {n: "scale" if h.on_scale else "nominal" for n, h in columns.items()}
    try:
        getattr(pyreadstat, writer)(frame, path, file_label=label, column_labels=dict(titles), **found)
    except OSError as error:
        raise failures.from_os_error(error, path) from None
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError) as error:
        fact = f"the file of {STATISTICS_PROGRAMS[kind]} cannot be written ({error})"
        raise InputError(fact, advice="Write Parquet.") from None


def _remove_time(path: Path, kind: str) -> None:
    """Overwrite the creation time of a file with the beginning of 1970; equal releases give equal files."""
    with path.open("r+b") as file:
        start = file.read(_HEADER)
        for at, form, instead in _times(start, kind):
            if re.fullmatch(form, start[at : at + len(instead)]) is None:
                raise InternalError(
                    f"the time of a file of {STATISTICS_PROGRAMS[kind]} is not where it was expected"
                )
            file.seek(at)
            file.write(instead)


def _times(start: bytes, kind: str) -> Sequence[tuple[int, bytes, bytes]]:
    """Return the offset of each time stamp, its format, and its replacement."""
    if kind == "dta":
        mark = b"<timestamp>\x11"
        return ((start.find(mark) + len(mark), *_STATA_TIME),)
    return _SAS_TIME if kind == "xpt" else _SPSS_TIME
