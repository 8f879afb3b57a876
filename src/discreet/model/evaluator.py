"""Which code computes what a kernel and its numpy twin can both compute."""

from __future__ import annotations

from enum import StrEnum


class Evaluator(StrEnum):
    """The compiled kernels, their numpy twin, or whichever answers first."""

    AUTO = "auto"
    KERNELS = "kernels"
    TWIN = "twin"
