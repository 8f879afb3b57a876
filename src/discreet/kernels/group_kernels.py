"""The compiled kernels of partitions into groups; their twins are the same functions on lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from discreet.kernels.group_cuts import cut_least_sum, walk_cuts
from discreet.kernels.group_overlaps import chain_groups
from discreet.kernels.group_scan import close_groups
from discreet.kernels.group_weights import cut_least_weight
from discreet.kernels.group_windows import can_cut, cut_bounded
from discreet.kernels.jit import compiled

COMPILED: dict[str, Callable[..., Any]] = {
    "cut-least-sum": compiled(cut_least_sum),
    "cut-least-weight": compiled(cut_least_weight),
    "walk-cuts": compiled(walk_cuts),
    "can-cut": compiled(can_cut),
    "cut-bounded": compiled(cut_bounded),
    "chain-groups": compiled(chain_groups),
    "close-groups": compiled(close_groups),
}
