"""Releases in a folder: what each manifest says, the files that belong to it, and how to remove them all."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.engines.connect import connect
from discreet.engines.scratch import opened
from discreet.errors import DiscreetError, InputError
from discreet.model.permuted_release import DE_FINETTI, NOT_PROTECTED
from discreet.model.table_spec import SourceSpec
from discreet.release.manifest import Manifest, read_manifest
from discreet.release.target import MANIFEST_SUFFIX, manifest_path_of
from discreet.settings import Settings
from discreet.workbench.interruption import interruptible

REPORT_SUFFIX = ".report.html"


@dataclass(frozen=True)
class ReleaseFacts:
    """A release as its manifest describes it.

    ``files`` maps what a file is (``data``, ``manifest``, ``report``, and further files of a permuted
    release) to its path; those that are there. ``permuted`` releases come with ``warnings`` that must stand
    beside them.
    """

    path: Path
    manifest: Manifest
    files: dict[str, Path]

    @property
    def permuted(self) -> bool:
        """Whether sensitive values are permuted within groups."""
        return self.manifest.permutation is not None

    @property
    def cautions(self) -> tuple[str, ...]:
        """What must be said wherever a permuted release is shown."""
        return (NOT_PROTECTED, DE_FINETTI) if self.permuted else ()

    def as_json(self) -> dict[str, Any]:
        """The facts that a list of releases shows."""
        manifest = self.manifest
        permutation = manifest.permutation
        return {
            "name": self.path.name,
            "model": str(manifest.model),
            "date": manifest.date,
            "format": manifest.file_format,
            "rows": manifest.rows,
            "suppressed": manifest.suppressed,
            "k": manifest.audit.get("k"),
            "classes": manifest.audit.get("classes"),
            "permuted": self.permuted,
            "permuted_attribute": None if permutation is None else permutation.sensitive,
            "permuted_numbers": permutation is not None and permutation.numeric,
            "levels": manifest.levels,
            "quasi_identifiers": [
                a.name for a in manifest.attributes if a.published and a.role == "quasi-identifier"
            ],
            "sensitive": [a.name for a in manifest.attributes if a.published and a.role == "sensitive"],
            "files": {what: path.name for what, path in self.files.items()},
            "warnings": [warning.text for warning in manifest.warnings],
            "cautions": list(self.cautions),
        }


def release_facts(path: Path) -> ReleaseFacts:
    """The facts of one release; ``InputError`` where the file or its manifest is missing or unreadable."""
    if not path.is_file():
        raise InputError(f"{path.name} does not exist")
    manifest = read_manifest(path)
    files = {"data": path, "manifest": manifest_path_of(path)}
    if manifest.permutation is not None:
        for what, listed in manifest.permutation.files.items():
            if listed.table is None and listed.file is not None:
                files[what] = path.with_name(Path(listed.file).name)
    report = path.with_name(path.name + REPORT_SUFFIX)
    if report.is_file():
        files["report"] = report
    return ReleaseFacts(path, manifest, files)


def releases_in(folder: Path) -> tuple[ReleaseFacts, ...]:
    """The releases of a folder, the latest first; what has no readable manifest is none."""
    found = []
    for manifest in folder.glob(f"*{MANIFEST_SUFFIX}"):
        path = manifest.with_name(manifest.name.removesuffix(MANIFEST_SUFFIX))
        with suppress(DiscreetError):
            found.append(release_facts(path))
    return tuple(sorted(found, key=lambda facts: facts.path.stat().st_mtime_ns, reverse=True))


def remove_release(facts: ReleaseFacts) -> None:
    """Remove a release's files: the data first, so that nothing is left that looks whole."""
    for path in (facts.files["data"], *facts.files.values()):
        path.unlink(missing_ok=True)


def column_names(path: Path, settings: Settings, null_values: Sequence[str] = ()) -> tuple[str, ...]:
    """The columns of a data file; ``InputError`` where it cannot be read."""
    source = SourceSpec(path=path, null_values=tuple(null_values))
    with connect(settings, source) as engine, interruptible(engine), opened(engine, source) as table:
        return table.columns
