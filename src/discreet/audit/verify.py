"""The independent check of a release, a file or a table: its classes, counted again from it alone.

The audit knows the file and the names of its columns. It shares no counting code with the search, the
frequency set or the recoding; that the numbers agree is therefore evidence. What it says is said of this
file: which columns are quasi-identifiers is taken as given, and no audit can know what else an attacker
knows (see docs/audit.md).

Decisions where the definitions are silent:

- NULL in a quasi-identifier is a value like any other; NULL is no sensitive value, and neither are stars.
- A file without rows passes no requirement: there was nothing to check.
- A file in which every row is starred passes any requirement, with a warning: no row says anything.
- Without a requirement an audit passes, with a warning: nothing was asked.
- A class for which a criterion's query has no score fails that criterion.
- A criterion of the whole release is judged on the published classes together; starred rows are none.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from discreet.audit.counts import Along, ClassTotals, PublishedRows, ascending, count_rows
from discreet.audit.criteria import findings, require_auditable, tests_of, with_scores
from discreet.audit.observations import ObservedRelease, observations
from discreet.audit.population import NOT_TOLD, ShownPopulation, asks_population
from discreet.audit.starred_rows import RowsApart, rows_apart, with_people_of_stars
from discreet.audit.strictest import strictest_values
from discreet.audit.subjects import count_subjects
from discreet.audit.whole_table import KnownAttributes, compared_with_release
from discreet.engines.base import Engine, SourceTable
from discreet.engines.distinct_rows import DistinctRows
from discreet.engines.scratch import TemporaryTables, opened
from discreet.errors import InputError
from discreet.model.audit_report import AuditReport, CriterionFinding, FailingClass
from discreet.model.coded_warning import INSENSITIVE_PUBLISHED, CodedWarning
from discreet.model.criteria.base import bind
from discreet.model.group_warnings import alike_groups
from discreet.model.requirement import Requirement
from discreet.model.table_spec import SourceSpec
from discreet.sql import verify as sql

LISTED = 100


def audit_file(
    engine: Engine,
    path: Path,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    requirement: Requirement,
    subjects: Path | None = None,
    file_format: str | None = None,
    delimiter: str | None = None,
    starred_apart: bool = True,
) -> AuditReport:
    """Count the classes of a CSV, TSV or Parquet file and judge ``requirement``.

    ``file_format`` and ``delimiter`` are taken from the file where None. Rows of which every cell is ``*``
    are counted apart; ``starred_apart`` False counts them as a class, for a file known to have no starred
    rows. ``subjects`` is a Parquet file of the rows' subjects (columns: those of ``quasi_identifiers`` and
    ``sensitive``, the subject, whether the row is starred); class sizes and l are then counted in subjects,
    and rows that the file does not have make it an ``InternalError``.

    Raises ``InputError`` for a file that cannot be read, a column that it does not have, or no
    quasi-identifier at all.
    """
    witness = None if subjects is None else SourceSpec(path=subjects, format="parquet")
    return audit_source(
        engine,
        SourceSpec(path=path, format=file_format, delimiter=delimiter),
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        requirement=requirement,
        subjects=witness,
        starred_apart=starred_apart,
    )


def audit_source(
    engine: Engine,
    source: SourceSpec,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    requirement: Requirement,
    subjects: SourceSpec | None = None,
    subject: str | None = None,
    population: ShownPopulation | None = None,
    starred_apart: bool = True,
    along: Along | None = None,
    known: KnownAttributes = MappingProxyType({}),
    strictest: bool = False,
    digest: bool = False,
    in_order: bool = False,
    replaced: Sequence[str] = (),
    suppressed: int | None = None,
    foreign: bool = False,
    real_values: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> AuditReport:
    """Count the classes of a release, a file or a table that ``engine`` reads, and judge ``requirement``.

    As ``audit_file``; ``subjects`` lies where the same engine reads it, ``subject`` is a column of the
    release that tells subjects apart, in the place of such a file, and a criterion that counts the values of
    rows is an ``InputError`` with them. ``population`` are the people among whom those of the release are;
    without them a criterion of the population fails, with a warning. ``along`` is added up over all rows in a
    scan that counting needs anyway, and checked before anything is judged. ``known`` is the publisher's count
    of sensitive attributes, for criteria that compare classes with the whole table; what it does not tell
    comes from the release (``audit.whole_table``). ``strictest`` tells every other criterion of classes of
    rows (``audit.strictest``). ``digest`` asks for the SHA-256 of the rows, whatever their order; where they
    lie ``in_order``, by their quasi-identifiers and then by their other cells, it is faster. In columns of
    ``replaced`` something stands in the place of identifiers: they are not as they were. Of the starred rows
    so many are ``suppressed``, where that is known; others are people (``audit.starred_rows``). Of a
    ``foreign`` file, rows without any quasi-identifier are set apart. ``real_values`` are texts by column
    that are no marks for missing values.
    """
    witness = subjects if subject is None else subject
    keys, values = _names(quasi_identifiers, sensitive)
    thresholds, further = requirement.l_of(values), bind(requirement.others, values)
    require_auditable(requirement.others, counts_subjects=witness is not None)
    with opened(engine, source) as table, TemporaryTables(engine) as tables:
        told_once = in_order and not (witness or starred_apart) and _pairs(table, keys, values)
        distinct = _distinct(engine, tables, table, told_once=told_once) if digest else None
        among = None if witness else distinct
        published = PublishedRows.of(
            table, keys, values, along, starred_apart=starred_apart, distinct=among, foreign=foreign
        )
        counts = _counted(engine, tables, published, witness, thresholds, scored=bool(further))
        sha256 = _digest(distinct, counts)
        apart = rows_apart(engine, published, counts) if foreign else RowsApart()
        wanted = strictest and witness is None
        told = strictest_values(engine, tables, published, counts, population, known) if wanted else ()
        counts = with_scores(engine, tables, published, counts, further, population, known)
        found = findings(engine, tables, published, counts, further)
        predicate = sql.failing(requirement.k, thresholds, tests_of(further))
        report = replace(
            _report(engine, counts, predicate, keys, found, requirement),
            class_rows=None if witness is None else ascending(engine, sql.class_rows(counts.table)),
            required_l=_required_l(values, thresholds),
            warnings=(
                *_alike(engine, counts),
                *_warnings(requirement, counts),
                *apart.warnings,
                *_not_told(asks_population(further), population),
                *_observed(engine, published, (*replaced, subject), requirement, counts, real_values),
                *compared_with_release(further, values, known),
            ),
            strictest=told,
            sha256=sha256,
        )
    report = apart.left_out_of(report) if apart.rows else report
    return report if suppressed is None else with_people_of_stars(report, suppressed)


def _report(
    engine: Engine,
    counts: ClassTotals,
    predicate: str,
    keys: Sequence[str],
    found: Sequence[CriterionFinding],
    requirement: Requirement,
) -> AuditReport:
    """What a requirement is judged by: the figures of all classes, and those that a predicate says fail."""
    failing_classes = engine.fetch_rows(sql.count_classes(counts.table, predicate))[0][0]
    return AuditReport(
        passed=requirement.is_empty or _passed(counts, failing_classes, found),
        rows=counts.rows,
        classes=counts.classes,
        k=counts.k,
        l=counts.l,
        starred=counts.starred,
        failing=_failing(engine, counts, predicate, keys) if failing_classes else (),
        failing_classes=failing_classes,
        class_sizes=ascending(engine, sql.class_sizes(counts.table)),
        suppressed=counts.starred,
        required_k=requirement.k,
        criteria=tuple(found),
    )


def _observed(
    engine: Engine,
    published: PublishedRows,
    replaced: Sequence[str | None],
    requirement: Requirement,
    counts: ClassTotals,
    real_values: Mapping[str, Collection[str]],
) -> tuple[str, ...]:
    """Warnings about columns that no criterion reads, and observations."""
    instead = tuple(dict.fromkeys(name for name in replaced if name is not None))
    named = {*published.quasi_identifiers, *published.sensitive, *instead}
    release = ObservedRelease(
        table=published.table,
        quasi_identifiers=published.quasi_identifiers,
        sensitive=published.sensitive,
        others=tuple(name for name in published.table.columns if name not in named),
        replaced=instead,
        requirement=requirement,
        rows=counts.rows,
        starred=counts.starred,
        starred_apart=published.starred_apart,
        classes=counts.table,
        real_values=real_values,
        values=dict(zip(published.sensitive, counts.values, strict=False)),
    )
    return (*_leftovers(release), *observations(engine, release))


def _distinct(
    engine: Engine, tables: TemporaryTables, table: SourceTable, *, told_once: bool
) -> DistinctRows:
    """The different rows; ``told_once`` where one grouping of them, in order, tells all that is asked."""
    found = DistinctRows.in_lines(engine, table) if told_once else None
    return DistinctRows.of(engine, tables, table) if found is None else found


def _counted(
    engine: Engine,
    tables: TemporaryTables,
    published: PublishedRows,
    witness: SourceSpec | str | None,
    thresholds: Sequence[int | None],
    *,
    scored: bool,
) -> ClassTotals:
    """The classes by rows, or by the subjects that a witness or a column tells."""
    if witness is None:
        return count_rows(engine, tables, published)
    return count_subjects(engine, tables, published, witness, thresholds, scored=scored)


def _digest(distinct: DistinctRows | None, counts: ClassTotals) -> str | None:
    """The SHA-256 of the rows, where their different ones were asked for; classes may have their lines."""
    if distinct is None:
        return None
    return distinct.digest(None if distinct.lines is None else sql.lines(counts.table))


def _pairs(table: SourceTable, keys: Sequence[str], values: Sequence[str]) -> bool:
    """Whether a release has quasi-identifiers, behind them one sensitive attribute, and nothing else."""
    return len(values) == 1 and table.columns[-1] == values[0] and {*keys} == {*table.columns[:-1]}


def _required_l(values: Sequence[str], thresholds: Sequence[int | None]) -> dict[str, int]:
    return {name: l for name, l in zip(values, thresholds, strict=True) if l is not None}


def _passed(counts: ClassTotals, failing_classes: int, found: Sequence[CriterionFinding]) -> bool:
    """Whether there was something to check, and nothing of it failed."""
    something = counts.classes > 0 or counts.starred > 0
    return failing_classes == 0 and something and all(each.passed for each in found)


def _names(
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


def _failing(
    engine: Engine, counts: ClassTotals, predicate: str, keys: Sequence[str]
) -> tuple[FailingClass, ...]:
    found = engine.fetch_rows(sql.list_classes(engine.dialect, counts.table, predicate, len(keys), LISTED))
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


def _alike(engine: Engine, counts: ClassTotals) -> tuple[CodedWarning, ...]:
    """Warnings of classes in which everybody has the same sensitive value."""
    if not counts.classes or all(distinct > 1 for distinct in counts.l.values()):
        return ()
    found = engine.fetch_rows(sql.alike_classes(counts.table, len(counts.l)))[0]
    told = zip(counts.l, found, strict=True)
    return tuple(alike_groups(name, int(alike), counts.classes) for name, alike in told if alike)


def _not_told(asked: Sequence[str], population: ShownPopulation | None) -> tuple[str, ...]:
    return (NOT_TOLD.format(", ".join(asked)),) if asked and population is None else ()


def _leftovers(release: ObservedRelease) -> tuple[str, ...]:
    """A warning about columns that are neither quasi-identifiers nor sensitive."""
    if not release.others:
        return ()
    listed = ", ".join(repr(name) for name in release.others)
    return (CodedWarning(INSENSITIVE_PUBLISHED, f"Published as they are, outside every check: {listed}."),)
