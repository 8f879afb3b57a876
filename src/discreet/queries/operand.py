"""What an expression of an asked query is worth: a number, a text, or either, until its use decides.

A cell of a text column is both: ``age >= 30`` compares the number that it says, ``zip LIKE '021%'`` the text.
So each operand carries its SQL in both readings, where it has both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from discreet.errors import InputError
from discreet.sql.dialect import Dialect

LONGEST_SQL = 200_000
_BLANKS = r"[ \t\n\f\r]*"
_DECIMAL = _BLANKS + r"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{1,2})?" + _BLANKS


class ColumnKind(StrEnum):
    """How a column's cells are stored."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    OTHER = "other"

    @classmethod
    def of_type(cls, type_name: str) -> ColumnKind:
        """The kind of an engine's type; dates, booleans and the like are read as their texts."""
        base = type_name.split("(")[0].strip().upper()
        if base in _TEXTS:
            return cls.TEXT
        if base in _INTEGERS:
            return cls.INTEGER
        return cls.NUMBER if base in _NUMBERS else cls.OTHER


_TEXTS = {"VARCHAR", "TEXT", "CHAR", "BPCHAR", "STRING"}
_INTEGERS = {f"{u}{size}INT" for u in ("", "U") for size in ("TINY", "SMALL", "BIG", "HUGE")}
_INTEGERS |= {"INTEGER", "UINTEGER", "INT"}
_NUMBERS = {"DECIMAL", "NUMERIC", "DOUBLE", "FLOAT", "REAL"}


class Reading(StrEnum):
    """How an operand is read."""

    NUMBER = "number"
    TEXT = "text"


@dataclass(frozen=True)
class Operand:
    """An expression's SQL, read as a number and read as a text; None where it cannot be.

    ``prefers`` is how it is stored, None where that does not say (a text column). ``whole`` and ``floating``
    tell of the number's type.
    """

    number: str | None
    text: str | None
    attributes: tuple[str, ...] = ()
    prefers: Reading | None = None
    whole: bool = False
    floating: bool = False
    is_null: bool = False

    def read_as(self, reading: Reading) -> str:
        """Its SQL in a reading that it has."""
        sql = self.number if reading is Reading.NUMBER else self.text
        assert sql is not None
        if len(sql) > LONGEST_SQL:
            raise InputError("the query's expressions are nested too deeply", advice="Ask a simpler one.")
        return sql


def number_in(dialect: Dialect, text: str) -> str:
    """The number that a text says, NULL where it says none.

    It says one where it is a plain decimal (``-3.50``, ``1e5``; blanks around it do not matter), as in
    workloads. No database casts just those, so a cast stands behind a pattern.
    """
    matches = dialect.full_match.format(text, dialect.literal(_DECIMAL))
    return f"CASE WHEN {matches} THEN {dialect.plain_double.format(text)} END"


NULL = Operand(number="NULL", text="NULL", is_null=True)


def of_column(name: str, kind: ColumnKind, dialect: Dialect, type_name: str = "") -> Operand:
    """A column's cells; ``type_name`` is the house's, where it is known how the column is stored.

    A column of texts may have been loaded into another database with a type, so it is cast there.
    """
    stored = dialect.identifier(name)
    if kind is ColumnKind.TEXT:
        stored = stored if dialect.reads_files or type_name else dialect.cast(stored, "VARCHAR")
        return Operand(number_in(dialect, stored), stored, (name,), floating=True)
    if kind is ColumnKind.OTHER:
        return Operand(None, dialect.text(stored, type_name), (name,), prefers=Reading.TEXT)
    return Operand(
        stored,
        dialect.text(stored, type_name),
        (name,),
        prefers=Reading.NUMBER,
        whole=kind is ColumnKind.INTEGER,
    )


def number(sql: str, *of: Operand, whole: bool = False, floating: bool = True) -> Operand:
    """An expression that is a number and nothing else."""
    return Operand(sql, None, named_by(of), Reading.NUMBER, whole, floating)


def text(sql: str, *of: Operand) -> Operand:
    """An expression that is a text and nothing else."""
    return Operand(None, sql, named_by(of), Reading.TEXT)


def named_by(operands: Sequence[Operand]) -> tuple[str, ...]:
    """The columns that operands name, each once, in order."""
    return tuple(dict.fromkeys(name for operand in operands for name in operand.attributes))


def common_reading(operands: Sequence[Operand]) -> Reading | None:
    """How operands that are compared with each other are read; None where nothing tells.

    ``InputError`` where one is a number and another a text.
    """
    known = [operand for operand in operands if not operand.is_null]
    if not known:
        return Reading.TEXT
    if len(known) == 1:
        return known[0].prefers or Reading.TEXT
    numbers = [operand for operand in known if operand.text is None]
    texts = [operand for operand in known if operand.number is None]
    if numbers and texts:
        raise InputError(
            "a number is compared with a text",
            allowed="numbers with numbers, texts with texts",
            advice="A text is written in single quotes, a number without; CAST says what a value is read as.",
        )
    if numbers or texts:
        return Reading.NUMBER if numbers else Reading.TEXT
    preferred = {operand.prefers for operand in known}
    return preferred.pop() if len(preferred) == 1 else None
