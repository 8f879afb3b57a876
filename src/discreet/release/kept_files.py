"""The files that no output may replace: those that a spec and its settings name, and those of a release."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from discreet.errors import InputError
from discreet.model.release_address import ReleaseAddress
from discreet.model.table_spec import SourceSpec, TableSpec
from discreet.places.address import address_said
from discreet.places.file_pattern import files_of
from discreet.places.kept_files import KeptFile, several
from discreet.release.target import companion_path_of, manifest_path_of
from discreet.settings import Settings

LEDGER = "discreet.budget.json"
"""The file name of the ledger of the privacy budget."""
COMPANIONS = ("help", "sensitive")
"""The purposes of files next to the data of a release."""
_OF_ADDRESSES = ("passfile", "sslkey", "sslcert", "sslrootcert", "ssl_ca", "servicefile")
_OF_VARIABLES = ("PGPASSFILE", "PGSERVICEFILE", "PGSSLKEY", "PGSSLCERT", "PGSSLROOTCERT")


def kept_files(spec: TableSpec, settings: Settings) -> tuple[KeptFile, ...]:
    """Return the files that a spec and its settings name, each with a phrase for messages.

    Raises:
        InputError: a pattern of input files that no file fits.
    """
    return tuple(_files(spec, settings))


def ledger_path(spec: TableSpec, settings: Settings) -> Path:
    """Return the ledger of a spec's budget: next to the spec, or next to the private log without one."""
    folder = settings.private_log.parent if spec.path is None else spec.path.parent
    return folder / LEDGER


def kept_release(release: ReleaseAddress, name: str) -> tuple[KeptFile, ...]:
    """Return the files of a release, its manifest and companions; none where it is in a database."""
    path = release.path
    if path is None:
        return ()
    companions = (companion_path_of(path, purpose) for purpose in COMPANIONS)
    return (
        KeptFile(name, path),
        KeptFile(f"the manifest of {name}", manifest_path_of(path)),
        *several(f"a companion of {name}", (each for each in companions if each.exists())),
    )


def _files(spec: TableSpec, settings: Settings) -> Iterator[KeptFile]:
    yield KeptFile("the private log", settings.private_log, written=True)
    yield from _source_files("the input", spec.source)
    if spec.population is not None:
        yield from _source_files("the population", spec.population)
    if spec.path is not None:
        yield KeptFile("the spec", spec.path)
    yield KeptFile("the ledger of the privacy budget", ledger_path(spec, settings), written=True)
    for attribute in spec.attributes:
        path = getattr(attribute.hierarchy, "path", None)
        if isinstance(path, Path):
            yield KeptFile(f"the hierarchy of '{attribute.name}'", path)
    for name, path in key_files(spec.source):
        yield KeptFile(f"the key file of '{name}'", path, written=True, shareable=True)


def key_files(source: SourceSpec) -> Iterator[tuple[str, Path]]:
    """Yield the key files of a source's columns, of identifiers and of shifted dates."""
    for name, way in source.ways.items():
        if way.key_file is not None:
            yield name, way.key_file
    for name, shift in source.shifts.items():
        yield name, shift.key


def _source_files(name: str, source: SourceSpec) -> Iterator[KeptFile]:
    if source.path is not None:
        yield from several(name, files_of(source.path))
    if source.url is not None:
        yield from several("a file of the database's address", _address_files(source.url))


def _address_files(url: str) -> Iterator[Path]:
    """Yield the password, certificate and service files of a database's address and environment."""
    try:
        query = urlsplit(address_said(url)).query
    except (InputError, ValueError):
        return
    options = dict(parse_qsl(query))
    named = [options.get(key) for key in _OF_ADDRESSES] + [os.environ.get(key) for key in _OF_VARIABLES]
    yield from (Path(text) for text in named if text)
    yield from (path for path in (Path.home() / ".pgpass", Path.home() / ".pg_service.conf") if path.exists())
