"""Views over a permuted release, so that tools which know nothing of it can ask it in SQL of their own.

``groups`` has a line per group: its rows, its values, their sum, mean and ends. ``release_with_bounds`` is
the release, and beside each row between what bounds its sensitive value lies: those of its group, and 0 too
where the row may have none. Any tool can aggregate them: SUM lies between the sums of the two columns, MIN is
at least the least lower one and MAX at most the largest upper one; where no row is without a value, AVG lies
between their averages. Such bounds are sure but wider than those of ``discreet query``, which knows that the
rows of a group have different ones of its values.

In DuckDB a macro gives the tight ones: ``FROM salary_bounds(age BETWEEN 30 AND 40 AND sex = 'Female')`` takes
any condition over the release as its argument. (A view cannot: how many rows of a group are hit depends on
the condition.)
"""

from __future__ import annotations

from discreet.model.permuted_release import (
    HELP,
    HELP_NAME,
    ONE_TABLE_NAME,
    QUASI_IDENTIFIERS_NAME,
    VIEWS,
    PermutationFacts,
    ReleaseForm,
)
from discreet.model.release_address import ReleaseAddress
from discreet.queries.asked import AskedAggregate, AskedQuery
from discreet.queries.condition import Comparison
from discreet.queries.query import Aggregate
from discreet.queries.rewriting import PermutedTables, rewritten
from discreet.sql.dialect import DUCKDB, Dialect
from discreet.sql.names import table_parts

GROUPS_VIEW, BOUNDS_VIEW = "groups", "release_with_bounds"
_CONDITION = "condition"


def database_views(
    facts: PermutationFacts,
    dialect: Dialect = DUCKDB,
    *,
    release: str | None = None,
    help_table: str | None = None,
) -> dict[str, str]:
    """The views of a permuted release: queries by name, over its tables by theirs.

    ``release`` and ``help_table`` are the tables' names where they are not those of a database file.
    """
    return _views(facts, dialect, *_tables(facts, dialect, release, help_table))


def _views(facts: PermutationFacts, dialect: Dialect, data: str, helped: str) -> dict[str, str]:
    group, sensitive = dialect.identifier(facts.group_column), facts.sensitive
    counted = ["group_rows", "group_values"]
    bounds = ["g.group_rows", "g.group_values"]
    if facts.numeric:
        ends = {"lower": _or_none("least", "<"), "upper": _or_none("largest", ">"), "estimate": "g.mean"}
        mean = f"{dialect.cast('group_sum', 'DOUBLE')} / NULLIF(group_values, 0)"
        ends_of = ["min_lower AS least", "max_upper AS largest"]
        counted += ["group_sum AS total", f"{mean} AS mean", *ends_of]
        bounds += [f"{sql} AS {dialect.identifier(f'{sensitive}_{end}')}" for end, sql in ends.items()]
    groups = f"SELECT {group}, {', '.join(counted)} FROM {helped} WHERE hits = group_rows"
    rows = f"SELECT r.*, {', '.join(bounds)} FROM {data} AS r JOIN ({groups}) AS g ON g.{group} = r.{group}"
    return {GROUPS_VIEW: groups, BOUNDS_VIEW: rows}


def companion_views(
    facts: PermutationFacts, dialect: Dialect, release: str, help_table: str
) -> dict[str, str]:
    """The views beside a release that is a table, as queries by their purpose.

    ``release`` and ``help_table`` are relations of the dialect.
    """
    return dict(zip(VIEWS, _views(facts, dialect, release, help_table).values(), strict=True))


def companion_statements(
    facts: PermutationFacts, dialect: Dialect, address: ReleaseAddress
) -> tuple[str, ...]:
    """The views of a release that is a table of a database, as statements that make them beside it."""

    def relation(place: ReleaseAddress) -> str:
        return ".".join(map(dialect.identifier, table_parts(str(place.table))))

    views = companion_views(facts, dialect, relation(address), relation(address.companion(HELP)))
    return tuple(f"CREATE VIEW {relation(address.companion(n))} AS\n{query}" for n, query in views.items())


def view_statements(
    facts: PermutationFacts,
    dialect: Dialect = DUCKDB,
    *,
    release: str | None = None,
    help_table: str | None = None,
) -> tuple[str, ...]:
    """The views as statements that make them, and DuckDB's macro."""
    views = database_views(facts, dialect, release=release, help_table=help_table)
    statements = [f"CREATE VIEW {dialect.identifier(name)} AS\n{query}" for name, query in views.items()]
    if dialect.table_macros:
        statements += database_macros(facts, release=release, help_table=help_table)
    return tuple(statements)


def database_macros(
    facts: PermutationFacts, *, release: str | None = None, help_table: str | None = None
) -> tuple[str, ...]:
    """DuckDB's macros over a permuted release, as statements: tight bounds for any condition."""
    data, helped = _tables(facts, DUCKDB, release, help_table)
    tables = PermutedTables(
        release=data,
        help=helped,
        group_column=facts.group_column,
        numeric=facts.numeric,
        scale=facts.scale,
        has_null=facts.rows_without_value > 0,
    )
    kinds = list(Aggregate) if facts.numeric else [Aggregate.COUNT]
    asked = [AskedAggregate(Aggregate.COUNT, None, "COUNT(*)", "count")]
    asked += [AskedAggregate(kind, facts.sensitive, str(kind), f"{kind.lower()}_of") for kind in kinds]
    query = rewritten(AskedQuery(tuple(asked), (), Comparison(_CONDITION, ())), tables)
    name = DUCKDB.identifier(f"{facts.sensitive}_bounds")
    return (f"CREATE MACRO {name}({_CONDITION}) AS TABLE\n{query}",)


def _or_none(end: str, sign: str) -> str:
    """An end of a group's values, or 0 where that is further out and a row may have no value."""
    return f"CASE WHEN g.group_values < g.group_rows AND NOT g.{end} {sign} 0 THEN 0 ELSE g.{end} END"


def _tables(
    facts: PermutationFacts, dialect: Dialect, release: str | None, help_table: str | None
) -> tuple[str, str]:
    two = facts.form is ReleaseForm.TWO_TABLES
    own = QUASI_IDENTIFIERS_NAME if two else ONE_TABLE_NAME
    return dialect.identifier(release or own), dialect.identifier(help_table or HELP_NAME)
