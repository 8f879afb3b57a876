"""Releases in a folder, and tables of a database: what each manifest says, which files belong to it.

Files can be removed from here. Tables stay: who may drop them is the database's to say.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.engines.connect import connect
from discreet.engines.scratch import opened
from discreet.errors import DiscreetError, InputError
from discreet.model.release_address import MANIFEST, ReleaseAddress
from discreet.model.table_spec import SourceSpec
from discreet.release.manifest import Manifest, has_manifest, manifest_of_text, manifest_text, read_manifest
from discreet.release.target import MANIFEST_SUFFIX, manifest_path_of
from discreet.settings import Settings
from discreet.verbs.interruption import interruptible

REPORT_SUFFIX = ".report.html"
_TABLE_MARK = " (table)"


@dataclass(frozen=True)
class ReleaseFacts:
    """A release as its manifest describes it.

    ``files`` maps what a file is (``data``, ``manifest``, ``report``, and further files of a permuted
    release) to its path; those that are there. Of a table of a database only the report is a file.
    ``written`` is the time of writing in nanoseconds. ``permuted`` releases come with ``warnings`` that must
    stand beside them.
    """

    address: ReleaseAddress
    manifest: Manifest
    files: dict[str, Path]
    written: int

    @property
    def name(self) -> str:
        """The file's name; a table's with a mark that no file's name ends in."""
        return table_label(self.address) if self.address.in_database else self.address.name

    @property
    def tables(self) -> dict[str, str]:
        """The tables and views of a release in a database by their purposes; none of a file."""
        if not self.address.in_database:
            return {}
        kind = self.manifest.kind
        beside = (MANIFEST, *kind.further_files, *kind.views)
        return {"data": self.address.name} | {
            purpose: self.address.companion(purpose).name for purpose in beside
        }

    @property
    def permuted(self) -> bool:
        """Whether sensitive values are permuted within groups."""
        return self.manifest.kind.permuted

    @property
    def cautions(self) -> tuple[str, ...]:
        """What must be said wherever the release is shown."""
        return self.manifest.kind.cautions

    def as_json(self) -> dict[str, Any]:
        """The facts that a list of releases shows."""
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


def release_facts(path: Path) -> ReleaseFacts:
    """The facts of one release; ``InputError`` where the file or its manifest is missing or unreadable."""
    if not path.is_file():
        raise InputError(f"{path.name} does not exist")
    manifest = read_manifest(path)
    files = {"data": path, "manifest": manifest_path_of(path)}
    for what, listed in manifest.kind.further_files.items():
        if listed.table is None and listed.file is not None:
            files[what] = path.with_name(Path(listed.file).name)
    report = path.with_name(path.name + REPORT_SUFFIX)
    if report.is_file():
        files["report"] = report
    return ReleaseFacts(ReleaseAddress(path=path), manifest, files, path.stat().st_mtime_ns)


def manifest_beside(address: ReleaseAddress, settings: Settings) -> Manifest | None:
    """The manifest of a release, None where it has none."""
    if not address.in_database:
        return read_manifest(address) if has_manifest(address) else None
    with connect(settings, address.source()) as engine, interruptible(engine):
        return read_manifest(address, engine) if has_manifest(address, engine) else None


def table_label(address: ReleaseAddress) -> str:
    """How a release in a database is called beside those that are files.

    >>> table_label(ReleaseAddress(table="out.people"))
    'out.people (table)'
    """
    return f"{address.name}{_TABLE_MARK}"


def table_facts(address: ReleaseAddress, text: str, folder: Path, written: int) -> ReleaseFacts:
    """The facts of a table by its manifest's text; ``InputError`` where it is none.

    ``folder`` is the one that has the report.
    """
    manifest = manifest_of_text(text, address)
    report = report_path(address, folder)
    files = {"report": report} if report.is_file() else {}
    return ReleaseFacts(address, manifest, files, written)


def read_table_manifest(address: ReleaseAddress, settings: Settings) -> str:
    """The manifest's text of a table, asked of its database; ``InputError`` where there is none."""
    source = address.source()
    with connect(settings, source) as engine, interruptible(engine):
        return manifest_text(address, engine)


def report_path(address: ReleaseAddress, folder: Path) -> Path:
    """Where the report of a table lies, whatever characters its name has."""
    plain = re.sub(r"[^\w.-]+", "_", address.name)
    mark = hashlib.sha256(address.name.encode()).hexdigest()[:8]
    return folder / f"{plain[:80]}.{mark}{REPORT_SUFFIX}"


def releases_in(folder: Path) -> tuple[ReleaseFacts, ...]:
    """The releases of a folder, the latest first; what has no readable manifest is none."""
    found = []
    for manifest in folder.glob(f"*{MANIFEST_SUFFIX}"):
        path = manifest.with_name(manifest.name.removesuffix(MANIFEST_SUFFIX))
        with suppress(DiscreetError):
            found.append(release_facts(path))
    return latest_first(found)


def latest_first(found: Iterable[ReleaseFacts]) -> tuple[ReleaseFacts, ...]:
    """Releases by the time of writing."""
    return tuple(sorted(found, key=lambda facts: facts.written, reverse=True))


def remove_release(facts: ReleaseFacts) -> None:
    """Remove a release's files: the data first, so that nothing is left that looks whole.

    Of a table that is the report alone.
    """
    for path in facts.files.values():
        path.unlink(missing_ok=True)


def column_names(path: Path, settings: Settings, null_values: Sequence[str] = ()) -> tuple[str, ...]:
    """The columns of a data file; ``InputError`` where it cannot be read."""
    source = SourceSpec(path=path, null_values=tuple(null_values))
    with connect(settings, source) as engine, interruptible(engine), opened(engine, source) as table:
        return table.columns
