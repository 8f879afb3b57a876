"""Independent audit of a release's classes: recounted from the file only, and judged.

It shares no counting code with search, frequency set or recoding. The quasi-identifiers are given.
Conventions:

- NULL in a quasi-identifier is a value; NULL and stars are no sensitive values.
- A file without rows passes no requirement. A file with only starred rows passes any, with a warning.
- Without a requirement an audit passes, with a warning.
- A class without a score for a criterion fails it. Criteria of the whole release count only published
  classes.

On request the audit also reports, for every registered criterion, the strictest value that the release
satisfies, or the reason why none can be computed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from discreet.audit.criterion_checks import (
    NO_POPULATION_WARNING,
    GeneralizedPopulation,
    KnownAttributes,
    add_scores,
    collect_findings,
    compute_cells_score,
    compute_release_score,
    failing_predicates,
    fetch_least_scores,
    population_criteria,
    read_published_attribute,
    require_auditable,
    warn_published_distribution,
)
from discreet.audit.recount import (
    ClassTotals,
    PublishedRows,
    SumFactory,
    UnclassedRows,
    add_starred_class,
    count_row_classes,
    count_subjects,
    fetch_sorted_pairs,
    find_unclassed_rows,
)
from discreet.audit.release_warnings import ObservedRelease, observe_release, warn_unchecked_columns
from discreet.engines.base import Engine, SourceTable
from discreet.engines.source_tables import DistinctRows, TemporaryTables, open_source_table
from discreet.errors import InputError
from discreet.model.audit_report import (
    AuditReport,
    CriterionFinding,
    FailingClass,
    StrictestValue,
    parameter_variants,
)
from discreet.model.coded_warnings import CodedWarning, homogeneous_groups_warning
from discreet.model.criteria.base import AuditedBy, Criterion, ScoreKey, bind_criteria
from discreet.model.criteria.distinct_diversity import DistinctDiversity
from discreet.model.criteria.k_anonymity import KAnonymity
from discreet.model.criteria.registry import CRITERIA
from discreet.model.criteria.release_level import CellsCriterion, ReleaseCriterion
from discreet.model.criterion_inputs import FEATURE_NAMES, AttributeFeature, has_feature
from discreet.model.requirement import Requirement
from discreet.model.table_spec import SourceSpec
from discreet.sql import audit_classes as sql

_NO_CLASS = "there is no class"
_NO_ATTRIBUTE = "needs a sensitive attribute"
_NO_SQL = "has no SQL for an audit"
_NO_POPULATION = "needs the population, which the publisher's --spec may name"
_TOO_SLOW = "takes long for this many classes and values: request it separately"

MAX_QUERY_LINES = 5_000_000
"""Limit of the lines of a criterion's SQL, unless there are more rows; above it, it runs only on request."""


@dataclass(frozen=True)
class _CriterionVariant:
    """Criterion type with its fixed parameters and its sensitive attribute; None for a criterion of none."""

    kind: type[Criterion]
    attribute: str | None
    parts: Mapping[str, Any]

    def without_value(self, reason: str) -> StrictestValue:
        """Return the result without a value, with the reason."""
        return StrictestValue(self.kind, self.attribute, self.parts, reason=reason)


@dataclass(frozen=True)
class _AuditedRelease:
    """Opened release and its classes of rows, without scores.

    ``known`` is the publisher's count of sensitive attributes; ``attributes`` also has every other one, as
    counted from the published rows. ``sizes`` is the number of classes of each size.
    """

    engine: Engine
    tables: TemporaryTables
    published: PublishedRows
    counts: ClassTotals
    population: GeneralizedPopulation | None
    known: KnownAttributes
    attributes: KnownAttributes
    sizes: Mapping[int, int]


def compute_achieved_values(
    engine: Engine,
    tables: TemporaryTables,
    published: PublishedRows,
    counts: ClassTotals,
    population: GeneralizedPopulation | None,
    known: KnownAttributes,
) -> tuple[StrictestValue, ...]:
    """Compute the strictest value of each criterion, k and l first; ``counts`` are unscored classes of rows.

    ``population`` and ``known`` are as in ``audit.class_audit.audit_source``.
    """
    attributes = dict(known)
    for index, name in enumerate(published.sensitive):
        if name not in attributes and counts.classes:
            attributes[name] = read_published_attribute(engine, published, index)
    sizes = fetch_sorted_pairs(engine, sql.class_size_counts(counts.table))
    audited = _AuditedRelease(engine, tables, published, counts, population, known, attributes, sizes)
    questions = list(_variants(published.sensitive))
    bound_criteria = [_create_criterion(audited, question) for question in questions]
    scores = _score_classes(audited, [one for one in bound_criteria if isinstance(one, Criterion)])
    return tuple(
        question.without_value(one)
        if isinstance(one, str)
        else _achieved_value(audited, question, one, scores)
        for question, one in zip(questions, bound_criteria, strict=True)
    )


def _variants(sensitive: Sequence[str]) -> Iterator[_CriterionVariant]:
    for kind in CRITERIA:
        names: Sequence[str | None] = sensitive if kind.of_attribute else ()
        for name in names or (None,):
            for parts in parameter_variants(kind):
                yield _CriterionVariant(kind, name, parts)


def _create_criterion(audited: _AuditedRelease, question: _CriterionVariant) -> Criterion | str:
    """Create a criterion to score, with any value; return a reason where it cannot be scored."""
    if question.kind.of_attribute and question.attribute is None:
        return _NO_ATTRIBUTE
    if not audited.counts.classes:
        return _NO_CLASS
    try:
        criterion = question.kind(question.kind.floor, question.attribute, **question.parts)
    except InputError as error:
        return _error_text(error)
    if criterion.of_every_attribute and not audited.published.sensitive:
        return _NO_ATTRIBUTE
    if criterion.audited_by is AuditedBy.NOTHING:
        return _NO_SQL
    if criterion.of_population and audited.population is None:
        return _NO_POPULATION
    name, feature = criterion.attribute, criterion.required_feature
    if name is None:
        return criterion
    if feature is None or has_feature(feature, audited.attributes[name]):
        lines = criterion.audit_lines(audited.sizes, len(audited.attributes[name].values))
        return _TOO_SLOW if lines > max(MAX_QUERY_LINES, audited.counts.rows) else criterion
    hint = (
        ""
        if feature is AttributeFeature.NUMBERS or name in audited.known
        else ", which the publisher's --spec may have"
    )
    return f"needs {FEATURE_NAMES[feature]}{hint}"


def _score_classes(audited: _AuditedRelease, criteria: Sequence[Criterion]) -> dict[ScoreKey, int | None]:
    """Return the smallest score in any class, None where a class has none; k and l are not counted again."""
    further = [
        one
        for one in criteria
        if not isinstance(one, KAnonymity | DistinctDiversity | ReleaseCriterion | CellsCriterion)
    ]
    bound = bind_criteria(further, audited.published.sensitive)
    scored = add_scores(
        audited.engine,
        audited.tables,
        audited.published,
        audited.counts,
        bound,
        audited.population,
        audited.attributes,
    )
    least = fetch_least_scores(audited.engine, scored, bound)
    return {one.criterion.score: score for one, score in zip(bound, least, strict=True)}


def _achieved_value(
    audited: _AuditedRelease,
    question: _CriterionVariant,
    criterion: Criterion,
    scores: Mapping[ScoreKey, int | None],
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
            score = compute_cells_score(audited.engine, audited.tables, audited.published, criterion)
        else:
            score = compute_release_score(audited.engine, counts.table, criterion)
        return StrictestValue.of(criterion, score)
    except InputError as error:
        return question.without_value(_error_text(error))


def _error_text(error: InputError) -> str:
    return error.message if error.allowed is None else f"{error.message} (allowed: {error.allowed})"


LISTED_CLASSES = 100


def audit_source(
    engine: Engine,
    source: SourceSpec,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    requirement: Requirement,
    subjects: SourceSpec | None = None,
    subject: str | None = None,
    population: GeneralizedPopulation | None = None,
    starred_apart: bool = True,
    row_sum: SumFactory | None = None,
    known: KnownAttributes = MappingProxyType({}),
    strictest: bool = False,
    digest: bool = False,
    in_order: bool = False,
    pseudonymized: Sequence[str] = (),
    suppressed: int | None = None,
    foreign: bool = False,
    real_values: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> AuditReport:
    """Count the classes of a release, a file or a table that ``engine`` reads, and judge ``requirement``.

    Parameters
    ----------
    subjects
        Witness file of the rows' subjects: columns of the quasi-identifiers and sensitive attributes, the
        subject, and whether the row is starred. Class sizes and l are then counted in subjects; other rows
        than the release's raise ``InternalError``.
    subject
        Column of the release that identifies subjects, instead of such a file. With subjects, a criterion
        that counts the values of rows raises ``InputError``.
    population
        People among whom those of the release are. Without them a criterion of the population fails, with a
        warning.
    row_sum
        Sum over all rows, computed in a scan that counting needs anyway, and checked before judging.
    known
        The publisher's count of sensitive attributes, for criteria that compare classes with the whole table;
        others are counted from the release (``audit.criterion_checks``).
    strictest
        Compute the strictest value of every other criterion of classes of rows, too.
    digest
        Compute the SHA-256 of the rows, whatever their order.
    in_order
        The rows are sorted by quasi-identifiers and then by the other cells, which makes the digest faster.
    pseudonymized
        Columns with pseudonymized or masked identifiers.
    suppressed
        Number of starred rows that are suppressed, where known; others are people (``audit.recount``).
    foreign
        Another program wrote the release: rows without any quasi-identifier are set apart.
    real_values
        Texts by column that are no marks for missing values.
    """
    witness = subjects if subject is None else subject
    keys, values = _check_columns(quasi_identifiers, sensitive)
    thresholds, further = requirement.l_of(values), bind_criteria(requirement.others, values)
    require_auditable(requirement.others, counts_subjects=witness is not None)
    with open_source_table(engine, source) as table, TemporaryTables(engine) as tables:
        in_one_pass = in_order and not (witness or starred_apart) and _has_key_value_rows(table, keys, values)
        distinct = _load_distinct_rows(engine, tables, table, in_one_pass=in_one_pass) if digest else None
        among = None if witness else distinct
        published = PublishedRows.of(
            table, keys, values, row_sum, starred_apart=starred_apart, distinct=among, foreign=foreign
        )
        counts = _count_classes(engine, tables, published, witness, thresholds, scored=bool(further))
        sha256 = _rows_digest(distinct, counts)
        apart = find_unclassed_rows(engine, published, counts) if foreign else UnclassedRows()
        achieved: tuple[StrictestValue, ...] = ()
        if strictest and witness is None:
            achieved = compute_achieved_values(engine, tables, published, counts, population, known)
        counts = add_scores(engine, tables, published, counts, further, population, known)
        found = collect_findings(engine, tables, published, counts, further)
        predicate = sql.failing_class_predicate(requirement.k, thresholds, failing_predicates(further))
        report = replace(
            _build_report(engine, counts, predicate, keys, found, requirement),
            class_rows=None
            if witness is None
            else fetch_sorted_pairs(engine, sql.class_row_counts(counts.table)),
            required_l={name: l for name, l in zip(values, thresholds, strict=True) if l is not None},
            warnings=(
                *_homogeneity_warnings(engine, counts),
                *_warnings(requirement, counts),
                *apart.warnings,
                *_population_warnings(population_criteria(further), population),
                *_observe(engine, published, (*pseudonymized, subject), requirement, counts, real_values),
                *warn_published_distribution(further, values, known),
            ),
            strictest=achieved,
            sha256=sha256,
        )
    report = apart.exclude_from(report) if apart.rows else report
    return report if suppressed is None else add_starred_class(report, suppressed)


def _build_report(
    engine: Engine,
    counts: ClassTotals,
    predicate: str,
    keys: Sequence[str],
    findings: Sequence[CriterionFinding],
    requirement: Requirement,
) -> AuditReport:
    """Build the report from the figures of all classes and of those that a predicate selects as failing."""
    failing_classes = engine.fetch_rows(sql.count_classes(counts.table, predicate))[0][0]
    return AuditReport(
        passed=requirement.is_empty or _passed(counts, failing_classes, findings),
        rows=counts.rows,
        classes=counts.classes,
        k=counts.k,
        l=counts.l,
        starred=counts.starred,
        failing=_list_failing_classes(engine, counts, predicate, keys) if failing_classes else (),
        failing_classes=failing_classes,
        class_sizes=fetch_sorted_pairs(engine, sql.class_size_counts(counts.table)),
        suppressed=counts.starred,
        required_k=requirement.k,
        criteria=tuple(findings),
    )


def _observe(
    engine: Engine,
    published: PublishedRows,
    pseudonymized: Sequence[str | None],
    requirement: Requirement,
    counts: ClassTotals,
    real_values: Mapping[str, Collection[str]],
) -> tuple[str, ...]:
    """Return warnings about columns that no criterion reads, and observations."""
    instead = tuple(dict.fromkeys(name for name in pseudonymized if name is not None))
    named = {*published.quasi_identifiers, *published.sensitive, *instead}
    release = ObservedRelease(
        table=published.table,
        quasi_identifiers=published.quasi_identifiers,
        sensitive=published.sensitive,
        others=tuple(name for name in published.table.columns if name not in named),
        pseudonymized=instead,
        requirement=requirement,
        rows=counts.rows,
        starred=counts.starred,
        starred_apart=published.starred_apart,
        classes=counts.table,
        real_values=real_values,
        values=dict(zip(published.sensitive, counts.values, strict=False)),
    )
    return (*warn_unchecked_columns(release.others), *observe_release(engine, release))


def _load_distinct_rows(
    engine: Engine, tables: TemporaryTables, table: SourceTable, *, in_one_pass: bool
) -> DistinctRows:
    """Load the distinct rows; with ``in_one_pass``, one sorted grouping gives classes and digest together."""
    found = DistinctRows.from_sorted_rows(engine, table) if in_one_pass else None
    return DistinctRows.of(engine, tables, table) if found is None else found


def _count_classes(
    engine: Engine,
    tables: TemporaryTables,
    published: PublishedRows,
    witness: SourceSpec | str | None,
    thresholds: Sequence[int | None],
    *,
    scored: bool,
) -> ClassTotals:
    """Count the classes by rows, or by the subjects of a witness or a column."""
    if witness is None:
        return count_row_classes(engine, tables, published)
    return count_subjects(engine, tables, published, witness, thresholds, scored=scored)


def _rows_digest(distinct: DistinctRows | None, counts: ClassTotals) -> str | None:
    """Return the SHA-256 of the rows if distinct rows were loaded; classes may already have their lines."""
    if distinct is None:
        return None
    return distinct.digest(None if distinct.lines is None else sql.class_lines(counts.table))


def _has_key_value_rows(table: SourceTable, keys: Sequence[str], values: Sequence[str]) -> bool:
    """Return true if the columns are quasi-identifiers, then one sensitive attribute, and no others."""
    return len(values) == 1 and table.columns[-1] == values[0] and {*keys} == {*table.columns[:-1]}


def _passed(counts: ClassTotals, failing_classes: int, findings: Sequence[CriterionFinding]) -> bool:
    """Return true if there was something to check and nothing failed."""
    something = counts.classes > 0 or counts.starred > 0
    return failing_classes == 0 and something and all(each.passed for each in findings)


def _check_columns(
    quasi_identifiers: Sequence[str], sensitive: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    keys, values = tuple(dict.fromkeys(quasi_identifiers)), tuple(dict.fromkeys(sensitive))
    if not keys:
        raise InputError(
            "no quasi-identifier was named, so there are no classes to count",
            advice="Name the columns that an attacker may know, each by --quasi-identifier COLUMN.",
        )
    both = [name for name in keys if name in values]
    if both:
        raise InputError(
            f"'{both[0]}' is named both as a quasi-identifier and as sensitive", allowed="one role"
        )
    return keys, values


def _list_failing_classes(
    engine: Engine, counts: ClassTotals, predicate: str, keys: Sequence[str]
) -> tuple[FailingClass, ...]:
    found = engine.fetch_rows(
        sql.list_classes(engine.dialect, counts.table, predicate, len(keys), LISTED_CLASSES)
    )
    return tuple(FailingClass(dict(zip(keys, values, strict=True)), rows) for rows, *values in found)


def _warnings(requirement: Requirement, counts: ClassTotals) -> tuple[str, ...]:
    warnings = []
    if requirement.is_empty:
        warnings.append("No criterion was required, so nothing was tested.")
    if counts.classes == 0 and counts.starred == 0:
        warnings.append("The file has no rows: there was nothing to check.")
    elif counts.classes == 0:
        warnings.append("Every row is starred: no row was left to check.")
    return tuple(warnings)


def _homogeneity_warnings(engine: Engine, counts: ClassTotals) -> tuple[CodedWarning, ...]:
    """Warn of classes in which all people have the same sensitive value."""
    if not counts.classes or all(distinct > 1 for distinct in counts.l.values()):
        return ()
    found = engine.fetch_rows(sql.homogeneous_class_counts(counts.table, len(counts.l)))[0]
    counted = zip(counts.l, found, strict=True)
    return tuple(
        homogeneous_groups_warning(name, int(alike), counts.classes) for name, alike in counted if alike
    )


def _population_warnings(
    requested: Sequence[str], population: GeneralizedPopulation | None
) -> tuple[str, ...]:
    return (NO_POPULATION_WARNING.format(", ".join(requested)),) if requested and population is None else ()
