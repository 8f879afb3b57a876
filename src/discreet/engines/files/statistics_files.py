"""Reading files of SPSS, Stata and SAS: values or their labels, and the names that such files can contain.

A labelled value is read as its label unless the source says ``coded``; missing values are NULL. The file is
read into memory. Loaded on demand (pyreadstat). https://github.com/Roche/pyreadstat
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.engines.files.delimited_text import DelimitedText, read_delimited_header
from discreet.engines.files.output_files import STATISTICS_PROGRAMS, Codebook
from discreet.engines.files.parquet_files import ParquetFile
from discreet.engines.files.spreadsheet import sheet_cell_text, write_quoted_csv
from discreet.errors import InputError
from discreet.model.table_spec import SourceSpec
from discreet.sql.cell_expressions import column_name, is_never_text
from discreet.sql.quoting import literal

RELEASE_LABEL = "Release by discreet"
"""File label of releases whose value labels are the values."""

CODED_RELEASE_LABEL = "Release by discreet, codes"
"""File label of releases whose codes are the values, with labels as explanations."""

LONGEST_TITLE = {"SPSS": 256, "Stata": 80, "SAS": 256}
"""Maximum length of a column's label in bytes (in Stata characters)."""

_LONGEST_NAME = {"SPSS": 64, "Stata": 32, "SAS": 32}
_SPSS = "ALL AND BY EQ GE GT LE LT NE NOT OR TO WITH"
_STATA = (
    "_all _b _coef _cons _n _N _pi _pred _rc _skip alias byte double float if in int long strL using with"
)
_RESERVED = {"SPSS": frozenset(_SPSS.split()), "Stata": frozenset(_STATA.split()), "SAS": frozenset[str]()}


def program_name(name: str, program: str) -> str:
    """Return the name of a column in a program's file: unchanged if valid, else adapted.

    >>> program_name("age", "SPSS"), program_name("education-num", "Stata"), program_name("1st", "SAS")
    ('age', 'education_num', 'v_1st')
    """
    cleaned = re.sub(r"[^A-Za-z0-9_]", "_", name)
    if not re.match(r"[A-Za-z]" if program == "SPSS" else r"[A-Za-z_]", cleaned):
        cleaned = f"v_{cleaned}"
    if _is_reserved(cleaned, program):
        cleaned = f"v_{cleaned}"
    return cleaned[: _LONGEST_NAME[program]]


def program_names(columns: Sequence[str], program: str) -> tuple[str, ...]:
    """Return the names of columns in a program's file.

    Raises ``InputError`` for two columns with the same resulting name, and for a name that changes but does
    not fit into a column's label.
    """
    owners: dict[str, str] = {}
    for name in columns:
        candidate = program_name(name, program)
        other = owners.setdefault(candidate.casefold(), name)
        if other != name:
            raise InputError(
                f"the columns '{other}' and '{name}' would both be called {candidate} in a file of {program}",
                advice="Rename one of them, or write Parquet or CSV.",
            )
        if candidate != name and (
            truncate_title(name, program) != name or not name or not name.isprintable()
        ):
            raise InputError(
                f"the column's name '{name[:80]}' cannot be held in a file of {program}",
                allowed=f"1 to {LONGEST_TITLE[program]} characters that print, without a blank at the end",
                advice="Rename it, or write Parquet or CSV.",
            )
    return tuple(program_name(name, program) for name in columns)


def original_name(label: str, title: str | None, program: str) -> str | None:
    """Return the column's original name if a released column's label contains it, else None.

    ``label`` is the column's name in the file, ``title`` its label.
    """
    if not title or title == label or program_name(title, program) != label:
        return None
    return title


def truncate_title(title: str, program: str) -> str:
    """Truncate a label to the maximum length, without trailing blanks."""
    longest = LONGEST_TITLE[program]
    if program == "Stata":
        return title[:longest].rstrip()
    return title.encode()[:longest].decode(errors="ignore").rstrip()


def _is_reserved(name: str, program: str) -> bool:
    if program == "SPSS":
        return name.upper() in _RESERVED[program]
    return name in _RESERVED[program] or (program == "Stata" and re.fullmatch(r"str\d+", name) is not None)


_READERS = {"zsav": "read_sav", "xpt": "read_xport"}
_EMPTY_IS_MISSING = ("SAS",)


@dataclass(frozen=True)
class _Column:
    """Variable of a file: its values, the value labels by the text of the code, and the variable's label.

    ``empty`` is the cell of an empty text: NULL for programs that have no other missing text.
    """

    name: str
    values: Sequence[Any]
    labels: Mapping[str, str]
    title: str | None
    empty: str | None = ""

    def texts(self) -> list[str | None]:
        """Return the codes as texts."""
        return [self.empty if value == "" else _text(value) for value in self.values]

    def labelled(self, texts: Sequence[str | None]) -> list[str | None] | None:
        """Replace codes by labels; return None if two values would become equal."""
        text_of = {text: self.labels.get(text, text) for text in texts if text is not None}
        if len(set(text_of.values())) < len(text_of):
            return None
        return [None if text is None else text_of[text] for text in texts]


def read_statistics_rows(
    source: SourceSpec, kind: str, copy: Path, fetch: Callable[[str], Any]
) -> DelimitedText | ParquetFile:
    """Copy the rows of a source's file next to ``copy``: as texts, or with the types that the source says.

    Raises ``InputError`` for an unreadable file, and if the library is missing.
    """
    assert source.path is not None
    text = copy.with_suffix(".csv")
    rows = []
    columns, coded = _columns(source.path, kind, source.label, coded=source.keep_codes)
    for column in columns:
        texts = column.texts()
        rows.append([column.name, *((None if coded else column.labelled(texts)) or texts)])
    with text.open("w", encoding="utf-8", newline="") as file:
        write_quoted_csv(file, (list(row) for row in zip(*rows, strict=True)))
    read = read_delimited_header(text, source.label, ",", '"')
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


def read_statistics_codebook(path: Path, kind: str, label: str, *, coded: bool) -> Codebook:
    """Read the labels of a file's columns and values without reading rows; ``InputError`` if unreadable."""
    columns, coded = _columns(path, kind, label, coded=coded, rows=False)
    return Codebook(
        {column.name: column.title for column in columns if column.title},
        {column.name: column.labels for column in columns if column.labels},
        coded,
    )


def describe_labels(path: Path, kind: str, label: str, *, coded: bool) -> tuple[str, ...]:
    """Describe in sentences which columns are read by labels, which stay coded, and the columns' labels."""
    columns, coded = _columns(path, kind, label, coded=coded)
    return tuple(_sentences(columns, coded=coded))


def _sentences(columns: Sequence[_Column], *, coded: bool) -> Iterator[str]:
    alike = [c.name for c in columns if c.labels and c.labelled(c.texts()) is None]
    named = [c.name for c in columns if c.labels and c.name not in alike]
    if named and coded:
        yield f"Codes are kept in {', '.join(named)} (keep_codes = true)."
    elif named:
        yield f"Labels replace codes in {', '.join(named)}; keep_codes = true in [source] keeps the codes."
    if alike:
        yield f"Codes are kept in {', '.join(alike)}, where two values would have one label."
    titles = [f"{c.name}: {c.title}" for c in columns if c.title and c.title != c.name]
    if titles:
        yield f"Column labels of the file: {'; '.join(titles)}."


def _columns(
    path: Path, kind: str, label: str, *, coded: bool, rows: bool = True
) -> tuple[list[_Column], bool]:
    """Return the columns, and whether codes are read: on request, or because the file's label says so."""
    found, about = _read(path, kind, label, rows=rows)
    released = about.file_label in (RELEASE_LABEL, CODED_RELEASE_LABEL)
    empty = None if released or STATISTICS_PROGRAMS[kind] in _EMPTY_IS_MISSING else ""
    columns = []
    for name in about.column_names:
        title = about.column_names_to_labels.get(name)
        own = original_name(name, title, STATISTICS_PROGRAMS[kind]) if released else None
        labels = {
            str(_text(code)): str(text) for code, text in about.variable_value_labels.get(name, {}).items()
        }
        columns.append(
            _Column(own or name, found.get(name, ()), labels, title if own is None else None, empty)
        )
    return columns, coded or about.file_label == CODED_RELEASE_LABEL


def _read(path: Path, kind: str, label: str, *, rows: bool) -> tuple[Mapping[str, Sequence[Any]], Any]:
    try:
        import pyreadstat
    except ModuleNotFoundError as error:
        raise InputError(
            f"{label} is a file of {STATISTICS_PROGRAMS[kind]}, and {error.name} is not installed",
            advice="pip install 'discreet[stats]', or save the table as CSV.",
        ) from None
    read = getattr(pyreadstat, _READERS.get(kind, f"read_{kind}"))
    try:
        found, about = read(path, output_format="dict", metadataonly=not rows)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError, OSError) as error:
        raise InputError(
            f"{label} is not a readable file of {STATISTICS_PROGRAMS[kind]} ({error})",
            advice="Save it again in the program that wrote it, or as CSV.",
        ) from None
    if not about.column_names:
        raise InputError(f"{label} has no columns", allowed="at least one column")
    return found, about


def _text(value: object) -> str | None:
    """Return the text of a value; NaN is missing."""
    return None if value is None or value != value else sheet_cell_text(value)
