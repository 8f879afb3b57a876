"""Columns of a series (q1, q2, …) that a spec says the same of: one stanza by pattern in place of many."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from discreet.model.table_spec import PatternStanza
from discreet.spec.stanza_patterns import WILDCARD, fits

_DIGITS = re.compile(r"[0-9]+")


def series_patterns(stanzas: Mapping[str, Any], least: int) -> tuple[PatternStanza, ...]:
    """Patterns that may stand for some stanzas in place of these, each for at least ``least`` columns.

    ``stanzas`` are those of every column, each by its own name. A series is columns whose names differ in
    digits alone; its pattern stands for every column that fits it and has the stanza that most of the series
    have, and every other column that fits it keeps its own. No column fits two patterns.
    """
    found: list[PatternStanza] = []
    taken: set[str] = set()
    for alike in _series(stanzas, least):
        pattern, stanza = _pattern_of(alike[0]), _most_frequent(alike, stanzas)
        columns = tuple(n for n in stanzas if n not in taken and fits(pattern, n) and stanzas[n] == stanza)
        if len(columns) < least or pattern in stanzas or pattern == WILDCARD:
            continue
        overlap = any(fits(other.pattern, name) for other in found for name in columns)
        if overlap or any(fits(pattern, name) for name in taken):
            continue
        found.append(PatternStanza(pattern, columns))
        taken.update(columns)
    return tuple(found)


def folded(stanzas: Mapping[str, Any], patterns: Sequence[PatternStanza]) -> dict[str, Any]:
    """The stanzas with those of each pattern's columns as one, at the place of the first."""
    pattern_of = {name: pattern.pattern for pattern in patterns for name in pattern.columns}
    return {pattern_of.get(name, name): stanza for name, stanza in stanzas.items()}


def _series(stanzas: Mapping[str, Any], least: int) -> list[list[str]]:
    """Columns whose names differ in digits alone, where they are many; the longest series first."""

    def form(name: str) -> str:
        return _DIGITS.sub("0", name)

    numbered = sorted((name for name in stanzas if _DIGITS.search(name)), key=form)
    series = [list(alike) for _, alike in groupby(numbered, form)]
    return sorted((alike for alike in series if len(alike) >= least), key=len, reverse=True)


def _most_frequent(names: Sequence[str], stanzas: Mapping[str, Any]) -> Any:
    """The stanza that most of some columns have."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(repr(stanzas[name]), []).append(name)
    most = max(len(alike) for alike in groups.values())
    return stanzas[next(alike[0] for alike in groups.values() if len(alike) == most)]


def _pattern_of(name: str) -> str:
    """What names of its series begin and end with."""
    digits = list(_DIGITS.finditer(name))
    return f"{name[: digits[0].start()]}{WILDCARD}{name[digits[-1].end() :]}"
