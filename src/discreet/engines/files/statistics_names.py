"""What a release in a file of SPSS, Stata or SAS says of itself, and what its columns are called there.

Such files hold fewer names than others do. A column whose name they cannot hold gets one that they can, and
its own as the label; the file's label says that this is so, and a reader of the file gives it back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from discreet.errors import InputError

RELEASE = "Release by discreet"
"""The label of a file in which a value's label is the value."""

CODES = "Release by discreet, codes"
"""The label of a file in which the codes are the values, and labels explain them."""

LONGEST_TITLE = {"SPSS": 256, "Stata": 80, "SAS": 256}
"""The bytes (in Stata characters) that the label of a column may have."""

_LONGEST_NAME = {"SPSS": 64, "Stata": 32, "SAS": 32}
_SPSS = "ALL AND BY EQ GE GT LE LT NE NOT OR TO WITH"
_STATA = (
    "_all _b _coef _cons _n _N _pi _pred _rc _skip alias byte double float if in int long strL using with"
)
_RESERVED = {"SPSS": frozenset(_SPSS.split()), "Stata": frozenset(_STATA.split()), "SAS": frozenset[str]()}


def held_name(name: str, program: str) -> str:
    """The name that a column has in a file of a program: its own, where that is one of those it can have.

    >>> held_name("age", "SPSS"), held_name("education-num", "Stata"), held_name("1st", "SAS")
    ('age', 'education_num', 'v_1st')
    """
    held = re.sub(r"[^A-Za-z0-9_]", "_", name)
    if not re.match(r"[A-Za-z]" if program == "SPSS" else r"[A-Za-z_]", held):
        held = f"v_{held}"
    if _is_reserved(held, program):
        held = f"v_{held}"
    return held[: _LONGEST_NAME[program]]


def held_names(columns: Sequence[str], program: str) -> tuple[str, ...]:
    """The names of columns in a file; ``InputError`` for two that become one, or one that no label holds."""
    owners: dict[str, str] = {}
    for name in columns:
        held = held_name(name, program)
        other = owners.setdefault(held.casefold(), name)
        if other != name:
            raise InputError(
                f"the columns '{other}' and '{name}' would both be called {held} in a file of {program}",
                advice="Rename one of them, or write Parquet or CSV.",
            )
        if held != name and (fitting(name, program) != name or not name or not name.isprintable()):
            raise InputError(
                f"the column's name '{name[:80]}' cannot be held in a file of {program}",
                allowed=f"1 to {LONGEST_TITLE[program]} characters that print, without a blank at the end",
                advice="Rename it, or write Parquet or CSV.",
            )
    return tuple(held_name(name, program) for name in columns)


def own_name(held: str, title: str | None, program: str) -> str | None:
    """The column's own name, where the label of a column called ``held`` in a release is that; else None."""
    if not title or title == held or held_name(title, program) != held:
        return None
    return title


def fitting(title: str, program: str) -> str:
    """The beginning of a label that fits, without blanks at its end."""
    longest = LONGEST_TITLE[program]
    if program == "Stata":
        return title[:longest].rstrip()
    return title.encode()[:longest].decode(errors="ignore").rstrip()


def _is_reserved(name: str, program: str) -> bool:
    if program == "SPSS":
        return name.upper() in _RESERVED[program]
    return name in _RESERVED[program] or (program == "Stata" and re.fullmatch(r"str\d+", name) is not None)
