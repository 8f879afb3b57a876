"""Texts that name the registered engines in help and advice: addresses, targets, dialects.

Help of the command line imports this module, so it loads neither an engine nor numpy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from discreet.engines.registry import known_engines, query_dialects


def data_addresses() -> str:
    """Return addresses of data other than paths: ``postgresql://… with --table; or spark:FOLDER, or …``."""
    return "; or ".join(_iterate_data_addresses())


def _iterate_data_addresses() -> Iterator[str]:
    for engine in known_engines():
        if engine.databases is not None:
            yield f"{engine.databases.short} with --table"
        if engine.scheme is not None:
            catalog = "" if engine.catalog is None else f", or {engine.scheme} with --table"
            yield f"{engine.scheme}{engine.behind}{catalog}"


def release_addresses() -> str:
    """Return the addresses that a release may have."""
    schemes = [e.scheme if e.catalog else f"{e.scheme}{e.behind}" for e in known_engines() if e.scheme]
    return _join_with_or(
        ["a path", *_short_database_addresses(), "env:NAME (a variable that holds such an address)", *schemes]
    )


def table_addresses() -> str:
    """Return the addresses of databases and catalogs with tables."""
    return _join_with_or(
        [
            *_short_database_addresses(),
            "env:NAME",
            *(e.scheme for e in known_engines() if e.scheme and e.catalog),
        ]
    )


def database_addresses() -> str:
    """Return the addresses of databases."""
    return ", ".join(_short_database_addresses())


def database_kinds() -> str:
    """Return the kinds of database: ``a PostgreSQL database``."""
    return " or ".join(e.databases.what for e in known_engines() if e.databases is not None)


def table_targets() -> str:
    """Return the engines in which a release may become a table."""
    return _join_with_or([e.catalog or e.title for e in known_engines() if e.tables is not None])


def folder_targets() -> str:
    """Return the engines that write a release into a folder, each after a semicolon."""
    return "".join(f"; {engine.title}: or a folder" for engine in known_engines() if engine.folders)


def dialect_choices() -> str:
    """Return the SQL dialects of a query, as the command line shows a choice."""
    return "|".join(query_dialects(known_engines()))


def _short_database_addresses() -> list[str]:
    return [e.databases.short for e in known_engines() if e.databases is not None]


def _join_with_or(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])}, or {words[-1]}"
