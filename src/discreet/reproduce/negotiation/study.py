"""The tables that the experiments ask: Adult by the number of quasi-identifiers, each prepared once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from discreet.lattice.evaluated import EvaluatedLattice
from discreet.model.frequency_set import FrequencySet
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from discreet.negotiation.negotiate import Negotiator
from discreet.reproduce.comparison import Judge
from discreet.reproduce.context import Context
from discreet.reproduce.negotiation import paper
from discreet.reproduce.printed import deviations
from discreet.verbs.table import Table

_REPETITIONS = 5


@dataclass(frozen=True, eq=False)
class Prepared:
    """An evaluated lattice, and the seconds that counting and evaluating took."""

    frequency_set: FrequencySet
    evaluated: EvaluatedLattice
    counting: float
    evaluating: float
    negotiator: Negotiator

    @property
    def seconds(self) -> float:
        """Preparation from the file to the evaluated lattice."""
        return self.counting + self.evaluating

    @property
    def histogram_bytes(self) -> int:
        """What the suppression histograms take in memory."""
        return self.evaluated.histograms.nbytes


def prepare(table: Table) -> Prepared:
    """Count a table and evaluate its lattice, on the clock."""
    start = perf_counter()
    frequency_set = table.frequency_set
    counted = perf_counter()
    evaluated = table.lattice().evaluated
    done = perf_counter()
    return Prepared(frequency_set, evaluated, counted - start, done - counted, Negotiator(evaluated))


@dataclass
class Study:
    """Adult with 30,162 rows and the paper's hierarchies, for k and for l (``hours_per_week``)."""

    context: Context
    judge: Judge = field(default_factory=lambda: Judge.of(deviations("negotiation")))
    _prepared: dict[tuple[tuple[str, ...], bool], Prepared] = field(default_factory=dict)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many quasi-identifiers: 3 to 6, or 3 and 4 in a quick run."""
        return paper.SIZES[:2] if self.context.quick else paper.SIZES

    def of(self, size: int, privacy: str = "k") -> Prepared:
        """The lattice of a size, evaluated for k or for l."""
        return self.of_attributes(paper.QUASI_IDENTIFIERS[size], privacy)

    def of_attributes(self, names: Sequence[str], privacy: str = "k") -> Prepared:
        """The lattice of any of the paper's attributes, in this order."""
        key = (tuple(names), privacy == "l")
        if key not in self._prepared:
            sensitive = (paper.SENSITIVE,) if privacy == "l" else ()
            self._prepared[key] = prepare(self.context.adult("30162", "negotiation", names, sensitive))
        return self._prepared[key]

    def by_height(
        self, size: int, requirement: Requirement, highest_level: int | None = None
    ) -> list[NDArray[np.int64]]:
        """Suppressed rows of every node of each height from 0 up; see ``suppression_by_height``."""
        privacy = "k" if requirement.l is None else "l"
        return suppression_by_height(self.of(size, privacy).evaluated, requirement, highest_level)


def answer_milliseconds(evaluated: EvaluatedLattice, request: Request) -> float:
    """The median of five answers to a request, each by a negotiator that remembers nothing."""
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
    """Suppressed rows of the nodes of each height, those with a level above ``highest_level`` left out."""
    levels = np.array(list(evaluated.lattice.nodes()), dtype=np.int64)
    kept = np.ones(len(levels), np.bool_)
    if highest_level is not None:
        kept = levels.max(axis=1) <= highest_level
    heights = levels.sum(axis=1)
    suppression = evaluated.suppression(requirement)
    found = [suppression[kept & (heights == h)] for h in range(int(heights.max()) + 1)]
    return [rows for rows in found if len(rows)]
