"""Existing releases: facts from their manifests, their files, and descriptions for other tools.

Descriptions are Frictionless data packages (https://specs.frictionlessdata.io/table-schema) or CSVW metadata
(https://www.w3.org/TR/tabular-metadata). Files can be removed here; tables stay with their database.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from discreet.engines.base import Engine
from discreet.engines.connection import connect
from discreet.engines.source_tables import open_source_table
from discreet.errors import DiscreetError, InputError
from discreet.foreign.table_description import CSVW_CONTEXT
from discreet.model.release_address import MANIFEST_TABLE, ReleaseAddress
from discreet.model.table_spec import SourceSpec
from discreet.profile.column_types import infer_column_types
from discreet.release.manifest import (
    Manifest,
    ManifestAttribute,
    has_manifest,
    parse_manifest,
    read_manifest,
    read_manifest_text,
)
from discreet.release.release_target import MANIFEST_SUFFIX, build_manifest_path
from discreet.settings import Settings
from discreet.verbs.locations import ReleaseLocation, address_of
from discreet.verbs.run_context import interruptible_engine

HTML_REPORT_SUFFIX = ".report.html"
_TABLE_MARK = " (table)"


@dataclass(frozen=True)
class ReleaseFacts:
    """Facts of a release from its manifest.

    ``files`` maps the purposes of the existing files (``data``, ``manifest``, ``report``, and further files
    of a permuted release) to their paths; for a table of a database only the report is a file. ``written`` is
    the time of writing in nanoseconds. ``cautions`` of ``permuted`` releases must be shown with them.
    """

    address: ReleaseAddress
    manifest: Manifest
    files: dict[str, Path]
    written: int

    @property
    def name(self) -> str:
        """Name of the file, or of the table with a mark that no file name ends in."""
        return table_label(self.address) if self.address.in_database else self.address.name

    @property
    def tables(self) -> dict[str, str]:
        """Tables and views of a release in a database by purpose; empty for a file."""
        if not self.address.in_database:
            return {}
        kind = self.manifest.kind
        companion_tables = (MANIFEST_TABLE, *kind.further_files, *kind.views)
        return {"data": self.address.name} | {
            purpose: self.address.companion(purpose).name for purpose in companion_tables
        }

    @property
    def permuted(self) -> bool:
        """True if sensitive values are permuted within groups."""
        return self.manifest.kind.permuted

    @property
    def example_queries(self) -> list[str]:
        """Queries that the release can answer."""
        published = [a for a in self.manifest.attributes if a.published]
        return self.manifest.kind.example_queries(
            [a.name for a in published if a.role == "quasi-identifier"],
            [a.name for a in published if a.role == "sensitive"],
        )

    @property
    def cautions(self) -> tuple[str, ...]:
        """Cautions that must be shown with the release."""
        return self.manifest.kind.cautions

    def as_json(self) -> dict[str, Any]:
        """Return the facts for a list of releases."""
        manifest = self.manifest
        return {
            "name": self.name,
            "tables": self.tables,
            "model": str(manifest.model),
            "date": manifest.date,
            "format": manifest.file_format,
            "rows": manifest.rows,
            "suppressed": manifest.suppressed,
            "k": manifest.audit.get("k"),
            "classes": manifest.audit.get("classes"),
            "permuted": self.permuted,
            "permuted_attribute": manifest.kind.permuted_attribute,
            "permuted_numbers": manifest.kind.permuted_numbers,
            "levels": manifest.levels,
            "quasi_identifiers": [
                a.name for a in manifest.attributes if a.published and a.role == "quasi-identifier"
            ],
            "sensitive": [a.name for a in manifest.attributes if a.published and a.role == "sensitive"],
            "files": {what: path.name for what, path in self.files.items()},
            "warnings": list(manifest.warnings),
            "cautions": list(self.cautions),
        }


def read_release_facts(path: Path) -> ReleaseFacts:
    """Read the facts of a release; raise ``InputError`` for a missing or unreadable file or manifest."""
    if not path.is_file():
        raise InputError(f"{path.name} does not exist")
    manifest = read_manifest(path)
    files = {"data": path, "manifest": build_manifest_path(path)}
    for what, listed in manifest.kind.further_files.items():
        if listed.table is None and listed.file is not None:
            files[what] = path.with_name(Path(listed.file).name)
    report = path.with_name(path.name + HTML_REPORT_SUFFIX)
    if report.is_file():
        files["report"] = report
    return ReleaseFacts(ReleaseAddress(path=path), manifest, files, path.stat().st_mtime_ns)


def read_manifest_if_present(address: ReleaseAddress, settings: Settings) -> Manifest | None:
    """Return the manifest of a release, None without one."""
    if not address.in_database:
        return read_manifest(address) if has_manifest(address) else None
    with connect(settings, address.source()) as engine, interruptible_engine(engine):
        return read_manifest(address, engine) if has_manifest(address, engine) else None


def table_label(address: ReleaseAddress) -> str:
    """Return the label of a release in a database in lists that also contain files.

    >>> table_label(ReleaseAddress(table="out.people"))
    'out.people (table)'
    """
    return f"{address.name}{_TABLE_MARK}"


def read_table_facts(address: ReleaseAddress, text: str, folder: Path, written: int) -> ReleaseFacts:
    """Return the facts of a table from its manifest's text; raise ``InputError`` for an invalid one.

    ``folder`` contains the report.
    """
    manifest = parse_manifest(text, address)
    report = report_path(address, folder)
    files = {"report": report} if report.is_file() else {}
    return ReleaseFacts(address, manifest, files, written)


def read_table_manifest(address: ReleaseAddress, settings: Settings) -> str:
    """Return the manifest's text of a table from its database; raise ``InputError`` without one."""
    source = address.source()
    with connect(settings, source) as engine, interruptible_engine(engine):
        return read_manifest_text(address, engine)


def report_path(address: ReleaseAddress, folder: Path) -> Path:
    """Return the path of a table's report, for a name with any characters."""
    plain = re.sub(r"[^\w.-]+", "_", address.name)
    mark = hashlib.sha256(address.name.encode()).hexdigest()[:8]
    return folder / f"{plain[:80]}.{mark}{HTML_REPORT_SUFFIX}"


def list_folder_releases(folder: Path) -> tuple[ReleaseFacts, ...]:
    """List the releases of a folder, the latest first; files without a readable manifest are skipped."""
    found = []
    for manifest in folder.glob(f"*{MANIFEST_SUFFIX}"):
        path = manifest.with_name(manifest.name.removesuffix(MANIFEST_SUFFIX))
        with suppress(DiscreetError):
            found.append(read_release_facts(path))
    return sort_latest_first(found)


def sort_latest_first(releases: Iterable[ReleaseFacts]) -> tuple[ReleaseFacts, ...]:
    """Sort releases by time of writing, the latest first."""
    return tuple(sorted(releases, key=lambda facts: facts.written, reverse=True))


def remove_release(facts: ReleaseFacts) -> None:
    """Remove a release's files: the data first, so that the rest never looks complete.

    For a table this removes only the report.
    """
    # ``files`` begins with the data.
    for path in facts.files.values():
        path.unlink(missing_ok=True)


def read_column_names(path: Path, settings: Settings, null_values: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the columns of a data file; raise ``InputError`` if it cannot be read."""
    source = SourceSpec(path=path, null_values=tuple(null_values))
    with (
        connect(settings, source) as engine,
        interruptible_engine(engine),
        open_source_table(engine, source) as table,
    ):
        return table.columns


DescriptionForm = Literal["frictionless", "csvw"]
DESCRIPTION_FORMS: tuple[str, ...] = ("frictionless", "csvw")
"""Standards for descriptions of a release."""

_TEXT_FORMATS = {"csv": "text/csv", "tsv": "text/tab-separated-values"}
_MEDIA_TYPES = {**_TEXT_FORMATS, "parquet": "application/vnd.apache.parquet"}


@dataclass(frozen=True)
class _DescribedFile:
    """File of the release: its digest, and the type of each column by name."""

    path: Path
    sha256: str
    columns: Mapping[str, str]


def describe(
    release: ReleaseLocation, form: DescriptionForm = "frictionless", *, settings: Settings | None = None
) -> dict[str, Any]:
    """Describe a release for other tools; the result is JSON to be written next to it.

    ``frictionless`` is a data package with a Table Schema per file, ``csvw`` is CSV on the Web metadata.
    Column types are inferred from the published data, roles and levels (``discreet:role``,
    ``discreet:level``) come from the manifest; no value is included.

    Raises ``InputError`` if the release is not a file with a manifest, was changed after publication, or has
    a format that ``form`` cannot describe (CSVW describes only text).
    """
    if form not in DESCRIPTION_FORMS:
        raise InputError(f"a description by '{form}'", allowed=" or ".join(DESCRIPTION_FORMS))
    address = address_of(release)
    if address.path is None or address.path.is_dir():
        raise InputError(f"{address.label} is not a single file", allowed="a release in a file")
    path, manifest = address.path, read_manifest(address)
    described = _TEXT_FORMATS if form == "csvw" else _MEDIA_TYPES
    if manifest.file_format not in described:
        raise InputError(
            f"{path} is {manifest.file_format}, which {form} cannot describe", allowed=", ".join(described)
        )
    with connect(settings or Settings.from_environment()) as engine:
        files = [
            _describe_file(engine, path.with_name(name), sha256)
            for name, sha256 in _file_digests(path, manifest)
        ]
    make: Mapping[str, Callable[[list[_DescribedFile], Manifest], dict[str, Any]]]
    make = {"frictionless": _frictionless_package, "csvw": _csvw_metadata}
    return make[form](files, manifest)


def _file_digests(path: Path, manifest: Manifest) -> Iterator[tuple[str, str]]:
    yield path.name, manifest.sha256
    for file in manifest.kind.further_files.values():
        if file.file is not None and file.sha256 is not None:
            yield file.file, file.sha256


def _describe_file(engine: Engine, path: Path, sha256: str) -> _DescribedFile:
    try:
        with path.open("rb") as data:
            found = hashlib.file_digest(data, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    if found != sha256:
        raise InputError(f"{path} was changed since it was published", advice="Publish it again.")
    table = engine.open_source(SourceSpec(path=path))
    kinds = infer_column_types(engine, table, read_texts=path.suffix.lstrip(".") in _TEXT_FORMATS)
    return _DescribedFile(path, sha256, kinds)


def _attribute_metadata(attribute: ManifestAttribute | None) -> dict[str, Any]:
    """Return a column's metadata other than its type: its role, and its level if it is generalized."""
    if attribute is None:
        return {}
    level = {} if attribute.level is None else {"discreet:level": attribute.level_text}
    return {"discreet:role": attribute.role, **level}


def _frictionless_package(files: list[_DescribedFile], manifest: Manifest) -> dict[str, Any]:
    attributes = {a.name: a for a in manifest.attributes if a.published}
    resources = []
    for index, file in enumerate(files):
        described = attributes if index == 0 else {}
        ending = file.path.suffix.lstrip(".")
        fields = [
            {"name": n, "type": kind, **_attribute_metadata(described.get(n))}
            for n, kind in file.columns.items()
        ]
        resources.append(
            {
                "name": _slug(file.path.stem),
                "path": file.path.name,
                "format": ending,
                "mediatype": _MEDIA_TYPES[ending],
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
        "discreet:manifest": build_manifest_path(files[0].path).name,
    }


def _csvw_metadata(files: list[_DescribedFile], manifest: Manifest) -> dict[str, Any]:
    attributes = {a.name: a for a in manifest.attributes if a.published}
    tables = []
    for index, file in enumerate(files):
        described = attributes if index == 0 else {}
        columns = [
            {"titles": name, "datatype": kind, **_attribute_metadata(described.get(name))}
            for name, kind in file.columns.items()
        ]
        delimiter = "\t" if file.path.suffix == ".tsv" else ","
        dialect = {"delimiter": delimiter, "encoding": "utf-8", "header": True}
        tables.append({"url": file.path.name, "dialect": dialect, "tableSchema": {"columns": columns}})
    about = {"dc:description": manifest.kind.statement, "dc:date": manifest.date}
    if len(tables) == 1:
        return {"@context": CSVW_CONTEXT, **tables[0], **about}
    return {"@context": CSVW_CONTEXT, "tables": tables, **about}


def _slug(text: str) -> str:
    """Return a name for Frictionless: lower case, digits, and characters that are safe in addresses."""
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-") or "release"
