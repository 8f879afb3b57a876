"""Kernel variants: check whether one is compiled, compile it now or in a background process.

A variant is one set of array types: kind of tally, bits of a key and bits of a count. The first evaluation of
a variant compiles for some seconds; a marker in the cache folder records that it is compiled. Runs as
``python -m`` in the background process.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.lattice_rotation_plan import RotationPlan, plan_rotation
from discreet.kernels.numba_jit import cache_folder

_LOCK_SECONDS = 600
_COMPILERS: list[subprocess.Popen[bytes]] = []
_WORDS_OF_TALLY: dict[str, tuple[int, ...]] = {"sizes": (), "set": (1,), "pair": (2,)}


@dataclass(frozen=True)
class KernelVariant:
    """Set of array types: kind of tally, bits of a key, bits of a count."""

    tally: str
    key_bits: int
    count_bits: int

    @property
    def name(self) -> str:
        """Name of the variant, a single word."""
        return f"{self.tally}-{self.key_bits}-{self.count_bits}"

    @classmethod
    def of(
        cls, plan: RotationPlan, words: tuple[int, ...], *, scores: bool = False, sums: bool = False
    ) -> KernelVariant:
        """Return the variant for a plan whose sensitive attributes take ``words`` words."""
        tally = next((name for name, single in _WORDS_OF_TALLY.items() if single == words), "sets")
        tally = "sums" if sums else "scores" if scores else tally
        wide = int(plan.counts.sum()) >= 2**32
        return cls(tally, plan.key_bits, 64 if wide else 32)

    @classmethod
    def of_subjects(cls) -> KernelVariant:
        """Return the only variant of the kernels that count subjects."""
        return cls("subjects", 64, 64)

    @classmethod
    def parse(cls, name: str) -> KernelVariant:
        """Return the variant with a name (inverse of ``name``)."""
        tally, key_bits, count_bits = name.split("-")
        return cls(tally, int(key_bits), int(count_bits))


def is_compiled(part: str) -> bool:
    """Return whether an earlier run compiled a part of the kernels: a variant's name, ``local-greedy``, …"""
    folder = cache_folder()
    return folder is not None and (folder / f"{part}.ready").exists()


def mark_compiled(part: str) -> None:
    """Record that a part of the kernels is compiled."""
    folder = cache_folder()
    if folder is not None:
        with contextlib.suppress(OSError):
            (folder / f"{part}.ready").touch()


def compile_variant(variant: KernelVariant) -> None:
    """Compile the variant by evaluating a table of two rows, in parts as for large tables."""
    from discreet.kernels.class_scores import minimal_score_inputs
    from discreet.kernels.packed_values import WORDS_PER_BLOCK
    from discreet.kernels.plan_evaluation import evaluate_plan

    codes = np.array([[0, 0, 0, 0], [1, 1, 1, 1]])
    # Four binary attributes use head, cells and outer attribute; 2**32 rows force counts of 64 bits.
    counts = np.array([1, 2**32 if variant.count_bits == 64 else 1])
    top = np.array([0, 0])
    maps = [[np.array([0, 1]), top]] * 4
    plan = plan_rotation(codes, counts, maps, least_key_bits=variant.key_bits)
    if variant.tally == "sums":
        from discreet.kernels.node_sizes import count_small_classes, make_subplan

        subplan = make_subplan(plan, range(len(plan.order)), [0] * 4)
        count_small_classes(subplan, np.array([[0, 0, 0, 0], [0, 0, 1, 1]]), 2)
    elif variant.tally == "subjects":
        _compile_subjects(plan)
    elif variant.tally == "scores":
        evaluate_plan(plan, np.ones((2, WORDS_PER_BLOCK), np.uint64), (2,), minimal_score_inputs(), threads=2)
    else:
        words = _WORDS_OF_TALLY.get(variant.tally, (1, 1))
        bits = np.ones((2, sum(words)), np.uint64) if words else None
        evaluate_plan(plan, bits, tuple(64 * number for number in words), threads=2)
    mark_compiled(variant.name)


def _compile_subjects(plan: RotationPlan) -> None:
    from discreet.kernels.histograms import PairSet
    from discreet.kernels.subject_histograms import evaluate_by_subject

    one_each: NDArray[np.int64] = np.arange(2)
    evaluate_by_subject(plan, (PairSet(one_each, one_each, 2, one_each),), PairSet(one_each, one_each, 2))


def compile_in_background(variant: KernelVariant) -> bool:
    """Start a process that compiles the variant and exits; False if another one is compiling it."""
    folder = cache_folder()
    if folder is None or not _take_lock(folder / f"{variant.name}.lock"):
        return False
    command = [sys.executable, "-m", "discreet.kernels.precompilation", variant.name]
    try:
        _COMPILERS.append(
            subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
            )
        )
    except OSError:
        return False
    return True


def _take_lock(path: Path) -> bool:
    with contextlib.suppress(OSError):
        if time.time() - path.stat().st_mtime > _LOCK_SECONDS:
            # Left by a killed process: no compilation takes that long.
            path.unlink()
    try:
        # Exclusive creation is atomic: only one of two processes creates the file, and so holds the lock.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError:
        return False
    return True


def _main(name: str) -> None:
    with contextlib.suppress(AttributeError, OSError):
        os.nice(10)
    variant = KernelVariant.parse(name)
    folder = cache_folder()
    try:
        compile_variant(variant)
    finally:
        if folder is not None:
            (folder / f"{name}.lock").unlink(missing_ok=True)


if __name__ == "__main__":
    _main(sys.argv[1])
