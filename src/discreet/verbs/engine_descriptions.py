"""Texts that name the registered engines in help and advice: addresses, targets, dialects.

Help of the command line imports this module, so it loads neither an engine nor numpy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from discreet.engines.registry import known_engines, query_dialects


def data_addresses() -> str:
    """The addresses of data that are no path: ``postgresql://… with --table; or spark:FOLDER, or …``."""
    return "; or ".join(_iterate_data_addresses())


def _iterate_data_addresses() -> Iterator[str]:
    for engine in known_engines():
        if engine.databases is not None:
            yield f"{engine.databases.short} with --table"
        if engine.scheme is not None:
            catalog = "" if engine.catalog is None else f", or {engine.scheme} with --table"
            yield f"{engine.scheme}{engine.behind}{catalog}"


def release_addresses() -> str:
    """What may be written for the place of a release."""
    schemes = [e.scheme if e.catalog else f"{e.scheme}{e.behind}" for e in known_engines() if e.scheme]
    return _join_with_or(
        ["a path", *_short_database_addresses(), "env:NAME (a variable that holds such an address)", *schemes]
    )


def table_addresses() -> str:
    """The addresses of what has tables."""
    return _join_with_or(
        [
            *_short_database_addresses(),
            "env:NAME",
            *(e.scheme for e in known_engines() if e.scheme and e.catalog),
        ]
    )


def database_addresses() -> str:
    """The addresses of databases."""
    return ", ".join(_short_database_addresses())


def database_kinds() -> str:
    """What such databases are: ``a PostgreSQL database``."""
    return " or ".join(e.databases.what for e in known_engines() if e.databases is not None)


def table_targets() -> str:
    """Where a release may become a table."""
    return _join_with_or([e.catalog or e.title for e in known_engines() if e.tables is not None])


def folder_targets() -> str:
    """Which engines write a release into a folder, each behind a semicolon."""
    return "".join(f"; {engine.title}: or a folder" for engine in known_engines() if engine.folders)


def dialect_choices() -> str:
    """The SQL that a query may be asked in, as the command line shows a choice."""
    return "|".join(query_dialects(known_engines()))


def _short_database_addresses() -> list[str]:
    return [e.databases.short for e in known_engines() if e.databases is not None]


def _join_with_or(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])}, or {words[-1]}"
