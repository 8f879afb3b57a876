"""Statements as Spark takes them."""

from __future__ import annotations

import re

_QUOTED = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*\"""")


def with_escapes(statement: str) -> str:
    r"""A statement whose literals hold backslashes as plain characters, as one that escapes them.

    Spark has a setting for plain backslashes, under which a doubled quote stays two quotes.

    >>> print(with_escapes(r'''SELECT 'it''s a \d', "a\b"'''))
    SELECT 'it''s a \\d', "a\b"
    """
    if "\\" not in statement:
        return statement
    return _QUOTED.sub(lambda found: _escaped(found.group()), statement)


def _escaped(quoted: str) -> str:
    return quoted.replace("\\", "\\\\") if quoted.startswith("'") else quoted
