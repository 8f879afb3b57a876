"""The risk of a survey's rows, by how many people of the population each stands for.

A row of a survey has a weight: it stands for so many people. The weights of a class add up to an estimate of
the people who match it, and the chance that a row of the class is somebody's is the mean of one by that
number, which is negative binomial given the class's rows (Benedetti and Franconi 1998; the individual risk of
sdcMicro). Suppressed rows take their weights with them. This program does not recalibrate weights, and so
says how many people the published rows stand for still, and how far each column's shares move by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.composition import classes_in
from discreet.attacks.declaration import Attack, Need
from discreet.attacks.finding import (
    Figure,
    Finding,
    FoundTable,
    Value,
    ValueKind,
    chance,
    columns,
    count,
    number,
)
from discreet.attacks.grounds import Grounds
from discreet.attacks.linking import Original
from discreet.attacks.original_columns import original_columns
from discreet.attacks.population_uniques import individual_risks
from discreet.engines.base import Engine
from discreet.errors import InputError
from discreet.model.class_recoding import SUPPRESSED
from discreet.model.option import OptionKind, option
from discreet.settings import Settings

Whole = NDArray[np.int64]
Real = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Survey:
    """The row types of a survey: leaf ``codes``, their ``rows``, and the people whom these stand for."""

    codes: Whole
    rows: Whole
    people: Real


@dataclass(frozen=True)
class SurveyWeights(Attack):
    """Risks of classes by the sum of their rows' weights."""

    name: ClassVar[str] = "survey-weights"
    title: ClassVar[str] = "By the weights of a survey"
    text: ClassVar[str] = "An attacker finds a person's class: how many people of the population match it?"
    source: ClassVar[str] = "Benedetti and Franconi 1998"
    needs: ClassVar[tuple[Need, ...]] = (Need.ORIGINAL, Need.CLASSES)

    survey_weight: str | None = option(
        None,
        kind=OptionKind.COLUMN,
        metavar="COLUMN",
        shown="the spec's survey_weight",
        help="the original's column that says how many people each row stands for",
        label="Column of survey weights",
        hint="of the original; it need not be published",
    )

    def lacks(self, grounds: Grounds) -> tuple[str, str] | None:
        """The column of weights must be named, here or in the spec."""
        if not self.survey_weight and not _of_spec(grounds):
            return "no column of survey weights is named", "Name it: --survey-weight COLUMN."
        return super().lacks(grounds)

    def run(self, grounds: Grounds) -> Finding:
        """Risks before and after; ``InputError`` for a column that is not there, or holds no weights."""
        original = grounds.ground.original
        assert original is not None
        column = self.survey_weight or _of_spec(grounds)
        assert column is not None
        survey = survey_of(grounds.engine, grounds.settings, original, column)
        after = classes_in(grounds.published, original, "the release")
        every = np.arange(len(survey.rows))
        kept = after != SUPPRESSED
        figures: list[Figure] = []
        for name, side, classes in (("before", "original", every), ("after", "release", after)):
            figures += _figures(name, side, survey, classes, float(grounds.threshold))
        lost = lost_share(survey, kept)
        figures.append(chance("lost", "people whom suppressed rows stood for", lost))
        notes = ("Weights are not recalibrated: sums over the release miss the suppressed rows' people.",)
        table = _shifts(original, survey, kept)
        return self.found(grounds, tuple(figures), (table,), notes if lost else ())


def _of_spec(grounds: Grounds) -> str | None:
    """The column of weights that the publisher's spec names."""
    original = grounds.ground.original
    return None if original is None else original.spec.source.survey_weight


def survey_of(engine: Engine, settings: Settings, original: Original, column: str) -> Survey:
    """The original's row types with their weights, read once more with the column.

    ``InputError`` where it holds what are no weights.
    """
    counted = original.frequency_set
    read = original_columns(engine, settings, original, [column])
    weights = _numbers((*read.texts[column], "0"), column)
    weight = weights[np.minimum(read.codes[column], len(weights) - 1)]
    people = np.bincount(read.types, weight * read.rows, minlength=counted.row_types).astype(np.float64)
    return Survey(counted.codes, counted.counts, people)


def class_risks(survey: Survey, classes: Whole) -> tuple[Whole, Real, Real]:
    """Rows, people and chance of each class; ``classes`` says of each row type which it is in, if any."""
    kept = classes != SUPPRESSED
    size = int(classes.max(initial=-1)) + 1
    rows = np.bincount(classes[kept], survey.rows[kept], minlength=size).astype(np.int64)
    people = np.bincount(classes[kept], survey.people[kept], minlength=size).astype(np.float64)
    used = rows > 0
    # Weights below 1 would make fewer people than rows; each row is a person.
    people = np.maximum(people[used], rows[used].astype(np.float64))
    return rows[used], people, individual_risks(rows[used], people)


def _figures(name: str, side: str, survey: Survey, classes: Whole, threshold: float) -> list[Figure]:
    rows, people, risks = class_risks(survey, classes)
    total = max(int(rows.sum()), 1)
    return [
        number(f"people_{name}", f"people whom the rows stand for, {side}", float(people.sum())),
        number(f"least_{name}", f"fewest people of a class, {side}", float(people.min(initial=np.inf))),
        chance(f"highest_{name}", f"highest chance, {side}", float(risks.max(initial=0.0))),
        chance(f"mean_{name}", f"mean chance, {side}", float((risks * rows).sum()) / total),
        number(f"expected_{name}", f"rows found, expected, {side}", float((risks * rows).sum())),
        count(f"at_risk_{name}", f"rows above the threshold, {side}", int(rows[risks > threshold].sum())),
    ]


def lost_share(survey: Survey, kept: NDArray[np.bool_]) -> float:
    """The share of the people whom the rows of suppressed row types stood for."""
    return float(survey.people[~kept].sum() / survey.people.sum()) if survey.people.sum() else 0.0


def moved_shares(
    original: Original, survey: Survey, kept: NDArray[np.bool_]
) -> tuple[tuple[str, float, float], ...]:
    """How far the shares of each column's values, by weights, move by what is suppressed.

    Of each column half the sum of the changes, and the largest; none where nobody is left.
    """
    found = []
    for i, hierarchy in enumerate(original.frequency_set.hierarchies):
        size = hierarchy.null_code + 1
        before = np.bincount(survey.codes[:, i], survey.people, minlength=size)
        after = np.bincount(survey.codes[kept, i], survey.people[kept], minlength=size)
        if before.sum() and after.sum():
            gap = np.abs(before / before.sum() - after / after.sum())
            found.append((hierarchy.attribute, float(gap.sum() / 2), float(gap.max())))
    return tuple(found)


def _shifts(original: Original, survey: Survey, kept: NDArray[np.bool_]) -> FoundTable:
    rows: tuple[tuple[Value, ...], ...] = moved_shares(original, survey, kept)
    return FoundTable(
        "Shares of values, by weights, before and after suppression",
        columns("column", ("distance of the shares", ValueKind.CHANCE), ("largest change", ValueKind.CHANCE)),
        rows,
        note="Values as they were, before any is generalized: what is told is what suppression does.",
    )


def _numbers(texts: tuple[str, ...], column: str) -> Real:
    try:
        found = np.array([float(text) for text in texts])
    except ValueError:
        found = np.array([np.nan])
    if not np.isfinite(found).all() or (found < 0).any():
        raise InputError(f"'{column}' holds what are no weights", allowed="numbers of at least 0")
    return found
