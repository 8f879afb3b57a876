"""Row types as bit-field keys with the loss of each level, and the lattice's nodes in order of loss.

``kernels.local_losses.TreeArrays`` describes the format of a key. The loss of a cell is that of ARX: (m −
1) / D for a value that represents m of the hierarchy's D leaves; NULL below the top represents only itself
(``measures.recoding_metrics``).

The cost of a node is the sum over attributes of the mean loss of its level. Small lattices are sorted.
Large ones are walked lazily with a heap up to a number of nodes, followed by nodes on random paths from the
bottom to the top, and by the top.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import islice, pairwise
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.measures.recoding_metrics import level_shares
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.lattice import LatticeNode

if TYPE_CHECKING:
    from discreet.kernels.local_losses import TreeArrays


_WORD_BITS = 64


@dataclass(frozen=True, eq=False)
class KeySpace:
    """Keys of a frequency set's row types within level limits.

    ``keys`` has shape ``(words, row types)``. The key distinguishes the levels ``levels[j]`` of attribute j
    (all levels, unless its field would not fit in one word); ``node_masks[j]``, shape ``(levels, words)``,
    contains the bits that remain at each. ``losses[j]``, shape ``(levels, leaves + 1)``, is the weighted
    loss of a cell by level and leaf code: a level below the least allowed one loses as much as that one, a
    level above the greatest is infinite. ``trees`` returns ``level_masks``, ``word`` and ``losses`` as
    arrays.
    """

    frequency_set: FrequencySet
    keys: NDArray[np.uint64]
    levels: tuple[tuple[int, ...], ...]
    allowed: tuple[tuple[int, ...], ...]
    node_masks: tuple[NDArray[np.uint64], ...]
    level_masks: tuple[tuple[int, ...], ...]
    word: tuple[int, ...]
    losses: tuple[NDArray[np.float64], ...]
    weights: tuple[float, ...]

    @property
    def words(self) -> int:
        """Number of words of a key."""
        return len(self.keys)

    @property
    def forbidden(self) -> NDArray[np.uint64]:
        """Bits in which members of one class must agree: those at the greatest levels and above."""
        mask = np.zeros(self.words, np.uint64)
        for j, allowed in enumerate(self.allowed):
            mask |= self.node_masks[j][self.levels[j].index(allowed[-1])]
        return mask

    @property
    def worst(self) -> float:
        """Loss of one suppressed row, with every cell at its top."""
        tops = (1.0 - 1.0 / len(h.leaves) for h in self.frequency_set.hierarchies)
        return sum(weight * top for weight, top in zip(self.weights, tops, strict=True))

    def granularity_of(self, loss: float) -> float:
        """Return the weighted granularity of a recoding from the total loss of its rows."""
        most = self.worst * self.frequency_set.rows
        return 1.0 - loss / most if most else 1.0

    def trees(self) -> TreeArrays:
        """Return the hierarchies as arrays for the kernels."""
        from discreet.kernels.local_losses import TreeArrays

        numbers = [len(masks) for masks in self.level_masks]
        sizes = [table.size for table in self.losses]
        return TreeArrays(
            word=np.array(self.word, np.int64),
            first=np.cumsum([0, *numbers]).astype(np.int64),
            masks=np.array([mask for masks in self.level_masks for mask in masks], np.uint64),
            base=np.cumsum([0, *sizes[:-1]]).astype(np.int64),
            width=np.array([table.shape[1] for table in self.losses], np.int64),
            losses=np.concatenate([table.ravel() for table in self.losses]),
        )


def build_key_space(
    frequency_set: FrequencySet,
    low: LatticeNode,
    high: LatticeNode,
    weights: Mapping[str, float] | None = None,
) -> KeySpace:
    """Build the keys and losses of a frequency set between the nodes ``low`` and ``high``."""
    relative_weights = dict(weights or {})
    fields = [
        _KeyField.of(hierarchy, (low[j], high[j])) for j, hierarchy in enumerate(frequency_set.hierarchies)
    ]
    places, words = _pack_fields([field.bits for field in fields])
    keys = np.zeros((words, frequency_set.row_types), np.uint64)
    node_masks, level_masks, losses = [], [], []
    for j, (hierarchy, field, (word, shift)) in enumerate(
        zip(frequency_set.hierarchies, fields, places, strict=True)
    ):
        keys[word] |= (field.codes << np.uint64(shift))[frequency_set.codes[:, j]]
        masks = [(((1 << field.bits) - 1) >> at << at) << shift for at in (*field.starts, field.bits)]
        wide = np.zeros((len(masks), words), np.uint64)
        wide[:, word] = np.array(masks, np.uint64)
        node_masks.append(wide)
        level_masks.append(tuple(masks[:-1]))
        shares = level_shares(hierarchy)[list(field.levels)] * relative_weights.get(hierarchy.attribute, 1.0)
        losses.append(_limit_losses(shares, field.levels, low[j], high[j]))
    return KeySpace(
        frequency_set=frequency_set,
        keys=keys,
        levels=tuple(field.levels for field in fields),
        allowed=tuple(
            tuple(level for level in field.levels if low[j] <= level <= high[j])
            for j, field in enumerate(fields)
        ),
        node_masks=tuple(node_masks),
        level_masks=tuple(level_masks),
        word=tuple(word for word, _ in places),
        losses=tuple(losses),
        weights=tuple(relative_weights.get(name, 1.0) for name in frequency_set.attributes),
    )


@dataclass(frozen=True, eq=False)
class _KeyField:
    """Bit field of one attribute: distinguished levels, first bit of each level, and bits of each leaf."""

    levels: tuple[int, ...]
    starts: tuple[int, ...]
    bits: int
    codes: NDArray[np.uint64]

    @classmethod
    def of(cls, hierarchy: GeneralizationHierarchy, limits: tuple[int, int]) -> _KeyField:
        """Build the field with all levels if they fit in one word; else halve the levels until they do."""
        levels = list(range(hierarchy.height + 1))
        needed = {0, hierarchy.height, *limits}
        while True:
            digits = _sibling_positions(hierarchy, levels)
            widths = [int(column.max(initial=0)).bit_length() for column in digits]
            droppable = [level for level in levels if level not in needed]
            if sum(widths) <= _WORD_BITS or not droppable:
                break
            gone = set(droppable[::2])
            levels = [level for level in levels if level not in gone]
        starts = np.cumsum([0, *widths]).tolist()
        codes = np.zeros(hierarchy.null_code + 1, np.uint64)
        for column, start in zip(digits, starts, strict=False):
            codes |= column.astype(np.uint64) << np.uint64(start)
        return cls(tuple(levels), tuple(starts[:-1]), starts[-1], codes)


def _sibling_positions(hierarchy: GeneralizationHierarchy, levels: Sequence[int]) -> list[NDArray[np.int64]]:
    """Return, for each level below the top, the index of each leaf (and NULL) among its siblings there."""
    result = []
    for level, above in pairwise(levels):
        child, parent = hierarchy.level_map(level), hierarchy.level_map(above)
        first = np.full(int(parent.max()) + 1, len(child), np.int64)
        np.minimum.at(first, parent, child)
        result.append(child - first[parent])
    return result


def _pack_fields(bits: Sequence[int]) -> tuple[list[tuple[int, int]], int]:
    """Assign a word and a shift to each field, none across two words; return them and the number of words."""
    places, word, used = [], 0, 0
    for width in bits:
        if used + width > _WORD_BITS:
            word, used = word + 1, 0
        places.append((word, used))
        used += width
    return places, word + 1


def _limit_losses(
    shares: NDArray[np.float64], levels: Sequence[int], least: int, greatest: int
) -> NDArray[np.float64]:
    table: NDArray[np.float64] = shares.copy()
    for index, level in enumerate(levels):
        if level < least:
            table[index] = shares[levels.index(least)]
        elif level > greatest:
            table[index] = np.inf
    return table


MOST_LISTED_NODES = 1 << 18
"""Size up to which a lattice is listed completely."""

WALKED_NODES = 1 << 13
"""Number of nodes of a larger lattice that are walked in order of cost."""

SAMPLED_NODES = 1 << 14
"""Number of nodes of a larger lattice that are sampled after the walked ones."""

_NODES_PER_BATCH = 4096
_COST_DIGITS = 12
"""Decimal digits to which costs are compared, so that rounding does not change the order of equal nodes."""


def level_costs(space: KeySpace) -> list[NDArray[np.float64]]:
    """Return the cost of each allowed level by attribute: the mean loss of the occurring leaves."""
    costs = []
    for j, table in enumerate(space.losses):
        occurs = np.bincount(space.frequency_set.codes[:, j], minlength=table.shape[1]) > 0
        if not occurs.any():  # an empty table: any order of the nodes will do
            occurs[:] = True
        places = [space.levels[j].index(level) for level in space.allowed[j]]
        costs.append(table[places][:, occurs].mean(axis=1))
    return costs


def iterate_node_masks(space: KeySpace, seed: int) -> Iterator[NDArray[np.uint64]]:
    """Yield the masks of the nodes to visit, in batches of shape ``(nodes, words)``."""
    costs = level_costs(space)
    tables = _level_masks(space)
    if prod(len(levels) for levels in costs) <= MOST_LISTED_NODES:
        yield _list_masks(costs, tables)
        return
    last_cost = 0.0
    nodes = iterate_cheapest_nodes(costs)
    for start in range(0, WALKED_NODES, _NODES_PER_BATCH):
        found = list(islice(nodes, min(_NODES_PER_BATCH, WALKED_NODES - start)))
        last_cost = found[-1][0]
        yield _masks_of(np.array([node for _, node in found], np.int64), tables)
    for chunk in np.array_split(sample_nodes(costs, last_cost, seed), SAMPLED_NODES // _NODES_PER_BATCH):
        yield _masks_of(chunk, tables)
    yield _masks_of(np.array([[len(levels) - 1 for levels in costs]], np.int64), tables)


def iterate_cheapest_nodes(costs: list[NDArray[np.float64]]) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Yield every node with its cost, cheapest first, lazily; nodes of equal cost in the order of the levels.

    Nodes contain indices in ``costs[j]``, which must not decrease. Cost: a heap of at most (attributes)
    entries per node yielded.
    """
    steps = [table.tolist() for table in costs]
    bottom = (0,) * len(steps)
    heap: list[tuple[float, tuple[int, ...], int]] = [(_node_cost(steps, bottom), bottom, 0)]
    while heap:
        cost, node, last = heappop(heap)
        yield cost, node
        for j in range(last, len(steps)):
            if node[j] + 1 < len(steps[j]):
                raised = (*node[:j], node[j] + 1, *node[j + 1 :])
                heappush(heap, (_node_cost(steps, raised), raised, j))


def _node_cost(steps: list[list[float]], node: tuple[int, ...]) -> float:
    return float(round(sum(levels[level] for levels, level in zip(steps, node, strict=True)), _COST_DIGITS))


def sample_nodes(costs: list[NDArray[np.float64]], above: float, seed: int) -> NDArray[np.int64]:
    """Return nodes on random paths from bottom to top that cost more than ``above``, in order of cost."""
    random = np.random.default_rng([seed, len(costs)])
    steps = np.repeat(np.arange(len(costs)), [len(levels) - 1 for levels in costs])
    ways = []
    for _ in range(max(SAMPLED_NODES // max(len(steps), 1), 1)):
        raised = random.permutation(steps)
        node = np.zeros((len(raised), len(costs)), np.int64)
        node[np.arange(len(raised)), raised] = 1
        ways.append(np.cumsum(node, axis=0))
    nodes = np.unique(np.concatenate(ways), axis=0)
    cost = sum((table[nodes[:, j]] for j, table in enumerate(costs)), start=np.zeros(len(nodes)))
    cost = np.round(cost, _COST_DIGITS)
    order = np.argsort(cost, kind="stable")
    result: NDArray[np.int64] = nodes[order[cost[order] > above]]
    return result


def _level_masks(space: KeySpace) -> list[NDArray[np.uint64]]:
    return [
        masks[[space.levels[j].index(level) for level in space.allowed[j]]]
        for j, masks in enumerate(space.node_masks)
    ]


def _list_masks(costs: list[NDArray[np.float64]], tables: list[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """Return the masks of all nodes in order of cost, nodes of equal cost in mixed-radix order."""
    cost = np.zeros(1)
    masks = np.zeros((1, tables[0].shape[1]), np.uint64)
    for levels, table in zip(costs, tables, strict=True):
        cost = np.add.outer(cost, levels).ravel()
        masks = (masks[:, np.newaxis] | table).reshape(-1, masks.shape[1])
    return masks[np.argsort(np.round(cost, _COST_DIGITS), kind="stable")]


def _masks_of(nodes: NDArray[np.int64], tables: list[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    masks = np.zeros((len(nodes), tables[0].shape[1]), np.uint64)
    for j, table in enumerate(tables):
        masks |= table[nodes[:, j]]
    return masks
