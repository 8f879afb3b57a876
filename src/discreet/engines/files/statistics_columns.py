"""How the column of a release is held in a file of SPSS, Stata or SAS: as numbers, days, codes or texts.

A column becomes numbers, days or moments only where each of its cells is then read as what it was
(``statistics_file``), so that nothing changes by being written; else it is held as texts.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from math import copysign, isfinite
from typing import Any

from discreet.engines.files.spreadsheet import cell_text
from discreet.errors import InputError

Texts = Sequence[str | None]
Read = Callable[[str], Any]

_EXACT = 2**53
_MOST_DECIMALS = 16
_EARLIEST = datetime.date(1583, 1, 1)
"""SPSS counts seconds from the beginning of the Gregorian calendar on."""


@dataclass(frozen=True)
class Limits:
    """What a program's file can hold: bytes of a text and of a value's label, numbers, and columns.

    ``padded`` says that blanks at a text's end are lost, ``text_codes`` that texts may have labels,
    ``fractions`` that other numbers than whole ones may.
    """

    text: int
    label: int
    largest: float
    smallest: float = 0.0
    padded: bool = False
    text_codes: bool = False
    fractions: bool = False
    columns: int = 2**31 - 1


LIMITS: Mapping[str, Limits] = {
    "SPSS": Limits(32_767, 120, 1e300, padded=True, text_codes=True, fractions=True),
    "Stata": Limits(1_000_000_000, 32_000, 8e307, columns=32_767),
    "SAS": Limits(32_767, 0, 7e75, 1e-77, padded=True),
}
_SHORTEST_CODE = 8
_LARGEST_CODE = 2_147_483_620


@dataclass(frozen=True)
class Held:
    """A column's cells as a file holds them, the labels of some, and how SPSS shows numbers."""

    cells: Sequence[Any]
    numeric: bool = False
    labels: Mapping[Any, str] = field(default_factory=dict)
    form: str | None = None

    @property
    def texts(self) -> bool:
        """Whether every cell is a text or missing, and one at least is a text."""
        found = {type(cell) for cell in self.cells} - {type(None)}
        return found == {str}

    @property
    def on_scale(self) -> bool:
        """Whether values are numbers, days or moments, and no codes."""
        return not self.labels and not all(cell is None or isinstance(cell, str) for cell in self.cells)


def held_column(name: str, kind: str, texts: Texts, labels: Mapping[str, str], limits: Limits) -> Held:
    """A column of a release that is to be read by labels; its cells were of the house type ``kind``.

    ``labels`` are those of codes in the source. ``InputError`` for a text that a file cannot hold.
    """
    distinct = {text for text in texts if text is not None}
    return _by_labels(texts, distinct, labels, limits) or _as_it_stands(name, kind, texts, distinct, limits)


def coded_column(name: str, kind: str, texts: Texts, labels: Mapping[str, str], limits: Limits) -> Held:
    """As ``held_column``, of a release that is read by its codes, which labels explain."""
    distinct = {text for text in texts if text is not None}
    held = _as_it_stands(name, kind, texts, distinct, limits)
    found = {_code(text, numeric=held.numeric): labels[text] for text in distinct & labels.keys()}
    if not all(_takes_label(code, limits) for code in found):
        return held
    cut = {code: label.encode()[: limits.label].decode(errors="ignore") for code, label in found.items()}
    return Held(held.cells, held.numeric, {code: label for code, label in cut.items() if label}, held.form)


def _by_labels(
    texts: Texts, distinct: Collection[str], labels: Mapping[str, str], limits: Limits
) -> Held | None:
    """The codes of values that are labels, and these; None where a cell is none, or could be read as two."""
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
    return Held(cells, numeric, found, _form(every) if numeric else None)


def _as_it_stands(name: str, kind: str, texts: Texts, distinct: Collection[str], limits: Limits) -> Held:
    base = kind.partition("(")[0]
    for read in _readers(base, limits) if distinct else ():
        values = _all_read(read, distinct)
        if values is not None:
            numeric = isinstance(next(iter(values.values())), float)
            cells = [None if text is None else values[text] for text in texts]
            return Held(cells, numeric, form=_form(distinct) if numeric else None)
    for text in distinct:
        _check_text(name, text, limits)
    return Held(texts)


def _readers(base: str, limits: Limits) -> tuple[Read, ...]:
    """What a column of a type may be held as, in turn; each raises ``ValueError`` for another text."""

    def number(text: str) -> float:
        value = float(text)
        read = cell_text(value)
        same = Decimal(str(read)) == Decimal(text) if base in _BY_VALUE else read == text
        negative_zero = value == 0 and copysign(1, value) < 0
        if not isfinite(value) or not _is_within(value, limits) or not same or negative_zero:
            raise ValueError(text)
        return value

    def day(text: str) -> datetime.date:
        found = datetime.date.fromisoformat(text)
        if found.isoformat() != text or found < _EARLIEST:
            raise ValueError(text)
        return found

    def moment(text: str) -> datetime.datetime:
        found = datetime.datetime.fromisoformat(text)
        same = base.startswith("TIMESTAMP") or cell_text(found) == text
        if not same or found.microsecond or found.tzinfo or found.date() < _EARLIEST:
            raise ValueError(text)
        return found

    if base in ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"):
        return (moment,)
    return (day,) if base == "DATE" else (number, day, moment)


_BY_VALUE = ("DOUBLE", "FLOAT", "DECIMAL")


def _all_read(read: Read, distinct: Collection[str]) -> dict[str, Any] | None:
    try:
        return {text: read(text) for text in distinct}
    except (ValueError, ArithmeticError):
        return None


def _is_number(text: str) -> bool:
    return _all_read(lambda cell: float(cell), [text]) is not None and cell_text(float(text)) == text


def _is_within(value: float, limits: Limits) -> bool:
    return value == 0 or limits.smallest < abs(value) < limits.largest


def _code(text: str, *, numeric: bool) -> float | str:
    return float(text) if numeric else text


def _takes_label(code: float | str, limits: Limits) -> bool:
    """Whether a value of a file may have a label."""
    if limits.label == 0:
        return False
    if isinstance(code, str):
        return limits.text_codes and 0 < len(code.encode()) <= _SHORTEST_CODE and code == code.strip()
    return limits.fractions or (code.is_integer() and abs(code) <= _LARGEST_CODE)


def _form(numbers: Collection[str]) -> str:
    """How SPSS shows numbers: as wide as they are, with as many decimals as they have."""
    parts = [f"{Decimal(text):f}".partition(".") for text in numbers]
    decimals = min(_MOST_DECIMALS, max(len(behind) for _, _, behind in parts))
    width = max(len(before) for before, _, _ in parts) + (decimals + 1 if decimals else 0)
    return f"F{min(40, max(width, decimals + 2))}.{decimals}"


def _check_text(name: str, text: str, limits: Limits) -> None:
    if not text:
        raise InputError(
            f"the column {name} has an empty text, which is a missing value in such a file",
            advice='Have it read as NULL by null_values = [""] in [source], or write Parquet.',
        )
    if "\0" in text or len(text.encode()) > limits.text:
        what = "a NUL character" if "\0" in text else f"a text of more than {limits.text:,} bytes"
        raise InputError(f"the column {name} has {what}", advice="Write Parquet.")
    if limits.padded and text.endswith(" "):
        raise InputError(
            f"the column {name} has a text that ends with a blank, which such a file does not keep",
            advice="Have blanks taken off by strip = true in [source], or write Parquet.",
        )
