"""The application loads only the verb of the command line."""

from __future__ import annotations

import subprocess
import sys

from discreet.cli.typer_application import VERBS, list_needed_verbs


def test_the_version_loads_no_verb_and_no_numpy() -> None:
    code = "import sys; from discreet.cli.main import main; main(); print(*sys.modules, sep='\\n')"
    command = [sys.executable, "-c", code, "--version"]
    loaded = set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    assert "discreet.cli.main" in loaded
    assert not loaded & {"numpy", "duckdb", *(f"discreet.cli.{verb}" for verb in VERBS)}


def test_a_command_line_needs_its_own_verb_alone() -> None:
    assert list_needed_verbs(["publish", "--help"]) == ("publish",)
    assert list_needed_verbs(["-V"]) == ()
    assert list_needed_verbs([]) == list_needed_verbs(["--help"]) == list_needed_verbs(["pubish"]) == VERBS
