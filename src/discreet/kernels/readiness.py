"""Whether the kernels are compiled, and compiling them out of the user's way.

A *variant* of the kernels is one set of array types: what is tallied (``sizes``; ``sums``: sizes without
histograms; ``set`` and ``pair``: the values of one sensitive attribute in one or two words; ``sets``: any
others; ``scores``: the rows of each value; ``subjects``: who has them), and the width of keys and of counts.
The first evaluation of a
variant costs several seconds of compiling, once; a marker in the cache folder says that it is done.
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

from discreet.kernels.jit import cache_folder
from discreet.kernels.plan import RotationPlan, plan_rotation

_LOCK_SECONDS = 600
_COMPILERS: list[subprocess.Popen[bytes]] = []
_WORDS: dict[str, tuple[int, ...]] = {"sizes": (), "set": (1,), "pair": (2,)}


@dataclass(frozen=True)
class Variant:
    """One set of array types: what is tallied, the bits of a key, the bits of a count."""

    tallied: str
    key_bits: int
    count_bits: int

    @property
    def name(self) -> str:
        """The variant in one word."""
        return f"{self.tallied}-{self.key_bits}-{self.count_bits}"

    @classmethod
    def of(
        cls, plan: RotationPlan, words: tuple[int, ...], *, scores: bool = False, sums: bool = False
    ) -> Variant:
        """The variant that a plan needs whose sensitive attributes take so many words each."""
        tallied = next((name for name, single in _WORDS.items() if single == words), "sets")
        tallied = "sums" if sums else "scores" if scores else tallied
        wide = int(plan.counts.sum()) >= 2**32
        return cls(tallied, plan.key_bits, 64 if wide else 32)

    @classmethod
    def of_subjects(cls) -> Variant:
        """The one variant of the kernels that count subjects."""
        return cls("subjects", 64, 64)

    @classmethod
    def parse(cls, name: str) -> Variant:
        """The reverse of ``name``."""
        tallied, key_bits, count_bits = name.split("-")
        return cls(tallied, int(key_bits), int(count_bits))


def is_compiled(part: str) -> bool:
    """Whether a former run compiled a part of the kernels: a variant's name, ``local-greedy``, …"""
    folder = cache_folder()
    return folder is not None and (folder / f"{part}.ready").exists()


def mark_compiled(part: str) -> None:
    """Note that a part of the kernels is compiled."""
    folder = cache_folder()
    if folder is not None:
        with contextlib.suppress(OSError):
            (folder / f"{part}.ready").touch()


def compile_variant(variant: Variant) -> None:
    """Compile the variant by evaluating a table of two rows, in parts, as larger ones are."""
    from discreet.kernels.class_scores import scored_of_two
    from discreet.kernels.evaluate import evaluate
    from discreet.kernels.value_rows import BLOCK

    codes = np.array([[0, 0, 0, 0], [1, 1, 1, 1]])
    counts = np.array([1, 2**32 if variant.count_bits == 64 else 1])
    top = np.array([0, 0])
    maps = [[np.array([0, 1]), top]] * 4
    plan = plan_rotation(codes, counts, maps, least_key_bits=variant.key_bits)
    if variant.tallied == "sums":
        from discreet.kernels.part_plan import part_plan
        from discreet.kernels.small_classes import small_classes

        every = range(len(plan.order))
        small_classes(part_plan(plan, every, [0] * 4), np.array([[0, 0, 0, 0], [0, 0, 1, 1]]), 2)
        mark_compiled(variant.name)
        return
    if variant.tallied == "subjects":
        _compile_subjects(plan)
        mark_compiled(variant.name)
        return
    if variant.tallied == "scores":
        evaluate(plan, np.ones((2, BLOCK), np.uint64), (2,), scored_of_two(), threads=2)
        mark_compiled(variant.name)
        return
    words = _WORDS.get(variant.tallied, (1, 1))
    bits = np.ones((2, sum(words)), np.uint64) if words else None
    evaluate(plan, bits, tuple(64 * number for number in words), threads=2)
    mark_compiled(variant.name)


def _compile_subjects(plan: RotationPlan) -> None:
    from discreet.kernels.node_collector import PairSet
    from discreet.kernels.subject_lattice import evaluate_by_subject

    one_each: NDArray[np.int64] = np.arange(2)
    evaluate_by_subject(plan, (PairSet(one_each, one_each, 2, one_each),), PairSet(one_each, one_each, 2))


def compile_in_background(variant: Variant) -> bool:
    """Start a process that compiles the variant and ends; False where one is at it already."""
    folder = cache_folder()
    if folder is None or not _take_lock(folder / f"{variant.name}.lock"):
        return False
    command = [sys.executable, "-m", "discreet.kernels.readiness", variant.name]
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
            # Left by a process that was killed: nobody compiles for so long.
            path.unlink()
    try:
        # Of two processes only one can make the file, and that is the lock.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError:
        return False
    return True


def _main(name: str) -> None:
    with contextlib.suppress(AttributeError, OSError):
        os.nice(10)
    variant = Variant.parse(name)
    folder = cache_folder()
    try:
        compile_variant(variant)
    finally:
        if folder is not None:
            (folder / f"{name}.lock").unlink(missing_ok=True)


if __name__ == "__main__":
    _main(sys.argv[1])
