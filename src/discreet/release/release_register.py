"""Register of releases, read from the private log, with those made of the same people.

Whole lines are appended before a release is in place, so no release of this user on this machine is missing.
Holds paths, digests, levels and counts, no values.
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
    """What lies where a release was put."""

    IN_PLACE = "in place"
    REPLACED = "replaced"
    GONE = "gone"
    ELSEWHERE = "in a database or in memory"


@dataclass(frozen=True)
class RegisteredRelease:
    """A release that the private log knows: a publication that was completed, or was killed at its end."""

    time: str
    output: str
    sha256: str
    entry: Mapping[str, Any]

    @property
    def path(self) -> Path | None:
        """The file; None of a table and of what was handed over in memory."""
        found = Path(self.output)
        return found if found.is_absolute() else None

    @property
    def name(self) -> str:
        """The file's name, the table's, or that it was in memory."""
        return self.output if self.path is None else self.path.name

    @property
    def state(self) -> ReleaseState:
        """Whether the release still lies where it was put, by the digest in its manifest."""
        if self.path is None:
            return ReleaseState.ELSEWHERE
        if not self.path.exists():
            return ReleaseState.GONE
        try:
            same = read_manifest(self.path).sha256 == self.sha256
        except DiscreetError:
            same = False
        return ReleaseState.IN_PLACE if same else ReleaseState.REPLACED

    def is_of(self, told: Mapping[str, Any], subject: str | None) -> bool:
        """Whether it was made of the same input: the same place or content, or the same people beside it.

        ``told`` is the log's account of an input (``evidence.input_of``). Tables of one folder or database
        have the same people where they have a subject column of one name.
        """
        mine = self.entry
        if mine.get("input_database") != told.get("input_database"):
            return False
        digest = told.get("input_sha256")
        if digest is not None and mine.get("input_sha256") == digest:
            return True
        here, there = told.get("input"), mine.get("input")
        if here is None or there is None:
            return False
        if here == there:
            return True
        beside = Path(str(here)).parent == Path(str(there)).parent
        return subject is not None and mine.get("subject") == subject and beside


def list_registered_releases(log: Path, naming: Sequence[str] | None = None) -> tuple[RegisteredRelease, ...]:
    """Every release of the private log, or those whose lines have one of some texts, the latest last.

    A line that is none is passed over.
    """
    return tuple(
        RegisteredRelease(
            str(entry.get("time", "")), str(entry["output"]), str(entry["output_sha256"]), entry
        )
        for entry in read_publications(log, naming)
        if entry.get("output") and entry.get("output_sha256")
    )


def find_releases_of_people(log: Path, spec: TableSpec) -> tuple[RegisteredRelease, ...]:
    """The releases of a spec's table, and of tables beside it that have its subjects, the latest last."""
    if not has_entries(log):  # the input need not be read for its digest
        return ()
    told, subject = describe_input(spec.source), spec.source.subject
    named = [str(text) for text in (told["input_sha256"], told["input"], subject) if text is not None]
    return tuple(one for one in list_registered_releases(log, named) if one.is_of(told, subject))
