"""Tables of Delta Lake and Apache Iceberg: their rows at one version, by the log that says which files count.

The log is read by the table format's own library. Nothing is read that does not lie on this machine's disks.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.engines.files.folder import DELTA, ICEBERG, METADATA, kind_of_log
from discreet.model.table_spec import SourceSpec, TableSpec

if TYPE_CHECKING:
    from discreet.engines.files.table_log import TableLog


def is_logged_table(path: Path) -> bool:
    """Whether a path is a table that is read by its log: its folder, or a metadata file of Iceberg's."""
    if path.name.endswith(METADATA):
        return path.is_file()
    return kind_of_log(path) in (DELTA, ICEBERG)


def open_log(path: Path, label: str) -> TableLog:
    """The log of such a table; ``InputError`` where it cannot be read, or its library is not installed."""
    if not path.name.endswith(METADATA) and kind_of_log(path) == DELTA:
        from discreet.engines.files.delta_log import open_delta

        return open_delta(path, label)
    from discreet.engines.files.iceberg_log import open_iceberg

    return open_iceberg(path, label)


def copy_name(path: Path, version: int) -> str:
    """The name of a copy of a version's rows, the same each time."""
    return f"{hashlib.sha256(str(path).encode()).hexdigest()[:16]}-{version}.parquet"


def at_one_version(spec: TableSpec) -> TableSpec:
    """A spec whose tables with logs are named at a version, the newest where it says none.

    So that all of a run reads the same rows, whatever is written meanwhile. ``InputError`` where a log cannot
    be read, or its library is not installed.
    """
    source, population = _named(spec.source), spec.population
    if population is not None:
        same = population.path == source.path and population.version is None
        population = _named(replace(population, version=source.version) if same else population)
    if source is spec.source and population is spec.population:
        return spec
    return replace(spec, source=source, population=population)


def _named(source: SourceSpec) -> SourceSpec:
    path = source.path
    if path is None or source.version is not None or not is_logged_table(path.absolute()):
        return source
    return replace(source, version=open_log(path.absolute(), source.label).version)
