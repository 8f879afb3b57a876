"""Register of releases, read from the private log, with those made from the same people.

Whole lines are appended before a release is published, so no release of this user on this machine is missing.
The register contains paths, digests, levels and counts, no values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError
from discreet.model.table_spec import TableSpec
from discreet.release.manifest import read_manifest
from discreet.release.private_log import has_entries, read_publications
from discreet.release.publication_evidence import describe_input


class ReleaseState(StrEnum):
    """State of the file at a release's path."""

    IN_PLACE = "in place"
    REPLACED = "replaced"
    GONE = "gone"
    ELSEWHERE = "in a database or in memory"


@dataclass(frozen=True)
class RegisteredRelease:
    """Release in the private log: a publication that was completed, or was killed at its end."""

    time: str
    output: str
    sha256: str
    entry: Mapping[str, Any]

    @property
    def path(self) -> Path | None:
        """Path of the file; None for a table and for a release in memory."""
        found = Path(self.output)
        return found if found.is_absolute() else None

    @property
    def name(self) -> str:
        """Name of the file or table, or a label for a release in memory."""
        return self.output if self.path is None else self.path.name

    @property
    def state(self) -> ReleaseState:
        """State of the release at its path, by the digest in its manifest."""
        if self.path is None:
            return ReleaseState.ELSEWHERE
        if not self.path.exists():
            return ReleaseState.GONE
        try:
            same = read_manifest(self.path).sha256 == self.sha256
        except DiscreetError:
            same = False
        return ReleaseState.IN_PLACE if same else ReleaseState.REPLACED

    def is_of(self, description: Mapping[str, Any], subject: str | None) -> bool:
        """Return true if the release was made from the same input or from the same people.

        ``description`` is the log's description of an input (``publication_evidence.describe_input``). Inputs
        are the same by location or content. Tables of one folder or database have the same people if their
        subject columns have the same name.
        """
        mine = self.entry
        if mine.get("input_database") != description.get("input_database"):
            return False
        digest = description.get("input_sha256")
        if digest is not None and mine.get("input_sha256") == digest:
            return True
        here, there = description.get("input"), mine.get("input")
        if here is None or there is None:
            return False
        if here == there:
            return True
        same_folder = Path(str(here)).parent == Path(str(there)).parent
        return subject is not None and mine.get("subject") == subject and same_folder


def list_registered_releases(log: Path, naming: Sequence[str] | None = None) -> tuple[RegisteredRelease, ...]:
    """List the releases of the private log, or those whose lines contain one of some texts, the latest last.

    Lines that are no entries are skipped.
    """
    return tuple(
        RegisteredRelease(
            str(entry.get("time", "")), str(entry["output"]), str(entry["output_sha256"]), entry
        )
        for entry in read_publications(log, naming)
        if entry.get("output") and entry.get("output_sha256")
    )


def find_releases_of_people(log: Path, spec: TableSpec) -> tuple[RegisteredRelease, ...]:
    """Find the releases of a spec's table, and of tables in its folder with its subjects, the latest last."""
    if not has_entries(log):  # the input need not be read for its digest
        return ()
    description, subject = describe_input(spec.source), spec.source.subject
    named = [
        str(text) for text in (description["input_sha256"], description["input"], subject) if text is not None
    ]
    return tuple(one for one in list_registered_releases(log, named) if one.is_of(description, subject))
