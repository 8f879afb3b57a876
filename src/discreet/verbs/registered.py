"""The releases that the register knows of the same people, and what a new one tells together with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.model.frequency_set import FrequencySet
from discreet.model.release_address import ReleaseAddress
from discreet.model.requirement import Requirement
from discreet.model.table_spec import TableSpec
from discreet.printing.document import Column, Document, Grid, Line, Tone
from discreet.printing.printed import Printed
from discreet.release.evidence import output_of
from discreet.release.register import RegisteredRelease, Standing, of_the_same_people, registered
from discreet.results.beside_releases import BesideRelease
from discreet.settings import Settings
from discreet.verbs.earlier_releases import EarlierReleases
from discreet.verbs.opened_table import OpenedTable

MOST_LAID = 5
"""Earlier releases that are read anew for each publication, the latest."""

MOST_ROW_TYPES = 200_000
"""Above it a release is laid beside others only where ``--after`` asks for it: it would take minutes."""

ClassesOf = Callable[[EarlierReleases], NDArray[np.int64]]


@dataclass(frozen=True, repr=False)
class ReleaseRegister(Printed):
    """The releases of the register, the latest first; ``log`` is the file that has them."""

    releases: tuple[RegisteredRelease, ...]
    log: Path

    def as_json(self) -> dict[str, Any]:
        """The document of ``discreet releases --json``."""
        return {
            "register": str(self.log),
            "releases": [
                {
                    "time": one.time,
                    "release": one.output,
                    "sha256": one.sha256,
                    "input": one.entry.get("input"),
                    "model": one.entry.get("model"),
                    "requirement": one.entry.get("requirement"),
                    "rows": one.entry.get("rows"),
                    "suppressed": one.entry.get("suppressed"),
                    "standing": str(one.standing),
                }
                for one in self.releases
            ],
        }

    def document(self) -> Document:
        """One line each."""
        if not self.releases:
            return (Line(f"No release is in {self.log}.", Tone.HINT),)
        names = ("time", "release", "of", "model", "now")
        return (
            Grid(
                tuple(Column(name, shrinks=name in ("release", "of")) for name in names),
                tuple(
                    (
                        one.time,
                        one.name,
                        Path(str(one.entry.get("input") or "–")).name,
                        str(one.entry.get("model") or "noisy"),
                        str(one.standing),
                    )
                    for one in self.releases
                ),
            ),
        )


def release_register(settings: Settings, spec: TableSpec | None = None) -> ReleaseRegister:
    """The register, or what of it is of the same people as a spec's table."""
    log = settings.private_log
    found = registered(log) if spec is None else of_the_same_people(log, spec)
    return ReleaseRegister(tuple(reversed(found)), log)


def beside_registered(
    table: OpenedTable,
    counted: FrequencySet,
    output: Path | ReleaseAddress,
    requirement: Requirement,
    classes_of: ClassesOf,
) -> tuple[BesideRelease, ...]:
    """What a recoding tells together with each earlier release of the same people, before it is written.

    ``classes_of`` gives the class of each row type. Nothing here refuses: that is what ``--after`` is for.
    """
    found = []
    for number, release in enumerate(_earlier(table, output)):
        reason = _not_laid(release, number, counted)
        found.append(
            BesideRelease(release.name, release.time, reason=reason)
            if reason is not None
            else _laid(table, counted, release, requirement, classes_of)
        )
    return tuple(found)


def beside_untold(table: OpenedTable, output: Path | ReleaseAddress) -> tuple[BesideRelease, ...]:
    """The same of a table that exceeds the memory limit: that nobody can tell."""
    reason = "the table exceeds the memory limit"
    return tuple(BesideRelease(one.name, one.time, reason=reason) for one in _earlier(table, output))


def _earlier(table: OpenedTable, output: Path | ReleaseAddress) -> list[RegisteredRelease]:
    """Other releases of the same people than the one at a target, the latest first, each digest once."""
    address = output if isinstance(output, ReleaseAddress) else ReleaseAddress(path=output)
    place = output_of(address)
    known = of_the_same_people(table.settings.private_log, table.spec)
    latest = {one.sha256: one for one in known if one.output != place}
    return list(reversed(latest.values()))


def _not_laid(release: RegisteredRelease, number: int, counted: FrequencySet) -> str | None:
    """Why a release is not laid beside a new one; None where it is."""
    standing = release.standing
    if standing is not Standing.IN_PLACE:
        return f"{standing}"
    if "levels" not in release.entry:
        return "its counts are noisy, and have a budget of their own"
    if number >= MOST_LAID:
        return f"{MOST_LAID} later ones were laid beside it; name one with --after RELEASE"
    if counted.row_types > MOST_ROW_TYPES:
        return "the table has too many row types to look unasked; name one with --after RELEASE"
    return None


def _laid(
    table: OpenedTable,
    counted: FrequencySet,
    release: RegisteredRelease,
    requirement: Requirement,
    classes_of: ClassesOf,
) -> BesideRelease:
    assert release.path is not None
    try:
        earlier = EarlierReleases.one(table, counted, release.path)
        parts = earlier.parts(classes_of(earlier))
    except DiscreetError as error:
        return BesideRelease(release.name, release.time, reason=str(error).partition("\n")[0])
    fails = parts.failing(requirement)
    every = np.ones(len(fails), dtype=np.bool_)
    return BesideRelease(
        release.name,
        release.time,
        k=parts.k(every),
        failing=int(fails.sum()),
        rows=int(parts.rows[fails].sum()),
        alone=int(parts.rows[parts.rows == 1].sum()),
    )
