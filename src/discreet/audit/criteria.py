"""Further criteria, beside the audit's own k and l: each brings the SQL that counts its score again.

k and l are counted by the audit itself (decision 0005). Of every other criterion the audit knows nothing but
its query, its threshold, and that a class without a score fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import floor
from types import MappingProxyType

from discreet.audit.counts import ClassTotals, PublishedRows
from discreet.audit.population import ShownPopulation, asks_population, matched_people
from discreet.audit.release_criteria import in_cells, in_release
from discreet.audit.whole_table import KnownAttributes, whole_tables
from discreet.engines.base import Engine
from discreet.engines.scratch import TemporaryTables
from discreet.errors import InputError, InternalError
from discreet.model.audit_report import CriterionFinding
from discreet.model.criteria.base import AuditedBy, Bound, Criterion, Need
from discreet.model.criteria.of_cells import CellsCriterion
from discreet.model.criteria.of_release import ReleaseCriterion
from discreet.model.criteria.whole_table import WholeTable
from discreet.sql import verify as sql
from discreet.sql import verify_criteria as by_criteria


def require_auditable(criteria: Iterable[Criterion], *, counts_subjects: bool) -> None:
    """Raise ``InputError`` for a criterion that no audit can count.

    One has no SQL; of another it is not said what its values are where subjects count, who may have several
    rows each: k and l alone say it.
    """
    for criterion in criteria:
        if criterion.audited_by is AuditedBy.NOTHING:
            raise InputError(
                f"{criterion.title} was asked, which no audit can count: it has no SQL for it",
                advice=f"Ask without {criterion.name}, or give it an audit_query and audited_by = SQL.",
            )
        of_rows = criterion.of_attribute or criterion.of_release or criterion.need is not Need.SIZE
        if counts_subjects and of_rows:
            counted = "rows" if criterion.of_release else "the values of rows"
            raise InputError(
                f"{criterion.title} was asked of a table with subjects: it counts {counted}, and a "
                "person may have several rows",
                allowed="k and l, which count subjects",
                advice=f"Ask without {criterion.name}, or name no subject where each row is a person.",
            )


def with_scores(
    engine: Engine,
    tables: TemporaryTables,
    published: PublishedRows,
    counts: ClassTotals,
    bound: Sequence[Bound],
    population: ShownPopulation | None = None,
    known: KnownAttributes = MappingProxyType({}),
) -> ClassTotals:
    """The classes with a column of scores for each criterion of classes (``sql.verify_criteria.score``).

    One of the population has none where ``population`` is not given. ``known`` is what the publisher counted,
    for criteria that compare classes with the whole table (``audit.whole_table``).
    """
    bound = _of_classes(bound)
    if not bound:
        return counts
    classes, members = counts.table, counts.members
    if members is None:
        classes = tables.create(sql.numbered_classes(engine.dialect, counts.table))
        members = _members(engine, tables, published, classes, counts.rows, bound)
    matched = None
    if population is not None and asks_population(bound):
        matched = matched_people(engine, tables, published, classes, population)
    wholes = whole_tables(engine, tables, published, bound, known)

    def scores(one: Bound) -> str:
        query = _query(one, wholes)
        if not one.criterion.of_population:
            return by_criteria.scores(members, one.place, query)
        return (
            by_criteria.no_scores(classes) if matched is None else by_criteria.scores_beside(matched, query)
        )

    queries = list(map(scores, bound))
    return replace(counts, table=tables.create(by_criteria.scored_classes(classes, queries)))


def _query(one: Bound, wholes: Mapping[int, WholeTable]) -> str:
    if one.place is None or not one.criterion.compares:
        return one.criterion.audit_query(by_criteria.ROWS)
    return one.criterion.audit_against(by_criteria.ROWS, wholes[one.place])


def _members(
    engine: Engine,
    tables: TemporaryTables,
    published: PublishedRows,
    classes: str,
    rows: int,
    bound: Sequence[Bound],
) -> str:
    """A table of the published rows by class; ``InternalError`` where not each of them is in one."""
    places = sorted({one.place for one in bound if one.place is not None})
    query = by_criteria.members(published.query, classes, len(published.quasi_identifiers), places)
    members = tables.create(query)
    found = engine.fetch_rows(by_criteria.count_members(members))[0][0]
    if found != rows:
        raise InternalError(
            f"{rows} rows are in classes, but the classes were found for {found} rows",
            advice="Please report this.",
        )
    return members


def tests_of(bound: Sequence[Bound]) -> tuple[str, ...]:
    """The predicates that a class of ``with_scores`` fails each criterion."""
    return tuple(by_criteria.below(i, one.criterion.threshold) for i, one in enumerate(_of_classes(bound)))


def findings(
    engine: Engine,
    tables: TemporaryTables,
    published: PublishedRows,
    counts: ClassTotals,
    bound: Sequence[Bound],
) -> tuple[CriterionFinding, ...]:
    """What was found of each criterion in the classes of ``with_scores``, in the order of ``bound``."""
    of_classes = iter(_in_classes(engine, counts, _of_classes(bound)))

    def found(criterion: Criterion) -> CriterionFinding:
        if isinstance(criterion, CellsCriterion):
            return in_cells(engine, tables, published, counts, criterion)
        if isinstance(criterion, ReleaseCriterion):
            return in_release(engine, counts, criterion)
        return next(of_classes)

    return tuple(found(one.criterion) for one in bound)


def _of_classes(bound: Sequence[Bound]) -> list[Bound]:
    return [one for one in bound if not one.criterion.of_release]


def _in_classes(engine: Engine, counts: ClassTotals, bound: Sequence[Bound]) -> tuple[CriterionFinding, ...]:
    found = []
    for one, (least, failing) in zip(bound, _worst(engine, counts, bound), strict=True):
        value = None if least is None else one.criterion.value_of(least)
        found.append(CriterionFinding(one.criterion, value, failing))
    return tuple(found)


def least_scores(engine: Engine, counts: ClassTotals, bound: Sequence[Bound]) -> list[int | None]:
    """The smallest score of each criterion in the classes of ``with_scores``; None where one has none.

    ``bound`` are criteria of classes alone.
    """
    return [least for least, _ in _worst(engine, counts, bound)]


def _worst(engine: Engine, counts: ClassTotals, bound: Sequence[Bound]) -> list[tuple[int | None, int]]:
    """The smallest score of each criterion, None where a class has none, and the classes that fail it."""
    if not bound:
        return []
    thresholds = [one.criterion.threshold for one in bound]
    numbers = engine.fetch_rows(by_criteria.worst(counts.table, thresholds))[0]
    found = []
    for i in range(0, len(numbers), 3):
        least, failing, without = numbers[i : i + 3]
        found.append((None if without or least is None else floor(least), failing))
    return found
