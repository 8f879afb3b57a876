"""Databases that whoever runs a program has named: by environment variables, and in a service file.

Both hold what only that person may know, so that somebody who chooses a name learns nothing of it, and can
name no other place. The service file is libpq's: ``PGSERVICEFILE``, else ``~/.pg_service.conf``, and
``pg_service.conf`` in ``PGSYSCONFDIR``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from discreet.engines.addresses import is_database_address
from discreet.places.address import ENVIRONMENT

_SECTION = re.compile(r"\[([\w.-]+)\]")
_SERVICE = "postgresql://?service="


@dataclass(frozen=True)
class NamedDatabase:
    """A database by its name: that of a variable, or where ``is_service`` of a section of a service file."""

    name: str
    is_service: bool = False

    @property
    def url(self) -> str:
        """What a spec writes for it, which holds the name and nothing else."""
        return f"{_SERVICE if self.is_service else ENVIRONMENT}{self.name}"


def named_databases() -> tuple[NamedDatabase, ...]:
    """Every variable that holds a database's address, and every service, in the order of their names."""
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
    """The sections of a file, none where it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except (OSError, RuntimeError):
        return []
    return [match[1] for line in text.splitlines() if (match := _SECTION.fullmatch(line.strip()))]
