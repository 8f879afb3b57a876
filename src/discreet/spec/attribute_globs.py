"""Attribute sections by glob: ``[attributes."q*"]`` applies to every column whose name matches.

Only ``*`` is special. A section with a column's own name takes precedence over every glob, and so does the
subject; among globs the first in the spec takes precedence. ``find_series_globs`` finds globs for columns
that differ only in digits (q1, q2, …).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

from discreet.engines.connection import connect
from discreet.engines.source_tables import open_source_table
from discreet.errors import InputError
from discreet.hierarchy.messages import quote_values
from discreet.model.table_spec import AttributeGlob, SourceSpec
from discreet.settings import Settings
from discreet.spec.validation import format_key

COLUMN_WILDCARD = "*"
"""Character that matches any characters in a section's name."""

ColumnReader = Callable[[SourceSpec], Sequence[str]]
"""Function that returns the names of a source's columns, in its order."""


def engine_column_reader(settings: Settings | None) -> ColumnReader:
    """Return a reader of names by the source's engine; ``settings`` None are those of the environment."""

    def read(source: SourceSpec) -> Sequence[str]:
        with (
            connect(settings or Settings.from_environment(), source) as engine,
            open_source_table(engine, source) as table,
        ):
            return table.columns

    return read


def matches_glob(pattern: str, name: str) -> bool:
    """Return whether a column's name matches a glob.

    >>> matches_glob("q*", "q17"), matches_glob("q*_other", "q17"), matches_glob("q?", "q1")
    (True, False, False)
    """
    parts = (re.escape(part) for part in pattern.split(COLUMN_WILDCARD))
    return re.fullmatch(".*".join(parts), name, re.DOTALL) is not None


def find_globs(
    stanzas: Mapping[str, object], source: SourceSpec, columns_of: ColumnReader, label: str
) -> tuple[AttributeGlob, ...]:
    """Return the sections that are globs, with the columns that each applies to.

    The source's columns are read only if some section has a ``*`` in its name. Raises ``InputError`` for a
    section that no column matches.
    """
    if not any(COLUMN_WILDCARD in key for key in stanzas):
        return ()
    columns = columns_of(source)
    left = [name for name in columns if name not in stanzas and name != source.subject]
    found = []
    for key in stanzas:
        if COLUMN_WILDCARD not in key or key in columns:
            continue
        if not any(matches_glob(key, name) for name in columns):
            raise InputError(
                f"{label}: {format_key(('attributes', key))} matches no column",
                allowed=f"the name of a column, or one with {COLUMN_WILDCARD}, which matches any characters; "
                f"columns: {quote_values(columns, 20)}",
            )
        taken = tuple(name for name in left if matches_glob(key, name))
        left = [name for name in left if name not in taken]
        found.append(AttributeGlob(key, taken))
    return tuple(found)


def expand_globs(stanzas: Mapping[str, Any], patterns: Sequence[AttributeGlob]) -> dict[str, Any]:
    """Return the sections with those of globs repeated for each of their columns."""
    columns_of = {pattern.pattern: pattern.columns for pattern in patterns}
    return {name: stanza for key, stanza in stanzas.items() for name in columns_of.get(key, (key,))}


def unused_glob_notes(patterns: Sequence[AttributeGlob]) -> list[str]:
    """Return a note for each glob without columns, since other sections have every column that matches it."""
    return [
        f"The section {format_key(('attributes', pattern.pattern))} is not used: other sections contain "
        "every column that matches it."
        for pattern in patterns
        if not pattern.columns
    ]


_DIGITS = re.compile(r"[0-9]+")


def find_series_globs(stanzas: Mapping[str, Any], least: int) -> tuple[AttributeGlob, ...]:
    """Find globs that can replace sections, each for at least ``least`` columns.

    ``stanzas`` are the sections of every column, by its own name. A series is a set of columns whose names
    differ only in digits; its glob applies to every matching column that has the section of most columns of
    the series, and every other matching column keeps its own section. No column matches two globs.
    """
    found: list[AttributeGlob] = []
    taken: set[str] = set()
    for alike in _find_series(stanzas, least):
        pattern, stanza = _series_glob(alike[0]), _most_frequent(alike, stanzas)
        columns = tuple(
            n for n in stanzas if n not in taken and matches_glob(pattern, n) and stanzas[n] == stanza
        )
        if len(columns) < least or pattern in stanzas or pattern == COLUMN_WILDCARD:
            continue
        overlap = any(matches_glob(other.pattern, name) for other in found for name in columns)
        if overlap or any(matches_glob(pattern, name) for name in taken):
            continue
        found.append(AttributeGlob(pattern, columns))
        taken.update(columns)
    return tuple(found)


def collapse_series(stanzas: Mapping[str, Any], patterns: Sequence[AttributeGlob]) -> dict[str, Any]:
    """Return the sections with those of each glob's columns merged, at the position of the first."""
    pattern_of = {name: pattern.pattern for pattern in patterns for name in pattern.columns}
    return {pattern_of.get(name, name): stanza for name, stanza in stanzas.items()}


def _find_series(stanzas: Mapping[str, Any], least: int) -> list[list[str]]:
    """Return series of at least ``least`` columns whose names differ only in digits; the longest first."""

    def form(name: str) -> str:
        return _DIGITS.sub("0", name)

    numbered = sorted((name for name in stanzas if _DIGITS.search(name)), key=form)
    series = [list(alike) for _, alike in groupby(numbered, form)]
    return sorted((alike for alike in series if len(alike) >= least), key=len, reverse=True)


def _most_frequent(names: Sequence[str], stanzas: Mapping[str, Any]) -> Any:
    """Return the section that most of the columns have."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(repr(stanzas[name]), []).append(name)
    most = max(len(alike) for alike in groups.values())
    return stanzas[next(alike[0] for alike in groups.values() if len(alike) == most)]


def _series_glob(name: str) -> str:
    """Return the glob of a name's series: ``*`` replaces everything from the first to the last digit."""
    digits = list(_DIGITS.finditer(name))
    return f"{name[: digits[0].start()]}{COLUMN_WILDCARD}{name[digits[-1].end() :]}"
