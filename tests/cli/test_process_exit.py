"""Processes that run one command: skipped work, and complete output at their end."""

from __future__ import annotations

import subprocess
import sys

RUN = "from discreet.cli.main import run"


def ran(code: str, *arguments: str) -> tuple[int, list[str]]:
    """Return the status of a fresh process and its printed lines."""
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def test_exit_functions_run_and_print() -> None:
    code = f"import atexit; {RUN}; atexit.register(print, 'at the end', end=''); run(); print('after it')"
    status, (version, last) = ran(code, "--version")
    assert (status, version.split()[0], last) == (0, "discreet", "at the end")


def test_traced_process_ends_normally() -> None:
    look = "sys.setprofile(lambda *_: None)"
    code = f"import sys; {RUN}\n{look}\ntry: run()\nexcept SystemExit as end: print('exit', end.code)"
    status, printed = ran(code, "--version")
    assert (status, printed[1:]) == (0, ["exit 0"])
