"""Quoted identifiers, string literals and table names in SQL text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from discreet.errors import InputError

_PARTS = re.compile(r'(?:[^".]+|"(?:[^"]|"")+")(?:\.(?:[^".]+|"(?:[^"]|"")+"))*')
_PLAIN = re.compile(r"\w+")
_PART = re.compile(r'([^".]+)|"((?:[^"]|"")+)"')


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


def glob_literal(path: Path) -> str:
    """A path as a literal in which no character stands for others, where a pattern of paths is read.

    >>> print(glob_literal(Path("a[1].csv")))
    'a[[]1].csv'
    """
    return literal("".join(f"[{c}]" if c in "*?[" else c for c in str(path)))


def qualified(name: str, relation: str = "") -> str:
    """A quoted column name, of a relation's alias where one is given.

    >>> print(qualified("c0", "s"))
    "s"."c0"
    """
    return f"{identifier(relation)}.{identifier(name)}" if relation else identifier(name)


def table_name(parts: Sequence[str]) -> str:
    """Parts as a table's name is written: those with other characters in double quotes.

    >>> table_name(("out", "the people")), table_name(("clinic", "patients"))
    ('out."the people"', 'clinic.patients')
    """
    return ".".join(part if _PLAIN.fullmatch(part) else identifier(part) for part in parts)


def table_parts(name: str) -> tuple[str, ...]:
    """The parts of a table's name as its user writes it; ``InputError`` for another form.

    Parts are separated by dots; one with other characters stands in double quotes, those in it doubled.

    >>> table_parts('out."the ""best"" people"'), table_parts("people")
    (('out', 'the "best" people'), ('people',))
    """
    if not _PARTS.fullmatch(name):
        raise InputError(
            f"'{name}' is no name of a table", allowed='SCHEMA.NAME, parts with other characters in "…"'
        )
    return tuple(
        plain or quoted.replace('""', '"') for plain, quoted in (m.groups() for m in _PART.finditer(name))
    )
