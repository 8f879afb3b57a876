"""A certificate: no recoding of these rows into classes of k rows can lose less than this.

The least loss is bounded from below by any values α of the rows such that, for every class C of every node
with at least k rows, each of which would lose L(C) there, the k largest α in C add up to at most k · L(C).
For a recoding's class S lies in the class C of the node it shows; the mean α of its |S| ≥ k rows is at most
the mean of the k largest in C, which is at most L(C): the α of S add up to at most what S loses, and those of
all rows to at most what any recoding loses. This is a feasible point of the dual of the linear program that
picks classes to cover all rows. Further demands (diversity, a class test) only shrink the choice of classes,
so the bound holds for them too. Lowest common ancestors are what is bounded, by the weights that were asked;
ranges and sets may show more.

Values are found by a heuristic, and hold whatever it does: values of 0 are feasible; raising every row by a
k-th of the least slack of its classes keeps them so; and then, over and over, some rows are raised by more
than is safe and all rows lowered by a k-th of the worst overdraft of their classes, which is kept where the
sum rose. No value may exceed a cap, up to which all nodes are looked at: a class that loses the cap or more
cannot be overdrawn. At the end the slacks are counted once more over all of these nodes, and whatever
rounding overdrew is taken off.

Cost: three passes over the nodes below the cap per iteration, some ten nanoseconds per node and row type.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.class_demand import Demand
from discreet.kernels.local_bound_twin import find_slacks_twin
from discreet.local.keys import KeySpace
from discreet.local.nodes import cheapest_nodes

MOST_NODES = 3000
"""The cheapest nodes, which are looked at; what the next one costs at least is the cap of the values."""

ITERATIONS = 6
_RAISED, _STEP = 0.1, 0.5
_TINY = 1e-9
Slacks = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""From values to the least slack of each row type's classes."""


def granularity_bound(
    space: KeySpace,
    demand: Demand,
    placed: NDArray[np.bool_],
    *,
    kernels: bool,
    seed: int = 0,
    threads: int = 1,
    iterations: int = ITERATIONS,
    progress: Callable[[int, int], None] | None = None,
) -> float:
    """An upper bound of the granularity of recodings that suppress exactly the rows not ``placed``."""
    table = _Table.of(space, demand, placed)
    loss = table.least_loss(kernels, seed, threads, iterations, progress)
    suppressed = int(space.frequency_set.counts[~placed].sum())
    return space.granularity_of(loss + suppressed * space.worst)


@dataclass(frozen=True, eq=False)
class _Table:
    """The placed row types, and the nodes whose classes may lose less than ``cap``."""

    space: KeySpace
    need: int
    keys: NDArray[np.uint64]
    rows: NDArray[np.int64]
    codes: NDArray[np.int64]
    masks: NDArray[np.uint64]
    levels: NDArray[np.int64]
    cap: float

    @classmethod
    def of(cls, space: KeySpace, demand: Demand, placed: NDArray[np.bool_]) -> _Table:
        frequency_set = space.frequency_set
        codes = frequency_set.codes[placed]
        places, costs = [], []
        for j, table in enumerate(space.losses):
            at = [space.levels[j].index(level) for level in space.allowed[j]]
            occurs = np.unique(codes[:, j])
            places.append(np.array(at, np.int64))
            costs.append(table[at][:, occurs].min(axis=1))
        nodes = list(islice(cheapest_nodes(costs), MOST_NODES + 1))
        cap = nodes[-1][0] if len(nodes) > MOST_NODES else np.inf
        kept = np.array([node for cost, node in nodes if cost < cap], np.int64).reshape(-1, len(costs))
        levels = np.stack([places[j][kept[:, j]] for j in range(len(costs))], axis=1)
        masks = np.zeros((len(kept), space.words), np.uint64)
        for j, node_masks in enumerate(space.node_masks):
            masks |= node_masks[levels[:, j]]
        return cls(
            space=space,
            need=demand.need,
            keys=space.keys[:, placed],
            rows=frequency_set.counts[placed],
            codes=codes,
            masks=masks,
            levels=levels,
            cap=cap,
        )

    def least_loss(
        self,
        kernels: bool,
        seed: int,
        threads: int,
        iterations: int,
        progress: Callable[[int, int], None] | None,
    ) -> float:
        """The sum of feasible values over all rows."""
        random = np.random.default_rng([seed, len(self.rows)])
        slacks = self._compiled_slacks(threads) if kernels else self._plain_slacks
        values = np.minimum(slacks(np.zeros(len(self.rows))) / self.need, self.cap)
        best, slack = self._sum(values), slacks(values)
        for done in range(iterations):
            raised = random.random(len(values)) < _RAISED
            tried = np.minimum(values + np.where(raised, _STEP * slack, 0.0), self.cap)
            tried += np.minimum(slacks(tried), 0.0) / self.need
            tried += np.maximum(slacks(tried), 0.0) / self.need
            tried = np.minimum(tried, self.cap)
            if self._sum(tried) > best:
                values, best = tried, self._sum(tried)
                slack = slacks(values)
            if progress is not None:
                progress(done + 1, iterations)
        overdrawn = np.minimum(slacks(values), 0.0) / self.need
        return self._sum(values + overdrawn) * (1 - _TINY)

    def _sum(self, values: NDArray[np.float64]) -> float:
        return float((values * self.rows).sum())

    def _compiled_slacks(self, threads: int) -> Slacks:
        from discreet.kernels.local_bound import find_slacks, slack_scratch

        trees = self.space.trees()

        def part(p: int, order: NDArray[np.int64], table: Any) -> NDArray[np.float64]:
            slack = np.full(len(order), np.inf)
            keys, rows, codes, values = table
            masks, levels = self.masks[p::threads], self.levels[p::threads]
            scratch = slack_scratch(len(order))
            find_slacks(masks, levels, self.need, keys, rows, codes, values, trees, scratch, slack)
            return slack

        def slacks(values: NDArray[np.float64]) -> NDArray[np.float64]:
            order = np.argsort(-values, kind="stable")
            keys = np.ascontiguousarray(self.keys[:, order])
            table = (keys, self.rows[order], self.codes[order], values[order])
            with ThreadPoolExecutor(threads) as pool:
                found = list(pool.map(lambda p: part(p, order, table), range(threads)))
            least = np.empty(len(values))
            least[order] = np.minimum.reduce(found)
            return least

        return slacks

    def _plain_slacks(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        slack = np.full(len(values), np.inf)
        find_slacks_twin(
            self.masks,
            self.levels,
            self.need,
            self.keys,
            self.rows,
            self.codes,
            values,
            self.space.losses,
            slack,
        )
        return slack
