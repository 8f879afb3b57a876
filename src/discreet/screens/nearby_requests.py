"""Requests near an answered one that gain something for a small price; each is answered before it is listed.

* a larger k, for more suppressed rows or for another node;
* one attribute a level finer, for a smaller l or for more suppressed rows;
* the node of least loss, if it differs from the answer, which has the least height.

Cost: a look-up of all nodes for each of at most six requirements, and the answers to the requests.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.model.lattice import LatticeNode
from discreet.model.request import Request, SuppressionLimit, node_bounds
from discreet.model.requirement import Requirement
from discreet.results.answers import NegotiationResult
from discreet.screens.lattice_view import LatticeView
from discreet.screens.node_preview import TableEffects

MAX_NEARBY_REQUESTS = 5
_K_STOPS = (2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
_MAX_LARGER_K, _MAX_FINER = 2, 2
_MAX_LIMIT_FACTOR = 4
"""Maximum suppression of an offer, as a multiple of the request's limit."""


@dataclass(frozen=True)
class NearbyRequest:
    """A request near the answered one: its gain and price in words, and the node that answers it."""

    gain: str
    price: str
    request: Request
    node: LatticeNode


def find_nearby_requests(view: LatticeView, request: Request, node: LatticeNode) -> list[NearbyRequest]:
    """Find requests near the exact answer ``node`` to a request: at most five, larger k first."""
    around = _Neighbourhood(view, request, node)
    found = [
        *_take_first(around.larger_k(), _MAX_LARGER_K),
        *_take_first(around.finer(), _MAX_FINER),
        *around.least_loss(),
    ]
    return found[:MAX_NEARBY_REQUESTS]


def _take_first(offers: Iterator[NearbyRequest], number: int) -> list[NearbyRequest]:
    return [offer for offer, _ in zip(offers, range(number), strict=False)]


class _Neighbourhood:
    """A request, its answer, and the nodes that its levels allow."""

    def __init__(self, view: LatticeView, request: Request, node: LatticeNode) -> None:
        self.view, self.request, self.node = view, request, node
        low, high = node_bounds(view.source.lattice, request)
        self.low = low
        self.inside = ((view.levels >= low) & (view.levels <= high)).all(axis=1)
        self.limit = request.max_suppressed.of(view.source.rows)
        self.names = [name.replace("_", " ") for name in view.source.lattice.attributes]

    def larger_k(self) -> Iterator[NearbyRequest]:
        """Yield the next stops of k, each with a higher limit if the answer's node almost meets it."""
        k = self.request.requirement.k
        if k is None:
            return
        for stop in (stop for stop in _K_STOPS if stop > k):
            candidate = replace(
                self.request, requirement=_replace_parameters(self.request.requirement, k=stop)
            )
            needed = self._suppressed(candidate.requirement, self.node)
            if self.limit < needed <= self.limit + max(10, self.limit // 2):
                yield from self._offer(f"k = {stop}", self._with_limit(candidate, needed))
            else:
                yield from self._offer(f"k = {stop}", candidate)

    def finer(self) -> Iterator[NearbyRequest]:
        """Yield requests with one attribute a level finer, for a smaller l or more rows; cheapest first."""
        found: list[tuple[int, str, Request]] = []
        for i, level in enumerate(self.node):
            if level <= self.low[i]:
                continue
            finer = (*self.node[:i], level - 1, *self.node[i + 1 :])
            attribute = self.view.source.lattice.attributes[i]
            high = dict(self.request.max_level) | {attribute: level - 1}
            candidate = replace(self.request, max_level=tuple(high.items()))
            top = level == self.view.source.lattice.heights[i]
            gain = f"Keep {self.names[i]}" if top else f"Finer {self.names[i]}"
            less = self._smaller_l(candidate, finer)
            if less is not None:
                found.append((-1, gain, less))
            needed = self._suppressed(candidate.requirement, finer)
            if needed <= max(10, _MAX_LIMIT_FACTOR * self.limit):
                found.append((needed, gain, self._with_limit(candidate, needed)))
        seen = set()
        offered_smaller_l = False  # at most one offer of a smaller l
        for needed, gain, candidate in sorted(found, key=lambda one: one[0]):
            if gain in seen or (needed < 0 and offered_smaller_l):
                continue
            seen.add(gain)
            offered_smaller_l |= needed < 0
            yield from self._offer(gain, candidate)

    def least_loss(self) -> Iterator[NearbyRequest]:
        """Yield the request for the node with most detail among those that meet the request."""
        meets = self.inside & (self.view.suppression(self.request.requirement) <= self.limit)
        losses = np.where(meets, self.view.losses, np.inf)
        best = int(losses.argmin())
        here = self.view.source.loss_tables.loss_of_node(self.node)
        if not meets.any() or losses[best] > here - 0.005:
            return
        levels: NDArray[np.int64] = self.view.levels[best]
        high = dict(self.request.max_level)
        for name, level, now in zip(self.view.source.lattice.attributes, levels, self.node, strict=True):
            if level < now:
                high[name] = int(level)
        for offer in self._offer("", replace(self.request, max_level=tuple(high.items()))):
            detail = self._detail(offer.node)
            if detail > self._detail(self.node) + 0.005:
                yield replace(offer, gain=f"Keep {100 * detail:.0f} % of the detail")

    def _detail(self, node: LatticeNode) -> float:
        base = TableEffects(self.view.source.frequency_set)
        return base.of_node(node, self.request.requirement).detail

    def _offer(self, gain: str, candidate: Request) -> Iterator[NearbyRequest]:
        result = self.view.source.answer(candidate)
        if result.outcome == "exact":
            yield NearbyRequest(
                gain, self._price(candidate, result), candidate, result.answers[0].answer.node
            )

    def _price(self, candidate: Request, result: NegotiationResult) -> str:
        """Describe the price in words: a smaller l, suppressed rows, or detail."""
        parts = []
        answer = result.answers[0]
        before = {c.label: c.value for c in self.request.requirement.criteria if c.name == "l"}
        after = {c.label: c.value for c in candidate.requirement.criteria if c.name == "l"}
        parts += [
            f"lower l to {after.get(label, 1):,}"
            for label, value in before.items()
            if after.get(label, 1) < value
        ]
        limit = candidate.max_suppressed.of(answer.rows)
        if limit > self.limit:
            parts.append(f"allow {limit:,} suppressed, {limit - self.limit:,} more")
        heights = self.view.source.lattice.heights
        moved = list(zip(self.names, self.node, answer.answer.node, heights, strict=True))
        removed = [name for name, old, new, top in moved if old < new == top]
        coarser = [name for name, old, new, top in moved if old < new < top]
        parts += [f"drop {_join_names(removed)}"] if removed else []
        parts += [f"generalize {_join_names(coarser)} further"] if coarser else []
        return "; ".join(parts) or "none; the groups are unchanged"

    def _smaller_l(self, candidate: Request, node: LatticeNode) -> Request | None:
        """Return the request with the largest smaller l that a node meets; None if there is none."""
        l = candidate.requirement.l
        if not isinstance(l, int) or l < 2:
            return None
        for less in range(l - 1, 0, -1):
            requirement = _replace_parameters(candidate.requirement, l=less if less > 1 else None)
            if requirement.criteria and self._suppressed(requirement, node) <= self.limit:
                return replace(candidate, requirement=requirement)
        return None

    def _with_limit(self, candidate: Request, rows: int) -> Request:
        if rows <= self.limit:
            return candidate
        return replace(candidate, max_suppressed=SuppressionLimit(rows=rows))

    def _suppressed(self, requirement: Requirement, node: LatticeNode) -> int:
        return self.view.source.suppressed(node, requirement)


def _replace_parameters(candidate: Requirement, **changed: int | None) -> Requirement:
    """Return a requirement with another k or l and the same further criteria."""
    l = changed["l"] if "l" in changed else candidate.l_as_json()
    return Requirement.of(changed.get("k", candidate.k), l, candidate.others)


def _join_names(names: list[str]) -> str:
    if len(names) <= 1:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
