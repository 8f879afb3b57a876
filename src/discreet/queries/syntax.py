"""Pieces of syntax as the parser makes them: what they may hold, and how they are refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from sqlglot import exp

from discreet.errors import InputError
from discreet.model.closest import closest
from discreet.queries.condition import Condition
from discreet.queries.operand import ColumnKind, Operand
from discreet.sql.dialect import Dialect

ALLOWED = (
    "columns and constants; =, <>, <, <=, >, >=, BETWEEN, IN (…), LIKE, ILIKE, IS NULL, IS DISTINCT FROM; "
    "AND, OR, NOT; CASE, +, -, *, /, %, ||; upper, lower, trim, length, substring, left, right, abs, round, "
    "floor, ceil, mod, greatest, least, coalesce, nullif, and CAST to a text, a whole number or a double"
)


@dataclass(frozen=True)
class Columns:
    """The columns that an expression may name, and why others may not be.

    ``refused`` maps a column to the reason. ``tables`` are names that may stand before a column's, folded.
    ``types`` are the columns' types by the house's names, where they are those of the table that is read.
    """

    kinds: Mapping[str, ColumnKind]
    refused: Mapping[str, str]
    tables: tuple[str, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)

    def name_of(self, tree: exp.Column) -> str:
        """The column that is meant, as the release spells it; ``InputError`` where it may not be named."""
        check_arguments(tree, "this", "table")
        if not isinstance(tree.this, exp.Identifier):
            raise refusal(tree)
        if tree.args.get("table") is not None and tree.table.casefold() not in self.tables:
            raise InputError(f"'{tree.table}' is not the table behind FROM", allowed="one table")
        return self.spelled(str(tree.name))

    def spelled(self, name: str, *, refusing: bool = True) -> str:
        """A column as the release spells it, whatever the case of ``name``."""
        known = [*self.kinds, *self.refused]
        found = [c for c in known if c == name] or [c for c in known if c.casefold() == name.casefold()]
        if len(set(found)) != 1:
            raise InputError(
                f"'{name}' is no column of the release",
                allowed=", ".join(self.kinds),
                advice=closest(name, self.kinds),
            )
        if refusing and found[0] in self.refused:
            raise InputError(self.refused[found[0]], allowed=", ".join(self.kinds))
        return found[0]


class ReadsExpressions(Protocol):
    """What a row of the tables needs of the reader of whole expressions (``queries.expressions``)."""

    @property
    def columns(self) -> Columns:
        """The columns that may be named."""

    @property
    def dialect(self) -> Dialect:
        """The dialect that is written."""

    @property
    def whole_division(self) -> bool:
        """Whether whole numbers are divided without a remainder."""

    def condition(self, tree: exp.Expr) -> Condition:
        """A condition."""

    def operand(self, tree: exp.Expr) -> Operand:
        """What may be compared."""

    def number(self, tree: exp.Expr) -> Operand:
        """A number, or what is read as one."""

    def text(self, tree: exp.Expr) -> Operand:
        """A text, or what is read as one."""

    def compared(self, tree: exp.Expr, *parts: exp.Expr) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Operands in the one reading that they are compared in, and the columns that they name."""


def refusal(tree: exp.Expr, why: str = "is not supported", advice: str | None = None) -> InputError:
    """The error for syntax without a row in the tables."""
    return InputError(f"{excerpt(tree)} {why}", allowed=ALLOWED, advice=advice)


def excerpt(tree: exp.Expr) -> str:
    """A piece of the query as its writer would know it, in quotes and cut short."""
    try:
        found = " ".join(tree.sql(dialect="duckdb", comments=False).split())
    except (ValueError, AttributeError, TypeError, KeyError):
        found = type(tree).__name__
    return f"'{found}'" if len(found) <= 60 else f"'{found[:57]}…'"


def given_arguments(tree: exp.Expr) -> set[str]:
    """The names of the arguments that a piece of syntax has."""
    return {
        name for name, value in tree.args.items() if value is not None and value is not False and value != []
    }


def check_arguments(tree: exp.Expr, *allowed: str) -> None:
    """``InputError`` where syntax comes with more than its row allows."""
    beyond = given_arguments(tree) - set(allowed)
    if beyond:
        words = ", ".join(sorted(name.strip("_").replace("_", " ").upper() for name in beyond))
        raise refusal(tree, f"has more than is supported ({words})")
