"""The linkage attack: records of an outside file are matched with rows of a release (Sweeney 2002).

Generalized values match what they cover: a row may be a person's when each of its cells covers what the file
says of the person. A value that the file lacks (NULL) is not known to the attacker and excludes no row. A
NULL in the release stands for a value that its publisher does not know; the attacker who knows it rules such
rows out, but for the top, which also stands for NULL. A starred row matches nobody.

An attacker who takes one of M matching rows is right with chance 1/M, if the person is in the release at all.
``sure_if_present`` adds these chances up. Where a key that the file and the original share tells who is who,
``correct`` is the expected number of right links: for each record the chance that the row taken is one of the
person's own. Nothing tells which class a row of the original went to where several cover it (local recoding);
it is then in each of them in proportion to their rows. A row that no class covers was suppressed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.coverage import candidates
from discreet.measures.generalized_table import GeneralizedTable

STEPS = (0, 1, 2, 5, 10, 20, 50, 100)
"""The least numbers of matching rows that the histogram tells apart."""


@dataclass(frozen=True)
class LinkageSide:
    """The attack on one table.

    ``unique`` records match exactly one row. ``histogram[i]`` records match at least ``STEPS[i]`` rows and
    fewer than the next step. ``known`` records are of people in the original by the key, ``correct`` of them
    are expected to be linked right; None where no key was given.
    """

    records: int
    matched: int
    unique: int
    median: float | None
    sure_if_present: float
    histogram: tuple[int, ...]
    known: int | None = None
    correct: float | None = None

    def as_json(self) -> dict[str, Any]:
        """The document's part."""
        return {
            "records": self.records,
            "matched": self.matched,
            "matched_one_row": self.unique,
            "median_matches": self.median,
            "expected_if_present": self.sure_if_present,
            "matches": {str(least): number for least, number in zip(STEPS, self.histogram, strict=True)},
            "known": self.known,
            "expected_correct": self.correct,
        }


@dataclass(frozen=True)
class Linkage:
    """The attack before (on the original) and after (on the release).

    ``columns`` are the matched pairs, the file's and the release's. ``incomplete`` records lack a matched
    value, ``strange`` ones have a value that no leaf has.
    """

    columns: tuple[tuple[str, str], ...]
    incomplete: int
    strange: int
    before: LinkageSide | None
    after: LinkageSide

    def as_json(self) -> dict[str, Any]:
        """The document's part."""
        return {
            "columns": [{"outside": outside, "release": release} for outside, release in self.columns],
            "incomplete_records": self.incomplete,
            "records_with_strange_values": self.strange,
            "before": None if self.before is None else self.before.as_json(),
            "after": self.after.as_json(),
        }


@dataclass(frozen=True, eq=False)
class TruePairs:
    """Who is who: record ``records[j]`` is the person of ``rows[j]`` rows of row type ``row_types[j]``."""

    records: NDArray[np.int64]
    row_types: NDArray[np.int64]
    rows: NDArray[np.int64]


def matching_rows(table: GeneralizedTable, codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each record the rows of a table that may be its person's."""
    distinct, place = np.unique(codes, axis=0, return_inverse=True)
    found = np.zeros(len(distinct), dtype=np.int64)
    for record, group in candidates(table, distinct, unknown_matches=True):
        found += np.bincount(record, table.rows[group], minlength=len(distinct)).astype(np.int64)
    return found[place.reshape(-1)]


def matching_people(
    table: GeneralizedTable, codes: NDArray[np.int64], number: NDArray[np.int64]
) -> NDArray[np.int64]:
    """For each group of a table the people of a file who may be in it; those with a NULL count nowhere."""
    known = (codes != np.array([cells.leaves for cells in table.cells])).all(axis=1)
    codes, number = codes[known], number[known]
    found = np.zeros(table.groups, dtype=np.int64)
    for record, group in candidates(table, codes, unknown_matches=False):
        found += np.bincount(group, number[record], minlength=table.groups).astype(np.int64)
    return found


def side_of(
    rows_matched: NDArray[np.int64],
    number: NDArray[np.int64],
    chances: NDArray[np.float64] | None = None,
    known: int | None = None,
) -> LinkageSide:
    """The attack's success; ``number`` says how often each record occurs.

    ``chances`` are those of a right link for each distinct record, where a key is known.
    """
    matched = rows_matched > 0
    steps = np.searchsorted(np.array(STEPS), rows_matched, side="right") - 1
    histogram = np.bincount(steps, number, minlength=len(STEPS)).astype(np.int64)
    return LinkageSide(
        records=int(number.sum()),
        matched=int(number[matched].sum()),
        unique=int(number[rows_matched == 1].sum()),
        median=_median(rows_matched[matched], number[matched]),
        sure_if_present=float((number[matched] / rows_matched[matched]).sum()),
        histogram=tuple(histogram.tolist()),
        known=known,
        correct=None if chances is None else float((chances * number).sum()),
    )


def chances_before(
    pairs: TruePairs,
    original: NDArray[np.int64],
    outside: NDArray[np.int64],
    nulls: NDArray[np.int64],
    rows_matched: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Each record's chance of a right link on the original.

    ``original`` and ``outside`` are leaf codes of row types and records in the matched columns, ``nulls`` the
    columns' codes of NULL.
    """
    theirs, mine = original[pairs.row_types], outside[pairs.records]
    agree = ((theirs == mine) | (mine == nulls)).all(axis=1)
    right = np.bincount(pairs.records, pairs.rows * agree, minlength=len(outside))
    return np.divide(right, rows_matched, out=np.zeros(len(outside)), where=rows_matched > 0)


def chances_after(
    pairs: TruePairs,
    release: GeneralizedTable,
    codes: NDArray[np.int64],
    matched: NDArray[np.int64],
    outside: NDArray[np.int64],
    rows_matched: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Each record's chance of a right link on the release.

    ``codes`` are the leaf codes of the original's row types in all attributes of ``release``; ``outside``
    those of the records in the attributes at the places ``matched``.
    """
    occurring, place = np.unique(pairs.row_types, return_inverse=True)
    type_of, class_of = classes_of(release, codes[occurring])
    starts = np.searchsorted(type_of, np.arange(len(occurring) + 1))
    weight = release.rows[class_of].astype(np.float64)
    whole = np.add.reduceat(np.append(weight, 0.0), np.minimum(starts[:-1], len(weight)))
    whole[np.diff(starts) == 0] = 0.0
    numbers = np.diff(starts)[place.reshape(-1)]
    pair = np.repeat(np.arange(len(pairs.records)), numbers)
    offset = np.arange(len(pair)) - np.repeat(np.cumsum(numbers) - numbers, numbers)
    entry = starts[place.reshape(-1)][pair] + offset
    covers = np.ones(len(pair), dtype=np.bool_)
    for column, attribute in enumerate(matched.tolist()):
        cells = release.cells[attribute]
        code = outside[pairs.records[pair], column]
        cell = release.shown[class_of[entry], attribute]
        everything = cells.sizes()[cell] == cells.leaves
        covers &= cells.cover(cell, code) | (code == cells.leaves) | ((code > cells.leaves) & everything)
    chance = weight[entry] * covers * pairs.rows[pair] / whole[place.reshape(-1)][pair]
    right = np.bincount(pairs.records[pair], chance, minlength=len(outside))
    return np.divide(right, rows_matched, out=np.zeros(len(outside)), where=rows_matched > 0)


def classes_of(
    release: GeneralizedTable, codes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Row types and the classes that cover them, as pairs, in the order of the row types."""
    blocks = list(candidates(release, codes, unknown_matches=False))
    empty = np.empty(0, dtype=np.int64)
    types = np.concatenate([empty, *(block[0] for block in blocks)])
    classes = np.concatenate([empty, *(block[1] for block in blocks)])
    order = np.argsort(types, kind="stable")
    return types[order], classes[order]


def _median(values: NDArray[np.int64], number: NDArray[np.int64]) -> float | None:
    """The lower median of values that occur so often; None where there is none."""
    if not len(values):
        return None
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(number[order])
    return float(values[order][np.searchsorted(reached, (reached[-1] + 1) // 2)])
