"""Stanzas by pattern: ``[attributes."q*"]`` stands for every column whose name fits, as if each had its own.

Of a pattern ``*`` alone is special, and stands for any characters or none: ``?`` and brackets are usual in
the names of questions. A stanza that has the name of a column is that column's, whatever characters are in
it, and wins over every pattern; so does the subject. Among patterns the first in the spec wins. The columns
of a pattern come in the order of the table, at the place of its stanza.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from discreet.engines.connect import connect
from discreet.engines.scratch import opened
from discreet.errors import InputError
from discreet.hierarchy.messages import listed
from discreet.model.table_spec import PatternStanza, SourceSpec
from discreet.settings import Settings
from discreet.spec.problems import key_text

WILDCARD = "*"
"""What stands for any characters in a stanza's name."""

ColumnsOf = Callable[[SourceSpec], Sequence[str]]
"""The names of a source's columns, in its order."""


def columns_read(settings: Settings | None) -> ColumnsOf:
    """Names as the source's own engine has them; ``settings`` None: those of the environment."""

    def read(source: SourceSpec) -> Sequence[str]:
        with (
            connect(settings or Settings.from_environment(), source) as engine,
            opened(engine, source) as table,
        ):
            return table.columns

    return read


def fits(pattern: str, name: str) -> bool:
    """Whether a column's name fits a pattern.

    >>> fits("q*", "q17"), fits("q*_other", "q17"), fits("q?", "q1")
    (True, False, False)
    """
    parts = (re.escape(part) for part in pattern.split(WILDCARD))
    return re.fullmatch(".*".join(parts), name, re.DOTALL) is not None


def patterns_in(
    stanzas: Mapping[str, object], source: SourceSpec, columns_of: ColumnsOf, label: str
) -> tuple[PatternStanza, ...]:
    """The stanzas that are patterns, and the columns that each stands for.

    The source's columns are asked only where a stanza has a ``*`` in its name. ``InputError`` names a stanza
    that no column fits.
    """
    if not any(WILDCARD in key for key in stanzas):
        return ()
    columns = columns_of(source)
    left = [name for name in columns if name not in stanzas and name != source.subject]
    found = []
    for key in stanzas:
        if WILDCARD not in key or key in columns:
            continue
        if not any(fits(key, name) for name in columns):
            raise InputError(
                f"{label}: {key_text(('attributes', key))} fits no column",
                allowed=f"the name of a column, or one in which {WILDCARD} stands for any characters; "
                f"columns: {listed(columns, 20)}",
            )
        taken = tuple(name for name in left if fits(key, name))
        left = [name for name in left if name not in taken]
        found.append(PatternStanza(key, taken))
    return tuple(found)


def expanded(stanzas: Mapping[str, Any], patterns: Sequence[PatternStanza]) -> dict[str, Any]:
    """Stanzas with those of patterns repeated for each of their columns."""
    columns_of = {pattern.pattern: pattern.columns for pattern in patterns}
    return {name: stanza for key, stanza in stanzas.items() for name in columns_of.get(key, (key,))}


def unused(patterns: Sequence[PatternStanza]) -> list[str]:
    """A note of each pattern all of whose columns other stanzas have."""
    return [
        f"The stanza {key_text(('attributes', pattern.pattern))} is not used: other stanzas have every "
        "column that fits it."
        for pattern in patterns
        if not pattern.columns
    ]
