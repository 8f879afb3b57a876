"""The SQL of three databases, where it differs: quoting, types, the number that a text says.

A text says a number where it is a plain decimal (``-3.50``, ``1e5``; blanks around it do not matter), as in
workloads. None of the databases casts just those, so a cast stands behind a pattern; what does not match is
NULL. Numbers in expressions are 64-bit floating point, except that PostgreSQL divides whole numbers as it
does, without a remainder.
"""

from __future__ import annotations

from enum import StrEnum

_DECIMAL = r"\s*[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{1,2})?\s*"


class Dialect(StrEnum):
    """Whose SQL is read and written."""

    DUCKDB = "duckdb"
    POSTGRES = "postgres"
    SPARK = "spark"

    @property
    def double(self) -> str:
        """The type of 64-bit floating-point numbers."""
        return "DOUBLE PRECISION" if self is Dialect.POSTGRES else "DOUBLE"

    @property
    def text(self) -> str:
        """The type of texts without a limit."""
        return {Dialect.DUCKDB: "VARCHAR", Dialect.POSTGRES: "TEXT", Dialect.SPARK: "STRING"}[self]

    def identifier(self, name: str) -> str:
        """A name, quoted."""
        mark = "`" if self is Dialect.SPARK else '"'
        return mark + name.replace(mark, mark * 2) + mark

    def literal(self, text: str) -> str:
        """A text as a literal."""
        if self is Dialect.SPARK:
            return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
        return "'" + text.replace("'", "''") + "'"

    def as_double(self, number: str) -> str:
        """A number as floating point."""
        return f"CAST({number} AS {self.double})"

    def as_text(self, value: str) -> str:
        """A value's canonical text."""
        return f"CAST({value} AS {self.text})"

    def as_whole(self, number: str) -> str:
        """A number as a whole one, rounded as the database does."""
        cast = "CAST" if self is Dialect.POSTGRES else "TRY_CAST"
        return f"{cast}({number} AS BIGINT)"

    def number_in(self, text: str) -> str:
        """The number that a text says, NULL where it says none."""
        pattern = self.literal(_DECIMAL)
        if self is Dialect.DUCKDB:
            return f"CASE WHEN regexp_full_match({text}, {pattern}) THEN TRY_CAST({text} AS DOUBLE) END"
        anchored = self.literal(f"^{_DECIMAL}$")
        if self is Dialect.SPARK:
            return f"CASE WHEN {text} RLIKE {anchored} THEN TRY_CAST({text} AS DOUBLE) END"
        return f"CASE WHEN {text} ~ {anchored} THEN CAST({text} AS DOUBLE PRECISION) END"

    def remainder(self, number: str, divisor: str) -> str:
        """What is left of a division; NULL where the divisor is 0."""
        if self is Dialect.POSTGRES:
            return f"(CAST({number} AS NUMERIC) % NULLIF(CAST({divisor} AS NUMERIC), 0))"
        return f"({number} % NULLIF({divisor}, 0))"

    def rounded(self, number: str, digits: int) -> str:
        """A number rounded to some decimals, halves away from zero."""
        if self is Dialect.POSTGRES:
            return f"ROUND(CAST({number} AS NUMERIC), {digits})"
        return f"ROUND({number}, {digits})"

    def differs(self, first: str, second: str) -> str:
        """Whether two values differ, where NULL is a value."""
        if self is Dialect.SPARK:
            return f"NOT ({first} <=> {second})"
        return f"{first} IS DISTINCT FROM {second}"
