"""``discreet demo``: the main workflow on real or generated data."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import options, output
from discreet.cli.typer_application import build_command

if TYPE_CHECKING:
    from discreet.verbs.demo import Demo

_Run = Callable[..., object]
"""Function that runs one command line and returns its exit status."""

_Output = Annotated[
    Path,
    typer.Option("--output", metavar="DIR", help="A new or empty folder for the files. [discreet-demo]"),
]


def demo(
    output_path: _Output = Path("discreet-demo"),
) -> int:
    """Take a tour: inspect, two wishes, a release, its audit.

    The data is Adult where its folder is found (DISCREET_DATA, or ../shared/data), else a generated census.
    """
    from discreet.verbs.demo import prepare_demo

    options.parse_settings()
    tour = prepare_demo(output_path)

    def run(*command: str) -> object:
        verb = build_command((command[0],))
        return verb.main([*command, *options.limit_words()], prog_name="discreet", standalone_mode=False)

    with options.reuse_tables():
        if output.prints_json():
            output.print_json(_demo_as_json(tour, run))
        else:
            _print_demo(tour, run)
    return 0


def _print_demo(tour: Demo, run: _Run) -> None:
    from discreet.printing.document import BLANK, Line, Tone, heading_line

    output.print_document((Line(f"The demonstration uses {tour.data}; its files are in {tour.folder}."),))
    for number, step in enumerate(tour.steps, start=1):
        command = Line(f"$ {_command_text(step.command)}", Tone.HINT, verbatim=True)
        output.print_document((BLANK, heading_line(f"{number}. {step.title}"), command, BLANK))
        run(*step.command)
    output.print_document((BLANK, heading_line("Next steps")))
    output.print_document(
        tuple(Line(f"  {_command_text(c)}", Tone.HINT, verbatim=True) for c in tour.next_commands)
    )


def _demo_as_json(tour: Demo, run: _Run) -> dict[str, Any]:
    steps = []
    for step in tour.steps:
        with redirect_stdout(io.StringIO()) as printed:
            status = run(*step.command, "--json")
        steps.append(
            {
                "command": ["discreet", *step.command],
                "exit_status": status,
                "result": json.loads(printed.getvalue()),
            }
        )
    return {
        "folder": str(tour.folder),
        "data": tour.data,
        "steps": steps,
        "next": [["discreet", *command] for command in tour.next_commands],
    }


def _command_text(command: tuple[str, ...]) -> str:
    return " ".join(["discreet", *(output.quote_for_shell(part) for part in command)])
