"""Risk in the population that the table is a sample of, by its size or by survey weights.

Population uniques are estimated by Pitman (Hoshino 2001), Zayatz (1991), SNB (Chen and Keller-McNulty 1998)
and the rule of Dankar et al. (2012). The individual risk (Benedetti and Franconi 1998; Capobianchi, Polettini
and Lucarelli 2001) of f sample rows and F estimated people, p = f/F, is

    E(1/F' | f) = p^f ∫ t^(f−1) / (1 − t(1 − p))^f dt,  t from 0 to 1.

F is f · N/n for a population size N, or the sum of the class's survey weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.composition import assign_classes
from discreet.attacks.declaration import Attack, AttackedTable, AttackInput, AttackRequirement
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
from discreet.attacks.linkage import OriginalTable, read_original_columns
from discreet.engines.base import Engine
from discreet.errors import InputError
from discreet.model import population_estimates as estimates
from discreet.model.class_recoding import SUPPRESSED
from discreet.model.criterion_inputs import SizeTails
from discreet.model.option import OptionKind, option
from discreet.settings import Settings

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_ESTIMATORS = {
    "Dankar": estimates.dankar,
    "Pitman": estimates.pitman,
    "Zayatz": estimates.zayatz,
    "SNB": estimates.snb,
}
_EXACT, _TERMS = 40, 30
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(200)


@dataclass(frozen=True)
class PopulationUniques(Attack):
    """Attack by estimated population uniques, from the size of the population."""

    name: ClassVar[str] = "population-uniques"
    title: ClassVar[str] = "Unique in the population"
    text: ClassVar[str] = "The table is a sample: how many of its rows are unique in the whole population?"
    source: ClassVar[str] = "Dankar et al. 2012; Benedetti and Franconi 1998"

    people: int | None = option(
        kind=OptionKind.WHOLE,
        least=1,
        metavar="N",
        shown="the number in the manifest",
        help="people in the population that the table is a sample of",
        label="People in the population",
    )

    def missing_requirement(self, attack_input: AttackInput) -> tuple[str, str] | None:
        """Return the missing requirement; the option or the manifest must give the number of people."""
        if self._people(attack_input) is None:
            return (
                "the size of the population is not known",
                "Give the number of people that the table is a sample of.",
            )
        return super().missing_requirement(attack_input)

    def run(self, attack_input: AttackInput) -> Finding:
        """Report the estimates of each side; raise ``InputError`` for fewer people than rows."""
        people = self._people(attack_input) or 0
        figures = [count("people", "people in the population", people)]
        sides = attack_input.sides
        for side in sides:
            if side.total > people:
                raise InputError(
                    f"a population of {people:,} people has a sample of {side.total:,} rows",
                    advice="Give the number of people that the table is a sample of.",
                )
            risks = compute_individual_risks(
                side.rows, (side.rows * people / max(side.total, 1)).astype(np.float64)
            )
            mean = float((risks * side.rows).sum()) / max(side.total, 1)
            figures += [
                chance(f"fraction_{side.name}", f"sampling fraction, {side.title}", side.total / people),
                chance(
                    f"risk_{side.name}",
                    f"highest estimated chance, {side.title}",
                    float(risks.max(initial=0.0)),
                ),
                chance(f"mean_risk_{side.name}", f"mean estimated chance, {side.title}", mean),
            ]
        return self.build_finding(attack_input, tuple(figures), (_table(sides, people),))

    def _people(self, attack_input: AttackInput) -> int | None:
        manifest_population = None if attack_input.manifest is None else attack_input.manifest.population
        return manifest_population if self.people is None else self.people


def compute_individual_risks(rows: NDArray[np.int64], people: FloatArray) -> FloatArray:
    """Compute the mean chance of a row in classes of ``rows`` rows that represent about ``people`` people.

    Both have shape ``(classes,)``, with at least as many people as rows; a class of the whole population has
    1/f.
    """
    share = np.minimum(rows / people, 1.0)
    # The mean of 1/F' is p/f · ₂F₁(1, 1; f + 1; 1 - p), a series that converges within few terms for large f.
    term = np.ones_like(share)
    series = np.ones_like(share)
    for i in range(1, _TERMS):
        term = term * i * (1 - share) / (rows + i)
        series = series + term
    result = share / np.maximum(rows, 1) * series
    near = np.flatnonzero((share < 1) & (rows <= _EXACT))
    for places in np.array_split(near, max(1, len(near) // 4096)):
        p, f = share[places, None], rows[places, None].astype(np.float64)
        # The substitution z = 1 - t(1 - p) = p^u spreads the pole at z = 0 over u from 0 to 1.
        z = p ** ((_NODES + 1) / 2)
        inside = ((1 - z) / (1 - p)) ** (f - 1) * (p / z) ** f * z * -np.log(p) / (1 - p)
        result[places] = (inside * (_WEIGHTS / 2)).sum(axis=1)
    result[share >= 1] = 1.0 / np.maximum(rows[share >= 1], 1)
    return result


def _table(sides: tuple[AttackedTable, ...], people: int) -> FoundTable:
    rows: list[tuple[Value, ...]] = [
        ("unique in the table", *(int((side.rows == 1).sum()) for side in sides), *[None] * len(sides))
    ]
    for name, estimator in _ESTIMATORS.items():
        shares = [_share(side, people, estimator) for side in sides]
        unique = [None if share is None else round(share * people) for share in shares]
        rows.append((f"unique in the population, by {name}", *unique, *shares))
    return FoundTable(
        "Uniques, counted and estimated",
        columns(
            "",
            *((side.title, ValueKind.COUNT) for side in sides),
            *((f"share of the population, {side.title}", ValueKind.CHANCE) for side in sides),
        ),
        tuple(rows),
        note="A dash: the estimator has no answer for these class sizes.",
    )


def _share(
    side: AttackedTable, people: int, estimator: Callable[[SizeTails, int], FloatArray]
) -> float | None:
    if not len(side.rows):
        return 0.0
    found = float(estimator(SizeTails.of_classes(side.rows), people)[0])
    return None if np.isnan(found) else found


@dataclass(frozen=True, eq=False)
class Survey:
    """Row types of a survey: leaf ``codes``, number of ``rows``, and number of people represented."""

    codes: IntArray
    rows: IntArray
    people: FloatArray


@dataclass(frozen=True)
class SurveyWeights(Attack):
    """Attack on classes by the sum of their rows' survey weights."""

    name: ClassVar[str] = "survey-weights"
    title: ClassVar[str] = "By the weights of a survey"
    text: ClassVar[str] = "An attacker finds a person's class: how many people of the population match it?"
    source: ClassVar[str] = "Benedetti and Franconi 1998"
    requirements: ClassVar[tuple[AttackRequirement, ...]] = (
        AttackRequirement.ORIGINAL,
        AttackRequirement.CLASSES,
    )

    survey_weight: str | None = option(
        None,
        kind=OptionKind.COLUMN,
        metavar="COLUMN",
        shown="the spec's survey_weight",
        help="the original's column of survey weights",
        label="Column of survey weights",
        hint="of the original; it need not be published",
    )

    def missing_requirement(self, attack_input: AttackInput) -> tuple[str, str] | None:
        """Return the missing requirement; the option or the spec must name the column of weights."""
        if not self.survey_weight and not _spec_column(attack_input):
            return "no column of survey weights is named", "Name it: --survey-weight COLUMN."
        return super().missing_requirement(attack_input)

    def run(self, attack_input: AttackInput) -> Finding:
        """Report the risks before and after.

        Raise ``InputError`` for a column that is missing or does not contain weights.
        """
        original = attack_input.original_table
        column = self.survey_weight or _spec_column(attack_input)
        assert column is not None
        survey = read_survey(attack_input.engine, attack_input.settings, original, column)
        after = assign_classes(attack_input.published, original, "the release")
        every = np.arange(len(survey.rows))
        retained = after != SUPPRESSED
        figures: list[Figure] = []
        for name, side, classes in (("before", "original", every), ("after", "release", after)):
            figures += _figures(name, side, survey, classes, float(attack_input.threshold))
        lost = compute_lost_share(survey, retained)
        figures.append(chance("lost", "people represented by suppressed rows", lost))
        notes = ("Weights are not recalibrated: sums over the release miss the suppressed rows' people.",)
        table = _shift_table(original, survey, retained)
        return self.build_finding(attack_input, tuple(figures), (table,), notes if lost else ())


def _spec_column(attack_input: AttackInput) -> str | None:
    original = attack_input.ground.original
    return None if original is None else original.spec.source.survey_weight


def read_survey(engine: Engine, settings: Settings, original: OriginalTable, column: str) -> Survey:
    """Read the original once more with the column of weights; return its row types with their weights.

    Raise ``InputError`` where a value is no weight.
    """
    counted = original.frequency_set
    read = read_original_columns(engine, settings, original, [column])
    weights = _parse_weights((*read.texts[column], "0"), column)
    weight = weights[np.minimum(read.codes[column], len(weights) - 1)]
    people = np.bincount(read.types, weight * read.rows, minlength=counted.row_types).astype(np.float64)
    return Survey(counted.codes, counted.counts, people)


def compute_class_risks(survey: Survey, classes: IntArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return rows, people and chance of each class; ``classes`` is the class of each row type."""
    retained = classes != SUPPRESSED
    size = int(classes.max(initial=-1)) + 1
    rows = np.bincount(classes[retained], survey.rows[retained], minlength=size).astype(np.int64)
    people = np.bincount(classes[retained], survey.people[retained], minlength=size).astype(np.float64)
    used = rows > 0
    # Weights below 1 would give fewer people than rows, but each row is a person.
    people = np.maximum(people[used], rows[used].astype(np.float64))
    return rows[used], people, compute_individual_risks(rows[used], people)


def _figures(name: str, side: str, survey: Survey, classes: IntArray, threshold: float) -> list[Figure]:
    rows, people, risks = compute_class_risks(survey, classes)
    total = max(int(rows.sum()), 1)
    return [
        number(f"people_{name}", f"people represented by the rows, {side}", float(people.sum())),
        number(f"least_{name}", f"fewest people of a class, {side}", float(people.min(initial=np.inf))),
        chance(f"highest_{name}", f"highest chance, {side}", float(risks.max(initial=0.0))),
        chance(f"mean_{name}", f"mean chance, {side}", float((risks * rows).sum()) / total),
        number(f"expected_{name}", f"rows found, expected, {side}", float((risks * rows).sum())),
        count(f"at_risk_{name}", f"rows above the threshold, {side}", int(rows[risks > threshold].sum())),
    ]


def compute_lost_share(survey: Survey, is_published: NDArray[np.bool_]) -> float:
    """Return the share of people whom the rows of suppressed row types represented."""
    return float(survey.people[~is_published].sum() / survey.people.sum()) if survey.people.sum() else 0.0


def compute_share_shifts(
    original: OriginalTable, survey: Survey, is_published: NDArray[np.bool_]
) -> tuple[tuple[str, float, float], ...]:
    """Compute the change of each column's weighted value shares by suppression.

    Return half the sum of the changes and the largest change per column; no column where no row remains.
    """
    found = []
    for i, hierarchy in enumerate(original.frequency_set.hierarchies):
        size = hierarchy.null_code + 1
        before = np.bincount(survey.codes[:, i], survey.people, minlength=size)
        after = np.bincount(survey.codes[is_published, i], survey.people[is_published], minlength=size)
        if before.sum() and after.sum():
            gap = np.abs(before / before.sum() - after / after.sum())
            found.append((hierarchy.attribute, float(gap.sum() / 2), float(gap.max())))
    return tuple(found)


def _shift_table(original: OriginalTable, survey: Survey, is_published: NDArray[np.bool_]) -> FoundTable:
    rows = compute_share_shifts(original, survey, is_published)
    return FoundTable(
        "Shares of values, by weights, before and after suppression",
        columns("column", ("distance of the shares", ValueKind.CHANCE), ("largest change", ValueKind.CHANCE)),
        rows,
        note="Values as they were, before any is generalized: the shifts show the effect of suppression "
        "only.",
    )


def _parse_weights(texts: tuple[str, ...], column: str) -> FloatArray:
    try:
        result = np.array([float(text) for text in texts])
    except ValueError:
        result = np.array([np.nan])
    if not np.isfinite(result).all() or (result < 0).any():
        raise InputError(f"'{column}' contains values that are not weights", allowed="numbers of at least 0")
    return result
