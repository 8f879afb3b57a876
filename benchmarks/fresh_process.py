"""A command in a separate process, with its processor time and largest memory.

A child is a copy of the process that forks it, and its peak is at least that process's (``ru_maxrss``), which
may have read a large table. Therefore a small interpreter runs in between, and measures its only child.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_BETWEEN = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([done.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss]))
"""


@dataclass(frozen=True)
class Finished:
    """A command that has ended: processor time in seconds, largest resident memory in bytes."""

    status: int
    printed: str
    processor: float
    memory: int


def run_fresh(command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> Finished:
    """Run a command in a folder until it ends; its stderr is that of this process."""
    process = subprocess.run(
        [sys.executable, "-S", "-c", _BETWEEN, *command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    )
    printed, _, used = process.stdout.rstrip("\n").rpartition("\n")
    status, processor, memory = json.loads(used)
    return Finished(status, printed, processor, memory * (1 if sys.platform == "darwin" else 1024))
