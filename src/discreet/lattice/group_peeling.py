"""Which classes stay for a criterion of groups: by the compiled kernel where there is one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiler import has_compiler
from discreet.model.class_facts import ClassValues
from discreet.model.criteria.of_cells import Groups, Rule, Whole, peeled
from discreet.settings import compile_policy

_MOST_CELLS = 2**24


def peeling() -> Rule:
    """The rule as the machine has it: compiled, but for groups of too many values to be a table."""
    if compile_policy() == "never" or not has_compiler():
        return peeled
    return _compiled


def _compiled(groups: Groups, standing: NDArray[np.bool_], most: int) -> Whole:
    widths = [_width(values) for values in groups.values]
    if groups.number * sum(widths) > _MOST_CELLS:
        return peeled(groups, standing, most)
    from discreet.kernels.group_peel import peel

    blocks = np.cumsum([0, *widths])
    begins, codes, counts = _by_class(groups.values, blocks, len(standing))
    scores = np.where(standing, 0, -1)
    peel(
        groups.of,
        groups.number,
        groups.sizes,
        standing,
        begins,
        codes,
        counts,
        blocks,
        groups.billionths,
        most,
        scores,
    )
    return scores


def _width(values: ClassValues) -> int:
    return 0 if values.codes is None else int(values.codes.max(initial=-1)) + 1


def _by_class(values: Sequence[ClassValues], blocks: Whole, classes: int) -> tuple[Whole, Whole, Whole]:
    """Where the entries of each class begin, their values by attribute, and their rows."""
    owners = np.concatenate([np.zeros(0, np.int64), *(v.owners for v in values if v.owners is not None)])
    codes = [v.codes + block for v, block in zip(values, blocks, strict=False) if v.codes is not None]
    counts = [v.counts for v in values if v.counts is not None]
    order = np.argsort(owners, kind="stable")
    return (
        np.searchsorted(owners[order], np.arange(classes + 1)),
        np.concatenate([np.zeros(0, np.int64), *codes])[order],
        np.concatenate([np.zeros(0, np.int64), *counts])[order],
    )
