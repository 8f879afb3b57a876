"""``discreet schema RELEASE``: a release's columns in the words of Frictionless or of CSV on the web (CSVW).

https://specs.frictionlessdata.io/table-schema, https://www.w3.org/TR/tabular-metadata
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from discreet.engines.base import Engine
from discreet.engines.connect import connect
from discreet.errors import InputError
from discreet.foreign.csvw import CSVW
from discreet.model.table_spec import SourceSpec
from discreet.profile.kinds import kinds_of
from discreet.release.manifest import Manifest, ManifestAttribute, read_manifest
from discreet.release.target import manifest_path_of
from discreet.settings import Settings
from discreet.verbs.addresses import ReleasePlace, address_of

Form = Literal["frictionless", "csvw"]
FORMS: tuple[str, ...] = ("frictionless", "csvw")
"""The standards that a release is described by."""

_TEXT_FORMATS = {"csv": "text/csv", "tsv": "text/tab-separated-values"}
_MEDIA = {**_TEXT_FORMATS, "parquet": "application/vnd.apache.parquet"}


@dataclass(frozen=True)
class _File:
    """A file of the release: its columns by name, each with its kind."""

    path: Path
    sha256: str
    columns: Mapping[str, str]


def describe(
    release: ReleasePlace, form: Form = "frictionless", *, settings: Settings | None = None
) -> dict[str, Any]:
    """A release's description, to be written beside it as JSON.

    ``frictionless`` is a data package with a Table Schema for each file, ``csvw`` the metadata of CSV on the
    web. Kinds of columns are told from what was published, roles and levels (``discreet:role``,
    ``discreet:level``) from the manifest; no value stands in it. ``InputError`` where the release is no file
    with a manifest, was changed since it was published, or is no text, which alone CSVW can describe.
    """
    if form not in FORMS:
        raise InputError(f"a description by '{form}'", allowed=" or ".join(FORMS))
    address = address_of(release)
    if address.path is None or address.path.is_dir():
        raise InputError(f"{address.label} is no single file", allowed="a release in a file")
    path, manifest = address.path, read_manifest(address)
    described = _TEXT_FORMATS if form == "csvw" else _MEDIA
    if manifest.file_format not in described:
        raise InputError(
            f"{path} is {manifest.file_format}, which {form} cannot describe", allowed=", ".join(described)
        )
    with connect(settings or Settings.from_environment()) as engine:
        files = [_file(engine, path.with_name(name), sha256) for name, sha256 in _names(path, manifest)]
    make: Mapping[str, Callable[[list[_File], Manifest], dict[str, Any]]]
    make = {"frictionless": _package, "csvw": _metadata}
    return make[form](files, manifest)


def _names(path: Path, manifest: Manifest) -> Iterator[tuple[str, str]]:
    """The files' names and digests, the data first."""
    yield path.name, manifest.sha256
    if manifest.permutation is not None:
        for file in manifest.permutation.files.values():
            if file.file is not None and file.sha256 is not None:
                yield file.file, file.sha256


def _file(engine: Engine, path: Path, sha256: str) -> _File:
    try:
        with path.open("rb") as data:
            found = hashlib.file_digest(data, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    if found != sha256:
        raise InputError(f"{path} was changed since it was published", advice="Publish it again.")
    table = engine.open_source(SourceSpec(path=path))
    kinds = kinds_of(engine, table, read_texts=path.suffix.lstrip(".") in _TEXT_FORMATS)
    return _File(path, sha256, kinds)


def _told(attribute: ManifestAttribute | None) -> dict[str, Any]:
    """What is said of a column beside its kind: its role, and of a generalized one its level."""
    if attribute is None:
        return {}
    level = {} if attribute.level is None else {"discreet:level": attribute.told_level}
    return {"discreet:role": attribute.role, **level}


def _package(files: list[_File], manifest: Manifest) -> dict[str, Any]:
    attributes = {a.name: a for a in manifest.attributes if a.published}
    resources = []
    for place, file in enumerate(files):
        told = attributes if place == 0 else {}
        ending = file.path.suffix.lstrip(".")
        fields = [{"name": n, "type": kind, **_told(told.get(n))} for n, kind in file.columns.items()]
        resources.append(
            {
                "name": _slug(file.path.stem),
                "path": file.path.name,
                "format": ending,
                "mediatype": _MEDIA[ending],
                **({"encoding": "utf-8"} if ending in _TEXT_FORMATS else {}),
                "hash": f"sha256:{file.sha256}",
                "schema": {"fields": fields, "missingValues": [""]},
            }
        )
    return {
        "name": _slug(files[0].path.stem),
        "created": f"{manifest.date}T00:00:00Z",
        "description": manifest.kind.statement,
        "resources": resources,
        "discreet:manifest": manifest_path_of(files[0].path).name,
    }


def _metadata(files: list[_File], manifest: Manifest) -> dict[str, Any]:
    attributes = {a.name: a for a in manifest.attributes if a.published}
    tables = []
    for place, file in enumerate(files):
        told = attributes if place == 0 else {}
        columns = [
            {"titles": name, "datatype": kind, **_told(told.get(name))} for name, kind in file.columns.items()
        ]
        delimiter = "\t" if file.path.suffix == ".tsv" else ","
        dialect = {"delimiter": delimiter, "encoding": "utf-8", "header": True}
        tables.append({"url": file.path.name, "dialect": dialect, "tableSchema": {"columns": columns}})
    about = {"dc:description": manifest.kind.statement, "dc:date": manifest.date}
    if len(tables) == 1:
        return {"@context": CSVW, **tables[0], **about}
    return {"@context": CSVW, "tables": tables, **about}


def _slug(text: str) -> str:
    """A name as Frictionless asks of one: lower case, digits, and signs that are safe in addresses."""
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-") or "release"
