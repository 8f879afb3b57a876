"""The application loads only the verb of the command line."""

from __future__ import annotations

import subprocess
import sys

import pytest

from discreet.cli.typer_application import (
    RENAMED_OPTIONS,
    RENAMED_VERBS,
    VERBS,
    list_needed_verbs,
    move_verb_first,
)
from tests.cli.conftest import Run


def test_version_loads_no_verb_and_no_numpy() -> None:
    code = "import sys; from discreet.cli.main import main; main(); print(*sys.modules, sep='\\n')"
    command = [sys.executable, "-c", code, "--version"]
    loaded = set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    assert "discreet.cli.main" in loaded
    assert not loaded & {"numpy", "duckdb", *(f"discreet.cli.{verb.split()[0]}" for verb in VERBS)}


def test_command_line_needs_only_its_own_verb() -> None:
    assert list_needed_verbs(["publish", "--help"]) == ("publish",)
    assert list_needed_verbs(["-V"]) == ()
    assert list_needed_verbs(["dp", "sample", "s.toml"]) == ("dp sample",)
    assert list_needed_verbs(["dp", "--help"]) == ("dp histogram", "dp sample", "dp budget")
    assert list_needed_verbs([]) == list_needed_verbs(["--help"]) == list_needed_verbs(["pubish"]) == VERBS


@pytest.mark.parametrize("old", RENAMED_VERBS)
def test_old_verb_names_its_new_name_in_one_line(run: Run, old: str) -> None:
    done = run(old, "release.csv", "--k", "2")
    assert (done.status, done.out) == (2, "")
    assert done.err == f"Error: discreet {old} is now discreet {RENAMED_VERBS[old]}\n"
    assert RENAMED_VERBS[old] in VERBS


@pytest.mark.parametrize("old", RENAMED_OPTIONS)
def test_old_option_names_its_new_name_in_one_line(run: Run, old: str) -> None:
    verb = "init" if old == "--nulls" else "publish"
    done = run(verb, "people.csv", old, "drop")
    assert (done.status, done.out) == (2, "")
    assert done.err == f"Error: {old} is now {RENAMED_OPTIONS[old]}\n"
    assert f"{RENAMED_OPTIONS[old]} " in run(verb, "--help").out


def test_common_options_move_behind_the_verb_of_a_group() -> None:
    moved = ["dp", "budget", "--quiet", "--json", "s.toml"]
    assert move_verb_first(["--quiet", "dp", "--json", "budget", "s.toml"]) == moved
    assert move_verb_first(["--quiet", "dp", "nothing"]) == ["--quiet", "dp", "nothing"]


def test_group_without_a_verb_prints_its_help(run: Run) -> None:
    for group in ("dp", "list"):
        found = run(group)
        assert (found.status, found.err) == (0, "")
        assert found.out == run(group, "--help").out
