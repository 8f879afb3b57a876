"""Walking patterns over the row types that remain, by the compiled kernels or by their twins in numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.class_demand import Demand
from discreet.frequency.kernel_choice import choose_kernels
from discreet.kernels.local_greedy_twin import take_classes_twin
from discreet.kernels.pattern_cover_twin import first_holding_twin, placed_rows_twin
from discreet.model.class_recoding import SUPPRESSED
from discreet.model.evaluator import Evaluator
from discreet.patterns.keys import PatternKeys

if TYPE_CHECKING:
    from discreet.kernels.local_greedy import Rest

Notice = Callable[[str], None]
_WORTH_COMPILING = 1 << 25


class Walk(Protocol):
    """Row types that no class has yet; ``class_of`` holds the class of each, ``classes`` counts them."""

    class_of: NDArray[np.int64]
    classes: int

    @property
    def remaining(self) -> int:
        """Row types that no class has."""

    def take(self, masks: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Take every class of each pattern in turn that may be published; each one's number of classes."""

    def placed_rows(self, mask: NDArray[np.uint64]) -> int:
        """The rows that one pattern would place."""

    def first_holding(self, masks: NDArray[np.uint64], first: NDArray[np.int64]) -> None:
        """Where ``first`` is negative, write the first pattern whose class of all may be published."""

    def finish(self) -> None:
        """Say that the walk is over: what was compiled for it is there for the next."""


def walk_of(
    keys: PatternKeys, demand: Demand, evaluator: Evaluator | str, notice: Notice | None = None
) -> Walk:
    """A walk over all row types; criteria beside k and l, or a class test, need the twins."""
    work = keys.masks.shape[0] * keys.keys.shape[1]
    worth, chosen = work >= _WORTH_COMPILING, Evaluator(evaluator)
    if demand.plain and choose_kernels(
        ("patterns",), "walk over patterns", worth=worth, evaluator=chosen, notice=notice
    ):
        return _CompiledWalk(keys, demand)
    return _PlainWalk(keys, demand)


class _CompiledWalk:
    """By ``kernels.local_greedy`` and ``kernels.pattern_cover``."""

    def __init__(self, keys: PatternKeys, demand: Demand) -> None:
        from discreet.kernels.local_greedy import slots_for

        self._counts = demand.frequency_set.counts
        self._keys, self._need = keys.keys, np.int32(demand.need)
        self._values = demand.values()
        self._rest = self._whole()
        self._slots = slots_for(len(self._counts))
        self.remaining = len(self._counts)
        self.class_of = np.full(len(self._counts), SUPPRESSED, np.int64)
        self.classes = 0

    def _whole(self) -> Rest:
        from discreet.kernels.local_greedy import Rest

        return Rest(
            keys=self._keys.copy(),
            rows=np.minimum(self._counts, self._need).astype(np.int32),
            types=np.arange(len(self._counts)),
        )

    def take(self, masks: NDArray[np.uint64]) -> NDArray[np.int64]:
        from discreet.kernels.local_greedy import take_classes

        made = np.zeros(len(masks), np.int64)
        self.remaining, self.classes = take_classes(
            masks,
            self._need,
            self._rest,
            self.remaining,
            self.classes,
            self.class_of,
            made,
            self._values,
            self._slots,
        )
        return made

    def placed_rows(self, mask: NDArray[np.uint64]) -> int:
        from discreet.kernels.pattern_cover import placed_rows

        rest, remaining = self._rest, self.remaining
        return int(
            placed_rows(mask[None], 0, self._need, rest, remaining, self._counts, self._values, self._slots)
        )

    def first_holding(self, masks: NDArray[np.uint64], first: NDArray[np.int64]) -> None:
        from discreet.kernels.pattern_cover import first_holding

        first_holding(masks, self._need, self._whole(), self._values, first, self._slots)

    def finish(self) -> None:
        from discreet.kernels.readiness import mark_compiled

        mark_compiled("patterns")


class _PlainWalk:
    """By ``kernels.local_greedy_twin`` and ``kernels.pattern_cover_twin``."""

    def __init__(self, keys: PatternKeys, demand: Demand) -> None:
        self._counts = demand.frequency_set.counts
        self._keys, self._need = keys.keys, demand.need
        self._holds = None if demand.counts_only else demand.holds
        self._types = np.arange(len(self._counts))
        self.class_of = np.full(len(self._counts), SUPPRESSED, np.int64)
        self.classes = 0

    @property
    def remaining(self) -> int:
        return len(self._types)

    def take(self, masks: NDArray[np.uint64]) -> NDArray[np.int64]:
        made = np.zeros(len(masks), np.int64)
        self._types, self.classes = take_classes_twin(
            masks,
            self._need,
            self._keys,
            self._counts,
            self._types,
            self.classes,
            self.class_of,
            made,
            self._holds,
        )
        return made

    def placed_rows(self, mask: NDArray[np.uint64]) -> int:
        return placed_rows_twin(mask, self._need, self._keys, self._counts, self._types, self._holds)

    def first_holding(self, masks: NDArray[np.uint64], first: NDArray[np.int64]) -> None:
        first_holding_twin(masks, self._need, self._keys, self._counts, first, self._holds)

    def finish(self) -> None:
        """Nothing was compiled."""
