"""The engines in words, for help and advice: their addresses, their names, by what is registered.

Light, since the command line shows these in its help: neither an engine nor numpy is loaded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from discreet.engines.registry import asked_dialects, known_engines


def data_places() -> str:
    """The addresses of data that are no path: ``postgresql://… with --table; or spark:FOLDER, or …``."""
    return "; or ".join(_data_places())


def _data_places() -> Iterator[str]:
    for engine in known_engines():
        if engine.databases is not None:
            yield f"{engine.databases.short} with --table"
        if engine.scheme is not None:
            catalog = "" if engine.catalog is None else f", or {engine.scheme} with --table"
            yield f"{engine.scheme}{engine.behind}{catalog}"


def release_places() -> str:
    """What may be written for the place of a release."""
    schemes = [e.scheme if e.catalog else f"{e.scheme}{e.behind}" for e in known_engines() if e.scheme]
    return _listed(["a path", *_databases(), "env:NAME (a variable that holds such an address)", *schemes])


def table_places() -> str:
    """The addresses of what has tables."""
    return _listed(
        [*_databases(), "env:NAME", *(e.scheme for e in known_engines() if e.scheme and e.catalog)]
    )


def database_places() -> str:
    """The addresses of databases."""
    return ", ".join(_databases())


def databases() -> str:
    """What such databases are: ``a PostgreSQL database``."""
    return " or ".join(e.databases.what for e in known_engines() if e.databases is not None)


def table_targets() -> str:
    """Where a release may become a table."""
    return _listed([e.catalog or e.title for e in known_engines() if e.tables is not None])


def folder_targets() -> str:
    """Which engines write a release into a folder, each behind a semicolon."""
    return "".join(f"; {engine.title}: or a folder" for engine in known_engines() if engine.folders)


def dialects() -> str:
    """The SQL that a query may be asked in, as the command line shows a choice."""
    return "|".join(asked_dialects(known_engines()))


def _databases() -> list[str]:
    return [e.databases.short for e in known_engines() if e.databases is not None]


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])}, or {words[-1]}"
