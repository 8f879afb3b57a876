"""Files of SPSS (.sav, .zsav), Stata (.dta) and SAS (.sas7bdat, .xpt), as delimited text.

A value that has a label in the file is read as the label, or stays the code where the source says ``coded``;
a column of which two values would become one text stays coded, and is said. Missing values, those of the
user's own included, are NULL. Whole numbers are written as such, dates as in spreadsheets. The file is read
into memory. A release that discreet wrote says so in its label: there columns have their own names again, and
an empty text is NULL. https://github.com/Roche/pyreadstat
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.engines.files.delimited_text import DelimitedText, read_header
from discreet.engines.files.parquet_file import ParquetFile
from discreet.engines.files.spreadsheet import cell_text, write_cells
from discreet.engines.files.statistics_kinds import KINDS, Codebook
from discreet.engines.files.statistics_names import CODES, RELEASE, own_name
from discreet.errors import InputError
from discreet.model.table_spec import SourceSpec
from discreet.sql.names import literal
from discreet.sql.source import column_name, is_never_text

_READERS = {"zsav": "read_sav", "xpt": "read_xport"}
_EMPTY_IS_MISSING = ("SAS",)


@dataclass(frozen=True)
class _Column:
    """A variable: its values, their labels by the text of the code, and what the variable is called.

    ``empty`` is what the empty text is: NULL where a program has no other.
    """

    name: str
    values: Sequence[Any]
    labels: Mapping[str, str]
    title: str | None
    empty: str | None = ""

    def texts(self) -> list[str | None]:
        """The codes as texts."""
        return [self.empty if value == "" else _text(value) for value in self.values]

    def labelled(self, texts: Sequence[str | None]) -> list[str | None] | None:
        """The texts with labels in the place of codes; None where two values would become one."""
        shown = {text: self.labels.get(text, text) for text in texts if text is not None}
        if len(set(shown.values())) < len(shown):
            return None
        return [None if text is None else shown[text] for text in texts]


def as_rows(
    source: SourceSpec, kind: str, copy: Path, fetch: Callable[[str], Any]
) -> DelimitedText | ParquetFile:
    """The rows of a source's file as a copy beside ``copy``: texts, or of the types that the source says.

    ``InputError`` for a file that cannot be read, and where the library is missing.
    """
    assert source.path is not None
    text = copy.with_suffix(".csv")
    rows = []
    columns, coded = _columns(source.path, kind, source.label, coded=source.coded)
    for column in columns:
        texts = column.texts()
        rows.append([column.name, *((None if coded else column.labelled(texts)) or texts)])
    with text.open("w", encoding="utf-8", newline="") as file:
        write_cells(file, (list(row) for row in zip(*rows, strict=True)))
    read = read_header(text, source.label, ",", '"')
    if not any(map(is_never_text, source.types.values())):
        return read
    typed = copy.with_suffix(".parquet")
    cells = ", ".join(
        f"CAST({column_name(i)} AS {source.types[name]}) AS {column_name(i)}"
        if is_never_text(source.types.get(name, "VARCHAR"))
        else column_name(i)
        for i, name in enumerate(read.columns)
    )
    fetch(
        f"COPY (SELECT {cells} FROM {read.relation(serial=True)}) TO {literal(str(typed))} (FORMAT parquet)"
    )
    text.unlink()
    return ParquetFile((typed,), source.label, read.columns)


def codebook_of(path: Path, kind: str, label: str, *, coded: bool) -> Codebook:
    """What a file says of its columns; no row is read. ``InputError`` where it cannot be read."""
    columns, coded = _columns(path, kind, label, coded=coded, rows=False)
    return Codebook(
        {column.name: column.title for column in columns if column.title},
        {column.name: column.labels for column in columns if column.labels},
        coded,
    )


def told_of_labels(path: Path, kind: str, label: str, *, coded: bool) -> tuple[str, ...]:
    """Sentences on what was read by labels, what stayed coded, and what the file calls its columns."""
    columns, coded = _columns(path, kind, label, coded=coded)
    return tuple(_sentences(columns, coded=coded))


def _sentences(columns: Sequence[_Column], *, coded: bool) -> Iterator[str]:
    alike = [c.name for c in columns if c.labels and c.labelled(c.texts()) is None]
    named = [c.name for c in columns if c.labels and c.name not in alike]
    if named and coded:
        yield f"Codes stay in the place of their labels in {', '.join(named)} (coded = true)."
    elif named:
        yield f"Labels stand for codes in {', '.join(named)}; coded = true in [source] keeps the codes."
    if alike:
        yield f"Codes stay in {', '.join(alike)}, where two values would have one label."
    titles = [f"{c.name}: {c.title}" for c in columns if c.title and c.title != c.name]
    if titles:
        yield f"The file calls its columns so: {'; '.join(titles)}."


def _columns(
    path: Path, kind: str, label: str, *, coded: bool, rows: bool = True
) -> tuple[list[_Column], bool]:
    """The columns, and whether their codes are what is read: because that is asked, or the file says it."""
    found, about = _read(path, kind, label, rows=rows)
    released = about.file_label in (RELEASE, CODES)
    empty = None if released or KINDS[kind] in _EMPTY_IS_MISSING else ""
    columns = []
    for name in about.column_names:
        title = about.column_names_to_labels.get(name)
        own = own_name(name, title, KINDS[kind]) if released else None
        labels = {
            str(_text(code)): str(text) for code, text in about.variable_value_labels.get(name, {}).items()
        }
        columns.append(
            _Column(own or name, found.get(name, ()), labels, title if own is None else None, empty)
        )
    return columns, coded or about.file_label == CODES


def _read(path: Path, kind: str, label: str, *, rows: bool) -> tuple[Mapping[str, Sequence[Any]], Any]:
    try:
        import pyreadstat
    except ModuleNotFoundError as error:
        raise InputError(
            f"{label} is a file of {KINDS[kind]}, and {error.name} is not installed",
            advice="pip install 'discreet[stats]', or save the table as CSV.",
        ) from None
    read = getattr(pyreadstat, _READERS.get(kind, f"read_{kind}"))
    try:
        found, about = read(path, output_format="dict", metadataonly=not rows)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError, OSError) as error:
        raise InputError(
            f"{label} is no file of {KINDS[kind]} that can be read ({error})",
            advice="Save it again in the program that wrote it, or as CSV.",
        ) from None
    if not about.column_names:
        raise InputError(f"{label} has no columns", allowed="at least one column")
    return found, about


def _text(value: object) -> str | None:
    """The text of a value; what is not equal to itself is missing."""
    return None if value is None or value != value else cell_text(value)
