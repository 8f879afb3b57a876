"""Kernels of local recoding and pattern covers in plain numpy and Python: oracle and fallback.

Twins of ``greedy_cover``, ``local_losses`` and ``local_annealing``. They also accept class tests that the
kernels cannot evaluate. Import no numba.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
RowTypeTest = Callable[[NDArray[np.int64]], bool]
"""Function that returns whether row types together form a publishable class."""


def take_classes_twin(
    masks: Array,
    need: int,
    keys: Array,
    rows: Array,
    types: NDArray[np.int64],
    classes: int,
    class_of: Array,
    made: Array,
    holds: RowTypeTest | None = None,
) -> tuple[NDArray[np.int64], int]:
    """Take classes node by node; return the remaining row types and the number of classes so far.

    ``keys`` has shape ``(words, all row types)``, ``rows`` are all row types' counts. Fills ``class_of`` and
    ``made`` as the kernel ``take_classes`` does.
    """
    for node, mask in enumerate(masks):
        if not len(types):
            break
        first, slot, large = _find_large_classes(mask, need, keys, rows, types, holds)
        if not large.any():
            continue
        number = np.full(len(first), -1, np.int64)
        in_order = np.flatnonzero(large)[np.argsort(first[large], kind="stable")]
        number[in_order] = classes + np.arange(len(in_order))
        taken = large[slot]
        class_of[types[taken]] = number[slot[taken]]
        made[node] = len(in_order)
        classes += len(in_order)
        types = types[~taken]
    return types, classes


def _find_large_classes(
    mask: Array, need: int, keys: Array, rows: Array, types: NDArray[np.int64], holds: RowTypeTest | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return each class's first row type, each row type's class, and whether each class is publishable."""
    masked = keys[:, types] & mask[:, np.newaxis]
    # One-dimensional keys are compared as numbers, which is several times faster.
    masked = masked[0] if len(masked) == 1 else masked
    _, first, slot = np.unique(masked, axis=-1, return_index=True, return_inverse=True)
    slot = slot.reshape(-1)
    large = np.bincount(slot, weights=rows[types], minlength=len(first)) >= need
    if holds is not None:
        for group in np.flatnonzero(large).tolist():
            large[group] = holds(types[slot == group])
    return first, slot, large


def count_covered_rows_twin(
    mask: Array,
    need: int,
    keys: Array,
    counts: Array,
    types: NDArray[np.int64],
    holds: RowTypeTest | None = None,
) -> int:
    """Count the rows of the row types ``types`` in publishable classes of ``mask``."""
    return int(counts[types[_find_covered(mask, need, keys, counts, types, holds)]].sum())


def find_first_cover_twin(
    masks: Array, need: int, keys: Array, counts: Array, first: Array, holds: RowTypeTest | None = None
) -> None:
    """Find for each row type the first of ``masks`` in whose class of all row types it is publishable."""
    types = np.arange(len(counts))
    for node, mask in enumerate(masks):
        unmet = first < 0
        if not unmet.any():
            break
        first[unmet & _find_covered(mask, need, keys, counts, types, holds)] = node


def _find_covered(
    mask: Array, need: int, keys: Array, counts: Array, types: NDArray[np.int64], holds: RowTypeTest | None
) -> NDArray[np.bool_]:
    if not len(types):
        return np.zeros(0, np.bool_)
    _, slot, large = _find_large_classes(mask, need, keys, counts, types, holds)
    placed: NDArray[np.bool_] = large[slot]
    return placed


class TreeTables:
    """Hierarchies as plain lists: the losses of spreads without a compiler.

    ``masks[j]`` are attribute j's level masks in word ``word[j]``, ``losses[j]`` its table by level and leaf.
    """

    def __init__(
        self, word: Sequence[int], masks: Sequence[Sequence[int]], losses: Sequence[NDArray[np.float64]]
    ) -> None:
        self.word = word
        self.masks = [np.array(of_attribute, np.uint64) for of_attribute in masks]
        self.losses = losses

    def losses_of(self, spread: Array, codes: Array) -> NDArray[np.float64]:
        """Compute the loss of a row per class, from spreads ``(classes, words)`` and members' leaf codes."""
        result = np.zeros(len(spread))
        for j, (word, masks, losses) in enumerate(zip(self.word, self.masks, self.losses, strict=True)):
            level = np.zeros(len(spread), np.int64)
            for mask in masks:
                level += (spread[:, word] & mask) != 0
            result += losses[level, codes[:, j]]
        return result


def compute_spreads_twin(
    keys: Array, rows: Array, codes: Array, class_of: Array, classes: int, tables: TreeTables
) -> tuple[Array, Array, Array, Array]:
    """Compute each class's member, spread, rows and loss of one of its rows; no class may be empty."""
    order = np.argsort(class_of, kind="stable")
    order = order[int((class_of < 0).sum()) :]
    sizes = np.bincount(class_of[order], minlength=classes)
    starts = np.cumsum([0, *sizes[:-1]])
    member = order[starts] if classes else np.zeros(0, np.int64)
    spread = np.zeros((classes, keys.shape[1]), np.uint64)
    size = np.zeros(classes, np.int64)
    if classes:
        differences = keys[order] ^ keys[member][class_of[order]]
        spread = np.bitwise_or.reduceat(differences, starts, axis=0)
        size = np.add.reduceat(rows[order], starts)
    return member, spread, size, tables.losses_of(spread, codes[member])


def join_remaining_twin(
    rest: Array, keys: Array, rows: Array, codes: Array, class_of: Array, classes: int, tables: TreeTables
) -> None:
    """Put each row type of ``rest`` into the class whose loss it increases least; see the kernel."""
    member, spread, size, loss = compute_spreads_twin(keys, rows, codes, class_of, classes, tables)
    for t in rest.tolist():
        wide = spread | (keys[t] ^ keys[member])
        joined = tables.losses_of(wide, np.broadcast_to(codes[t], (classes, codes.shape[1])))
        more = joined * (size + rows[t]) - loss * size
        best = int(np.argmin(more)) if classes else -1
        if best >= 0 and np.isfinite(more[best]):
            spread[best] = wide[best]
            size[best] += rows[t]
            loss[best] = joined[best]
            class_of[t] = best


def find_near_types_twin(masks: Array, keys: Array, most: int) -> Array:
    """Find up to ``most`` near row types of each, padded with -1; arguments as of the kernel."""
    number = keys.shape[1]
    near: list[list[int]] = [[] for _ in range(number)]
    for mask in masks:
        open_types = [i for i in range(number) if len(near[i]) < most]
        if not open_types:
            break
        classes: dict[bytes, list[int]] = {}
        positions = []
        for i, key in enumerate(np.ascontiguousarray((keys & mask[:, np.newaxis]).T)):
            members = classes.setdefault(key.tobytes(), [])
            positions.append((members, len(members)))
            members.append(i)
        for i in open_types:
            members, at = positions[i]
            following = [*members[at + 1 :], *members[:at]][: 2 * most]
            near[i] += [other for other in following if other not in near[i]][: most - len(near[i])]
    return np.array([[*of_type, *[-1] * (most - len(of_type))] for of_type in near], np.int32)


def find_slacks_twin(
    masks: Array,
    levels: Array,
    need: int,
    keys: Array,
    rows: Array,
    codes: Array,
    values: Array,
    losses: Sequence[NDArray[np.float64]],
    slack: Array,
) -> None:
    """Lower ``slack`` to the least that the nodes' classes leave; ``keys`` in the order of row types."""
    for mask, node in zip(masks, levels, strict=True):
        classes: dict[bytes, list[int]] = {}
        for t, key in enumerate(np.ascontiguousarray((keys & mask[:, np.newaxis]).T)):
            classes.setdefault(key.tobytes(), []).append(t)
        for members in classes.values():
            if sum(int(rows[t]) for t in members) < need:
                continue
            loss = sum(float(table[node[j], codes[members[0], j]]) for j, table in enumerate(losses))
            left, needed = need * loss, need
            for t in sorted(members, key=lambda t: -values[t]):
                taken = min(int(rows[t]), needed)
                left -= taken * values[t]
                needed -= taken
            slack[members] = np.minimum(slack[members], left)


FOUND_BELOW, DISSOLVE_BELOW, CLASSES_TRIED = 0.05, 0.1, 16
_UNIT = 1.0 / 2**53
_WORD = 2**64 - 1
TOLERANCES = 4096
LossFunction = Callable[[Sequence[int]], float]
UnitTest = Callable[[Sequence[int]], bool]


def tolerances() -> NDArray[np.float64]:
    """Return draws of −ln(u) at evenly spaced u.

    An increase of at most temperature times a draw is accepted, so an increase of x has the probability
    exp(−x / temperature), the Metropolis rule.
    """
    tolerated: NDArray[np.float64] = -np.log((np.arange(TOLERANCES) + 0.5) / TOLERANCES)
    return tolerated


class Xorshift:
    """Random generator with the same numbers as the kernel ``draw_uniform``."""

    def __init__(self, state: int) -> None:
        self._state = state

    def __call__(self) -> float:
        """Return the next number from 0 to below 1."""
        x = self._state
        x ^= (x << 13) & _WORD
        x ^= x >> 7
        x ^= (x << 17) & _WORD
        self._state = x
        return float(x >> 11) * _UNIT


@dataclass
class AnnealingTwin:
    """Simulated annealing of classes in plain Python; classes are lists of units by slot.

    ``near[t]`` are the row types near row type t, ``start`` each row type's first unit. ``loss`` returns the
    loss of one row of a class of these units, ``holds`` whether they may form a class. ``empty`` lists empty
    slots.
    """

    classes: list[list[int]]
    slot: list[int]
    kind: Sequence[int]
    rows: Sequence[int]
    near: Sequence[Sequence[int]]
    start: Sequence[int]
    loss: LossFunction
    holds: UnitTest
    large: int
    empty: list[int]
    chance: Xorshift
    most_moves: int
    _moves: list[tuple[int, int]] = field(default_factory=list)

    def size(self, c: int) -> int:
        """Return the rows of a class."""
        return sum(self.rows[u] for u in self.classes[c])

    def total(self, c: int) -> float:
        """Return the total loss of a class's rows."""
        members = self.classes[c]
        return self.size(c) * self.loss(members) if members else 0.0

    def anneal(self, steps: int, heat: float, tolerances: Sequence[float]) -> None:
        """Run ``steps`` steps at a temperature that decreases linearly to 0."""
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
            if kind < FOUND_BELOW:
                self._found(u, tolerated)
            elif kind < DISSOLVE_BELOW:
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
        # Second in the list, as the kernel inserts behind the head: later draws must select the same units.
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
            for _ in range(CLASSES_TRIED):
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
