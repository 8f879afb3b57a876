"""Conventions of command-line tools: quiet runs, short flags, shell completion, advice on mistakes."""

from __future__ import annotations

from contextlib import redirect_stdout, suppress
from io import StringIO
from pathlib import Path

import pytest

from discreet.cli.main import main
from tests.cli.conftest import Run


def completed(typed: str) -> set[str]:
    """Return the completions for the last word of a line."""
    words = typed.split(" ")
    variables = {
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(words) - 1),
        "_DISCREET_COMPLETE": "complete_bash",
    }
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as out:
        for name, value in variables.items():
            patch.setenv(name, value)
        with suppress(SystemExit):
            main([])
    return set(out.getvalue().split())


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("discreet neg", {"negotiate"}),
        ("discreet dp hist", {"histogram"}),
        ("discreet list pre", {"presets"}),
        ("discreet dp budget --mem", {"--memory-limit"}),
        ("discreet publish --mod", {"--model"}),
        ("discreet publish --model mond", {"mondrian"}),
        ("discreet publish --generalize-t", {"--generalize-together"}),  # declared by a model
        ("discreet search --algorithm bottom", {"bottom-up", "bottom-up-rollup"}),
    ],
)
def test_shell_completes_verbs_options_and_values(typed: str, expected: set[str]) -> None:
    assert completed(typed) == expected


def test_version_is_printed_for_both_options(run: Run) -> None:
    assert run("-V").out == run("--version").out != ""


@pytest.mark.parametrize(
    "line",
    [
        ("inspect",),
        ("negotiate", "--k", 2, "--max-suppressed", "50%"),
        ("publish", "--k", 2, "--max-suppressed", "50%", "--output", "out.csv"),
    ],
)
def test_quiet_success_prints_nothing(line: tuple[object, ...], run: Run, people: Path) -> None:
    verb, *options = line
    found = run(verb, people / "discreet.toml", *options, "-q")
    assert (found.status, found.out, found.err) == (0, "", "")


def test_quiet_leaves_status_errors_and_documents(run: Run, people: Path) -> None:
    assert run("negotiate", "discreet.toml", "--k", 100, "--quiet").status == 3
    assert "nothing.toml does not exist" in run("inspect", "nothing.toml", "--quiet").err
    assert run("inspect", "discreet.toml", "--quiet", "--json").json["rows"] == 8
    assert run("inspect", "discreet.toml").out, "another run is not quiet"


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        (("publsh", "x.toml"), "Did you mean 'publish'?"),
        (
            ("publish", "{spec}", "--model", "mondrain", "--k", 2, "--output", "o.csv"),
            "Did you mean 'mondrian'?",
        ),
        (("search", "{spec}", "--algorithm", "samariti", "--k", 2), "Did you mean 'samarati'?"),
        (("search", "{spec}", "--algorithm", "optimal", "--cost", "los", "--k", 2), "Did you mean 'loss'?"),
    ],
)
def test_mistyped_name_suggests_the_nearest(
    line: tuple[object, ...], advice: str, run: Run, people: Path
) -> None:
    found = run(*(str(word).format(spec=people / "discreet.toml") for word in line))
    assert found.status == 2
    assert advice in found.err
