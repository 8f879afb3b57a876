"""Names and literals in SQL text."""

from __future__ import annotations


def identifier(name: str) -> str:
    """A name as a quoted identifier, whatever characters it has.

    >>> print(identifier('the "id" column'))
    "the ""id"" column"
    """
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as a string literal.

    >>> print(literal("it's"))
    'it''s'
    """
    return "'" + text.replace("'", "''") + "'"


def qualified(name: str, relation: str = "") -> str:
    """A quoted column name, of a relation's alias where one is given.

    >>> print(qualified("c0", "s"))
    "s"."c0"
    """
    return f"{identifier(relation)}.{identifier(name)}" if relation else identifier(name)
