"""What a full-domain search finds, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.model.cost_value import cost_in_json
from discreet.model.lattice import Lattice, LatticeNode
from discreet.model.requirement import Requirement


@dataclass(frozen=True)
class Solution:
    """A node that meets the requirement within the suppression limit.

    ``minimal``: no direct specialization of it does. ``cost`` is None where the search weighs none; one that
    is ranked part by part is a ``model.cost_value.Ranked``.
    """

    node: LatticeNode
    suppressed: int
    minimal: bool
    cost: float | None = None


@dataclass(frozen=True)
class SearchResult:
    """The solutions of one named algorithm and the work it did.

    ``solutions`` are in mixed-radix order: every one for the exhaustive algorithms, one for the others, none
    where there is none. ``nodes_checked`` counts nodes whose own frequency set was obtained, counted or
    rolled up, and tested, over all subsets of the attributes; ``nodes_marked`` those skipped because marked;
    ``scans`` the frequency sets that were counted from the table rather than from another frequency set.
    ``seconds`` is wall time; ``build_seconds`` is the part of it that built a cube. ``bound`` is a proven
    lower bound of the cost; ``complete`` says that the search ended by itself, so that its answer is exact.
    """

    algorithm: str
    lattice: Lattice
    rows: int
    requirement: Requirement
    limit: int
    solutions: tuple[Solution, ...]
    nodes_checked: int
    nodes_marked: int
    scans: int
    seconds: float
    build_seconds: float | None = None
    cost_name: str | None = None
    bound: float | None = None
    complete: bool = True

    @property
    def gap(self) -> float | None:
        """How far the best cost may lie above the least: cost − bound; None where either is unknown."""
        costs = [s.cost for s in self.solutions if s.cost is not None]
        if self.bound is None or not costs:
            return None
        return max(min(costs) - self.bound, 0.0)

    def as_json(self) -> dict[str, Any]:
        """The contract's document of ``discreet search --json``, with what a search knows beyond it."""
        document: dict[str, Any] = {
            "algorithm": self.algorithm,
            "solutions": [
                {
                    "levels": self.lattice.levels_of(s.node),
                    "suppressed": s.suppressed,
                    "minimal": s.minimal,
                    "cost": cost_in_json(s.cost),
                }
                for s in self.solutions
            ],
            "nodes_checked": self.nodes_checked,
            "nodes_marked": self.nodes_marked,
            "scans": self.scans,
            "seconds": self.seconds,
        }
        if self.build_seconds is not None:
            document["build_seconds"] = self.build_seconds
        if self.cost_name is not None:
            document |= {"cost": self.cost_name, "bound": cost_in_json(self.bound), "gap": self.gap}
        document["complete"] = self.complete
        return document
