"""Conditions and operands of a release query, as SQL text with the columns that they name.

A condition is a tree of comparisons joined by AND, OR and NOT; each comparison is SQL text composed from
the parsed syntax, which an engine can evaluate separately. A cell of a text column is both number and text:
``age >= 30`` compares the number that it states, ``zip LIKE '021%'`` the text. An operand therefore has its
SQL in both types, if both exist, until its use decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from discreet.errors import InputError
from discreet.sql.dialect import Dialect


@dataclass(frozen=True)
class SqlComparison:
    """SQL text that is true, false or NULL, and the columns that it names."""

    sql: str
    attributes: tuple[str, ...]


@dataclass(frozen=True)
class Negation:
    """Negation of a condition."""

    of: Condition

    @property
    def sql(self) -> str:
        """Condition as SQL."""
        return f"NOT ({self.of.sql})"


@dataclass(frozen=True)
class Conjunction:
    """Conjunction of conditions."""

    parts: tuple[Condition, ...]

    @property
    def sql(self) -> str:
        """Condition as SQL."""
        return " AND ".join(_parenthesized(part) for part in self.parts)


@dataclass(frozen=True)
class Disjunction:
    """Disjunction of conditions."""

    parts: tuple[Condition, ...]

    @property
    def sql(self) -> str:
        """Condition as SQL."""
        return " OR ".join(_parenthesized(part) for part in self.parts)


Condition = SqlComparison | Negation | Conjunction | Disjunction


def attributes_of_condition(condition: Condition) -> tuple[str, ...]:
    """Return the distinct columns that a condition names, in order."""
    return tuple(dict.fromkeys(name for part in iterate_comparisons(condition) for name in part.attributes))


def iterate_comparisons(condition: Condition) -> Iterator[SqlComparison]:
    """Yield every comparison of a condition, in its order."""
    if isinstance(condition, SqlComparison):
        yield condition
    elif isinstance(condition, Negation):
        yield from iterate_comparisons(condition.of)
    else:
        for part in condition.parts:
            yield from iterate_comparisons(part)


def _parenthesized(condition: Condition) -> str:
    return f"({condition.sql})" if isinstance(condition, Conjunction | Disjunction) else condition.sql


LONGEST_SQL = 200_000
_BLANKS = r"[ \t\n\f\r]*"
_DECIMAL = _BLANKS + r"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{1,2})?" + _BLANKS


class ColumnKind(StrEnum):
    """Storage type of a column's cells."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    OTHER = "other"

    @classmethod
    def of_type(cls, type_name: str) -> ColumnKind:
        """Return the kind of an engine's type; dates, booleans and the like are read as their texts."""
        base = type_name.split("(")[0].strip().upper()
        if base in _TEXT_TYPE_NAMES:
            return cls.TEXT
        if base in _INTEGER_TYPE_NAMES:
            return cls.INTEGER
        return cls.NUMBER if base in _NUMBER_TYPE_NAMES else cls.OTHER


_TEXT_TYPE_NAMES = {"VARCHAR", "TEXT", "CHAR", "BPCHAR", "STRING"}
_INTEGER_TYPE_NAMES = {f"{u}{size}INT" for u in ("", "U") for size in ("TINY", "SMALL", "BIG", "HUGE")}
_INTEGER_TYPE_NAMES |= {"INTEGER", "UINTEGER", "INT"}
_NUMBER_TYPE_NAMES = {"DECIMAL", "NUMERIC", "DOUBLE", "FLOAT", "REAL"}


class OperandType(StrEnum):
    """Type in which an operand is read."""

    NUMBER = "number"
    TEXT = "text"


@dataclass(frozen=True)
class Operand:
    """SQL of an expression, read as a number and read as a text; None if impossible.

    ``prefers`` is the stored type, None if that does not decide (a text column). ``is_integer`` and
    ``floating`` describe the number's type.
    """

    number: str | None
    text: str | None
    attributes: tuple[str, ...] = ()
    prefers: OperandType | None = None
    is_integer: bool = False
    floating: bool = False
    is_null: bool = False

    def read_as(self, reading: OperandType) -> str:
        """Return the SQL in a type that the operand has."""
        sql = self.number if reading is OperandType.NUMBER else self.text
        assert sql is not None
        if len(sql) > LONGEST_SQL:
            raise InputError("the query's expressions are nested too deeply", advice="Simplify the query.")
        return sql


def number_of_text(dialect: Dialect, text: str) -> str:
    """Return SQL for the number that a text states, NULL if it states none.

    A text states a number if it is a plain decimal (``-3.50``, ``1e5``; surrounding blanks are ignored), as
    in workloads. No database casts exactly those, so a pattern guards the cast.
    """
    matches = dialect.full_match.format(text, dialect.literal(_DECIMAL))
    return f"CASE WHEN {matches} THEN {dialect.plain_double.format(text)} END"


NULL_OPERAND = Operand(number="NULL", text="NULL", is_null=True)


def column_operand(name: str, kind: ColumnKind, dialect: Dialect, type_name: str = "") -> Operand:
    """Return a column's cells as an operand; ``type_name`` is the stored type's name, if known.

    A column of texts may have been loaded into another database with a type, so it is cast there.
    """
    stored = dialect.identifier(name)
    if kind is ColumnKind.TEXT:
        stored = stored if dialect.reads_files or type_name else dialect.cast(stored, "VARCHAR")
        return Operand(number_of_text(dialect, stored), stored, (name,), floating=True)
    if kind is ColumnKind.OTHER:
        return Operand(None, dialect.text(stored, type_name), (name,), prefers=OperandType.TEXT)
    return Operand(
        stored,
        dialect.text(stored, type_name),
        (name,),
        prefers=OperandType.NUMBER,
        is_integer=kind is ColumnKind.INTEGER,
    )


def number_operand(sql: str, *of: Operand, is_integer: bool = False, floating: bool = True) -> Operand:
    """Return an operand that is only a number."""
    return Operand(sql, None, attributes_of_operands(of), OperandType.NUMBER, is_integer, floating)


def text_operand(sql: str, *of: Operand) -> Operand:
    """Return an operand that is only a text."""
    return Operand(None, sql, attributes_of_operands(of), OperandType.TEXT)


def attributes_of_operands(operands: Sequence[Operand]) -> tuple[str, ...]:
    """Return the distinct columns that operands name, in order."""
    return tuple(dict.fromkeys(name for operand in operands for name in operand.attributes))


def find_common_type(operands: Sequence[Operand]) -> OperandType | None:
    """Find the type in which operands are compared with each other; None if it is undetermined.

    Raises ``InputError`` if one is a number and another a text.
    """
    known = [operand for operand in operands if not operand.is_null]
    if not known:
        return OperandType.TEXT
    if len(known) == 1:
        return known[0].prefers or OperandType.TEXT
    numbers = [operand for operand in known if operand.text is None]
    texts = [operand for operand in known if operand.number is None]
    if numbers and texts:
        raise InputError(
            "a number is compared with a text",
            allowed="numbers with numbers, texts with texts",
            advice="Write a text in single quotes, a number without; CAST converts a value.",
        )
    if numbers or texts:
        return OperandType.NUMBER if numbers else OperandType.TEXT
    preferred = {operand.prefers for operand in known}
    return preferred.pop() if len(preferred) == 1 else None
