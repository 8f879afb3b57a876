"""The annealing of ``kernels.local_anneal`` in plain Python: its oracle, and what a class test runs on.

A test may fail for a class that a unit joins, as entropy does, so here whoever joins is tested too; sizes and
distinct values only grow. The same random numbers choose the same moves, so on the same table both end with
the same classes. Here a class is a list in the order of the kernel's chain, its loss is counted from its
members each time, and whether it may be published is asked of a function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

FOUND, DISSOLVE, TRIED = 0.05, 0.1, 16
_UNIT = 1.0 / 2**53
_WORD = 2**64 - 1
TOLERATED = 4096
Loss = Callable[[Sequence[int]], float]
Holds = Callable[[Sequence[int]], bool]


def tolerances() -> NDArray[np.float64]:
    """Draws of −ln(u) at evenly spaced u: a rise of at most heat times one of them is accepted.

    So a rise of x is accepted with probability exp(−x / heat), the Metropolis rule.
    """
    tolerated: NDArray[np.float64] = -np.log((np.arange(TOLERATED) + 0.5) / TOLERATED)
    return tolerated


class Chance:
    """The same numbers without a compiler."""

    def __init__(self, state: int) -> None:
        self._state = state

    def __call__(self) -> float:
        """The next number from 0 to below 1."""
        x = self._state
        x ^= (x << 13) & _WORD
        x ^= x >> 7
        x ^= (x << 17) & _WORD
        self._state = x
        return float(x >> 11) * _UNIT


@dataclass
class PlainClasses:
    """Classes by slot, as lists of units, and what moves are weighed with.

    ``near[t]`` are the row types near row type t, ``start`` each row type's first unit. ``loss`` is the loss
    of one row of a class of such units, ``holds`` whether they may be a class. ``empty`` lists empty slots.
    """

    classes: list[list[int]]
    slot: list[int]
    kind: Sequence[int]
    rows: Sequence[int]
    near: Sequence[Sequence[int]]
    start: Sequence[int]
    loss: Loss
    holds: Holds
    large: int
    empty: list[int]
    chance: Chance
    most_moves: int
    _moves: list[tuple[int, int]] = field(default_factory=list)

    def size(self, c: int) -> int:
        """The rows of a class."""
        return sum(self.rows[u] for u in self.classes[c])

    def total(self, c: int) -> float:
        """What all rows of a class lose."""
        members = self.classes[c]
        return self.size(c) * self.loss(members) if members else 0.0

    def anneal(self, steps: int, heat: float, tolerances: Sequence[float]) -> None:
        """So many steps at a heat that falls evenly to 0."""
        for step in range(steps):
            tolerated = heat * (1.0 - step / steps) * tolerances[int(self.chance() * len(tolerances))]
            u, v = int(self.chance() * len(self.slot)), int(self.chance() * len(self.slot))
            losses = [self.loss(self.classes[self.slot[w]]) for w in (u, v)]
            if losses[1] > losses[0]:
                u = v
            c = self.slot[u]
            kind = self.chance()
            if max(losses) == 0.0:
                continue
            if kind < FOUND:
                self._found(u, tolerated)
            elif kind < DISSOLVE:
                if self.size(c) < self.large:
                    self._dissolve(c, tolerated)
            else:
                share = self.chance()
                v = self._near_unit(u, share * share)
                other = self.slot[v] if v >= 0 else -1
                if other >= 0 and other != c:
                    self._exchange(u, other, tolerated)

    def _near_unit(self, u: int, share: float) -> int:
        near = self.near[self.kind[u]]
        kind = near[int(share * len(near))]
        if kind < 0:
            return -1
        first, end = self.start[kind], self.start[kind + 1]
        return first + int(self.chance() * (end - first))

    def _without(self, u: int, added: int | None = None) -> list[int]:
        rest = [w for w in self.classes[self.slot[u]] if w != u]
        return rest if added is None else [added, *rest]

    def _move(self, u: int, to: int) -> float:
        c = self.slot[u]
        rise = -(self.total(c) + self.total(to))
        self._moves.append((u, c))
        self.classes[c].remove(u)
        self.classes[to].insert(min(1, len(self.classes[to])), u)
        self.slot[u] = to
        return rise + self.total(c) + self.total(to)

    def _undo(self) -> None:
        for u, c in reversed(list(self._moves)):
            self._move(u, c)

    def _exchange(self, u: int, other: int, tolerated: float) -> None:
        c = self.slot[u]
        rise = -(self.total(c) + self.total(other))
        joined = [*self.classes[other], u]
        rest = self._without(u)
        if rest and self.holds(rest):
            rise += (self.size(other) + self.rows[u]) * self.loss(joined)
            fits = rise <= tolerated and rise + self._rows_of(rest) * self.loss(rest) <= tolerated
            if fits and self.holds(joined):
                self._move(u, other)
            return
        v = self._member(other)
        mine, theirs = self._without(u, v), self._without(v, u)
        rise += self._rows_of(theirs) * self.loss(theirs)
        if rise > tolerated:
            return
        rise += self._rows_of(mine) * self.loss(mine)
        if rise <= tolerated and self.holds(mine) and self.holds(theirs):
            self._move(u, other)
            self._move(v, c)

    def _member(self, c: int) -> int:
        members = self.classes[c]
        return members[int(self.chance() * self.size(c)) % len(members)]

    def _rows_of(self, members: Sequence[int]) -> int:
        return sum(self.rows[u] for u in members)

    def _found(self, u: int, tolerated: float) -> None:
        if not self.empty or not self._spared(u):
            return
        to = self.empty[-1]
        self._moves.clear()
        rise = self._move(u, to)
        done = False
        for kind in self.near[self.kind[u]]:
            if kind < 0 or done:
                break
            for v in range(self.start[kind], self.start[kind + 1]):
                if self.slot[v] == to or len(self._moves) == self.most_moves:
                    continue
                if not self._spared(v) or np.isinf(self.loss([*self.classes[to], v])):
                    continue
                rise += self._move(v, to)
                if self.holds(self.classes[to]):
                    done = True
                    break
        if (done or self.holds(self.classes[to])) and rise <= tolerated:
            self.empty.pop()
        else:
            self._undo()

    def _spared(self, u: int) -> bool:
        rest = self._without(u)
        return bool(rest) and self.holds(rest)

    def _dissolve(self, c: int, tolerated: float) -> None:
        self._moves.clear()
        rise = 0.0
        while self.classes[c]:
            u = self.classes[c][0]
            best, least = -1, np.inf
            for _ in range(TRIED):
                v = self._near_unit(u, self.chance())
                to = self.slot[v] if v >= 0 else -1
                if to < 0 or to in (c, best):
                    continue
                joined = self.loss([*self.classes[to], u])
                more = joined * (self.size(to) + self.rows[u]) - self.total(to)
                if more < least and self.holds([*self.classes[to], u]):
                    best, least = to, more
            if best < 0 or len(self._moves) == self.most_moves:
                self._undo()
                return
            rise += self._move(u, best)
        if rise <= tolerated:
            self.empty.append(c)
        else:
            self._undo()
