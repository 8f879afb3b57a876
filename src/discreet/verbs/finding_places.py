"""Where in a file of text a finding of ``discreet check`` is: its column's name, or a line that is wrong.

A class that fails has rows all over a file, and to point at them would show who is alone: what is pointed at
is the header, and in it the column that was asked about.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from discreet.engines.files.delimited_text import read_header
from discreet.errors import DiscreetError
from discreet.results.file_checks import Check, FileCheck, Region

_TEXT = (".csv", ".tsv")
_LINE = re.compile(r", line ([1-9][0-9]*)\b")
_LONGEST = 1 << 16


def placed(found: FileCheck) -> FileCheck:
    """The findings of one file with the regions of those that failed, where there are any."""
    if found.error is not None:
        line = _LINE.search(found.error.message)
        return found if line is None else replace(found, region=Region(int(line[1])))
    path = Path(found.file)
    if found.passed or path.suffix.lower() not in _TEXT or not path.is_file():
        return found
    columns = _columns(path)
    return replace(found, checks=tuple(_placed(check, columns) for check in found.checks))


def _placed(check: Check, columns: dict[str, Region]) -> Check:
    _, of, name = check.name.partition(" of ")
    region = columns.get(name) if of else next(iter(columns.values()), None) and Region(1)
    return check if check.passed else replace(check, region=region)


def _columns(path: Path) -> dict[str, Region]:
    """The regions of the columns' names in the first line; none where they cannot be told."""
    try:
        header = read_header(path, str(path), "\t" if path.suffix.lower() == ".tsv" else None, '"')
        with path.open(encoding="utf-8-sig", newline="") as file:
            line = file.readline(_LONGEST)
    except (DiscreetError, OSError, UnicodeError):
        return {}
    found, at = {}, 0
    for name in header.columns:
        quoted = '"' + name.replace('"', '""') + '"'
        written = quoted if line.startswith(quoted, at) else name
        if not line.startswith(written, at):
            return {}
        found[name] = Region(1, at + 1, at + 1 + len(written))
        at += len(written) + len(header.delimiter)
    return found
