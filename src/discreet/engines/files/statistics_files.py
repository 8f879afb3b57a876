"""Reading files of SPSS, Stata and SAS: values or their labels, and the names that such files can hold.

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
"""The label of a file in which a value's label is the value."""

CODED_RELEASE_LABEL = "Release by discreet, codes"
"""The label of a file in which the codes are the values, and labels explain them."""

LONGEST_TITLE = {"SPSS": 256, "Stata": 80, "SAS": 256}
"""The bytes (in Stata characters) that the label of a column may have."""

_LONGEST_NAME = {"SPSS": 64, "Stata": 32, "SAS": 32}
_SPSS = "ALL AND BY EQ GE GT LE LT NE NOT OR TO WITH"
_STATA = (
    "_all _b _coef _cons _n _N _pi _pred _rc _skip alias byte double float if in int long strL using with"
)
_RESERVED = {"SPSS": frozenset(_SPSS.split()), "Stata": frozenset(_STATA.split()), "SAS": frozenset[str]()}


def program_name(name: str, program: str) -> str:
    """The name that a column has in a file of a program: its own, where that is one of those it can have.

    >>> program_name("age", "SPSS"), program_name("education-num", "Stata"), program_name("1st", "SAS")
    ('age', 'education_num', 'v_1st')
    """
    held = re.sub(r"[^A-Za-z0-9_]", "_", name)
    if not re.match(r"[A-Za-z]" if program == "SPSS" else r"[A-Za-z_]", held):
        held = f"v_{held}"
    if _is_reserved(held, program):
        held = f"v_{held}"
    return held[: _LONGEST_NAME[program]]


def program_names(columns: Sequence[str], program: str) -> tuple[str, ...]:
    """The names of columns in a file; ``InputError`` for two that become one, or one that no label holds."""
    owners: dict[str, str] = {}
    for name in columns:
        held = program_name(name, program)
        other = owners.setdefault(held.casefold(), name)
        if other != name:
            raise InputError(
                f"the columns '{other}' and '{name}' would both be called {held} in a file of {program}",
                advice="Rename one of them, or write Parquet or CSV.",
            )
        if held != name and (truncate_title(name, program) != name or not name or not name.isprintable()):
            raise InputError(
                f"the column's name '{name[:80]}' cannot be held in a file of {program}",
                allowed=f"1 to {LONGEST_TITLE[program]} characters that print, without a blank at the end",
                advice="Rename it, or write Parquet or CSV.",
            )
    return tuple(program_name(name, program) for name in columns)


def original_name(held: str, title: str | None, program: str) -> str | None:
    """The column's own name, where the label of a column called ``held`` in a release is that; else None."""
    if not title or title == held or program_name(title, program) != held:
        return None
    return title


def truncate_title(title: str, program: str) -> str:
    """The beginning of a label that fits, without blanks at its end."""
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


def read_statistics_rows(
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
    """What a file says of its columns; no row is read. ``InputError`` where it cannot be read."""
    columns, coded = _columns(path, kind, label, coded=coded, rows=False)
    return Codebook(
        {column.name: column.title for column in columns if column.title},
        {column.name: column.labels for column in columns if column.labels},
        coded,
    )


def describe_labels(path: Path, kind: str, label: str, *, coded: bool) -> tuple[str, ...]:
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
            f"{label} is no file of {STATISTICS_PROGRAMS[kind]} that can be read ({error})",
            advice="Save it again in the program that wrote it, or as CSV.",
        ) from None
    if not about.column_names:
        raise InputError(f"{label} has no columns", allowed="at least one column")
    return found, about


def _text(value: object) -> str | None:
    """The text of a value; what is not equal to itself is missing."""
    return None if value is None or value != value else sheet_cell_text(value)
