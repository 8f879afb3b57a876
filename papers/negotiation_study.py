"""Printed requests of the negotiation paper, and Adult prepared by number of quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.lattice.evaluated_lattice import EvaluatedLattice
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from discreet.negotiation.negotiator import Negotiator
from discreet.verbs.table import Table
from papers.comparison import Judge, known_deviations, read_figures
from papers.reproduction import Context

NEGOTIATION_FIGURES = read_figures("negotiation")

NEGOTIATION_QUASI_IDENTIFIERS: Mapping[int, tuple[str, ...]] = {
    int(size): tuple(names) for size, names in NEGOTIATION_FIGURES["quasi_identifiers"].items()
}
NEGOTIATION_SENSITIVE: str = NEGOTIATION_FIGURES["sensitive"]
MAX_SUPPRESSED: int = NEGOTIATION_FIGURES["max_suppressed"]
SIZES = tuple(NEGOTIATION_QUASI_IDENTIFIERS)


@dataclass(frozen=True)
class PrintedAnswer:
    """One printed answer: the node's number and levels, its suppressed rows, and k or l."""

    number: int
    levels: str
    suppressed: int
    value: int


@dataclass(frozen=True)
class PrintedRequest:
    """One printed request with every answer printed for it.

    ``privacy`` is ``k`` or ``l`` and ``value`` its number. ``varies`` names the factor of its experiment. If
    there is no exact answer, ``privacy_relaxed`` is None for the printed "No solution".
    """

    privacy: str
    value: int
    levels: str
    varies: str
    exact: PrintedAnswer | None
    max_suppressed: PrintedAnswer | None
    height: PrintedAnswer | None
    privacy_relaxed: PrintedAnswer | None

    @property
    def answers(self) -> tuple[tuple[str | None, PrintedAnswer | None], ...]:
        """Pairs of the relaxed part (None: exact) and the answer (None: "No solution")."""
        if self.exact is not None:
            return ((None, self.exact),)
        return (
            ("max_suppressed", self.max_suppressed),
            ("height", self.height),
            (self.privacy, self.privacy_relaxed),
        )

    def request(self, scope: str = "above") -> Request:
        """Return the request as the negotiator takes it."""
        return make_request(self.privacy, self.value, self.levels, MAX_SUPPRESSED, scope)


def printed_requests() -> tuple[PrintedRequest, ...]:
    """Return every request whose answers the paper prints, in its order."""
    return tuple(_read_request(entry) for entry in NEGOTIATION_FIGURES["request"])


def _read_request(entry: Mapping[str, Any]) -> PrintedRequest:
    value = entry["value"]

    def answer(part: str) -> PrintedAnswer | None:
        return PrintedAnswer(**{"value": value, **entry[part]}) if part in entry else None

    return PrintedRequest(
        privacy=entry["privacy"],
        value=value,
        levels=entry["levels"],
        varies=entry["varies"],
        exact=answer("exact"),
        max_suppressed=answer("max_suppressed"),
        height=answer("height"),
        privacy_relaxed=answer("privacy_relaxed"),
    )


def make_request(
    privacy: str,
    value: int,
    levels: str,
    max_suppressed: int,
    scope: str = "above",
    names: Sequence[str] | None = None,
) -> Request:
    """Build a request from the paper's form: k or l, and levels as digits.

    ``names`` are the attributes of the digits; by default those of the paper for this number of digits.
    """
    names = names or NEGOTIATION_QUASI_IDENTIFIERS[len(levels)]
    return Request.of(
        k=value if privacy == "k" else None,
        l=value if privacy == "l" else None,
        max_suppressed=max_suppressed,
        max_level=dict(zip(names, parse_node(levels), strict=True)),
        scope=scope,
    )


def parse_node(levels: str) -> LatticeNode:
    """Parse a node from its digits."""
    return tuple(int(digit) for digit in levels)


def node_text(node: LatticeNode) -> str:
    """Return a node as digits."""
    return "".join(str(level) for level in node)


def node_number(heights: Sequence[int], node: LatticeNode) -> int:
    """Return the paper's number of a node for QI 3 to 5.

    Numbers begin at 1 and are mixed-radix: the last attribute is the most significant digit, followed by the
    first, the second and so on.
    """
    number = node[-1]
    for level, height in zip(node[:-1], heights[:-1], strict=True):
        number = number * (height + 1) + level
    return number + 1


_REPETITIONS = 5


@dataclass(frozen=True, eq=False)
class PreparedLattice:
    """Evaluated lattice, and the seconds that counting and evaluating took."""

    frequency_set: FrequencySet
    evaluated: EvaluatedLattice
    counting: float
    evaluating: float
    negotiator: Negotiator

    @property
    def seconds(self) -> float:
        """Seconds from the file to the evaluated lattice."""
        return self.counting + self.evaluating

    @property
    def histogram_bytes(self) -> int:
        """Memory of the suppression histograms in bytes."""
        return self.evaluated.histograms.nbytes


def prepare_lattice(table: Table) -> PreparedLattice:
    """Count a table and evaluate its lattice, and measure both."""
    start = perf_counter()
    frequency_set = table.frequency_set
    counted = perf_counter()
    evaluated = table.lattice().evaluated
    done = perf_counter()
    return PreparedLattice(frequency_set, evaluated, counted - start, done - counted, Negotiator(evaluated))


@dataclass
class AdultStudy:
    """Adult with 30,162 rows and the paper's hierarchies, for k and for l (``hours_per_week``)."""

    context: Context
    judge: Judge = field(default_factory=lambda: Judge.of(known_deviations("negotiation")))
    _prepared: dict[tuple[tuple[str, ...], bool], PreparedLattice] = field(default_factory=dict)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of quasi-identifiers: 3 to 6, or 3 and 4 in a quick run."""
        return SIZES[:2] if self.context.quick else SIZES

    def of(self, size: int, privacy: str = "k") -> PreparedLattice:
        """Return the lattice of a size, evaluated for k or for l."""
        return self.of_attributes(NEGOTIATION_QUASI_IDENTIFIERS[size], privacy)

    def of_attributes(self, names: Sequence[str], privacy: str = "k") -> PreparedLattice:
        """Return the lattice of some of the paper's attributes, in this order."""
        key = (tuple(names), privacy == "l")
        if key not in self._prepared:
            sensitive = (NEGOTIATION_SENSITIVE,) if privacy == "l" else ()
            self._prepared[key] = prepare_lattice(
                self.context.adult("30162", "negotiation", names, sensitive)
            )
        return self._prepared[key]

    def by_height(
        self, size: int, requirement: Requirement, highest_level: int | None = None
    ) -> list[NDArray[np.int64]]:
        """Return the suppressed rows of the nodes of each height from 0 up; see ``suppression_by_height``."""
        privacy = "k" if requirement.l is None else "l"
        return suppression_by_height(self.of(size, privacy).evaluated, requirement, highest_level)


def answer_milliseconds(evaluated: EvaluatedLattice, request: Request) -> float:
    """Measure the median of five answers to a request, each by a new negotiator without cached answers."""
    times = []
    for _ in range(_REPETITIONS):
        negotiator = Negotiator(evaluated)
        start = perf_counter()
        negotiator.negotiate(request)
        times.append(perf_counter() - start)
    return median(times) * 1000


def suppression_by_height(
    evaluated: EvaluatedLattice, requirement: Requirement, highest_level: int | None = None
) -> list[NDArray[np.int64]]:
    """Return the suppressed rows of the nodes of each height.

    Nodes with a level above ``highest_level`` and heights without nodes are left out.
    """
    levels = np.array(list(evaluated.lattice.nodes()), dtype=np.int64)
    kept = np.ones(len(levels), np.bool_)
    if highest_level is not None:
        kept = levels.max(axis=1) <= highest_level
    heights = levels.sum(axis=1)
    suppression = evaluated.suppression(requirement)
    found = [suppression[kept & (heights == h)] for h in range(int(heights.max()) + 1)]
    return [rows for rows in found if len(rows)]
