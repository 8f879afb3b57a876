"""Quoted identifiers, string literals and table names in SQL text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from discreet.errors import InputError

_PARTS = re.compile(r'(?:[^".]+|"(?:[^"]|"")+")(?:\.(?:[^".]+|"(?:[^"]|"")+"))*')
_PLAIN = re.compile(r"\w+")
_PART = re.compile(r'([^".]+)|"((?:[^"]|"")+)"')


def identifier(name: str) -> str:
    """Return a name as a quoted identifier; it may contain any characters.

    >>> print(identifier('the "id" column'))
    "the ""id"" column"
    """
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as a string literal.

    >>> print(literal("it's"))
    'it''s'
    """
    return "'" + text.replace("'", "''") + "'"


def numbered(prefix: str) -> Callable[[int], str]:
    """Return the function of a column's name by its index, with this prefix.

    >>> numbered("c")(0)
    'c0'
    """
    return f"{prefix}{{}}".format


def glob_literal(path: Path) -> str:
    """Return a path as a literal without wildcards, where a path pattern is expected.

    >>> print(glob_literal(Path("a[1].csv")))
    'a[[]1].csv'
    """
    return literal("".join(f"[{c}]" if c in "*?[" else c for c in str(path)))


def qualified(name: str, relation: str = "") -> str:
    """Return a quoted column name, qualified by a relation's alias if one is given.

    >>> print(qualified("c0", "s"))
    "s"."c0"
    """
    return f"{identifier(relation)}.{identifier(name)}" if relation else identifier(name)


def table_name(parts: Sequence[str]) -> str:
    """Join the parts of a table's name; parts with other characters are in double quotes.

    >>> table_name(("out", "the people")), table_name(("clinic", "patients"))
    ('out."the people"', 'clinic.patients')
    """
    return ".".join(part if _PLAIN.fullmatch(part) else identifier(part) for part in parts)


def table_parts(name: str) -> tuple[str, ...]:
    """Split a table's name, as users write it, into its parts; ``InputError`` for another form.

    Parts are separated by dots; a part with other characters is in double quotes, which are doubled within
    it.

    >>> table_parts('out."the ""best"" people"'), table_parts("people")
    (('out', 'the "best" people'), ('people',))
    """
    if not _PARTS.fullmatch(name):
        raise InputError(
            f"'{name}' is not a valid table name", allowed='SCHEMA.NAME, parts with other characters in "…"'
        )
    return tuple(
        plain or quoted.replace('""', '"') for plain, quoted in (m.groups() for m in _PART.finditer(name))
    )
