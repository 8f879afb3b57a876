"""A smaller case that fails for the same reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from tests.fuzz.attempt import Outcome
from tests.fuzz.cases import ROW, Case
from tests.fuzz.trial import Trial

MOST_TRIES = 150
C = TypeVar("C", bound=Case)


def shrunken(case: C, why: str, judge: Callable[[C], Outcome]) -> C:
    """Drop rows, columns and options while the case fails with the signature ``why``."""
    tries = 0
    found = True
    while found and tries < MOST_TRIES:
        found = False
        for smaller in _smaller(case):
            tries += 1
            outcome = judge(smaller)
            if outcome.failed and outcome.why == why:
                case, found = smaller, True
                break
            if tries >= MOST_TRIES:
                break
    return case


def _smaller(case: C) -> Iterator[C]:
    if case.command:
        yield replace(case, command=False)
    if isinstance(case, Trial):
        yield from case.smaller()
    if case.rows > 3:
        half = case.rows // 2
        yield case.at(range(half))
        yield case.at(range(half, case.rows))
    yield from _with_fewer_columns(case)
    if case.rows <= 24:
        for row in range(case.rows):
            yield case.at([other for other in range(case.rows) if other != row])
    if case.source != "csv" and all(column.kind == "text" for column in case.columns):
        yield replace(case, source="csv")
    if case.star:
        yield replace(case, star=False)


def _with_fewer_columns(case: C) -> Iterator[C]:
    """Return cases without one column, or without its hierarchy; a trial needs the number of each row."""
    for column in case.columns:
        last = column.role == "quasi-identifier" and len(case.of("quasi-identifier")) == 1
        needed = isinstance(case, Trial) and column.name == ROW
        if not last and not needed:
            yield replace(case, columns=tuple(c for c in case.columns if c is not column))
        if column.hierarchy:
            plain = replace(column, hierarchy=None)
            yield replace(case, columns=tuple(plain if c is column else c for c in case.columns))
