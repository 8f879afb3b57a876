"""Identities of the tables of a database, and the tables that a view is made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

Identity: TypeAlias = tuple[str, str]
"""A kind and a text, such as ``("path", "/data/people.sqlite\\npeople")``."""

_WORD = re.compile(r"\"((?:[^\"]|\"\")*)\"|`([^`]*)`|\[([^\]]*)\]|([\w$]+)")


def tables_behind(name: str, tables: Iterable[str], views: Mapping[str, str]) -> tuple[str, ...]:
    """Return a table or view and every table and view whose name its statement contains, through views.

    ``views`` are statements by name. A name in a comment or of a column counts as well: two sources are
    rather taken for one than for two.

    >>> tables_behind("v", ["people", "other"], {"v": 'CREATE VIEW v AS SELECT * FROM "People"'})
    ('v', 'people')
    """
    known = {each.casefold(): each for each in (*tables, *views)}
    statements = {view.casefold(): text for view, text in views.items()}
    found, waiting = dict[str, None](), [name]
    while waiting:
        each = waiting.pop()
        if each in found:
            continue
        found[each] = None
        statement = statements.get(each.casefold(), "")
        words = {next(filter(None, word.groups()), "").casefold() for word in _WORD.finditer(statement)}
        waiting += [known[word] for word in words & known.keys()]
    return tuple(sorted(found, key=lambda each: (each != name, each)))


def database_identities(server: Sequence[str], tables: Iterable[str]) -> tuple[Identity, ...]:
    """Return the identities of tables of a database, by each name of its server."""
    return tuple(("table", f"{each}\n{table}") for each in server for table in tables)
