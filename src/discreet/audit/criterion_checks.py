"""Scores of criteria other than k and l, recounted by each criterion's own SQL.

The audit knows only a criterion's query and threshold, and that a class without a score fails (decision
0005). There are three kinds: per class, per release (from the sizes of the published classes), and per
combination of cells. Criteria that compare with the whole table use the publisher's distribution, or that of
the published rows. Criteria of the population need its rows generalized to the release's levels; without them
they fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor, isfinite
from types import MappingProxyType

import numpy as np

from discreet.audit.recount import ClassTotals, PublishedRows, fetch_sorted_pairs
from discreet.engines.base import Engine
from discreet.engines.source_tables import TemporaryTables, open_source_table
from discreet.errors import InputError, InternalError
from discreet.model.audit_report import CriterionFinding
from discreet.model.criteria.base import AuditedBy, BoundCriterion, Criterion, Need
from discreet.model.criteria.release_level import AUDITED_SIZES, CellsCriterion, ReleaseCriterion
from discreet.model.criterion_inputs import (
    AttributeFeature,
    ReferenceTable,
    SensitiveAttribute,
    require_feature,
)
from discreet.model.table_spec import SourceSpec
from discreet.sql import audit_classes as sql
from discreet.sql import audit_criteria as by_criteria
from discreet.sql import audit_criteria as population_sql
from discreet.sql.quoting import identifier

NO_POPULATION_WARNING = "No population was given, so {} could not be judged."


@dataclass(frozen=True)
class GeneralizedPopulation:
    """Population generalized like a release: source of its rows, and quasi-identifier of each column.

    ``columns`` are the quasi-identifiers in the order of the source's columns. ``suppressed`` is the number
    of the table's rows that the release lacks, of people who match none of its classes.
    """

    source: SourceSpec
    columns: tuple[str, ...]
    suppressed: int


def population_criteria(bound: Sequence[BoundCriterion]) -> tuple[str, ...]:
    """Return the names of the criteria that need the population."""
    return tuple(dict.fromkeys(one.criterion.name for one in bound if one.criterion.of_population))


def match_people(
    engine: Engine,
    tables: TemporaryTables,
    published: PublishedRows,
    classes: str,
    generalized: GeneralizedPopulation,
) -> str:
    """Create a table with one line per class (``sql.audit_criteria.population_rows``).

    ``classes`` is a table of numbered classes. Raise ``InputError`` for a population without one of the
    columns.
    """
    lacking = [name for name in published.quasi_identifiers if name not in generalized.columns]
    with open_source_table(engine, generalized.source) as table:
        if lacking or len(table.columns) != len(generalized.columns):
            missing = f"'{lacking[0]}'" if lacking else f"{len(generalized.columns)} columns"
            raise InputError(f"the population lacks {missing}", allowed="every quasi-identifier")
        texts = [
            table.text(table.columns[generalized.columns.index(name)]) for name in published.quasi_identifiers
        ]
        people = tables.create(population_sql.population_counts(table.relation, texts))
    found = tables.create(population_sql.class_people(people, classes, len(published.quasi_identifiers)))
    everybody, matching = engine.fetch_rows(population_sql.population_totals(people, found))[0]
    return tables.create(
        population_sql.population_rows(found, int(everybody) - int(matching), generalized.suppressed)
    )


KnownAttributes = Mapping[str, SensitiveAttribute]
"""Publisher's counts of sensitive attributes, by name."""


def load_whole_tables(
    engine: Engine,
    tables: TemporaryTables,
    published: PublishedRows,
    bound: Sequence[BoundCriterion],
    known: KnownAttributes,
) -> dict[int, ReferenceTable]:
    """Load the relations of whole tables that comparing criteria read, by the attribute's index.

    Raise ``InputError`` for a criterion that needs an unknown property of its attribute.
    """
    result: dict[int, ReferenceTable] = {}
    reported = dict(known)
    for one in bound:
        if one.index is None or not one.criterion.compares:
            continue
        name = published.sensitive[one.index]
        if name not in reported:
            reported[name] = read_published_attribute(engine, published, one.index)
        attribute = reported[name]
        _require_known_attribute(one, name, attribute, from_publisher=name in known)
        if one.index not in result:
            result[one.index] = _load_whole_table(tables, attribute)
    return result


def warn_published_distribution(
    bound: Sequence[BoundCriterion], sensitive: Sequence[str], known: KnownAttributes
) -> list[str]:
    """Return a warning for each criterion that was compared with the published rows instead of the input."""
    return [
        f"{one.criterion.label} compares classes with the whole table. The publisher's distribution is "
        "unknown, so the distribution of the published rows is used; it differs if rows are suppressed."
        for one in bound
        if one.index is not None
        and one.criterion.compares
        and one.criterion.by_distribution
        and sensitive[one.index] not in known
    ]


def _require_known_attribute(
    one: BoundCriterion, name: str, attribute: SensitiveAttribute, *, from_publisher: bool
) -> None:
    feature = one.criterion.required_feature
    unordered = feature is AttributeFeature.ORDER and bool(attribute.values) and not attribute.ordered
    if not from_publisher and (feature is AttributeFeature.HIERARCHY or unordered):
        what = "the hierarchy" if feature is AttributeFeature.HIERARCHY else "an order"
        raise InputError(
            f"{one.criterion} needs {what} of '{name}', which the release does not contain",
            advice="Name the publisher's spec, too: --spec discreet.toml.",
        )
    require_feature(str(one.criterion), one.criterion.required_feature, name, attribute)


def read_published_attribute(engine: Engine, published: PublishedRows, index: int) -> SensitiveAttribute:
    """Count the sensitive attribute at an index from the published rows, without starred rows."""
    found = sorted(engine.fetch_rows(by_criteria.rows_by_value(published.query, index)))
    rows = np.array([int(rows) for _, rows in found], dtype=np.int64)
    return SensitiveAttribute.of([str(value) for value, _ in found], rows)


def _load_whole_table(tables: TemporaryTables, attribute: SensitiveAttribute) -> ReferenceTable:
    """Load the two relations as tables; numbers are 0 where the values are not numeric and not used."""
    count = len(attribute.values)
    numbers, millionths = attribute.numbers, attribute.millionths
    values = tables.load(
        {
            "value": list(attribute.values),
            "held": attribute.rows,
            "place": attribute.ranks,
            "number": np.zeros(count) if numbers is None else numbers,
            "millionths": np.zeros(count, np.int64) if millionths is None else millionths,
        }
    )
    levels = np.zeros((1, 0), np.int64) if attribute.levels is None else attribute.levels
    below = levels[:-1]
    texts = list(attribute.values) * len(below)
    parts = tables.load(
        {
            "value": texts,
            "level": np.repeat(np.arange(len(below)), below.shape[1]),
            "part": below.ravel(),
        }
    )
    return ReferenceTable(
        identifier(values), identifier(parts), None if attribute.levels is None else len(below)
    )


def check_release_criterion(
    engine: Engine, counts: ClassTotals, criterion: ReleaseCriterion
) -> CriterionFinding:
    """Check a criterion on all published classes together; without a score it fails.

    Without published classes the criterion is met.
    """
    if not counts.classes:
        return CriterionFinding(criterion, None, 0)
    return _finding_of_score(criterion, compute_release_score(engine, counts.table, criterion))


def check_cells_criterion(
    engine: Engine,
    tables: TemporaryTables,
    published: PublishedRows,
    counts: ClassTotals,
    criterion: CellsCriterion,
) -> CriterionFinding:
    """Check a criterion on the cells of published classes together.

    Raise ``InputError`` for a criterion that would take too many queries.
    """
    if not counts.classes:
        return CriterionFinding(criterion, None, 0)
    return _finding_of_score(criterion, compute_cells_score(engine, tables, published, criterion))


def compute_cells_score(
    engine: Engine, tables: TemporaryTables, published: PublishedRows, criterion: CellsCriterion
) -> int | None:
    """Return the least score of all groups of published rows; None where a query has none."""
    keys = [sql.key(i) for i in range(len(published.quasi_identifiers))]
    values = [sql.value(i) for i in range(len(published.sensitive))]
    rows = tables.create(by_criteria.distinct_published_rows(published.query, keys, values))
    scores: list[int | None] = []
    for query in criterion.audit_groups(identifier(rows), keys, values):
        scores += engine.fetch_rows(query)[0]
    found = [floor(score) for score in scores if score is not None]
    return min(found) if found and len(found) == len(scores) else None


def _finding_of_score(criterion: Criterion, score: int | None) -> CriterionFinding:
    value = None if score is None else criterion.value_of(score)
    met = score is not None and score >= criterion.threshold
    return CriterionFinding(criterion, value, 0, met=met)


def compute_release_score(engine: Engine, classes: str, criterion: ReleaseCriterion) -> int | None:
    """Compute the criterion's own score of all published classes together; None without a score."""
    if criterion.audited_by is AuditedBy.SCORE:
        return criterion.audit_score(fetch_sorted_pairs(engine, sql.class_size_counts(classes)))
    query = by_criteria.release_score_query(classes, criterion.audit_query(AUDITED_SIZES))
    found = engine.fetch_rows(query)[0][0]
    return floor(found) if found is not None and isfinite(found) else None


def require_auditable(criteria: Iterable[Criterion], *, counts_subjects: bool) -> None:
    """Raise ``InputError`` for a criterion that no audit can count.

    Such a criterion has no SQL, or has no definition of its values where subjects with several rows count;
    only k and l have one.
    """
    for criterion in criteria:
        if criterion.audited_by is AuditedBy.NOTHING:
            raise InputError(
                f"{criterion.title} cannot be audited: it has no SQL",
                advice=f"Leave out {criterion.name}, or give it an audit_query and audited_by = SQL.",
            )
        of_rows = criterion.of_attribute or criterion.of_release or criterion.need is not Need.SIZE
        if counts_subjects and of_rows:
            counted = "rows" if criterion.of_release else "the values of rows"
            raise InputError(
                f"{criterion.title} does not support subjects: it counts {counted}, and a person may have "
                "several rows",
                allowed="k and l, which count subjects",
                advice=f"Leave out {criterion.name}, or name no subject where each row is a person.",
            )


def add_scores(
    engine: Engine,
    tables: TemporaryTables,
    published: PublishedRows,
    counts: ClassTotals,
    bound: Sequence[BoundCriterion],
    population: GeneralizedPopulation | None = None,
    known: KnownAttributes = MappingProxyType({}),
) -> ClassTotals:
    """Return the classes with a column of scores per criterion (``sql.audit_criteria.scored_classes``).

    A criterion of the population has no score without ``population``. ``known`` is the publisher's count, for
    criteria that compare classes with the whole table (``audit.criterion_checks``).
    """
    bound = _class_criteria(bound)
    if not bound:
        return counts
    classes, members = counts.table, counts.members
    if members is None:
        classes = tables.create(sql.numbered_classes(engine.dialect, counts.table))
        members = _class_members(engine, tables, published, classes, counts.rows, bound)
    matched = None
    if population is not None and population_criteria(bound):
        matched = match_people(engine, tables, published, classes, population)
    wholes = load_whole_tables(engine, tables, published, bound, known)

    def scores(one: BoundCriterion) -> str:
        query = _score_query(one, wholes)
        if not one.criterion.of_population:
            return by_criteria.class_scores_query(members, one.index, query)
        return (
            by_criteria.no_scores(classes)
            if matched is None
            else by_criteria.population_scores(matched, query)
        )

    queries = list(map(scores, bound))
    return replace(counts, table=tables.create(by_criteria.scored_classes(classes, queries)))


def _score_query(one: BoundCriterion, wholes: Mapping[int, ReferenceTable]) -> str:
    if one.index is None or not one.criterion.compares:
        return one.criterion.audit_query(by_criteria.AUDITED_ROWS)
    return one.criterion.audit_against(by_criteria.AUDITED_ROWS, wholes[one.index])


def _class_members(
    engine: Engine,
    tables: TemporaryTables,
    published: PublishedRows,
    classes: str,
    rows: int,
    bound: Sequence[BoundCriterion],
) -> str:
    """Create a table of the published rows by class; raise ``InternalError`` unless each row is in one."""
    places = sorted({one.index for one in bound if one.index is not None})
    query = by_criteria.members(published.query, classes, len(published.quasi_identifiers), places)
    members = tables.create(query)
    found = engine.fetch_rows(by_criteria.count_members(members))[0][0]
    if found != rows:
        raise InternalError(
            f"{rows} rows are in classes, but the classes were found for {found} rows",
            advice="Please report this.",
        )
    return members


def failing_predicates(bound: Sequence[BoundCriterion]) -> tuple[str, ...]:
    """Return the predicates that a class of ``add_scores`` fails each criterion."""
    return tuple(
        by_criteria.below_threshold(i, one.criterion.threshold)
        for i, one in enumerate(_class_criteria(bound))
    )


def collect_findings(
    engine: Engine,
    tables: TemporaryTables,
    published: PublishedRows,
    counts: ClassTotals,
    bound: Sequence[BoundCriterion],
) -> tuple[CriterionFinding, ...]:
    """Collect the finding of each criterion in the classes of ``add_scores``, in the order of ``bound``."""
    of_classes = iter(_class_findings(engine, counts, _class_criteria(bound)))

    def build_finding(criterion: Criterion) -> CriterionFinding:
        if isinstance(criterion, CellsCriterion):
            return check_cells_criterion(engine, tables, published, counts, criterion)
        if isinstance(criterion, ReleaseCriterion):
            return check_release_criterion(engine, counts, criterion)
        return next(of_classes)

    return tuple(build_finding(one.criterion) for one in bound)


def _class_criteria(bound: Sequence[BoundCriterion]) -> list[BoundCriterion]:
    return [one for one in bound if not one.criterion.of_release]


def _class_findings(
    engine: Engine, counts: ClassTotals, bound: Sequence[BoundCriterion]
) -> tuple[CriterionFinding, ...]:
    found = []
    for one, (least, failing) in zip(bound, _fetch_worst_scores(engine, counts, bound), strict=True):
        value = None if least is None else one.criterion.value_of(least)
        found.append(CriterionFinding(one.criterion, value, failing))
    return tuple(found)


def fetch_least_scores(
    engine: Engine, counts: ClassTotals, bound: Sequence[BoundCriterion]
) -> list[int | None]:
    """Return the smallest score of each criterion in the classes of ``add_scores``; None where one has none.

    ``bound`` contains only criteria of classes.
    """
    return [least for least, _ in _fetch_worst_scores(engine, counts, bound)]


def _fetch_worst_scores(
    engine: Engine, counts: ClassTotals, bound: Sequence[BoundCriterion]
) -> list[tuple[int | None, int]]:
    """Return the smallest score of each criterion, None if a class has none, and its failing classes."""
    if not bound:
        return []
    thresholds = [one.criterion.threshold for one in bound]
    numbers = engine.fetch_rows(by_criteria.worst_scores(counts.table, thresholds))[0]
    result = []
    for i in range(0, len(numbers), 3):
        least, failing, without = numbers[i : i + 3]
        result.append((None if without or least is None else floor(least), failing))
    return result
