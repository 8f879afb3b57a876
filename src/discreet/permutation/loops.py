"""The loops that cut a column into groups: compiled on arrays, or the same ones in Python on lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.kernel_choice import choose_kernels
from discreet.kernels.group_cuts import cut_least_sum, walk_cuts
from discreet.kernels.group_overlaps import chain_groups
from discreet.kernels.group_scan import close_groups
from discreet.kernels.group_weights import cut_least_weight
from discreet.kernels.group_windows import can_cut, cut_bounded
from discreet.model.evaluator import Evaluator
from discreet.permutation.value_runs import ValueRuns

_PLAIN: dict[str, Callable[..., Any]] = {
    "cut-least-sum": cut_least_sum,
    "cut-least-weight": cut_least_weight,
    "walk-cuts": walk_cuts,
    "can-cut": can_cut,
    "cut-bounded": cut_bounded,
    "chain-groups": chain_groups,
    "close-groups": close_groups,
}
_WORTH = 500_000
"""Steps that plain Python takes in the time of compiling a loop, roughly."""
_SMALL = 50_000
"""Steps that plain Python takes in less time than numba takes to be imported."""

Notice = Callable[[str], None]


@dataclass(frozen=True)
class Loops:
    """Either kind of loops, and the arrays that they take."""

    compiled: bool

    @classmethod
    def choose(
        cls,
        runs: ValueRuns,
        names: Sequence[str],
        steps: int,
        evaluator: Evaluator = Evaluator.AUTO,
        notice: Notice | None = None,
    ) -> Loops:
        """Compiled ones where numbers fit 64 bits, and ``steps`` are many and worth it or they are there."""
        if runs.units is not None and runs.array is None:
            if notice is not None and steps > _WORTH:
                notice("numbers do not fit 64 bits of one unit; plain Python makes the partition, slowly")
            return cls(False)
        if evaluator is Evaluator.AUTO and steps < _SMALL:
            return cls(False)
        parts = [_part(name) for name in names]
        return cls(
            choose_kernels(parts, "partition", worth=steps > _WORTH, evaluator=evaluator, notice=notice)
        )

    def run(self, name: str, *arguments: Any) -> Any:
        """Run a loop by its name."""
        if not self.compiled:
            return _PLAIN[name](*arguments)
        from discreet.kernels.group_kernels import COMPILED
        from discreet.kernels.readiness import mark_compiled

        result = COMPILED[name](*arguments)
        mark_compiled(_part(name))
        return result

    def numbers(self, values: Sequence[int] | NDArray[Any]) -> Any:
        """Whole numbers or truth values as the loops take them."""
        if self.compiled:
            found = np.asarray(values)
            return found if found.dtype == np.bool_ else found.astype(np.int64, copy=False)
        return values.tolist() if isinstance(values, np.ndarray) else list(values)

    def filled(self, size: int, value: int = 0) -> Any:
        """Work of a size."""
        return np.full(size, value, dtype=np.int64) if self.compiled else [value] * size

    def work(self, size: int, *, narrow: bool = False) -> Any:
        """Work that is written before it is read; ``narrow``: of 32 bits. Memory not touched is not taken."""
        return np.empty(size, dtype=np.int32 if narrow else np.int64) if self.compiled else [0] * size


def _part(name: str) -> str:
    return f"permutation-{name}"
