"""Syntax of the parser: allowed arguments, columns, rejections, and ``label(column)``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from discreet.errors import InputError
from discreet.model.registry import suggest_name
from discreet.queries.aggregate_query import Aggregate
from discreet.queries.sql_expression import ColumnKind

ALLOWED_EXPRESSIONS = (
    "columns and constants; =, <>, <, <=, >, >=, BETWEEN, IN (…), LIKE, ILIKE, IS NULL, IS DISTINCT FROM; "
    "AND, OR, NOT; CASE, +, -, *, /, %, ||; upper, lower, trim, length, substring, left, right, abs, round, "
    "floor, ceil, mod, greatest, least, coalesce, nullif, and CAST to a text, a whole number or a double"
)


@dataclass(frozen=True)
class QueryColumns:
    """Columns that an expression may name, and why others may not be named.

    ``refused`` maps a column to the reason. ``tables`` are case-folded names that may precede a column's.
    ``types`` are the columns' type names, as ``engines`` uses them, if the columns are those of the queried
    table.
    """

    kinds: Mapping[str, ColumnKind]
    refused: Mapping[str, str]
    tables: tuple[str, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)

    def name_of(self, tree: exp.Column) -> str:
        """Return a column in the release's spelling; raise ``InputError`` if it may not be named."""
        check_syntax_arguments(tree, "this", "table")
        if not isinstance(tree.this, exp.Identifier):
            raise refuse_syntax(tree)
        if tree.args.get("table") is not None and tree.table.casefold() not in self.tables:
            raise InputError(f"'{tree.table}' is not the table after FROM", allowed="one table")
        return self.find_name(str(tree.name))

    def find_name(self, name: str, *, refusing: bool = True) -> str:
        """Return a column in the release's spelling, ignoring the case of ``name``."""
        known = [*self.kinds, *self.refused]
        found = [c for c in known if c == name] or [c for c in known if c.casefold() == name.casefold()]
        if len(set(found)) != 1:
            raise InputError(
                f"the release has no column '{name}'",
                allowed=", ".join(self.kinds),
                advice=suggest_name(name, self.kinds),
            )
        if refusing and found[0] in self.refused:
            raise InputError(self.refused[found[0]], allowed=", ".join(self.kinds))
        return found[0]


def refuse_syntax(tree: exp.Expr, why: str = "is not supported", advice: str | None = None) -> InputError:
    """Build the error for syntax that has no entry in the tables."""
    return InputError(f"{excerpt(tree)} {why}", allowed=ALLOWED_EXPRESSIONS, advice=advice)


def excerpt(tree: exp.Expr) -> str:
    """Quote and shorten a piece of the query for messages."""
    try:
        found = " ".join(tree.sql(dialect="duckdb", comments=False).split())
    except (ValueError, AttributeError, TypeError, KeyError):
        found = type(tree).__name__
    return f"'{found}'" if len(found) <= 60 else f"'{found[:57]}…'"


def present_arguments(tree: exp.Expr) -> set[str]:
    """Return the names of the arguments that a piece of syntax has."""
    return {
        name for name, value in tree.args.items() if value is not None and value is not False and value != []
    }


def check_syntax_arguments(tree: exp.Expr, *allowed: str) -> None:
    """Raise ``InputError`` if syntax has arguments that its entry does not allow."""
    beyond = present_arguments(tree) - set(allowed)
    if beyond:
        words = ", ".join(sorted(name.strip("_").replace("_", " ").upper() for name in beyond))
        raise refuse_syntax(tree, f"has unsupported arguments ({words})")


AGGREGATES: dict[type[exp.Expr], Aggregate] = {
    exp.Count: Aggregate.COUNT,
    exp.Sum: Aggregate.SUM,
    exp.Avg: Aggregate.AVG,
    exp.Min: Aggregate.MIN,
    exp.Max: Aggregate.MAX,
}

LABEL_FUNCTION = "label"


def label_column(column: str) -> str:
    """Return the name of a column's labels among a query's columns."""
    return f"{LABEL_FUNCTION}({column})"


def is_label(tree: exp.Expr | None) -> bool:
    """Check whether a piece of syntax is ``label(…)``."""
    return isinstance(tree, exp.Anonymous) and str(tree.this).casefold() == LABEL_FUNCTION
