"""Files of SPSS (.sav, .zsav), Stata (.dta) and SAS (.sas7bdat, .xpt), as delimited text.

A value that has a label in the file is read as the label, or stays the code where the source says ``coded``;
a column of which two values would become one text stays coded, and is said. Missing values, those of the
user's own included, are NULL. Whole numbers are written as such, dates as in spreadsheets. The file is read
into memory. https://github.com/Roche/pyreadstat
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.engines.files.spreadsheet import cell_text, write_cells
from discreet.errors import InputError

KINDS = {"sav": "SPSS", "zsav": "SPSS", "dta": "Stata", "sas7bdat": "SAS", "xpt": "SAS"}
"""The endings, which are the formats' names, and the programs whose files they are."""

_READERS = {"zsav": "read_sav", "xpt": "read_xport"}
_EMPTY_IS_MISSING = ("SAS",)


@dataclass(frozen=True)
class _Column:
    """A variable: its values, their labels by the text of the code, and what the variable is called."""

    name: str
    values: Sequence[Any]
    labels: Mapping[str, str]
    title: str | None

    def texts(self, kind: str) -> list[str | None]:
        """The codes as texts; the empty text is NULL where a program has no other."""
        empty = None if KINDS[kind] in _EMPTY_IS_MISSING else ""
        return [empty if value == "" else _text(value) for value in self.values]

    def labelled(self, texts: Sequence[str | None]) -> list[str | None] | None:
        """The texts with labels in the place of codes; None where two values would become one."""
        shown = {text: self.labels.get(text, text) for text in texts if text is not None}
        if len(set(shown.values())) < len(shown):
            return None
        return [None if text is None else shown[text] for text in texts]


def as_text_file(path: Path, kind: str, copy: Path, label: str, *, coded: bool) -> Path:
    """The rows as CSV in UTF-8, at ``copy``; NULL is an unquoted empty cell.

    ``InputError`` for a file that cannot be read, and where the library is missing.
    """
    columns = []
    for column in _columns(path, kind, label):
        texts = column.texts(kind)
        columns.append([column.name, *((None if coded else column.labelled(texts)) or texts)])
    with copy.open("w", encoding="utf-8", newline="") as file:
        write_cells(file, (list(row) for row in zip(*columns, strict=True)))
    return copy


def told_of_labels(path: Path, kind: str, label: str, *, coded: bool) -> tuple[str, ...]:
    """Sentences on what was read by labels, what stayed coded, and what the file calls its columns."""
    return tuple(_sentences(_columns(path, kind, label), kind, coded=coded))


def _sentences(columns: Sequence[_Column], kind: str, *, coded: bool) -> Iterator[str]:
    alike = [c.name for c in columns if c.labels and c.labelled(c.texts(kind)) is None]
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


def _columns(path: Path, kind: str, label: str) -> list[_Column]:
    try:
        import pyreadstat
    except ModuleNotFoundError as error:
        raise InputError(
            f"{label} is a file of {KINDS[kind]}, and {error.name} is not installed",
            advice="pip install 'discreet[stats]', or save the table as CSV.",
        ) from None
    try:
        found, about = getattr(pyreadstat, _READERS.get(kind, f"read_{kind}"))(path, output_format="dict")
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError, OSError) as error:
        raise InputError(
            f"{label} is no file of {KINDS[kind]} that can be read ({error})",
            advice="Save it again in the program that wrote it, or as CSV.",
        ) from None
    if not found:
        raise InputError(f"{label} has no columns", allowed="at least one column")
    return [
        _Column(
            name,
            values,
            {str(_text(code)): str(text) for code, text in about.variable_value_labels.get(name, {}).items()},
            about.column_names_to_labels.get(name),
        )
        for name, values in found.items()
    ]


def _text(value: object) -> str | None:
    """The text of a value; what is not equal to itself is missing."""
    return None if value is None or value != value else cell_text(value)
