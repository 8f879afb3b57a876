"""A release as a file of SPSS (.sav, .zsav), Stata (.dta, version 118) or SAS (.xpt, version 8).

Labels are those of the source: of columns, and of those values that are in the release and stand there as
they were. A list of all values would tell who was suppressed. Nothing in the file tells when it was
written. The table is held in memory. https://github.com/Roche/pyreadstat
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discreet.engines import failures
from discreet.engines.files.statistics_columns import LIMITS, Held, Texts, coded_column, held_column
from discreet.engines.files.statistics_kinds import KINDS, Codebook
from discreet.engines.files.statistics_names import CODES, RELEASE, fitting, held_names, own_name
from discreet.engines.files.written_file import check_told_apart
from discreet.errors import InputError, InternalError
from discreet.sql.source import column_name

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


def texts_of(query: str, columns: int) -> str:
    """The query of each cell's text."""
    names = [column_name(i) for i in range(columns)]
    cells = ", ".join(f"CAST({name} AS VARCHAR) AS {name}" for name in names)
    return f"SELECT {cells} FROM ({query}) AS t({', '.join(names)})"


def write_release(
    path: Path,
    kind: str,
    columns: Sequence[tuple[str, str]],
    arrays: Mapping[str, Any],
    codebook: Codebook,
) -> None:
    """Write texts into the empty file that is there.

    ``columns`` are names and the house types that their cells had, ``arrays`` the texts of each by its place.
    ``InputError`` for names that such a file cannot tell apart, for a text that it cannot hold, and where a
    library is missing.
    """
    program = KINDS[kind]
    if len(columns) > LIMITS[program].columns:
        raise InputError(
            f"the release has {len(columns):,} columns",
            allowed=f"at most {LIMITS[program].columns:,} in a file of {program}",
            advice="Write Parquet, or leave columns out: give them the role identifier.",
        )
    check_told_apart([name for name, _ in columns], program)
    names = held_names([name for name, _ in columns], program)
    hold = coded_column if codebook.coded else held_column
    held, titles = {}, {}
    for place, (own, (name, of_type)) in enumerate(zip(names, columns, strict=True)):
        labels = codebook.labels.get(name, {})
        held[own] = hold(name, of_type, _texts(arrays[column_name(place)]), labels, LIMITS[program])
        titles[own] = _title(own, name, codebook.titles.get(name), program)
    _write(path, kind, held, titles, CODES if codebook.coded else RELEASE)
    _remove_time(path, kind)


def _texts(array: Any) -> Texts:
    texts = np.array(np.ma.getdata(array), dtype=object)
    texts[np.ma.getmaskarray(array)] = None
    return list(texts)


def _title(held: str, name: str, title: str | None, program: str) -> str | None:
    """A column's label: its own name where it is called otherwise, else the source's, which is no name."""
    if held != name:
        return name
    found = fitting(title or "", program)
    return found if own_name(held, found, program) is None and found else None


def _write(
    path: Path, kind: str, columns: Mapping[str, Held], titles: Mapping[str, str | None], label: str
) -> None:
    try:
        import pandas
        import pyreadstat
    except ModuleNotFoundError as error:
        raise InputError(
            f"a file of {KINDS[kind]} is to be written, and {error.name} is not installed",
            advice="pip install 'discreet[stats]', or write CSV or Parquet.",
        ) from None
    # In Stata a missing text is an empty one, and the library writes no other beside a long text.
    empty = {name for name, held in columns.items() if kind == "dta" and held.texts}
    frame = pandas.DataFrame(
        {
            name: pandas.Series(
                ["" if cell is None else cell for cell in held.cells] if name in empty else held.cells,
                dtype="float64" if held.numeric else "object",
            )
            for name, held in columns.items()
        }
    )
    writer, options = _WRITERS[kind]
    found: dict[str, Any] = dict(options)
    if kind != "xpt":
        sorted_labels = {name: dict(sorted(held.labels.items())) for name, held in columns.items()}
        found["variable_value_labels"] = {name: labels for name, labels in sorted_labels.items() if labels}
    if KINDS[kind] == "SPSS":
        found["variable_format"] = {name: h.form for name, h in columns.items() if h.form}
        found["variable_measure"] = {n: "scale" if h.on_scale else "nominal" for n, h in columns.items()}
    try:
        getattr(pyreadstat, writer)(frame, path, file_label=label, column_labels=dict(titles), **found)
    except OSError as error:
        raise failures.from_os(error, path) from None
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError) as error:
        fact = f"the file of {KINDS[kind]} cannot be written ({error})"
        raise InputError(fact, advice="Write Parquet.") from None


def _remove_time(path: Path, kind: str) -> None:
    """Put the beginning of 1970 where the file tells when it was written, so that two files agree."""
    with path.open("r+b") as file:
        start = file.read(_HEADER)
        for at, form, instead in _times(start, kind):
            if re.fullmatch(form, start[at : at + len(instead)]) is None:
                raise InternalError(f"the time of a file of {KINDS[kind]} is not where it was expected")
            file.seek(at)
            file.write(instead)


def _times(start: bytes, kind: str) -> Sequence[tuple[int, bytes, bytes]]:
    """Where the time stands, the form that it has there, and what is to be there."""
    if kind == "dta":
        mark = b"<timestamp>\x11"
        return ((start.find(mark) + len(mark), *_STATA_TIME),)
    return _SAS_TIME if kind == "xpt" else _SPSS_TIME
