"""What a negotiation answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from discreet.model.lattice import Lattice, LatticeNode, height
from discreet.model.requirement import Requirement


class Relaxation(StrEnum):
    """What an answer gives way on beside criteria, each of which is known by its name."""

    MAX_SUPPRESSED = "max_suppressed"
    HEIGHT = "height"


def relaxations_of(requirement: Requirement) -> tuple[str, ...]:
    """The names of all that a request with this requirement can give way on, in the order of the answers."""
    return (str(Relaxation.MAX_SUPPRESSED), str(Relaxation.HEIGHT), *requirement.names)


@dataclass(frozen=True)
class Answer:
    """One node that satisfies the request, or the request with one part relaxed.

    ``relaxed`` names that part, as ``relaxations_of`` does; ``requirement`` is what the node meets, with a
    relaxed criterion's value lowered.
    """

    relaxed: str | None
    node: LatticeNode
    requirement: Requirement
    suppressed: int

    def as_json(self, lattice: Lattice) -> dict[str, Any]:
        """The contract's form of one answer."""
        return {
            "relaxed": None if self.relaxed is None else str(self.relaxed),
            "levels": lattice.levels_of(self.node),
            "height": height(self.node),
            **self.requirement.as_json(),
            "suppressed": self.suppressed,
        }


@dataclass(frozen=True)
class Negotiation:
    """The exact answer, or the relaxations (Pilalidou and Vassiliadis)."""

    lattice: Lattice
    rows: int
    answers: tuple[Answer, ...]

    @property
    def exact(self) -> Answer | None:
        """The exact answer, where there is one."""
        return next((a for a in self.answers if a.relaxed is None), None)

    @property
    def outcome(self) -> str:
        """``exact`` or ``relaxed``."""
        return "relaxed" if self.exact is None else "exact"

    def relaxation(self, relaxed: str) -> Answer | None:
        """The answer that relaxes one part, or None where that part has no solution."""
        return next((a for a in self.answers if a.relaxed == relaxed), None)

    def as_json(self) -> dict[str, Any]:
        """The contract's document of ``discreet negotiate --json``."""
        return {
            "outcome": self.outcome,
            "rows": self.rows,
            "answers": [answer.as_json(self.lattice) for answer in self.answers],
        }
