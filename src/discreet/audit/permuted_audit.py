"""Independent audit of a permuted release: groups recounted, help table recomputed.

With two tables, both must have the same rows per group. Conventions: NULL is no value; texts of one number
are one value; if a text is no finite number, values have no range and an e above 0 fails; -0.0 equals 0.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from discreet.audit.release_warnings import ObservedRelease, observe_release, warn_unchecked_columns
from discreet.engines.base import Engine, SourceTable
from discreet.engines.source_tables import TemporaryTables, open_source_table
from discreet.model.audit_report import AuditReport, FailingClass
from discreet.model.coded_warnings import CodedWarning, unique_warnings
from discreet.model.release_kind import DE_FINETTI, NOT_PROTECTED, GroupCounts, GroupRequirement
from discreet.model.requirement import Requirement
from discreet.model.table_spec import SourceSpec
from discreet.sql import audit_permuted as sql
from discreet.sql.cell_expressions import can_hold_stars, decimals_of, fits_long, is_floating, null_stars
from discreet.sql.dialect import Dialect
from discreet.sql.help_table import help_columns
from discreet.sql.quoting import identifier


def help_table_agrees(
    engine: Engine,
    source: SourceTable,
    names: Sequence[str],
    groups: str,
    numbers: tuple[str, int, int] | None,
) -> bool:
    """Return true if a help table has exactly the due rows; false if it differs or was not checked.

    ``names`` are its columns in order; ``numbers`` are the table of values, their digits and their decimals,
    None where they are no numbers. The check is skipped where cells are no exact numbers of these decimals or
    larger than a BIGINT, a group has rows without a value, or the engine gives no rows in order.

    Cost: one sort of the values, one scan of the help table.
    """
    dialect = engine.dialect
    if not (dialect.runs_in_order and _has_exact_columns(source, names, numbers)):
        return False
    table, digits, scale = numbers or ("", 0, 0)
    # A random salt prevents a table that is crafted to have the right sum of hashes.
    salt = secrets.randbits(62)
    columns = [source.column(name) for name in names]
    due = sql.expected_counts(dialect, groups, salt)
    if numbers is not None:
        if digits > sql.VALUE_DIGITS:
            return False
        incomplete, largest = engine.fetch_rows(sql.group_kinds(dialect, groups))[0]
        if incomplete or largest * 10**scale > sql.LARGEST_SUM:
            return False
        due = sql.expected_sums(dialect, groups, table, scale, salt)
    published_sums = sql.published_sums(dialect, source.relation, columns, scale, salt)
    return engine.fetch_rows(due) == engine.fetch_rows(published_sums)


def _has_exact_columns(
    source: SourceTable, names: Sequence[str], numbers: tuple[str, int, int] | None
) -> bool:
    """Return true if every column has exact numbers of these decimals within a BIGINT."""
    if source.null_values:
        return False
    scales = [0] * sql.COUNT_COLUMNS + [0 if numbers is None else numbers[2]] * (
        len(names) - sql.COUNT_COLUMNS
    )
    return (numbers is None) == (len(names) == sql.COUNT_COLUMNS) and all(
        fits_long(source.types[name]) and decimals_of(source.types[name]) == scale
        for name, scale in zip(names, scales, strict=True)
    )


LISTED_GROUPS = 100
_MOST_SLICES = 16
_INTEGER_DIGITS = 9
"""Largest number of digits that is always within an INTEGER, as is the difference of two such numbers."""


@dataclass(frozen=True)
class PermutedSources:
    """Sources of the tables; ``sensitive`` only in the form of two tables."""

    data: SourceSpec
    help: SourceSpec
    sensitive: SourceSpec | None = None


@dataclass(frozen=True)
class PermutedClaims:
    """Claims to check: column names, and the requirement of every group.

    ``subject`` is the published column that identifies people, if people were counted: then each group has at
    least k people. ``numeric`` is true if values are numbers, ``doubles`` if these are no exact decimals.
    """

    group_column: str
    sensitive: str
    quasi_identifiers: tuple[str, ...]
    k: int
    e: Decimal
    first_group: tuple[int, Decimal] | None = None
    numeric: bool = True
    doubles: bool = False
    subject: str | None = None


@dataclass(frozen=True)
class ReleasedNumbers:
    """Values of the release as a table, with the canonical type of their numbers (None: texts)."""

    dialect: Dialect
    table: str
    type_name: str | None
    scale: int | None
    digits: int = 0

    def summed(self) -> tuple[str, int, int] | None:
        """Return table, digits and decimals of exact numbers; None for texts."""
        return None if self.scale is None else (self.table, self.digits, self.scale)

    def least(self, e: Decimal) -> str | None:
        """Return the smallest range that reaches e, as a literal; None where values have no range."""
        if self.type_name is None:
            return None
        if self.scale is not None:
            e = e.quantize(Decimal(1).scaleb(-self.scale), rounding=ROUND_CEILING)
        wide = self.type_name if self.scale is None else f"DECIMAL({sql.MOST_DIGITS},{self.scale})"
        return self.dialect.cast(f"'{e:f}'", wide)


def audit_permuted(engine: Engine, sources: PermutedSources, claims: PermutedClaims) -> AuditReport:
    """Audit a permuted release: recount its groups, recompute its help table, and check the requirement.

    In the report, classes are groups, k is the number of rows of the smallest group, and ``l`` the fewest
    distinct values. Raise ``InputError`` where a file cannot be read or lacks a column.
    """
    with TemporaryTables(engine) as tables, ExitStack() as sources_in_use:
        faults: list[str] = []
        data = value_source = sources_in_use.enter_context(open_source_table(engine, sources.data))
        if sources.sensitive is not None:
            value_source = sources_in_use.enter_context(open_source_table(engine, sources.sensitive))
        pairs = load_value_pairs(engine, tables, value_source, claims)
        if sources.sensitive is not None:
            faults += _table_faults(engine, pairs, data, claims)
        numbers = load_numbers(engine, tables, pairs, claims, value_source)
        numeric = numbers.type_name is not None
        groups = tables.create(sql.audited_groups_table(engine.dialect, numbers.table, numeric=numeric))
        with open_source_table(engine, sources.help) as help_table:
            faults += _help_faults(engine, tables, help_table, numbers, groups, claims)
        faults += _people_faults(engine, data, claims)
        found = engine.fetch_rows(sql.audited_group_totals(engine.dialect, groups, numbers.type_name))[0]
        engine.confirm_rows(data, _count_source_rows(engine, data))
        integer_groups = _has_whole_groups(value_source, claims)
        named = sql.unnumbered_groups(
            engine.dialect, identifier(groups) if integer_groups else pairs, integers=integer_groups
        )
        faults += _group_faults(engine, named, groups, numbers, claims)
        predicate = _failing_predicate(numbers, claims)
        failing = int(engine.fetch_rows(sql.count_groups(groups, predicate))[0][0])
        if failing:
            requirement = GroupRequirement(claims.k, claims.e)
            faults.append(f"{failing} of {found[0]} groups fail {requirement}.")
        listed = engine.fetch_rows(sql.list_groups(engine.dialect, groups, predicate, LISTED_GROUPS))
        range_ = None if numbers.type_name is None or found[4] is None else Decimal(found[4])
        return AuditReport(
            passed=not faults,
            rows=found[1],
            classes=found[0],
            k=found[2],
            l={claims.sensitive: found[3]},
            starred=0,
            failing=tuple(FailingClass({claims.group_column: group}, rows) for rows, group in listed),
            failing_classes=failing,
            class_sizes=dict(engine.fetch_rows(sql.group_sizes(groups))),
            warnings=(
                *faults,
                NOT_PROTECTED,
                DE_FINETTI,
                *_unchecked_column_warnings(data, claims),
                *_observe(engine, data, value_source, claims, found[1]),
            ),
            permutation=GroupCounts(
                groups=found[0],
                fewest_values=found[3],
                smallest_range=range_,
                rows_without_value=found[5],
                requirement=str(GroupRequirement(claims.k, claims.e)),
            ),
        )


def _observe(
    engine: Engine, data: SourceTable, value_source: SourceTable, claims: PermutedClaims, rows: int
) -> tuple[CodedWarning, ...]:
    """Collect observations on the data, and on the table of sensitive values where it is separate."""
    own = {claims.group_column, claims.sensitive, claims.subject}
    found: list[CodedWarning] = []
    for table in (data,) if value_source is data else (data, value_source):
        keys = tuple(name for name in table.columns if name in claims.quasi_identifiers)
        release = ObservedRelease(
            table=table,
            quasi_identifiers=keys,
            sensitive=tuple(name for name in table.columns if name == claims.sensitive),
            others=tuple(name for name in table.columns if name not in {*keys, *own}),
            pseudonymized=tuple(name for name in table.columns if name == claims.subject),
            requirement=Requirement(),
            rows=rows,
            starred=0,
            starred_apart=False,
        )
        found += observe_release(engine, release)
    return unique_warnings(found)


def load_value_pairs(
    engine: Engine, tables: TemporaryTables, source: SourceTable, claims: PermutedClaims
) -> str:
    """Return a relation of groups and sensitive values as texts, stored where texts are parsed."""
    group, value = source.text(claims.group_column), source.text(claims.sensitive)
    if can_hold_stars(source.types[claims.sensitive]):
        value = null_stars(value, "VARCHAR", source.dialect)
    floating = is_floating(source.types[claims.sensitive])
    query = sql.pairs_table(source.relation, group, value, floating=floating)
    pairs = f"({query}) AS pairs" if _has_exact_types(source, claims) else identifier(tables.create(query))
    engine.confirm_rows(source, _count_source_rows(engine, source))
    return pairs


def _has_exact_types(source: SourceTable, claims: PermutedClaims) -> bool:
    """Return true if the column types are exact numbers for values and integers for groups."""
    return _has_whole_groups(source, claims) and _decimals(source, claims.sensitive) is not None


def _has_whole_groups(source: SourceTable, claims: PermutedClaims) -> bool:
    """Return true if the group column's type is an integer."""
    return _decimals(source, claims.group_column) == 0


def _decimals(source: SourceTable, name: str) -> int | None:
    """Return the decimals of a column of exact numbers; None for other columns and for those read as text."""
    return None if source.null_values else decimals_of(source.types[name])


def _count_source_rows(engine: Engine, source: SourceTable) -> int:
    return _count_relation_rows(engine, source.relation)


def _count_relation_rows(engine: Engine, relation: str) -> int:
    return int(engine.fetch_rows(f"SELECT count(*) FROM {relation}")[0][0])


def _table_faults(engine: Engine, pairs: str, data: SourceTable, claims: PermutedClaims) -> list[str]:
    """Return the differences between the two tables of the Anatomy form."""
    query = sql.count_differing_groups(pairs, data.relation, data.text(claims.group_column))
    unlike = int(engine.fetch_rows(query)[0][0])
    if claims.sensitive in data.columns:
        return [f"The table of quasi-identifiers contains '{claims.sensitive}'."]
    return [f"{unlike} groups have different numbers of rows in the two tables."] if unlike else []


def load_numbers(
    engine: Engine, tables: TemporaryTables, pairs: str, claims: PermutedClaims, value_source: SourceTable
) -> ReleasedNumbers:
    """Load the values as numbers of the claimed type, if every text is such a number.

    Values of an exact type always are; only texts of other types are examined one by one.
    """
    places = _decimals(value_source, claims.sensitive)
    query = sql.number_facts(engine.dialect, pairs)
    if places is not None:
        value, kind = value_source.column(claims.sensitive), value_source.types[claims.sensitive]
        query = sql.facts_of_exact(engine.dialect, value_source.relation, value, kind, places)
    values, plain, any_form, decimals, integers = engine.fetch_rows(query)[0]
    type_name, scale, digits = None, None, decimals + integers
    if claims.numeric and claims.doubles and any_form == values:
        type_name = "DOUBLE"
    elif claims.numeric and not claims.doubles and plain == values and digits <= sql.MOST_DIGITS:
        type_name, scale = f"DECIMAL({max(digits, 1)},{decimals})", decimals
        if places == 0 and digits <= _INTEGER_DIGITS:
            type_name = "INTEGER"
    if type_name is not None and _has_exact_types(value_source, claims):
        columns = value_source.column(claims.group_column), value_source.column(claims.sensitive)
        query = sql.exact_numbers_table(engine.dialect, value_source.relation, *columns, type_name)
    else:
        query = sql.numbers_table(
            engine.dialect, pairs, type_name, integers=_has_whole_groups(value_source, claims)
        )
    table = tables.create(query)
    return ReleasedNumbers(engine.dialect, table, type_name, scale, digits)


def _help_faults(
    engine: Engine,
    tables: TemporaryTables,
    source: SourceTable,
    numbers: ReleasedNumbers,
    groups: str,
    claims: PermutedClaims,
) -> list[str]:
    """Return the faults of the help table."""
    numeric = numbers.type_name is not None
    if numeric != claims.numeric:
        return ["Sensitive values are not numbers of the claimed type."]
    names = help_columns(claims.group_column, numeric=numeric)
    others = "The help table has the wrong columns."
    if not set(names) <= set(source.columns):
        return [others]
    rows, due, wrong = _count_source_rows(engine, source), _count_relation_rows(engine, numbers.table), 0
    if not help_table_agrees(engine, source, names, groups, numbers.summed()):
        exact = [_decimals(source, name) is not None for name in names]
        cells = [
            source.column(n) if is_exact else source.text(n) for n, is_exact in zip(names, exact, strict=True)
        ]
        published_help = sql.PublishedHelp(source.relation, cells, exact)
        wrong = _count_wrong_rows(engine, tables, published_help, numbers, groups, due)
    engine.confirm_rows(source, rows)
    result = []
    if rows != due:
        result.append(f"The help table has {rows} rows, but {due} belong there.")
    if set(source.columns) != set(names):
        result.append(others)
    if wrong:
        result.append(f"{wrong} rows of the help table disagree with their groups.")
    return result


def _count_wrong_rows(
    engine: Engine,
    tables: TemporaryTables,
    published_help: sql.PublishedHelp,
    numbers: ReleasedNumbers,
    groups: str,
    due: int,
) -> int:
    """Count the rows that the help table lacks, has wrongly, or has for no group, of ``due`` rows.

    Where the engine holds joined rows in memory, slices of the groups are compared one after the other.
    """
    dialect = engine.dialect
    at_once = dialect.rows_at_once
    slices = 1 if at_once is None else min(max(-(-due // at_once), 1), _MOST_SLICES)
    spread = None
    if numbers.type_name == "DOUBLE":
        spread = tables.create(sql.slack_table(numbers.table))
    wrong = 0
    for slice_index in range(slices):
        part = sql.slice_predicate("g", slices, slice_index)
        up, down = None, None
        if numbers.type_name is not None:
            up = tables.create(sql.ranked_table(numbers.table, down=False, part=part))
            down = tables.create(sql.ranked_table(numbers.table, down=True, part=part))
        expected = sql.expected_help(dialect, groups, part, up, down)
        query = sql.count_wrong_help(
            dialect, expected, published_help, spread, numbers.type_name, slices, slice_index
        )
        wrong += int(engine.fetch_rows(query)[0][0])
        for name in (up, down):
            if name is not None:
                tables.drop(name)
    return wrong


def _group_faults(
    engine: Engine, unnumbered_groups: str, groups: str, numbers: ReleasedNumbers, claims: PermutedClaims
) -> list[str]:
    """Return the faults of the groups' numbering and of the group with the smallest value."""
    faults = []
    if not _count_relation_rows(engine, groups):
        faults.append("The release has no rows: there was nothing to check.")
    unnumbered = int(engine.fetch_rows(unnumbered_groups)[0][0])
    if unnumbered:
        faults.append(f"{unnumbered} groups are not numbered 1, 2, …")
    first = claims.first_group
    if first is not None and numbers.type_name is not None:
        query = sql.count_lowest_groups_meeting(groups, first[0], numbers.least(first[1]))
        if not engine.fetch_rows(query)[0][0]:
            faults.append("No group with the smallest value meets the first group's requirement.")
    return faults


def _people_faults(engine: Engine, data: SourceTable, claims: PermutedClaims) -> list[str]:
    """Return a fault if a group has fewer than k people; the release does not link people and values."""
    if claims.subject is None:
        return []
    query = sql.count_small_groups(
        data.relation, data.text(claims.group_column), data.text(claims.subject), claims.k
    )
    few = int(engine.fetch_rows(query)[0][0])
    return [f"{few} groups have fewer than {claims.k} people."] if few else []


def _failing_predicate(numbers: ReleasedNumbers, claims: PermutedClaims) -> str:
    if numbers.type_name is None and claims.e > 0:
        return "TRUE"
    return sql.failing_group_predicate(claims.k, numbers.least(claims.e))


def _unchecked_column_warnings(data: SourceTable, claims: PermutedClaims) -> Sequence[str]:
    """Warn of columns that are neither quasi-identifiers nor part of the permuted release."""
    known = {*claims.quasi_identifiers, claims.group_column, claims.sensitive, claims.subject}
    return warn_unchecked_columns([name for name in data.columns if name not in known])
