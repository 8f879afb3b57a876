"""The independent check of a permuted release: its groups, and its help table, from the written files.

Every group is counted again (distinct values, range), and every row of the help table is computed again by
SQL that shares nothing with what made it. In the form of two tables the groups of both must have the same
rows. A group's values are taken as they are: which of its rows a value belonged to, nobody can tell, this
audit included.

Decisions where the definitions are silent: NULL is no value; texts of one number are one value; where one
text says no number, values have no range, and an e above 0 fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from discreet.engines.base import Engine, SourceTable
from discreet.engines.scratch import TemporaryTables, opened
from discreet.model.audit_report import AuditReport, FailingClass, GroupCounts
from discreet.model.permutation import GroupRequirement
from discreet.model.permuted_release import DE_FINETTI, NOT_PROTECTED
from discreet.model.table_spec import SourceSpec
from discreet.sql import verify_permuted as sql
from discreet.sql.help_table import help_columns

LISTED = 100


@dataclass(frozen=True)
class PermutedSources:
    """Where the tables lie; ``sensitive`` only in the form of two tables."""

    data: SourceSpec
    help: SourceSpec
    sensitive: SourceSpec | None = None


@dataclass(frozen=True)
class PermutedClaims:
    """What is to be checked: the names of columns, and what every group must meet.

    ``numeric`` says whether values are numbers, ``doubles`` that these are no exact decimals.
    """

    group_column: str
    sensitive: str
    quasi_identifiers: tuple[str, ...]
    k: int
    e: Decimal
    first_group: tuple[int, Decimal] | None = None
    numeric: bool = True
    doubles: bool = False


@dataclass(frozen=True)
class _Numbers:
    """The values of the release as a table, and the type of their numbers (None: texts)."""

    table: str
    type_name: str | None
    scale: int | None

    def least(self, e: Decimal) -> str | None:
        """The smallest range that reaches e, as a literal; None where values have no range."""
        if self.type_name is None:
            return None
        if self.scale is not None:
            e = e.quantize(Decimal(1).scaleb(-self.scale), rounding=ROUND_CEILING)
        return f"CAST('{e:f}' AS {self.type_name})"


def audit_permuted(engine: Engine, sources: PermutedSources, claims: PermutedClaims) -> AuditReport:
    """Count the groups of a permuted release, compute its help table again, and judge the requirement.

    In the report classes are groups, and k is the rows of the smallest; ``l`` has the fewest distinct values.
    ``InputError`` where a file cannot be read or lacks a column.
    """
    with TemporaryTables(engine) as tables, opened(engine, sources.data) as data:
        faults: list[str] = []
        if sources.sensitive is None:
            pairs = _pairs(engine, tables, data, claims)
        else:
            with opened(engine, sources.sensitive) as alone:
                pairs = _pairs(engine, tables, alone, claims)
            faults += _unlike_tables(engine, pairs, data, claims)
        numbers = _numbers(engine, tables, pairs, claims)
        groups = tables.new_name()
        engine.execute(sql.groups_table(groups, numbers.table, numeric=numbers.type_name is not None))
        with opened(engine, sources.help) as help_table:
            faults += _help_faults(engine, tables, help_table, numbers, groups, claims)
        found = engine.fetch_rows(sql.totals(groups))[0]
        engine.confirm_rows(data, _rows_of(engine, data))
        faults += _group_faults(engine, pairs, groups, numbers, claims)
        predicate = _failing(numbers, claims)
        failing = int(engine.fetch_rows(sql.count_groups(groups, predicate))[0][0])
        if failing:
            requirement = GroupRequirement(claims.k, claims.e)
            faults.append(f"{failing} of {found[0]} groups fail {requirement}.")
        listed = engine.fetch_rows(sql.list_groups(groups, predicate, LISTED))
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
            warnings=(*faults, NOT_PROTECTED, DE_FINETTI, *_outside(data, claims)),
            permutation=GroupCounts(
                groups=found[0],
                fewest_values=found[3],
                smallest_range=range_,
                rows_without_value=found[5],
                requirement=str(GroupRequirement(claims.k, claims.e)),
            ),
        )


def _pairs(engine: Engine, tables: TemporaryTables, source: SourceTable, claims: PermutedClaims) -> str:
    """The groups and sensitive values of a source, as texts."""
    pairs = tables.new_name()
    group, value = source.text(claims.group_column), source.text(claims.sensitive)
    engine.execute(sql.pairs_table(pairs, source.relation, group, value))
    engine.confirm_rows(source, _rows_of(engine, source))
    return pairs


def _rows_of(engine: Engine, source: SourceTable) -> int:
    return _rows_in(engine, source.relation)


def _rows_in(engine: Engine, relation: str) -> int:
    return int(engine.fetch_rows(f"SELECT count(*) FROM {relation}")[0][0])


def _unlike_tables(engine: Engine, pairs: str, data: SourceTable, claims: PermutedClaims) -> list[str]:
    """What is wrong between the two tables of the anatomy form."""
    query = sql.group_texts(data.relation, data.text(claims.group_column))
    unlike = int(engine.fetch_rows(sql.unlike_groups(pairs, query))[0][0])
    if claims.sensitive in data.columns:
        return [f"'{claims.sensitive}' stands beside the quasi-identifiers."]
    return [f"{unlike} groups have other numbers of rows in the two tables."] if unlike else []


def _numbers(engine: Engine, tables: TemporaryTables, pairs: str, claims: PermutedClaims) -> _Numbers:
    """The values as numbers, as they are said to be, if every text says one."""
    values, plain, any_form, decimals, whole = engine.fetch_rows(sql.number_facts(pairs))[0]
    type_name, scale = None, None
    if claims.numeric and claims.doubles and any_form == values:
        type_name = "DOUBLE"
    elif claims.numeric and not claims.doubles and plain == values and decimals + whole <= sql.DIGITS:
        type_name, scale = f"DECIMAL({sql.DIGITS}, {decimals})", decimals
    table = tables.new_name()
    engine.execute(sql.numbers_table(table, pairs, type_name))
    return _Numbers(table, type_name, scale)


def _help_faults(
    engine: Engine,
    tables: TemporaryTables,
    source: SourceTable,
    numbers: _Numbers,
    groups: str,
    claims: PermutedClaims,
) -> list[str]:
    """What is wrong with the help table."""
    numeric = numbers.type_name is not None
    if numeric != claims.numeric:
        return ["Sensitive values are not the numbers that they are said to be."]
    names = help_columns(claims.group_column, numeric=numeric)
    up, down, spread = None, None, None
    if numeric:
        up, down = tables.new_name(), tables.new_name()
        engine.execute(sql.ranked_table(up, numbers.table, down=False))
        engine.execute(sql.ranked_table(down, numbers.table, down=True))
    if numeric and numbers.scale is None:
        spread = tables.new_name()
        engine.execute(sql.slack_table(spread, numbers.table))
    expected = tables.new_name()
    engine.execute(sql.expected_help(expected, groups, up, down))
    texts = [source.text(name) for name in names]
    query = sql.wrong_help(expected, source.relation, texts, spread, numeric=numeric)
    rows, due, wrong = engine.fetch_rows(query)[0]
    engine.confirm_rows(source, rows)
    found = []
    if rows != due:
        found.append(f"The help table has {rows} rows, but {due} belong there.")
    if set(source.columns) != set(names):
        found.append("The help table has other columns than a help table.")
    if wrong:
        found.append(f"{wrong} rows of the help table do not say what its groups' values say.")
    return found


def _group_faults(
    engine: Engine, pairs: str, groups: str, numbers: _Numbers, claims: PermutedClaims
) -> list[str]:
    """What is wrong with the groups' numbers, and with the group of the smallest value."""
    faults = []
    if not _rows_in(engine, groups):
        faults.append("The release has no rows: there was nothing to check.")
    unnumbered = int(engine.fetch_rows(sql.unnumbered_groups(pairs))[0][0])
    if unnumbered:
        faults.append(f"{unnumbered} groups are not numbered 1, 2, …")
    first = claims.first_group
    if first is not None and numbers.type_name is not None:
        query = sql.holds_first(groups, first[0], numbers.least(first[1]))
        if not engine.fetch_rows(query)[0][0]:
            faults.append("No group of the smallest value meets what was asked of the first group.")
    return faults


def _failing(numbers: _Numbers, claims: PermutedClaims) -> str:
    if numbers.type_name is None and claims.e > 0:
        return "TRUE"
    return sql.failing(claims.k, numbers.least(claims.e))


def _outside(data: SourceTable, claims: PermutedClaims) -> Sequence[str]:
    """A warning about columns that are neither quasi-identifiers nor the release's own."""
    known = {*claims.quasi_identifiers, claims.group_column, claims.sensitive}
    others = [name for name in data.columns if name not in known]
    if not others:
        return ()
    return (f"Published as they are, outside every check: {', '.join(repr(name) for name in others)}.",)
