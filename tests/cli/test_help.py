"""Help names every verb and option; the command-line page names every verb and no option that it lacks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import typer.main

from discreet.cli.declared_options import ATTACK_OPTIONS, CRITERION_OPTIONS
from discreet.cli.typer_application import build_application
from docs.commands_page import verbs
from tests.cli.conftest import Run
from tests.drawing import in_turn

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
CRITERIA_PAGES = Path(__file__).resolve().parents[2] / "docs" / "criteria"
COMMANDS: dict[str, Any] = dict(verbs(typer.main.get_command(build_application())))
VERBS = [
    "init",
    "inspect",
    "lattice",
    "negotiate",
    "search",
    "publish",
    "apply",
    "audit",
    "compare",
    "query",
]
VERBS += [
    "attack",
    "report",
    "serve",
    "schema",
    "demo",
    "dp histogram",
    "dp sample",
    "dp budget",
    "list hierarchies",
    "list presets",
    "list releases",
]
OF_CRITERIA = {each.flag for each in CRITERION_OPTIONS.flags()}
OF_ATTACKS = {each.flag for each in ATTACK_OPTIONS.flags()}
SHARED = {"--json", "--quiet", "-q", "--debug", "--threads", "--memory-limit", "--help", "-h"}


def options_of(verb: str) -> set[str]:
    command = COMMANDS[verb]
    parameters = command.get_params(typer.Context(command))
    return {name for parameter in parameters for name in parameter.opts if name.startswith("-")}


def section(verb: str) -> str:
    (found,) = re.findall(rf"^## `discreet {verb}\b.*?(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    return str(found)


def test_verbs_are_exactly_the_expected_ones() -> None:
    assert list(COMMANDS) == VERBS
    assert re.findall(r"^## `discreet ((?:dp |list )?\w+)", PAGE, re.MULTILINE) == VERBS


@pytest.mark.parametrize("verb", VERBS)
def test_page_names_only_options_of_the_verb(verb: str) -> None:
    named = set(re.findall(r"(?<!-)--[a-z][a-z-]*", section(verb)))
    options = options_of(verb)
    with_criteria = PAGE.split("option for every [criterion]")[0].rsplit("\n\n", 1)[-1]
    assert (f"`{verb}`" in with_criteria) == bool(options & OF_CRITERIA) == (options >= OF_CRITERIA)
    assert named - SHARED <= options
    assert options >= SHARED - {"--help", "-h"}


def test_pages_of_criteria_name_every_flag_of_criteria() -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in CRITERIA_PAGES.glob("*.md"))
    assert {flag for flag in OF_CRITERIA if f"`{flag}`" not in pages} == set()


def test_pages_of_attacks_name_every_flag_of_attacks() -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in CRITERIA_PAGES.parent.glob("attacks*.md"))
    assert {flag for flag in OF_ATTACKS if flag not in pages} == set()


def test_page_names_the_shared_options() -> None:
    table = PAGE.split("`discreet --version`")[0]
    assert set(re.findall(r"`(--?[a-z][a-z-]*)", table)) == SHARED


@pytest.mark.parametrize(("verb", "columns"), in_turn(VERBS, ["100", "80", "40"]))
def test_help_names_every_option(verb: str, columns: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    found = run(*verb.split(), "--help")
    assert (found.status, found.err) == (0, "")
    words = found.out.split()
    assert all(any(word.rstrip(",") == option for word in words) for option in options_of(verb))
    assert all(len(line) <= 100 for line in found.out.splitlines())


def test_help_lists_each_verb_with_a_whole_sentence(run: Run) -> None:
    found = run("--help")
    for verb in dict.fromkeys(verb.partition(" ")[0] for verb in VERBS):
        (line,) = [line for line in found.out.splitlines() if line.strip().startswith(f"{verb} ")]
        assert line.endswith(".")
        assert "..." not in line
    assert run().out == found.out
    assert run().status == 0


def test_version_is_one_line(run: Run) -> None:
    found = run("--version")
    assert found.status == 0
    assert re.fullmatch(r"discreet \d+\.\d+\.\d+\n", found.out)
