"""Test processes that are killed at a chosen step, forked from one that has imported the code under test."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from pathlib import Path
from typing import Any

from tests.waiting import PATIENCE

# Importing takes half a second per new process; the process that is forked has no threads.
_FORKED = multiprocessing.get_context("forkserver")
_FORKED.set_forkserver_preload(
    [
        "discreet.engines.duckdb.engine",
        "discreet.release.permuted_output",
        "discreet.release.publication",
        "discreet.spec.spec_reader",
        "discreet.verbs.release_publication",
    ]
)


def run_until_killed(code: str, *arguments: str, output: Path) -> None:
    """Run code with arguments in ``sys.argv``; a process that is not killed fails the test.

    ``output`` is a file for its output.
    """
    process = _FORKED.Process(target=_run, args=(code, arguments, output))
    process.start()
    process.join(PATIENCE)
    process.kill()
    assert process.exitcode == -signal.SIGKILL, output.read_text(encoding="utf-8")


def _run(code: str, arguments: tuple[str, ...], output: Path) -> None:
    with output.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    sys.argv = ["-c", *arguments]
    exec(code, {"__name__": "__main__"})


def dies(owner: Any, name: str, *, at: int = 1, after: bool = False) -> None:
    """Make a function of a module or class kill this process before, or after, its ``at``-th call."""
    original, calls = getattr(owner, name), 0

    def replacement(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == at and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = original(*arguments, **options)
        if calls == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, replacement)
