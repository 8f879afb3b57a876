"""Standalone SQL statements that check a release with psql, DuckDB or Spark, without this program.

Each guarantee is one query on the same cells as the audit. Statements reveal nothing beyond the release: the
whole table is the published one, and facts that only the publisher knows have no statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.audit.criterion_checks import read_published_attribute
from discreet.audit.permuted_audit import (
    PermutedClaims,
    PermutedSources,
    ReleasedNumbers,
    load_numbers,
    load_value_pairs,
)
from discreet.audit.recount import PublishedRows
from discreet.audit.release_audit import (
    is_permuted,
    own_release_source,
    read_claims,
    read_manifest_document,
    read_permuted_claims,
    require_quasi_identifiers,
)
from discreet.engines.base import Engine, SourceTable
from discreet.engines.files.sources import source_unquoted_nulls
from discreet.engines.source_tables import TemporaryTables, open_source_table
from discreet.errors import InputError
from discreet.model.audit_report import CheckStatement
from discreet.model.criteria.base import AuditedBy, BoundCriterion, Criterion, bind_criteria
from discreet.model.criteria.release_level import AUDITED_SIZES, CellsCriterion, ReleaseCriterion
from discreet.model.criterion_inputs import AttributeFeature, ReferenceTable, SensitiveAttribute, has_feature
from discreet.model.release_address import ReleaseAddress
from discreet.model.requirement import Requirement
from discreet.model.table_spec import SourceSpec
from discreet.sql import audit_criteria as by_criteria
from discreet.sql import audit_permuted as permuted_sql
from discreet.sql import portable_check
from discreet.sql import portable_check as sql
from discreet.sql.audit_classes import published_texts
from discreet.sql.cell_expressions import (
    all_stars_predicate,
    can_hold_stars,
    canonical_text,
    cell_text,
    is_floating,
    null_stars,
    readable_star_predicate,
)
from discreet.sql.dialect import Dialect
from discreet.sql.help_table import help_columns

_PAIRS, _NUMBERS, _GROUPS = "pairs", "numbers", "permuted_groups"
_UP, _DOWN, _SPREAD = "upwards", "downwards", "spread"


def build_group_statements(
    engine: Engine,
    reader: Dialect,
    claims: PermutedClaims,
    sources: PermutedSources,
    *,
    by_name: bool = False,
) -> tuple[CheckStatement, ...]:
    """Build the statements that check groups and help table of a permuted release.

    Every group must have k values and a range of e, and the help table must agree with the groups.
    """
    value_source = sources.data if sources.sensitive is None else sources.sensitive
    with open_source_table(engine, value_source) as table, TemporaryTables(engine) as tables:
        numbers = load_numbers(engine, tables, load_value_pairs(engine, tables, table, claims), claims, table)
        group, value = (
            canonical_text(reader.identifier(name), table.types[name], reader)
            for name in (claims.group_column, claims.sensitive)
        )
        if can_hold_stars(table.types[claims.sensitive]):
            value = null_stars(value, "VARCHAR", reader, readable_star_predicate)
        pairs = permuted_sql.pairs_table(
            portable_check.release_relation(value_source, reader, by_name=by_name),
            group,
            value,
            floating=is_floating(table.types[claims.sensitive]),
        )
    numeric = numbers.type_name is not None
    named = {
        _PAIRS: pairs,
        _NUMBERS: permuted_sql.numbers_table(reader, _PAIRS, numbers.type_name),
        _GROUPS: permuted_sql.audited_groups_table(reader, _NUMBERS, numeric=numeric),
    }
    predicate = permuted_sql.failing_group_predicate(claims.k, numbers.least(claims.e))
    guarantee = (
        f"k = {claims.k}: every group has at least {claims.k} different values of '{claims.sensitive}'"
    )
    if numeric:
        guarantee += f", at least {claims.e} apart"
    failing = portable_check.as_failing(permuted_sql.count_groups(_GROUPS, predicate))
    return (
        CheckStatement(guarantee, portable_check.with_tables(named, failing)),
        CheckStatement(
            "the help table agrees with the groups and is complete",
            portable_check.with_tables(
                {**named, **_help_relations(numbers)},
                _help_query(engine, reader, claims, sources.help, numbers, by_name=by_name),
            ),
        ),
    )


def _help_relations(numbers: ReleasedNumbers) -> dict[str, str]:
    """Return the relations for the bounds of a help table; empty where values are texts."""
    if numbers.type_name is None:
        return {}
    found = {
        _UP: permuted_sql.ranked_table(_NUMBERS, down=False),
        _DOWN: permuted_sql.ranked_table(_NUMBERS, down=True),
    }
    return {**found, _SPREAD: permuted_sql.slack_table(_NUMBERS)} if numbers.type_name == "DOUBLE" else found


def _help_query(
    engine: Engine,
    reader: Dialect,
    claims: PermutedClaims,
    source: SourceSpec,
    numbers: ReleasedNumbers,
    *,
    by_name: bool,
) -> str:
    """Return the query that counts wrong or missing rows of the help table."""
    house = numbers.type_name
    up, down = (None, None) if house is None else (_UP, _DOWN)
    with open_source_table(engine, source) as table:
        names = help_columns(claims.group_column, numeric=house is not None)
        cells = [canonical_text(reader.identifier(name), table.types[name], reader) for name in names]
    published_help = permuted_sql.PublishedHelp(
        portable_check.release_relation(source, reader, by_name=by_name), cells, [False] * len(cells)
    )
    expected = permuted_sql.expected_help(reader, _GROUPS, "TRUE", up, down)
    spread = _SPREAD if house == "DOUBLE" else None
    return portable_check.as_failing(
        permuted_sql.count_wrong_help(reader, expected, published_help, spread, house)
    )


_VALUES, _PARTS = "audited_values", "audited_parts"
_MAX_CONSTANT_VALUES = 1_000


def build_check_statements(
    engine: Engine,
    address: ReleaseAddress,
    reader: Dialect,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    requirement: Requirement | None = None,
    by_name: bool = False,
) -> tuple[CheckStatement, ...]:
    """Build the statements for a release; defaults come from its manifest, as in ``audit_release``.

    ``reader`` is the SQL dialect of the statements: DuckDB's for files, which ``by_name`` names without their
    folders. Raise ``InputError`` like ``audit_release``, where nothing is required, and for a file that is
    not CSV, TSV or Parquet, or not in UTF-8.
    """
    document = read_manifest_document(engine, address)
    named = quasi_identifiers or sensitive is not None or requirement is not None
    if document is not None and is_permuted(document) and not named:
        return build_group_statements(
            engine, reader, *read_permuted_claims(address, document), by_name=by_name
        )
    claims = None if document is None else read_claims(address, document)
    required = requirement or Requirement()
    source, apart, people = address.source(), True, _NO_PEOPLE
    if claims is None:
        keys, values = tuple(require_quasi_identifiers(address, quasi_identifiers)), tuple(sensitive or ())
    else:
        keys = tuple(quasi_identifiers or claims.quasi_identifiers)
        values = claims.sensitive if sensitive is None else tuple(sensitive)
        required = claims.requirement if required.is_empty else required
        source, apart = own_release_source(address), claims.starred and claims.suppressed > 0
        people = _CountedPeople(claims.subject) if claims.counts_subjects else _NO_PEOPLE
    if required.is_empty:
        raise InputError(
            f"nothing is required of {address.label}",
            advice="Give a criterion, such as --k 5.",
        )
    with open_source_table(engine, source) as table:
        check_source = replace(source, unquoted_nulls=source_unquoted_nulls(source))
        relation = sql.release_relation(check_source, reader, by_name=by_name)
        release = _Release.of(
            engine, table, relation, reader, keys, values, people, apart=apart, foreign=claims is None
        )
        return tuple(release.statements(required))


@dataclass(frozen=True)
class _CountedPeople:
    """People whom a release counted: those of a published column, or else people that cannot be counted."""

    column: str | None
    none: bool = False

    @property
    def caveat(self) -> str:
        """Note on people whom the release does not contain."""
        if self.none or self.column is not None:
            return ""
        return "; the release counted people, this statement counts rows"


_NO_PEOPLE = _CountedPeople(None, none=True)


@dataclass(frozen=True)
class _Release:
    """Opened release; ``query`` yields its rows (``published_texts``) in the reader's dialect.

    Where people are counted by a published column, it follows the sensitive attributes.
    """

    engine: Engine
    counted: PublishedRows
    query: str
    reader: Dialect
    people: _CountedPeople

    @classmethod
    def of(
        cls,
        engine: Engine,
        table: SourceTable,
        relation: str,
        reader: Dialect,
        keys: Sequence[str],
        values: Sequence[str],
        people: _CountedPeople,
        *,
        apart: bool,
        foreign: bool,
    ) -> _Release:
        counted = PublishedRows.of(table, keys, values, None, starred_apart=apart, foreign=foreign)

        def text(name: str) -> str:
            return cell_text(reader.identifier(name), table.types[name], table.null_values, reader)

        def value(name: str) -> str:
            if not can_hold_stars(table.types[name]):
                return text(name)
            return null_stars(text(name), "VARCHAR", reader, readable_star_predicate)

        cells = [(reader.identifier(name), table.types[name]) for name in table.columns]
        nulls = list(map(reader.literal, table.null_values))
        starred = (
            {"starred": all_stars_predicate(cells, nulls, reader, readable_star_predicate)} if foreign else {}
        )
        every = [text(name) for name in table.columns]
        shown_texts = [*map(value, values), *([] if people.column is None else [text(people.column)])]
        query = published_texts(
            relation, list(map(text, keys)), shown_texts, every, starred_apart=apart, **starred
        )
        return cls(engine, counted, query, reader, people)

    @property
    def _keys(self) -> int:
        return len(self.counted.quasi_identifiers)

    def _with_tables(self, query: str, **tables: str) -> str:
        return sql.with_tables({sql.PUBLISHED: self.query, **tables}, query)

    def _of_classes(self, query: str, **tables: str) -> str:
        counted = len(self.counted.sensitive) + (self.people.column is not None)
        classes = sql.classes_query(self._keys, counted)
        return self._with_tables(query, **{sql.CLASSES_TABLE: classes, **tables})

    def statements(self, requirement: Requirement) -> Iterator[CheckStatement]:
        """Yield a statement for each requirement."""
        k, values = requirement.k, self.counted.sensitive
        if k is not None:
            column = "n" if self.people.column is None else f"d{len(values)}"
            whom = "of them" if self.people.column is None else f"different '{self.people.column}'"
            yield CheckStatement(
                f"k = {k}: every class of rows that agree in all quasi-identifiers has at least {k} {whom}"
                f"{self.people.caveat}",
                self._of_classes(sql.fewest_query(column, k)),
            )
        carriers = "" if self.people is _NO_PEOPLE else "; it does not count the people who have them"
        for i, (name, l) in enumerate(zip(values, requirement.l_of(values), strict=True)):
            if l is not None:
                yield CheckStatement(
                    f"l = {l}: every class has at least {l} different values of '{name}'{carriers}",
                    self._of_classes(sql.fewest_query(f"d{i}", l)),
                )
        for one in bind_criteria(requirement.others, values):
            yield from self._of_criterion(one)

    def _of_criterion(self, one: BoundCriterion) -> Iterator[CheckStatement]:
        criterion = one.criterion
        if criterion.audited_by is not AuditedBy.SQL or criterion.of_population:
            why = "needs a population, so" if criterion.of_population else "is not counted by SQL, so"
            yield CheckStatement(f"{criterion}: {criterion.title} {why} it has no statement", None)
        elif isinstance(criterion, CellsCriterion):
            yield from self._of_cells(criterion)
        elif isinstance(criterion, ReleaseCriterion):
            yield self._of_sizes(criterion)
        else:
            yield self._of_scores(one)

    def _of_scores(self, one: BoundCriterion) -> CheckStatement:
        """Build the statement of a criterion of classes."""
        criterion, tables = (
            one.criterion,
            {by_criteria.AUDITED_ROWS: sql.rows_by_class(self._keys, one.index)},
        )
        compared = one.index is not None and criterion.compares
        if one.index is None or not compared:
            query = criterion.audit_query(by_criteria.AUDITED_ROWS)
        else:
            attribute = read_published_attribute(self.engine, self.counted, one.index)
            missing = _explain_missing(criterion, attribute)
            if missing is not None:
                return CheckStatement(f"{criterion}: {missing}", None)
            tables |= _whole_table_constants(self.reader, attribute)
            query = criterion.audit_against(by_criteria.AUDITED_ROWS, ReferenceTable(_VALUES, _PARTS, None))
        return CheckStatement(
            _describe(criterion, "every class has a score"),
            self._with_tables(
                sql.failing_scores(by_criteria.AUDITED_ROWS, query, criterion.threshold), **tables
            ),
            holds_values=compared,
        )

    def _of_sizes(self, criterion: ReleaseCriterion) -> CheckStatement:
        """Build the statement of a criterion of the whole release, by its class sizes."""
        tables = {AUDITED_SIZES: f"SELECT n AS size, count(*) AS number FROM {sql.CLASSES_TABLE} GROUP BY n"}
        return CheckStatement(
            _describe(criterion, "the release has a score"),
            self._of_classes(
                sql.failing_score(criterion.audit_query(AUDITED_SIZES), criterion.threshold), **tables
            ),
        )

    def _of_cells(self, criterion: CellsCriterion) -> Iterator[CheckStatement]:
        """Yield a statement for each combination of cells of a criterion of cells."""
        keys, values = sql.published_names(self._keys, len(self.counted.sensitive))
        rows = by_criteria.distinct_published_rows(f"SELECT * FROM {sql.PUBLISHED}", keys, values)
        queries = criterion.audit_groups(by_criteria.AUDITED_ROWS, keys, values)
        for number, query in enumerate(queries, 1):
            yield CheckStatement(
                _describe(criterion, f"part {number} of {len(queries)}: all rows have a score"),
                self._with_tables(
                    sql.failing_score(query, criterion.threshold), **{by_criteria.AUDITED_ROWS: rows}
                ),
            )


def _describe(criterion: Criterion, what: str) -> str:
    return f"{criterion}, {criterion.title}: {what} of at least {criterion.threshold}"


def _explain_missing(criterion: Criterion, attribute: SensitiveAttribute) -> str | None:
    """Return the reason why a comparing criterion has no statement, None where it has one."""
    if criterion.required_feature is AttributeFeature.HIERARCHY or not has_feature(
        criterion.required_feature, attribute
    ):
        return "it needs an order or a hierarchy of values, which the release does not contain"
    if len(attribute.values) > _MAX_CONSTANT_VALUES:
        return f"its attribute has more than {_MAX_CONSTANT_VALUES:,} values, too many for a statement"
    return None


def _whole_table_constants(reader: Dialect, attribute: SensitiveAttribute) -> dict[str, str]:
    """Return the relations of the whole table as constants, as criteria read them (``ReferenceTable``)."""
    nothing = np.zeros(len(attribute.values), np.int64)
    numbers, millionths = attribute.numbers, attribute.millionths
    values: dict[str, tuple[str, Sequence[object]]] = {
        "value": ("VARCHAR", attribute.values),
        "held": ("BIGINT", attribute.rows.tolist()),
        "place": ("BIGINT", attribute.ranks.tolist()),
        "number": ("DOUBLE", (nothing if numbers is None else numbers).tolist()),
        "millionths": ("BIGINT", (nothing if millionths is None else millionths).tolist()),
    }
    parts: dict[str, tuple[str, Sequence[object]]] = {
        "value": ("VARCHAR", ()),
        "level": ("BIGINT", ()),
        "part": ("BIGINT", ()),
    }
    return {_VALUES: sql.constants(reader, values), _PARTS: sql.constants(reader, parts)}
