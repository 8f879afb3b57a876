"""Spreadsheets (.xlsx): one sheet converted to delimited text, with the first row as column names.

The text of a cell is its value, not its display; a formula is read as its saved result. Loaded on demand
(openpyxl).
"""

from __future__ import annotations

import datetime
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.model.registry import suggest_name

_FORMULA = (b"<f>", b"<f ", b"<f/")


def as_delimited_text(path: Path, sheet: str | None, copy: Path, label: str) -> Path:
    """Write a sheet as CSV in UTF-8 to ``copy``; NULL is an unquoted empty cell.

    Without a name the only non-empty sheet is used. Raises ``InputError`` for several non-empty sheets, an
    unknown name, a file that is no spreadsheet, and if the library is missing.
    """
    with _opened(path, label) as book:
        chosen = _sheet(book, sheet, label)
        formulas = _formulas(path, chosen.title) if _has_formulas(path) else None
        with copy.open("w", encoding="utf-8", newline="") as file:
            write_quoted_csv(file, _rows(chosen, formulas, label))
    return copy


def sheets_of(path: Path, label: str) -> tuple[str, ...]:
    """Return the names of the non-empty sheets in the file's order; errors as ``as_delimited_text``."""
    with _opened(path, label) as book:
        return tuple(sheet.title for sheet in _filled(book))


@contextmanager
def _opened(path: Path, label: str) -> Iterator[Any]:
    """Open the workbook for reading sheet by sheet, with the results of formulas."""
    try:
        import openpyxl
    except ImportError:
        raise InputError(
            f"{label} is a spreadsheet, and openpyxl is not installed",
            advice="pip install 'discreet[excel]', or save the sheet as CSV.",
        ) from None
    try:
        # openpyxl rejects paths by their extension; the format is already known here, so it gets the bytes.
        book = openpyxl.load_workbook(BytesIO(path.read_bytes()), read_only=True, data_only=True)
    except (zipfile.BadZipFile, KeyError, ValueError, OSError) as error:
        raise InputError(
            f"{label} is not a readable spreadsheet ({type(error).__name__})",
            advice="Open it in the program that wrote it, and save it as .xlsx or CSV.",
        ) from None
    try:
        yield book
    finally:
        book.close()


def _sheet(book: Any, name: str | None, label: str) -> Any:
    if name is not None:
        sheets = {sheet.title: sheet for sheet in book.worksheets}
        if name not in sheets:
            raise InputError(
                f"{label} has no sheet '{name}'", allowed=", ".join(sheets), advice=suggest_name(name, sheets)
            )
        return sheets[name]
    filled = _filled(book)
    if not filled:
        raise InputError(
            f"{label} has no sheet with cells", allowed="the names of the columns in a sheet's first row"
        )
    if len(filled) > 1:
        raise InputError(
            f"{label} has several sheets",
            allowed=", ".join(sheet.title for sheet in filled),
            advice="Name one by --table SHEET, or by table in the spec's [source].",
        )
    return filled[0]


def _filled(book: Any) -> list[Any]:
    """Return the sheets that have a non-empty cell."""
    return [
        sheet
        for sheet in book.worksheets
        if any(cell is not None for row in sheet.iter_rows(values_only=True) for cell in row)
    ]


def _has_formulas(path: Path) -> bool:
    with zipfile.ZipFile(path) as parts:
        names = [name for name in parts.namelist() if name.startswith("xl/worksheets/")]
        return any(mark in parts.read(name) for name in names for mark in _FORMULA)


def _formulas(path: Path, sheet: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a sheet with formulas instead of their results."""
    import openpyxl

    book = openpyxl.load_workbook(BytesIO(path.read_bytes()), read_only=True, data_only=False)
    try:
        yield from book[sheet].iter_rows(values_only=True)
    finally:
        book.close()


def _rows(sheet: Any, formulas: Iterator[tuple[Any, ...]] | None, label: str) -> Iterator[list[str | None]]:
    """Yield the rows as texts, as wide as the header; blank rows are omitted, as in delimited text."""
    width = 0
    for number, cells in enumerate(sheet.iter_rows(values_only=True), start=1):
        written = cells if formulas is None else next(formulas, ())
        for index, (cell, formula) in enumerate(zip(cells, written, strict=False)):
            if cell is None and formula is not None:
                raise InputError(
                    f"{label}, row {number}, cell {index + 1}: a formula that was never computed",
                    advice="Open the file in a spreadsheet program, and save it again.",
                )
        texts = [sheet_cell_text(cell) for cell in cells]
        while texts and texts[-1] is None:
            texts.pop()
        if not width:
            width = _width_of(texts, label)
        elif len(texts) > width:
            raise InputError(
                f"{label}, row {number}: {len(texts)} cells, but the header has {width}",
                allowed="the names of all columns in the first row",
            )
        if texts:
            yield texts + [None] * (width - len(texts))


def _width_of(header: Sequence[str | None], label: str) -> int:
    for index, name in enumerate(header):
        if name is None:
            raise InputError(
                f"{label}, row 1, cell {index + 1}: a column without a name",
                allowed="the names of all columns in the first row",
                advice="Delete the rows above the table, or give the column a name.",
            )
    if not header:
        raise InputError(f"{label}, row 1 is blank", allowed="the column names in the first row")
    return len(header)


def sheet_cell_text(cell: object) -> str | None:
    """Return the text of a cell; openpyxl returns integers as int, other numbers as float."""
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 2**53 else repr(cell)
    if isinstance(cell, datetime.datetime):
        return cell.date().isoformat() if cell.time() == datetime.time() else cell.isoformat()
    return str(cell)


def write_quoted_csv(file: Any, rows: Iterator[list[str | None]]) -> None:
    """Write CSV in which every text is quoted and NULL is an empty unquoted cell."""
    for row in rows:
        cells = ("" if cell is None else '"' + cell.replace('"', '""') + '"' for cell in row)
        file.write(",".join(cells) + "\n")
