"""The guesses of the three tests (WP216) on a release of classes, counted for some people.

Singling out counts the right guesses. In linking and inferring the attacker draws: each person's guess is
right with a chance, and the chances are averaged in place of draws. Cost: that of the classes that each
person may be in (``attacks.coverage``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.coverage import candidates
from discreet.attacks.published import NO_VALUE, ValueCounts
from discreet.measures.generalized_table import GeneralizedTable

Whole = NDArray[np.int64]
Guessed = tuple[int, int]
"""Right guesses, and all."""

_AT_ONCE = 1 << 22


@dataclass(frozen=True, eq=False)
class Targets:
    """People to guess of, by record: leaf codes (records, attributes), sensitive values, and their rows.

    A value is a place in the release's texts, ``NO_VALUE`` for NULL, and any other for one that it lacks.
    """

    codes: Whole
    values: tuple[Whole, ...]
    rows: Whole

    @property
    def total(self) -> int:
        """All rows."""
        return int(self.rows.sum())


def singled_out(release: GeneralizedTable, sensitive: Sequence[ValueCounts], people: Targets) -> Guessed:
    """Predicates, a class and a value that it shows (or the class alone), that one row of people meets."""
    right = guesses = 0
    pairs = list(candidates(release, people.codes, unknown_matches=False))
    if not sensitive:
        met = np.zeros(release.groups, dtype=np.int64)
        for record, group in pairs:
            np.add.at(met, group, people.rows[record])
        return int((met == 1).sum()), release.groups
    for values, own in zip(sensitive, people.values, strict=True):
        named = values.values != NO_VALUE
        width = len(values.texts) + 1
        predicates = np.unique(values.units[named] * width + values.values[named])
        met = np.zeros(len(predicates), dtype=np.int64)
        for record, group in pairs:
            told = own[record] != NO_VALUE
            keys = group[told] * width + np.minimum(own[record][told], width - 1)
            place = np.searchsorted(predicates, keys)
            known = place < len(predicates)
            known[known] = predicates[place[known]] == keys[known]
            np.add.at(met, place[known], people.rows[record[told][known]])
        right += int((met == 1).sum())
        guesses += len(predicates)
    return right, guesses


@dataclass(frozen=True, eq=False)
class Chances:
    """The chance of each record's guess to be right, and the record's rows (0 where nothing is guessed)."""

    right: NDArray[np.float64]
    rows: Whole


def linked(release: GeneralizedTable, people: Targets) -> Chances:
    """Return the chance that a row by the first half of the attributes and one by the rest are the same."""
    width = release.shown.shape[1]
    half = (width + 1) // 2
    fitting = [_rows_of(release, people, range(*part)) for part in ((0, half), (half, width), (0, width))]
    first, second, both = fitting
    with np.errstate(divide="ignore", invalid="ignore"):
        chances = np.where(both > 0, both / (first * second), 0.0)
    return Chances(chances, people.rows)


def _rows_of(release: GeneralizedTable, people: Targets, places: range) -> NDArray[np.float64]:
    """The rows that each person may be by some of the attributes."""
    part = GeneralizedTable(
        tuple(release.cells[i] for i in places), release.shown[:, list(places)], release.rows
    )
    found = np.zeros(len(people.rows))
    for record, group in candidates(part, people.codes[:, list(places)], unknown_matches=True):
        np.add.at(found, record, release.rows[group])
    return found


def inferred(release: GeneralizedTable, values: ValueCounts, place: int, people: Targets) -> Chances:
    """Return the chance that the most frequent value of a person's possible classes, by lot, is the person's.

    A person without a value is no guess; one whom no class fits is guessed wrong.
    """
    right, guesses = np.zeros(len(people.rows)), np.zeros(len(people.rows), np.int64)
    entries = _entries(values, release.groups)
    for chosen in _some(len(people.rows), len(values.texts)):
        counted = np.zeros((len(chosen), len(values.texts) + 1))
        for record, group in candidates(release, people.codes[chosen], unknown_matches=True):
            starts, ends = entries.starts[group], entries.starts[group + 1]
            numbers = ends - starts
            at = np.repeat(starts, numbers) + np.arange(int(numbers.sum()))
            at -= np.repeat(np.cumsum(numbers) - numbers, numbers)
            np.add.at(counted, (np.repeat(record, numbers), entries.values[at]), entries.rows[at])
        own = people.values[place][chosen]
        told = own != NO_VALUE
        most = counted.max(axis=1, initial=0)
        modes = (counted == most[:, None]).sum(axis=1)
        mine = counted[np.arange(len(chosen)), np.minimum(np.maximum(own, 0), len(values.texts))]
        hit = told & (most > 0) & (mine == most)
        right[chosen[hit]] = 1 / modes[hit]
        guesses[chosen[told]] = people.rows[chosen][told]
    return Chances(right, guesses)


@dataclass(frozen=True, eq=False)
class _Entries:
    """The values of class c and their rows, from ``starts[c]`` to ``starts[c + 1]``."""

    starts: Whole
    values: Whole
    rows: Whole


def _entries(values: ValueCounts, classes: int) -> _Entries:
    named = np.flatnonzero(values.values != NO_VALUE)
    named = named[np.argsort(values.units[named], kind="stable")]
    starts = np.searchsorted(values.units[named], np.arange(classes + 1))
    return _Entries(starts, values.values[named], values.rows[named])


def _some(records: int, texts: int) -> Iterator[Whole]:
    """The places of all records, some at a time."""
    step = max(1, _AT_ONCE // max(texts, 1))
    for start in range(0, records, step):
        yield np.arange(start, min(start + step, records))
