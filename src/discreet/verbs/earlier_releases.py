"""Releases handed over before, beside which the next one must be safe too (``attacks.composition``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.columns import manifest_of
from discreet.attacks.composition import CommonParts, common_parts
from discreet.attacks.intersection import classes_in_release
from discreet.attacks.linking import Original
from discreet.engines.connect import connect
from discreet.errors import InputError, NoSolution, RequirementNotMet
from discreet.frequency.class_facts import failing_classes
from discreet.frequency.rollup import roll_up
from discreet.model.class_recoding import SUPPRESSED, ClassRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode
from discreet.model.release_address import ReleaseAddress
from discreet.model.request import Request, bounds_of
from discreet.model.requirement import Requirement
from discreet.negotiation.order import order_of
from discreet.results.answers import AnswerResult
from discreet.results.lattice import TableLattice
from discreet.results.publication import answer_within_limit
from discreet.verbs.addresses import ReleasePlace, address_of
from discreet.verbs.interruption import interruptible
from discreet.verbs.opened_table import OpenedTable

Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class EarlierReleases:
    """Earlier releases of a table: the class of each of its row types in each, and the files' digests."""

    table: FrequencySet
    classes: tuple[Whole, ...] = ()
    digests: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, table: OpenedTable, after: Sequence[ReleasePlace], requirement: Requirement
    ) -> EarlierReleases | None:
        """Read the releases; None where none is named.

        ``InputError`` where one cannot be read or was made of other rows, and where neither k nor l is asked.
        """
        if not after:
            return None
        if requirement.k is None and requirement.l is None:
            raise InputError(
                "an earlier release, and neither k nor l is asked: nothing would be judged beside it",
                advice="Ask for k.",
            )
        counted = table.frequency_set
        original = Original(table.spec, counted)
        read = [_read(original, address_of(release), table) for release in after]
        return cls(counted, tuple(classes for classes, _ in read), tuple(digest for _, digest in read))

    @classmethod
    def one(cls, table: OpenedTable, counted: FrequencySet, release: ReleasePlace) -> EarlierReleases:
        """A single release beside a table as it was counted; ``InputError`` as ``of`` raises it."""
        classes, digest = _read(Original(table.spec, counted), address_of(release), table)
        return cls(counted, (classes,), (digest,))

    def parts(self, class_of: Whole) -> CommonParts:
        """The parts of the earlier releases and of one whose classes are given."""
        return common_parts(self.table, [*self.classes, class_of])

    def classes_at(self, node: LatticeNode, requirement: Requirement) -> Whole:
        """The class of each row type at a node, those that fail suppressed."""
        found = roll_up(self.table, node)
        fails = failing_classes(
            self.table, found.class_of, found.classes, requirement, found.population, found.codes
        )
        return np.where(fails[found.class_of], SUPPRESSED, found.class_of)

    def classes_of(self, recoding: ClassRecoding) -> Whole:
        """The class of each row type; ``InputError`` where rows of one type go to several classes."""
        _, alike = np.unique(recoding.shown, axis=0, return_inverse=True)
        shown = alike.reshape(-1)
        if len(recoding.row_types) != self.table.row_types:
            raise InputError(
                f"the {recoding.model} model draws which of equal rows go to which class: beside an earlier "
                "release nobody can tell who is in both",
                advice="Choose a model by levels, or another global one.",
            )
        kept = recoding.classes != SUPPRESSED
        found = np.full(self.table.row_types, SUPPRESSED, dtype=np.int64)
        found[recoding.row_types[kept]] = shown[recoding.classes[kept]]
        return found

    def is_safe(self, node: LatticeNode, requirement: Requirement) -> bool:
        """Whether every part meets k and l at a node."""
        return not self.parts(self.classes_at(node, requirement)).failing(requirement).any()

    def require_safe(self, class_of: Whole, requirement: Requirement) -> None:
        """``RequirementNotMet`` unless every part meets k and l."""
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
        """The lowest node within a request, then the fewest suppressed rows, whose parts are all safe.

        ``NoSolution`` where there is none. Nodes are tried in that order: suppression makes safety come and
        go on the way up. Cost: two sorts of the row types for each.
        """
        requirement, whole = request.requirement, lattice.lattice
        order = order_of(whole.heights)
        places = order.nodes[order.between(*bounds_of(whole, request)).ranks]
        suppressed = lattice.evaluated.suppression(requirement)[places]
        within = suppressed <= request.max_suppressed.of(lattice.rows)
        places, suppressed = places[within], suppressed[within]
        nodes = [whole.node(int(place)) for place in places]
        heights = np.array([sum(node) for node in nodes], dtype=np.int64)
        for place in np.lexsort((suppressed, heights)).tolist():
            if self.is_safe(nodes[place], requirement):
                return answer_within_limit(whole, nodes[place], request, int(suppressed[place]), lattice.rows)
        raise NoSolution(
            f"no node within the levels asked meets {requirement} together with the earlier releases "
            f"({len(nodes):,} meet it alone)",
            advice="Allow higher levels or more suppressed rows, or hand over nothing more. "
            "Nothing was written.",
        )


def _read(original: Original, address: ReleaseAddress, table: OpenedTable) -> tuple[Whole, str]:
    """The class of each row type in a release, and the digest in its manifest."""
    with connect(table.settings, address.source()) as engine, interruptible(engine):
        classes = classes_in_release(engine, address, original, table.settings)
        manifest = manifest_of(address, engine)
    return classes, "" if manifest is None else manifest.sha256


def named_releases(after: str | Path | Sequence[ReleasePlace] | None) -> tuple[ReleasePlace, ...]:
    """Earlier releases as a user names them: one, several or none."""
    return (after,) if isinstance(after, str | Path) else tuple(after or ())
