"""Connections to the engine of a source, lists of a database's tables, and databases of the environment.

Databases that a server's operator names by environment variables or in libpq's service file can be chosen by
name, without showing their address.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from discreet.engines.base import Engine
from discreet.engines.engine_addresses import is_database_address
from discreet.engines.registry import engine_at, engine_of
from discreet.model.table_spec import SourceSpec
from discreet.places.address import ENVIRONMENT_PREFIX, resolve_address
from discreet.settings import Settings
from discreet.sql.quoting import table_name


def connect(settings: Settings, source: SourceSpec | None = None) -> Engine:
    """Connect to the engine of a source within ``settings``; the result is a context manager to be closed.

    A database table is processed in its database; sources without an engine, and None, use the embedded
    engine. Raises ``InputError`` if the engine cannot be reached, or if a required package is not installed.
    """
    return engine_of(source).connect(settings, source)


@contextmanager
def engine_for(engine: Engine, settings: Settings, source: SourceSpec) -> Iterator[Engine]:
    """Yield an engine that reads a source: ``engine`` if it can, else a new one within the context.

    A table and its release, or an attacker's file, may be in different databases.
    """
    url = None if source.url is None else resolve_address(source.url)
    if engine_of(source).name == engine.name and engine.url == url:
        yield engine
        return
    with connect(settings, source) as found:
        yield found


def list_tables(url: str, settings: Settings) -> tuple[str, ...]:
    """List the tables and views of a database as a spec names them, sorted by schema and name.

    ``url`` is an address, or ``env:NAME``. No row is read. Raises ``InputError``, without the address, if the
    database cannot be reached.
    """
    databases = engine_at(url).databases
    assert databases is not None
    with connect(settings, SourceSpec(url=url)) as engine:
        return tuple(
            table_name((str(schema), str(name))) for schema, name in engine.fetch_rows(databases.listing)
        )


_SECTION = re.compile(r"\[([\w.-]+)\]")
_SERVICE = "postgresql://?service="


@dataclass(frozen=True)
class NamedDatabase:
    """Name of a database: an environment variable or, if ``is_service``, a section of a service file."""

    name: str
    is_service: bool = False

    @property
    def url(self) -> str:
        """Address for a spec, which contains only the name."""
        return f"{_SERVICE if self.is_service else ENVIRONMENT_PREFIX}{self.name}"


def named_databases() -> tuple[NamedDatabase, ...]:
    """List the variables that contain a database address and the services, each sorted by name."""
    variables = sorted(name for name, value in os.environ.items() if _is_address(name, value))
    services = dict.fromkeys(name for path in _service_files() for name in _sections(path))
    return (*map(NamedDatabase, variables), *(NamedDatabase(name, is_service=True) for name in services))


def _is_address(name: str, value: str) -> bool:
    return re.fullmatch(r"\w+", name, re.ASCII) is not None and is_database_address(value)


def _service_files() -> Iterator[Path]:
    own = os.environ.get("PGSERVICEFILE")
    yield Path(own) if own else Path.home() / ".pg_service.conf"
    if common := os.environ.get("PGSYSCONFDIR"):
        yield Path(common) / "pg_service.conf"


def _sections(path: Path) -> list[str]:
    """Return the section names of a file; empty if it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except (OSError, RuntimeError):
        return []
    return [match[1] for line in text.splitlines() if (match := _SECTION.fullmatch(line.strip()))]
