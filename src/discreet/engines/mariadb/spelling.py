"""Statements as MariaDB spells them, where the words that the engines have in common are none of its own.

Read are tokens: literals and quoted names stay as they are. Rewritten are six spellings and nothing else
(``FILTER``, types in casts, ``length`` in letters, ``NULLS FIRST``, names of a derived table's columns, the
reserved word ``rows``); what else MariaDB does not know it refuses as a fault of syntax, so that no statement
means something else than it says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from discreet.engines.mariadb.dialect import ABSENT, MARIADB
from discreet.engines.mariadb.failures import no_words

_TOKEN = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|[A-Za-z_][A-Za-z_0-9$]*|\s+|.", re.DOTALL)


def spelled(statement: str) -> str:
    """The statement for MariaDB; ``InputError`` where it asks what MariaDB has no words for.

    >>> spelled("SELECT min(a) FILTER (WHERE b), CAST(length(c) AS BIGINT) FROM t")
    'SELECT min(CASE WHEN b THEN a END), CAST(char_length(c) AS SIGNED) FROM t'
    """
    return "".join(_spelled(_TOKEN.findall(statement)))


def _spelled(tokens: Sequence[str]) -> list[str]:
    out: list[str] = []
    place = 0
    while place < len(tokens):
        token = tokens[place]
        word = token.upper()
        if token == ABSENT or (word == "FULL" and _next_word(tokens, place) == "JOIN"):
            raise no_words()
        if word == "FILTER" and "".join(out).rstrip().endswith(")"):
            opened = _after(tokens, place, "(")
            closed = _closing(tokens, opened)
            condition = _spelled(tokens[_after(tokens, opened, "WHERE") + 1 : closed])
            _apply(out, "".join(condition).strip())
            place = closed
        elif word == "AS" and _next_word(tokens, place) in MARIADB.types and _ends_cast(tokens, place):
            named = place + 2
            out += [token, " ", MARIADB.types[tokens[named].upper()]]
            place = named
        elif word == "LENGTH" and _next_word(tokens, place) == "(":
            out.append("char_length")
        elif token == "rows":
            out.append('"rows"')
        elif word == "AS" and (end := _names_end(tokens, place)) is not None:
            opened = _after(tokens, place, "(")
            _name_columns(out, "".join(tokens[opened : end + 1]))
            out += tokens[place:opened]
            place = end
        elif word == "NULLS" and _next_word(tokens, place) == "FIRST":
            place = _after(tokens, place, "FIRST")
        else:
            out.append(token)
        place += 1
    return out


def _apply(out: list[str], condition: str) -> None:
    """Put a condition into the aggregate at the end of what is written."""
    while out[-1].isspace():
        out.pop()
    start = _opening(out)
    argument = "".join(out[start + 1 : -1]).strip()
    distinct = "DISTINCT " if argument.upper().startswith("DISTINCT ") else ""
    argument = argument[len(distinct) :]
    counted = "1" if argument == "*" else argument
    out[start + 1 :] = [f"{distinct}CASE WHEN {condition} THEN {counted} END", ")"]


def _names_end(tokens: Sequence[str], place: int) -> int | None:
    """The end of the columns' names after an alias, ``AS t(c0, c1)``; None where there are none."""
    after = [i for i in range(place + 1, len(tokens)) if not tokens[i].isspace()][:2]
    if len(after) < 2 or tokens[after[1]] != "(" or not re.match(r"[\w\"]", tokens[after[0]]):
        return None
    before = "".join(tokens[:place]).rstrip()
    if (
        not before.endswith(")")
        or tokens[after[0]].upper() in MARIADB.types
        or "DECIMAL" in tokens[after[0]].upper()
    ):
        return None
    return _closing(tokens, after[1])


def _name_columns(out: list[str], names: str) -> None:
    """Name the columns of the query that ends what is written, which only a table expression can."""
    while out[-1].isspace():
        out.pop()
    start = _opening(out)
    out[start] = f"(WITH named {names} AS ("
    out[-1] = ") SELECT * FROM named) "


def _opening(out: Sequence[str]) -> int:
    """The place of the parenthesis that the last token closes."""
    depth, start = 0, len(out)
    while True:
        start -= 1
        depth += {")": 1, "(": -1}.get(out[start], 0)
        if depth == 0:
            return start


def _next_word(tokens: Sequence[str], place: int) -> str:
    return next((t.upper() for t in tokens[place + 1 : place + 3] if not t.isspace()), "")


def _after(tokens: Sequence[str], place: int, wanted: str) -> int:
    """The place of the next token of a text."""
    return next(i for i in range(place + 1, len(tokens)) if tokens[i].upper() == wanted)


def _closing(tokens: Sequence[str], opened: int) -> int:
    depth = 0
    for i in range(opened, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[i], 0)
        if depth == 0:
            return i
    raise ValueError("a parenthesis that is never closed")


def _ends_cast(tokens: Sequence[str], place: int) -> bool:
    """Whether the type after AS ends a cast: an alias would be followed by something else."""
    return len(tokens) > place + 3 and tokens[place + 1].isspace() and tokens[place + 3] == ")"
