"""What the negotiation paper prints, as values: attributes, requests, answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.model.lattice import LatticeNode
from discreet.model.request import Request
from discreet.reproduce.printed import printed

FIGURES = printed("negotiation")

QUASI_IDENTIFIERS: Mapping[int, tuple[str, ...]] = {
    int(size): tuple(names) for size, names in FIGURES["quasi_identifiers"].items()
}
SENSITIVE: str = FIGURES["sensitive"]
MAX_SUPPRESSED: int = FIGURES["max_suppressed"]
SIZES = tuple(QUASI_IDENTIFIERS)


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

    ``privacy`` is ``k`` or ``l`` and ``value`` its number. ``varies`` says which experiment it belongs to.
    Where there is no exact answer, ``privacy_relaxed`` is None for the printed "No solution".
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
        """What is relaxed (None: nothing), and the answer; None for "No solution"."""
        if self.exact is not None:
            return ((None, self.exact),)
        return (
            ("max_suppressed", self.max_suppressed),
            ("height", self.height),
            (self.privacy, self.privacy_relaxed),
        )

    def request(self, scope: str = "above") -> Request:
        """The request to ask."""
        return request_of(self.privacy, self.value, self.levels, MAX_SUPPRESSED, scope)


def printed_requests() -> tuple[PrintedRequest, ...]:
    """Every request whose answers the paper prints, in its order."""
    return tuple(_request(entry) for entry in FIGURES["request"])


def _request(entry: Mapping[str, Any]) -> PrintedRequest:
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


def request_of(
    privacy: str,
    value: int,
    levels: str,
    max_suppressed: int,
    scope: str = "above",
    names: Sequence[str] | None = None,
) -> Request:
    """A request from the paper's form: k or l, and levels as digits of ``names`` (the size's own)."""
    names = names or QUASI_IDENTIFIERS[len(levels)]
    return Request.of(
        k=value if privacy == "k" else None,
        l=value if privacy == "l" else None,
        max_suppressed=max_suppressed,
        max_level=dict(zip(names, node_of(levels), strict=True)),
        scope=scope,
    )


def node_of(levels: str) -> LatticeNode:
    """A node from its digits."""
    return tuple(int(digit) for digit in levels)


def node_text(node: LatticeNode) -> str:
    """A node as digits."""
    return "".join(str(level) for level in node)


def node_number(heights: Sequence[int], node: LatticeNode) -> int:
    """The paper's number for QI 3 to 5: from 1, the last attribute slowest, then the first, and so on."""
    number = node[-1]
    for level, height in zip(node[:-1], heights[:-1], strict=True):
        number = number * (height + 1) + level
    return number + 1
