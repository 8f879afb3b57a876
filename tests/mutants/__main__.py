"""``python -m tests.mutants``: plant each bug in a copy of the program and print the attempt that finds it.

The exit status is 1 if fewer than ``--least`` are found.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.planted import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
_SEED = re.compile(r"SEED='([^']+)'")


@dataclass(frozen=True)
class Hunt:
    """The result for a mutant: the attempt that found it and its signature, empty if it was missed."""

    mutant: Mutant
    attempt: str
    signature: str
    seconds: float

    @property
    def found(self) -> bool:
        """Whether an attempt failed."""
        return bool(self.attempt)


def planted(mutant: Mutant, text: str) -> str:
    """Return a file's text with the bug; ``ValueError`` unless the right text occurs once."""
    number = text.count(mutant.right)
    if number != 1:
        raise ValueError(f"{mutant.name}: its text occurs {number} times in {mutant.file}")
    return text.replace(mutant.right, mutant.wrong)


def copied(folder: Path) -> Path:
    """Copy the program, including its compiled code."""
    target = folder / "src"
    shutil.copytree(SOURCE, target)
    return target


def hunt(mutant: Mutant, source: Path, seconds: float, base: int) -> Hunt:
    """Plant one bug in the copy, run the fuzz on it, and mend the copy again."""
    path = source / "discreet" / mutant.file
    right = path.read_text(encoding="utf-8")
    path.write_text(planted(mutant, right), encoding="utf-8")
    began = time.monotonic()
    try:
        broken, printed = fuzzed(source, seconds, base)
    finally:
        path.write_text(right, encoding="utf-8")
    seed = _SEED.search(printed)
    attempt = seed.group(1) if seed and broken else "start" if broken else ""
    lines = printed.splitlines()
    return Hunt(mutant, attempt, lines[0][:90] if broken and lines else "", time.monotonic() - began)


def fuzzed(source: Path, seconds: float, base: int) -> tuple[bool, str]:
    """Run the fuzz on a copy for some seconds of processor time; return whether it failed, and its output."""
    command = [
        "-m",
        "tests.fuzz",
        "--minutes",
        str(seconds / 60),
        "--processor",
        "--first",
        "--base",
        str(base),
    ]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    try:
        ended = subprocess.run(
            [sys.executable, *command],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=20 * seconds + 120,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return True, "the fuzz does not end"
    return ended.returncode != 0, ended.stdout + ended.stderr


def main(arguments: Sequence[str] | None = None) -> int:
    """Hunt the mutants; 1 where too few are found, or where the fuzz fails on the program itself."""
    options = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    options.add_argument(
        "--seconds", type=float, default=40.0, help="of a processor, for each mutant (default 40)"
    )
    options.add_argument("--least", type=int, default=len(MUTANTS) - 2, help="how many must be found")
    options.add_argument("--base", type=int, default=1, help="the seeds to begin with")
    options.add_argument("--only", nargs="*", help="mutants whose name holds one of these texts")
    chosen = options.parse_args(arguments)
    mutants = [m for m in MUTANTS if not chosen.only or any(text in m.name for text in chosen.only)]
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="discreet-mutants-") as folder:
        source = copied(Path(folder))
        broken, printed = fuzzed(source, chosen.seconds, chosen.base)
        if broken:
            print(f"The fuzz fails on the program as it is, so that nothing tells a planted bug:\n{printed}")
            return 1
        hunts = []
        for mutant in mutants:
            found = hunt(mutant, source, chosen.seconds, chosen.base)
            hunts.append(found)
            print(line_of(found), flush=True)
    number = sum(found.found for found in hunts)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"{number} of {len(hunts)} planted bugs found, in {used.ru_utime + used.ru_stime:.0f} seconds of a "
        f"processor and {time.monotonic() - began:.0f} of the clock"
    )
    return int(number < min(chosen.least, len(hunts)))


def line_of(found: Hunt) -> str:
    """Return the line of the table."""
    result = f"found by {found.attempt}: {found.signature}" if found.found else "MISSED"
    return f"{found.seconds:6.1f} s  {found.mutant.name:<48} {result}"


if __name__ == "__main__":
    sys.exit(main())
