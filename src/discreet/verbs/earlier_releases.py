"""Earlier releases of the same people: joint safety with a new release, and the register of releases.

Equivalence classes of several releases are intersected (``attacks.composition``; Ganta, Kasiviswanathan and
Smith, 2008). Releases that the user names must be safe together with the new one; registered ones are counted
and reported, never refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.composition import IntersectionClasses, intersect_classes, read_assigned_classes
from discreet.attacks.linkage import OriginalTable
from discreet.attacks.published_table import find_manifest
from discreet.engines.connection import connect
from discreet.errors import DiscreetError, InputError, NoSolution, RequirementNotMet
from discreet.frequency.fact_counter import find_failing_classes
from discreet.frequency.rollup import roll_up
from discreet.model.class_recoding import SUPPRESSED, ClassRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode
from discreet.model.release_address import ReleaseAddress
from discreet.model.request import Request, node_bounds
from discreet.model.requirement import Requirement
from discreet.model.table_spec import TableSpec
from discreet.negotiation.negotiator import node_order
from discreet.printing.document import Document, Grid, Line, Tone, make_columns
from discreet.printing.rendering import Printable
from discreet.release.publication_evidence import describe_output
from discreet.release.release_register import (
    RegisteredRelease,
    ReleaseState,
    find_releases_of_people,
    list_registered_releases,
)
from discreet.results.answers import AnswerResult
from discreet.results.publish_result import ReleaseIntersection, require_within_limit
from discreet.results.table_lattice import TableLattice
from discreet.settings import Settings
from discreet.verbs.locations import ReleaseLocation, address_of
from discreet.verbs.run_context import interruptible_engine
from discreet.verbs.table_context import TableContext

_IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class EarlierReleases:
    """Earlier releases of a table: the class of each row type in each, and the digests of the files."""

    table: FrequencySet
    classes: tuple[_IntArray, ...] = ()
    digests: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, table: TableContext, after: Sequence[ReleaseLocation], requirement: Requirement
    ) -> EarlierReleases | None:
        """Read the releases; return None if there are none.

        Raises ``InputError`` if a release cannot be read or was made of other rows, and if neither k nor l is
        requested.
        """
        if not after:
            return None
        if requirement.k is None and requirement.l is None:
            raise InputError(
                "an earlier release needs k or l: no criterion to check on the intersections",
                advice="Give k.",
            )
        counted = table.frequency_set
        original = OriginalTable(table.spec, counted)
        read = [_read_classes(original, address_of(release), table) for release in after]
        return cls(counted, tuple(classes for classes, _ in read), tuple(digest for _, digest in read))

    @classmethod
    def one(cls, table: TableContext, counted: FrequencySet, release: ReleaseLocation) -> EarlierReleases:
        """Read a single release of a counted table; raise ``InputError`` as ``of`` does."""
        classes, digest = _read_classes(OriginalTable(table.spec, counted), address_of(release), table)
        return cls(counted, (classes,), (digest,))

    def parts(self, class_of: _IntArray) -> IntersectionClasses:
        """Intersect the classes of the earlier releases with those of another release."""
        return intersect_classes(self.table, [*self.classes, class_of])

    def classes_at(self, node: LatticeNode, requirement: Requirement) -> _IntArray:
        """Return the class of each row type at a node, or ``SUPPRESSED`` if its class fails."""
        found = roll_up(self.table, node)
        fails = find_failing_classes(
            self.table, found.class_of, found.classes, requirement, found.population, found.codes
        )
        return np.where(fails[found.class_of], SUPPRESSED, found.class_of)

    def classes_of(self, recoding: ClassRecoding) -> _IntArray:
        """Return each row type's class; raise ``InputError`` if rows of one type go to several classes."""
        _, alike = np.unique(recoding.shown, axis=0, return_inverse=True)
        class_codes = alike.reshape(-1)
        if len(recoding.row_types) != self.table.row_types:
            raise InputError(
                f"the {recoding.model} model splits equal rows at random, so classes cannot be "
                "intersected with those of an earlier release",
                advice="Choose full-domain or another global model.",
            )
        retained = recoding.classes != SUPPRESSED
        result = np.full(self.table.row_types, SUPPRESSED, dtype=np.int64)
        result[recoding.row_types[retained]] = class_codes[recoding.classes[retained]]
        return result

    def is_safe(self, node: LatticeNode, requirement: Requirement) -> bool:
        """Return True if every intersection meets k and l at a node."""
        return not self.parts(self.classes_at(node, requirement)).failing(requirement).any()

    def require_safe(self, class_of: _IntArray, requirement: Requirement) -> None:
        """Raise ``RequirementNotMet`` unless every intersection meets k and l."""
        parts = self.parts(class_of)
        fails = parts.failing(requirement)
        if fails.any():
            least = "".join(f", l({name})={l}" for name, l in parts.l(fails).items())
            raise RequirementNotMet(
                f"together with the earlier releases {requirement} is not met: {int(fails.sum()):,} of the "
                f"{len(fails):,} parts that they share fail, {int(parts.rows[fails].sum()):,} rows in all "
                f"(k={parts.k(fails)}{least})",
                advice="Publish the same or coarser classes as before: higher levels, or let publish look "
                "for levels that are safe. Nothing was written.",
            )

    def lowest(self, lattice: TableLattice, request: Request) -> AnswerResult:
        """Return the lowest node within a request whose intersections are all safe; ties by suppressed rows.

        Raises ``NoSolution`` without such a node. Suppression makes safety non-monotone in the lattice, so
        nodes are tried in order of height, then of suppressed rows. Cost: two sorts of the row types per
        node.
        """
        requirement, full_lattice = request.requirement, lattice.lattice
        order = node_order(full_lattice.heights)
        places = order.nodes[order.between(*node_bounds(full_lattice, request)).ranks]
        suppressed = lattice.evaluated.suppression(requirement)[places]
        within = suppressed <= request.max_suppressed.of(lattice.rows)
        places, suppressed = places[within], suppressed[within]
        nodes = [full_lattice.node(int(index)) for index in places]
        heights = np.array([sum(node) for node in nodes], dtype=np.int64)
        for index in np.lexsort((suppressed, heights)).tolist():
            if self.is_safe(nodes[index], requirement):
                return require_within_limit(
                    full_lattice, nodes[index], request, int(suppressed[index]), lattice.rows
                )
        raise NoSolution(
            f"no node within the level bounds meets {requirement} together with the earlier releases "
            f"({len(nodes):,} meet it without them)",
            advice="Allow higher levels or more suppressed rows, or do not release the table again. "
            "Nothing was written.",
        )


def _read_classes(
    original: OriginalTable, address: ReleaseAddress, table: TableContext
) -> tuple[_IntArray, str]:
    """Return the class of each row type in a release, and the digest in its manifest."""
    with connect(table.settings, address.source()) as engine, interruptible_engine(engine):
        classes = read_assigned_classes(engine, address, original, table.settings)
        manifest = find_manifest(address, engine)
    return classes, "" if manifest is None else manifest.sha256


def as_release_tuple(
    previous_releases: str | Path | Sequence[ReleaseLocation] | None,
) -> tuple[ReleaseLocation, ...]:
    """Normalize the ``after`` argument: one release, several, or none."""
    return (
        (previous_releases,) if isinstance(previous_releases, str | Path) else tuple(previous_releases or ())
    )


MAX_INTERSECTED_RELEASES = 5
"""Number of the latest earlier releases that are read again for each publication."""

MAX_INTERSECTED_ROW_TYPES = 200_000
"""Row types above which releases are intersected only on request (``--previous-release``), in minutes."""

ClassAssignment = Callable[[EarlierReleases], NDArray[np.int64]]
"""Function that returns the class of each row type in a release."""


@dataclass(frozen=True, repr=False)
class ReleaseRegister(Printable):
    """Registered releases, the latest first; ``log`` is the file of the register."""

    releases: tuple[RegisteredRelease, ...]
    log: Path

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``discreet list releases --json``."""
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
                    "state": str(one.state),
                }
                for one in self.releases
            ],
        }

    def document(self) -> Document:
        """Return one row per release."""
        if not self.releases:
            return (Line(f"No release is in {self.log}.", Tone.HINT),)
        return (
            Grid(
                make_columns("time", "~release", "~of", "model", "now"),
                tuple(
                    (
                        one.time,
                        one.name,
                        Path(str(one.entry.get("input") or "–")).name,
                        str(one.entry.get("model") or "noisy"),
                        str(one.state),
                    )
                    for one in self.releases
                ),
            ),
        )


def read_release_register(settings: Settings, spec: TableSpec | None = None) -> ReleaseRegister:
    """Read the register, or with ``spec`` only its releases of the same people."""
    log = settings.private_log
    found = list_registered_releases(log) if spec is None else find_releases_of_people(log, spec)
    return ReleaseRegister(tuple(reversed(found)), log)


def intersect_registered(
    table: TableContext,
    counted: FrequencySet,
    output: Path | ReleaseAddress,
    requirement: Requirement,
    classes_of: ClassAssignment,
) -> tuple[ReleaseIntersection, ...]:
    """Intersect a recoding with each registered release of the same people, before it is written.

    ``classes_of`` returns the class of each row type. Nothing is refused here;
    ``--previous-release`` requires safety.
    """
    found = []
    for number, release in enumerate(_list_registered(table, output)):
        reason = _reason_to_skip(release, number, counted)
        found.append(
            ReleaseIntersection(release.name, release.time, reason=reason)
            if reason is not None
            else _intersect(table, counted, release, requirement, classes_of)
        )
    return tuple(found)


def list_uncounted_releases(
    table: TableContext, output: Path | ReleaseAddress
) -> tuple[ReleaseIntersection, ...]:
    """Return the registered releases as not counted, for a table that exceeds the memory limit."""
    reason = "the table exceeds the memory limit"
    return tuple(
        ReleaseIntersection(one.name, one.time, reason=reason) for one in _list_registered(table, output)
    )


def _list_registered(table: TableContext, output: Path | ReleaseAddress) -> list[RegisteredRelease]:
    """List the other releases of the same people, the latest first, each digest once."""
    address = output if isinstance(output, ReleaseAddress) else ReleaseAddress(path=output)
    registered_address = describe_output(address)
    known = find_releases_of_people(table.settings.private_log, table.spec)
    # A later entry with the same digest replaces the earlier one.
    latest = {one.sha256: one for one in known if one.output != registered_address}
    return list(reversed(latest.values()))


def _reason_to_skip(release: RegisteredRelease, number: int, counted: FrequencySet) -> str | None:
    """Return why a release is not intersected with a new one; None if it is."""
    state = release.state
    if state is not ReleaseState.IN_PLACE:
        return f"{state}"
    if "levels" not in release.entry:
        return "its counts are noisy and have a separate budget"
    if number >= MAX_INTERSECTED_RELEASES:
        return (
            f"{MAX_INTERSECTED_RELEASES} later ones are compared; to compare this one, give "
            "--previous-release RELEASE"
        )
    if counted.row_types > MAX_INTERSECTED_ROW_TYPES:
        return (
            "the table has too many row types to compare by default; to compare it, give "
            "--previous-release RELEASE"
        )
    return None


def _intersect(
    table: TableContext,
    counted: FrequencySet,
    release: RegisteredRelease,
    requirement: Requirement,
    classes_of: ClassAssignment,
) -> ReleaseIntersection:
    assert release.path is not None
    try:
        earlier = EarlierReleases.one(table, counted, release.path)
        parts = earlier.parts(classes_of(earlier))
    except DiscreetError as error:
        return ReleaseIntersection(release.name, release.time, reason=str(error).partition("\n")[0])
    fails = parts.failing(requirement)
    every = np.ones(len(fails), dtype=np.bool_)
    return ReleaseIntersection(
        release.name,
        release.time,
        k=parts.k(every),
        failing=int(fails.sum()),
        rows=int(parts.rows[fails].sum()),
        unique_rows=int(parts.rows[parts.rows == 1].sum()),
    )
