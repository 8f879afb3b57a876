"""Views over a permuted release, for tools that query it in their own SQL.

``groups`` has one row per group: rows, values, and their sum, mean and ends. ``release_with_bounds`` is the
release with the bounds of each row's sensitive value: those of its group, and 0 if the row may have none.
Any tool can aggregate them: SUM is between the sums of the two columns, MIN is at least the least lower
bound, MAX at most the greatest upper one; if every row has a value, AVG is between their averages. Such
bounds are sure but wider than those of ``discreet query``.

In DuckDB a macro returns the tight ones: ``FROM salary_bounds(age BETWEEN 30 AND 40 AND sex = 'Female')``
takes any condition. A view cannot, since the hits of a group depend on the condition.
"""

from __future__ import annotations

from discreet.model.release_address import ReleaseAddress
from discreet.model.release_kind import (
    HELP_FILE,
    HELP_NAME,
    ONE_TABLE_NAME,
    QUASI_IDENTIFIERS_NAME,
    RELEASE_VIEWS,
    PermutedRelease,
    ReleaseForm,
)
from discreet.queries.aggregate_query import Aggregate
from discreet.queries.permuted_query import PermutedTables, rewrite_query
from discreet.queries.select_query import ReleaseQuery, SelectedAggregate
from discreet.queries.sql_expression import SqlComparison
from discreet.sql.dialect import DUCKDB, Dialect
from discreet.sql.quoting import table_parts

GROUPS_VIEW, BOUNDS_VIEW = "groups", "release_with_bounds"
_CONDITION = "condition"


def build_database_views(
    facts: PermutedRelease,
    dialect: Dialect = DUCKDB,
    *,
    release: str | None = None,
    help_table: str | None = None,
) -> dict[str, str]:
    """Build the views of a permuted release: queries by name, over the named tables.

    ``release`` and ``help_table`` are the tables' names if they differ from those of a database file.
    """
    return _views(facts, dialect, *_table_identifiers(facts, dialect, release, help_table))


def _views(facts: PermutedRelease, dialect: Dialect, data: str, helped: str) -> dict[str, str]:
    group, sensitive = dialect.identifier(facts.group_column), facts.sensitive
    counted = ["group_rows", "group_values"]
    bounds = ["g.group_rows", "g.group_values"]
    if facts.numeric:
        ends = {
            "lower": _end_or_zero("least", "<"),
            "upper": _end_or_zero("largest", ">"),
            "estimate": "g.mean",
        }
        mean = f"{dialect.cast('group_sum', 'DOUBLE')} / NULLIF(group_values, 0)"
        ends_of = ["min_lower AS least", "max_upper AS largest"]
        counted += ["group_sum AS total", f"{mean} AS mean", *ends_of]
        bounds += [f"{sql} AS {dialect.identifier(f'{sensitive}_{end}')}" for end, sql in ends.items()]
    groups = f"SELECT {group}, {', '.join(counted)} FROM {helped} WHERE hits = group_rows"
    rows = f"SELECT r.*, {', '.join(bounds)} FROM {data} AS r JOIN ({groups}) AS g ON g.{group} = r.{group}"
    return {GROUPS_VIEW: groups, BOUNDS_VIEW: rows}


def build_companion_views(
    facts: PermutedRelease, dialect: Dialect, release: str, help_table: str
) -> dict[str, str]:
    """Build the companion views of a release that is a table, as queries by purpose.

    ``release`` and ``help_table`` are relations of the dialect.
    """
    return dict(zip(RELEASE_VIEWS, _views(facts, dialect, release, help_table).values(), strict=True))


def build_companion_statements(
    facts: PermutedRelease, dialect: Dialect, address: ReleaseAddress
) -> tuple[str, ...]:
    """Build the statements that create the companion views of a release in a database."""

    def relation(release_address: ReleaseAddress) -> str:
        return ".".join(map(dialect.identifier, table_parts(str(release_address.table))))

    views = build_companion_views(facts, dialect, relation(address), relation(address.companion(HELP_FILE)))
    return tuple(f"CREATE VIEW {relation(address.companion(n))} AS\n{query}" for n, query in views.items())


def build_view_statements(
    facts: PermutedRelease,
    dialect: Dialect = DUCKDB,
    *,
    release: str | None = None,
    help_table: str | None = None,
) -> tuple[str, ...]:
    """Build the statements that create the views, and DuckDB's macro."""
    views = build_database_views(facts, dialect, release=release, help_table=help_table)
    statements = [f"CREATE VIEW {dialect.identifier(name)} AS\n{query}" for name, query in views.items()]
    if dialect.table_macros:
        statements += build_database_macros(facts, release=release, help_table=help_table)
    return tuple(statements)


def build_database_macros(
    facts: PermutedRelease, *, release: str | None = None, help_table: str | None = None
) -> tuple[str, ...]:
    """Build DuckDB's macros over a permuted release, as statements: tight bounds for any condition."""
    data, helped = _table_identifiers(facts, DUCKDB, release, help_table)
    tables = PermutedTables.of(facts, data, helped)
    kinds = list(Aggregate) if facts.numeric else [Aggregate.COUNT]
    selected = [SelectedAggregate(Aggregate.COUNT, None, "COUNT(*)", "count")]
    selected += [SelectedAggregate(kind, facts.sensitive, str(kind), f"{kind.lower()}_of") for kind in kinds]
    query = rewrite_query(ReleaseQuery(tuple(selected), (), SqlComparison(_CONDITION, ())), tables)
    name = DUCKDB.identifier(f"{facts.sensitive}_bounds")
    return (f"CREATE MACRO {name}({_CONDITION}) AS TABLE\n{query}",)


def _end_or_zero(end: str, sign: str) -> str:
    """Return an end of a group's values, or 0 if that is further out and a row may have no value."""
    return f"CASE WHEN g.group_values < g.group_rows AND NOT g.{end} {sign} 0 THEN 0 ELSE g.{end} END"


def _table_identifiers(
    facts: PermutedRelease, dialect: Dialect, release: str | None, help_table: str | None
) -> tuple[str, str]:
    two = facts.form is ReleaseForm.TWO_TABLES
    own = QUASI_IDENTIFIERS_NAME if two else ONE_TABLE_NAME
    return dialect.identifier(release or own), dialect.identifier(help_table or HELP_NAME)
