"""Results of negotiation and full-domain search: answers, solutions, costs, and recodings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NoReturn, TypeVar

from discreet.errors import InputError
from discreet.model.lattice import Lattice, LatticeNode, node_height
from discreet.model.requirement import Requirement


class RankedCost(float):
    """Cost of descending parts, compared part by part; as a number, the largest part."""

    parts: tuple[float, ...]

    def __new__(cls, parts: Sequence[float]) -> RankedCost:
        """Create the cost from its parts in descending order."""
        made = super().__new__(cls, parts[0] if parts else 0.0)
        made.parts = tuple(parts)
        return made

    def __lt__(self, other: float) -> bool:
        return self.parts < cost_parts(other)

    def __le__(self, other: float) -> bool:
        return self.parts <= cost_parts(other)

    def __gt__(self, other: float) -> bool:
        return self.parts > cost_parts(other)

    def __ge__(self, other: float) -> bool:
        return self.parts >= cost_parts(other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, float | int) and self.parts == cost_parts(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.parts)

    def __reduce__(self) -> tuple[type[RankedCost], tuple[tuple[float, ...]]]:
        return RankedCost, (self.parts,)


def cost_parts(cost: float) -> tuple[float, ...]:
    """Return the parts by which a cost is compared."""
    return cost.parts if isinstance(cost, RankedCost) else (float(cost),)


def cost_as_json(cost: float | None) -> float | list[float] | None:
    """Return a number, or the parts of a ranked cost."""
    return list(cost.parts) if isinstance(cost, RankedCost) else cost


def format_cost(cost: float | None) -> str:
    """Format a cost; a ranked cost part by part."""
    return "" if cost is None else " ".join(f"{part:.6g}" for part in cost_parts(cost))


_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class ReadOnlyDict(dict[_Key, _Value]):
    """A dictionary that refuses changes, which would be lost because the result computes it anew.

    ``description`` names it in the message. Copies (``dict(levels)``, ``levels.copy()``) can be changed.

    >>> levels = ReadOnlyDict({"age": 1}, "the levels of an answer")
    >>> levels == {"age": 1}, levels | {"zip": 2}
    (True, {'age': 1, 'zip': 2})
    """

    def __init__(self, values: Mapping[_Key, _Value], description: str) -> None:
        super().__init__(values)
        self._description = description

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise InputError(
            f"{self._description} cannot be changed", advice="Change a copy, dict(…), and hand that over."
        )

    __setitem__ = __delitem__ = __ior__ = _refuse
    update = setdefault = pop = popitem = clear = _refuse

    def __reduce__(self) -> tuple[type[dict[_Key, _Value]], tuple[dict[_Key, _Value]]]:
        return dict, (dict(self),)


class SuppressionPolicy(StrEnum):
    """Treatment of suppressed rows: omitted, or every cell replaced by ``*``."""

    DROP = "drop"
    STAR = "star"


@dataclass(frozen=True)
class FullDomainRecoding:
    """A recoding of every value of an attribute to one level (LeFevre et al. 2005, section 5.1.1).

    Rows of classes that fail ``requirement`` are suppressed by ``suppression``.
    """

    attributes: tuple[str, ...]
    node: LatticeNode
    requirement: Requirement
    suppression: SuppressionPolicy = SuppressionPolicy.DROP


class Relaxation(StrEnum):
    """Parts of a request other than criteria that an answer can relax; criteria are known by their names."""

    MAX_SUPPRESSED = "max_suppressed"
    HEIGHT = "height"


def relaxable_names(requirement: Requirement) -> tuple[str, ...]:
    """Return the names of all parts that a request can relax, in the order of the answers."""
    return (str(Relaxation.MAX_SUPPRESSED), str(Relaxation.HEIGHT), *requirement.names)


@dataclass(frozen=True)
class Answer:
    """One node that satisfies the request, or the request with one part relaxed.

    ``relaxed`` is the name of that part, as in ``relaxable_names``; ``requirement`` is the one that the node
    meets, with a relaxed criterion's value lowered.
    """

    relaxed: str | None
    node: LatticeNode
    requirement: Requirement
    suppressed: int

    def as_json(self, lattice: Lattice) -> dict[str, Any]:
        """Return the JSON entry of one answer."""
        return {
            "relaxed": None if self.relaxed is None else str(self.relaxed),
            "levels": lattice.levels_of(self.node),
            "height": node_height(self.node),
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
        """Exact answer, or None."""
        return next((a for a in self.answers if a.relaxed is None), None)

    @property
    def outcome(self) -> str:
        """``exact`` or ``relaxed``."""
        return "relaxed" if self.exact is None else "exact"

    def relaxation(self, relaxed: str) -> Answer | None:
        """Return the answer that relaxes one part, or None if that part has no solution."""
        return next((a for a in self.answers if a.relaxed == relaxed), None)

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``discreet negotiate --json``."""
        return {
            "outcome": self.outcome,
            "rows": self.rows,
            "answers": [answer.as_json(self.lattice) for answer in self.answers],
        }


@dataclass(frozen=True)
class Solution:
    """A node that meets the requirement within the suppression limit.

    ``minimal``: no direct specialization of it does. ``cost`` is None if the search uses no cost; a cost that
    is ranked part by part is a ``RankedCost``.
    """

    node: LatticeNode
    suppressed: int
    minimal: bool
    cost: float | None = None


@dataclass(frozen=True)
class SearchResult:
    """The solutions of one named algorithm and the work it did.

    ``solutions`` are in mixed-radix order: all for the exhaustive algorithms, one for the others, empty if
    there is none. ``nodes_checked`` counts nodes whose own frequency set was obtained, counted or rolled up,
    and tested, over all subsets of the attributes; ``nodes_marked`` those skipped because marked; ``scans``
    the frequency sets that were counted from the table rather than from another frequency set. ``seconds`` is
    wall time; ``build_seconds`` is the part of it that built a cube. ``bound`` is a proven lower bound of the
    cost; ``complete`` is true if the search was not interrupted, so that its answer is exact.
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
        """Maximum difference of the best cost from the optimum: cost − bound; None if either is unknown."""
        costs = [s.cost for s in self.solutions if s.cost is not None]
        if self.bound is None or not costs:
            return None
        return max(min(costs) - self.bound, 0.0)

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``discreet search --json``, with the additional entries of a search."""
        document: dict[str, Any] = {
            "algorithm": self.algorithm,
            "solutions": [
                {
                    "levels": self.lattice.levels_of(s.node),
                    "suppressed": s.suppressed,
                    "minimal": s.minimal,
                    "cost": cost_as_json(s.cost),
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
            document |= {"cost": self.cost_name, "bound": cost_as_json(self.bound), "gap": self.gap}
        document["complete"] = self.complete
        return document
