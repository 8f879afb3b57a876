"""The databases that a page may choose a table of: those that whoever runs the server has named."""

from __future__ import annotations

from discreet.engines.database_tables import readable_tables
from discreet.engines.named_databases import NamedDatabase, named_databases
from discreet.errors import InputError
from discreet.settings import Settings


def databases_to_choose() -> tuple[NamedDatabase, ...]:
    """The named databases; their addresses are told to nobody."""
    return named_databases()


def database_to_read(name: str, *, is_service: bool) -> NamedDatabase:
    """The named database of a name; ``InputError`` where there is none."""
    wanted = NamedDatabase(name, is_service=is_service)
    known = named_databases()
    if wanted not in known:
        raise InputError(
            "no database has this name",
            allowed=", ".join(each.name for each in known) or None,
            advice="Name it in a variable or a service file, and start the workbench again.",
        )
    return wanted


def is_named_database(url: str | None) -> bool:
    """Whether a spec's address is the name of such a database, and nothing else."""
    return any(each.url == url for each in named_databases())


def tables_to_choose(url: str, settings: Settings) -> tuple[str, ...]:
    """The names of a database's tables and views that may be read; ``InputError`` where none answers."""
    return readable_tables(url, settings)
