"""Every criterion that there is, told of a published file: the strictest value that it meets.

Each registered criterion is judged by its own SQL, as where it is asked, with the fixed parts that it
proposes and each other choice of them, and of each sensitive attribute by itself. What a file cannot tell (a
population, an order, a hierarchy, or SQL that nobody wrote) stands there with the reason; none is left out.

Of a class no more is told than where a criterion is asked: one number for all classes together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.audit.counts import ClassTotals, PublishedRows, ascending
from discreet.audit.criteria import least_scores, with_scores
from discreet.audit.population import ShownPopulation
from discreet.audit.release_criteria import cells_score, release_score
from discreet.audit.whole_table import KnownAttributes, attribute_at
from discreet.engines.base import Engine
from discreet.engines.scratch import TemporaryTables
from discreet.errors import InputError
from discreet.model.criteria.base import AuditedBy, Criterion, Score, bind
from discreet.model.criteria.distinct_diversity import DistinctDiversity
from discreet.model.criteria.k_anonymity import KAnonymity
from discreet.model.criteria.of_cells import CellsCriterion
from discreet.model.criteria.of_release import ReleaseCriterion
from discreet.model.criteria.registry import CRITERIA
from discreet.model.criteria.whole_table import HAS, Asks, knows
from discreet.model.strictest_value import StrictestValue, variants
from discreet.sql import verify as sql

_NO_CLASS = "there is no class"
_NO_ATTRIBUTE = "needs a sensitive attribute"
_NO_SQL = "has no SQL for an audit"
_NO_POPULATION = "needs the population, which the publisher's --spec may name"
_TOO_LONG = "takes long with so many classes and values: ask for it by itself"

MOST_LINES = 5_000_000
"""A criterion whose SQL may make more lines, and more than there are rows, is told only where it is asked."""


@dataclass(frozen=True)
class _Question:
    """A kind of criterion with its fixed parts, of a sensitive attribute; None for one of none."""

    kind: type[Criterion]
    attribute: str | None
    parts: Mapping[str, Any]

    def answered(self, reason: str) -> StrictestValue:
        """Why nothing is told."""
        return StrictestValue(self.kind, self.attribute, self.parts, reason=reason)


@dataclass(frozen=True)
class _Audited:
    """What there is to ask: an opened release and its classes of rows, without scores.

    ``known`` is the publisher's count of sensitive attributes; ``told`` has every other one as well, as the
    published rows tell it. ``sizes`` has the number of classes of each size.
    """

    engine: Engine
    tables: TemporaryTables
    published: PublishedRows
    counts: ClassTotals
    population: ShownPopulation | None
    known: KnownAttributes
    told: KnownAttributes
    sizes: Mapping[int, int]


def strictest_values(
    engine: Engine,
    tables: TemporaryTables,
    published: PublishedRows,
    counts: ClassTotals,
    population: ShownPopulation | None,
    known: KnownAttributes,
) -> tuple[StrictestValue, ...]:
    """The strictest value of each criterion, k and l first; ``counts`` are classes of rows, without scores.

    ``population`` and ``known`` are as ``audit.verify.audit_source`` has them.
    """
    told = dict(known)
    for place, name in enumerate(published.sensitive):
        if name not in told and counts.classes:
            told[name] = attribute_at(engine, published, place)
    sizes = ascending(engine, sql.class_sizes(counts.table))
    audited = _Audited(engine, tables, published, counts, population, known, told, sizes)
    questions = list(_questions(published.sensitive))
    asked = [_criterion(audited, question) for question in questions]
    scores = _of_classes(audited, [one for one in asked if isinstance(one, Criterion)])
    return tuple(
        question.answered(one) if isinstance(one, str) else _answer(audited, question, one, scores)
        for question, one in zip(questions, asked, strict=True)
    )


def _questions(sensitive: Sequence[str]) -> Iterator[_Question]:
    for kind in CRITERIA:
        names: Sequence[str | None] = sensitive if kind.of_attribute else ()
        for name in names or (None,):
            for parts in variants(kind):
                yield _Question(kind, name, parts)


def _criterion(audited: _Audited, question: _Question) -> Criterion | str:
    """A criterion to score, with any value; else why it cannot be told."""
    if question.kind.of_attribute and question.attribute is None:
        return _NO_ATTRIBUTE
    if not audited.counts.classes:
        return _NO_CLASS
    try:
        criterion = question.kind(question.kind.floor, question.attribute, **question.parts)
    except InputError as error:
        return _words(error)
    if criterion.of_every_attribute and not audited.published.sensitive:
        return _NO_ATTRIBUTE
    if criterion.audited_by is AuditedBy.NOTHING:
        return _NO_SQL
    if criterion.of_population and audited.population is None:
        return _NO_POPULATION
    name, asks = criterion.attribute, criterion.asks
    if name is None:
        return criterion
    if asks is None or knows(asks, audited.told[name]):
        too_long = _lines(audited, criterion, name) > max(MOST_LINES, audited.counts.rows)
        return _TOO_LONG if too_long else criterion
    hint = "" if asks is Asks.NUMBERS or name in audited.known else ", which the publisher's --spec may have"
    return f"needs {HAS[asks]}{hint}"


def _lines(audited: _Audited, criterion: Criterion, name: str) -> int:
    return criterion.audit_lines(audited.sizes, len(audited.told[name].values))


def _of_classes(audited: _Audited, criteria: Sequence[Criterion]) -> dict[Score, int | None]:
    """The smallest score in any class, None where one has none; k and l are not counted a second time."""
    further = [
        one
        for one in criteria
        if not isinstance(one, KAnonymity | DistinctDiversity | ReleaseCriterion | CellsCriterion)
    ]
    bound = bind(further, audited.published.sensitive)
    scored = with_scores(
        audited.engine,
        audited.tables,
        audited.published,
        audited.counts,
        bound,
        audited.population,
        audited.told,
    )
    least = least_scores(audited.engine, scored, bound)
    return {one.criterion.score: score for one, score in zip(bound, least, strict=True)}


def _answer(
    audited: _Audited, question: _Question, criterion: Criterion, scores: Mapping[Score, int | None]
) -> StrictestValue:
    counts, name = audited.counts, criterion.attribute
    compared = criterion.compares and criterion.by_distribution
    publisher = name in audited.known if name is not None and compared else None
    if isinstance(criterion, KAnonymity):
        return StrictestValue.of(criterion, counts.k)
    if isinstance(criterion, DistinctDiversity):
        return StrictestValue.of(criterion, counts.l[str(name)])
    if not isinstance(criterion, ReleaseCriterion | CellsCriterion):
        return StrictestValue.of(criterion, scores[criterion.score], publisher=publisher)
    try:
        if isinstance(criterion, CellsCriterion):
            score = cells_score(audited.engine, audited.tables, audited.published, criterion)
        else:
            score = release_score(audited.engine, counts.table, criterion)
        return StrictestValue.of(criterion, score)
    except InputError as error:
        return question.answered(_words(error))


def _words(error: InputError) -> str:
    return error.message if error.allowed is None else f"{error.message} (allowed: {error.allowed})"
