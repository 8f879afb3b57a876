"""Criteria of the whole release, judged by an audit: on the sizes of the published classes, counted in SQL.

Which classes were suppressed, and by which rule, the audit does not ask: what is published must hold.
"""

from __future__ import annotations

from math import floor, isfinite

from discreet.audit.counts import ClassTotals, PublishedRows, ascending
from discreet.engines.base import Engine
from discreet.engines.scratch import TemporaryTables
from discreet.model.audit_report import CriterionFinding
from discreet.model.criteria.base import AuditedBy, Criterion
from discreet.model.criteria.of_cells import CellsCriterion
from discreet.model.criteria.of_release import SIZES, ReleaseCriterion
from discreet.sql import verify as sql
from discreet.sql import verify_criteria as by_criteria
from discreet.sql.names import identifier


def in_release(engine: Engine, counts: ClassTotals, criterion: ReleaseCriterion) -> CriterionFinding:
    """What was found of a criterion in all published classes together; one without a score fails.

    Where no class is published nothing was asked of any row, and it is met.
    """
    if not counts.classes:
        return CriterionFinding(criterion, None, 0)
    return _found(criterion, release_score(engine, counts.table, criterion))


def in_cells(
    engine: Engine,
    tables: TemporaryTables,
    published: PublishedRows,
    counts: ClassTotals,
    criterion: CellsCriterion,
) -> CriterionFinding:
    """The same of what published classes show together.

    ``InputError`` for a criterion that would take too many queries.
    """
    if not counts.classes:
        return CriterionFinding(criterion, None, 0)
    return _found(criterion, cells_score(engine, tables, published, criterion))


def cells_score(
    engine: Engine, tables: TemporaryTables, published: PublishedRows, criterion: CellsCriterion
) -> int | None:
    """The least score of all groups of published rows; None where a query has none."""
    keys = [sql.key(i) for i in range(len(published.quasi_identifiers))]
    values = [sql.value(i) for i in range(len(published.sensitive))]
    rows = tables.create(by_criteria.shown_rows(published.query, keys, values))
    scores: list[int | None] = []
    for query in criterion.audit_groups(identifier(rows), keys, values):
        scores += engine.fetch_rows(query)[0]
    found = [floor(score) for score in scores if score is not None]
    return min(found) if found and len(found) == len(scores) else None


def _found(criterion: Criterion, score: int | None) -> CriterionFinding:
    value = None if score is None else criterion.value_of(score)
    met = score is not None and score >= criterion.threshold
    return CriterionFinding(criterion, value, 0, met=met)


def release_score(engine: Engine, classes: str, criterion: ReleaseCriterion) -> int | None:
    """The score of all published classes together, counted by the criterion's own means; None without one."""
    if criterion.audited_by is AuditedBy.SCORE:
        return criterion.audit_score(ascending(engine, sql.class_sizes(classes)))
    query = by_criteria.release_score(classes, criterion.audit_query(SIZES))
    found = engine.fetch_rows(query)[0][0]
    return floor(found) if found is not None and isfinite(found) else None
