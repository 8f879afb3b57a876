"""Processes of tests that die at a chosen step."""

from __future__ import annotations

import os
import signal
from typing import Any


def dies(owner: Any, name: str, *, at: int = 1, after: bool = False) -> None:
    """Let a function of a module or class kill this process: before its ``at``-th call, or after it."""
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
