"""What a negotiation over a partial lattice rests on, and what it proves, in words and as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.model.lattice import height
from discreet.model.negotiation import Negotiation
from discreet.printing.document import Document, Line, Tone, count, share

if TYPE_CHECKING:
    from discreet.negotiation.bound import Bound
    from discreet.negotiation.partial import Preparation


@dataclass(frozen=True)
class PartialBasis:
    """The partial lattice behind an answer: its nodes of how many, their choice, its cost, the bound.

    ``runtime``: the request's own node was counted. ``descended``: answers were walked down to minimal
    nodes. ``counted`` are the nodes counted since the preparation.
    """

    nodes: int
    of: int
    metric: str
    runtime: bool
    descended: bool
    counted: int
    nbytes: int
    preparation: Preparation
    bound: Bound

    def as_json(self) -> dict[str, Any]:
        """The keys that a partial lattice adds to ``negotiate --json``."""
        return {
            "lattice": "partial",
            "partial": {
                "nodes": self.nodes,
                "of": self.of,
                "metric": self.metric,
                "runtime": self.runtime,
                "descended": self.descended,
                "counted": self.counted,
                "bytes": self.nbytes,
                "seconds": {
                    "level_statistics": self.preparation.level_statistics,
                    "node_scores": self.preparation.node_scores,
                    "histograms": self.preparation.histograms,
                },
            },
            "bound": self.bound.as_json(),
        }

    def lines(self, negotiation: Negotiation, limit: int) -> Document:
        """What was looked at, and what is proven all the same."""
        more = f" and {self.counted:,} more at run time" if self.counted else ""
        looked = Line(
            f"Answered from a partial lattice: {count(self.nodes, 'node')} of {self.of:,} "
            f"({share(self.nodes, self.of)}, ranked by {self.metric}){more}.",
            Tone.HINT,
        )
        return (looked, *(Line(f"Proven: {text}", Tone.HINT) for text in self._proven(negotiation, limit)))

    def _proven(self, negotiation: Negotiation, limit: int) -> list[str]:
        found = []
        if negotiation.exact is None:
            fewest = self.bound.suppressed
            none = ", so there is no exact answer" if fewest > limit else "; an exact answer may exist"
            found.append(f"at least {count(fewest, 'row')} must be suppressed within the levels{none}.")
            for name, largest in self.bound.largest:
                than = "above" if name in ("k", "l") else "stricter than"
                if largest is not None:
                    found.append(f"no {name} {than} {largest:,} is reached within the levels and the limit.")
        for answer, least in zip(negotiation.answers, self.bound.heights, strict=True):
            name = f"the relaxation of {answer.relaxed}" if answer.relaxed else "the exact answer"
            tall = height(answer.node)
            if least >= tall:
                found.append(f"no node lower than height {tall:,} is {name}.")
            else:
                found.append(f"{name} is not below height {least:,} (found: {tall:,}).")
        return found
