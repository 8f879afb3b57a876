"""A smaller trial that fails for the same reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.fuzz.attempt import Outcome
from tests.fuzz.cases import HOSTILE, ROW, Trial

MOST_TRIES = 150


def shrunken(trial: Trial, why: str, judge: Callable[[Trial], Outcome]) -> Trial:
    """Drop rows, columns and options while the trial fails with the signature ``why``."""
    tries = 0
    found = True
    while found and tries < MOST_TRIES:
        found = False
        for smaller in _smaller(trial):
            tries += 1
            outcome = judge(smaller)
            if outcome.failed and outcome.why == why:
                trial, found = smaller, True
                break
            if tries >= MOST_TRIES:
                break
    return trial


def _smaller(trial: Trial) -> Iterator[Trial]:
    if trial.command:
        yield replace(trial, command=False)
    for index in range(len(trial.further)):
        yield replace(trial, further=trial.further[:index] + trial.further[index + 1 :])
    if trial.mutations:
        yield replace(trial, mutations=())
    for name in trial.mutations if len(trial.mutations) > 1 else ():
        yield replace(trial, mutations=(name,))
    if trial.people:
        yield replace(trial, people=trial.people[: len(trial.people) // 2])
    if trial.levels != ({}, {}):
        yield replace(trial, levels=({}, {}))
    if trial.release != "csv":
        yield replace(trial, release="csv")
    if trial.rows > 3:
        half = trial.rows // 2
        yield trial.at(range(half))
        yield trial.at(range(half, trial.rows))
    yield from _with_fewer_columns(trial)
    if trial.rows <= 24:
        for row in range(trial.rows):
            yield trial.at([other for other in range(trial.rows) if other != row])
    if trial.source != "csv" and all(column.kind == "text" for column in trial.columns):
        yield replace(trial, source="csv")
    if trial.star:
        yield replace(trial, star=False)


def _with_fewer_columns(trial: Trial) -> Iterator[Trial]:
    """Yield trials without one column, or without its hierarchy; most trials need the number of each row."""
    for column in trial.columns:
        last = column.role == "quasi-identifier" and len(trial.keys) == 1
        needed = trial.journey != HOSTILE and column.name == ROW
        if not last and not needed:
            yield replace(trial, columns=tuple(c for c in trial.columns if c is not column))
        if column.hierarchy:
            plain = replace(column, hierarchy=None)
            yield replace(trial, columns=tuple(plain if c is column else c for c in trial.columns))
