"""``discreet demo``: the main job on real or generated data."""

from __future__ import annotations

import io
import json as json_module
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import options, output
from discreet.cli.application import command_of

if TYPE_CHECKING:
    from discreet.verbs.tour import Tour

Run = Callable[..., object]
"""Runs one command line and gives its exit status."""

Output = Annotated[
    Path,
    typer.Option("--output", metavar="DIR", help="A new or empty folder for the files. [discreet-demo]"),
]


def demo(
    output_path: Output = Path("discreet-demo"),
    json: options.Json = False,
    threads: options.Threads = None,
    memory_limit: options.MemoryLimit = None,
) -> int:
    """Take a tour: inspect, two wishes, a release, its audit.

    The data is Adult where its folder is found (DISCREET_DATA, or ../shared/data), else a generated census.
    """
    from discreet.verbs.tour import prepare_tour

    options.settings_of(threads, memory_limit)
    limits = [] if threads is None else ["--threads", threads]
    limits += [] if memory_limit is None else ["--memory-limit", memory_limit]
    tour = prepare_tour(output_path)

    def run(*command: str) -> object:
        verb = command_of((command[0],))
        return verb.main([*command, *limits], prog_name="discreet", standalone_mode=False)

    with options.remembering_tables():
        if json:
            output.print_json(_as_json(tour, run))
        else:
            _show(tour, run)
    return 0


def _show(tour: Tour, run: Run) -> None:
    from discreet.printing.document import BLANK, Line, Tone, heading

    output.show((Line(f"The demonstration uses {tour.data}; its files lie in {tour.folder}."),))
    for number, step in enumerate(tour.steps, start=1):
        command = Line(f"$ {_typed(step.command)}", Tone.HINT, verbatim=True)
        output.show((BLANK, heading(f"{number}. {step.title}"), command, BLANK))
        run(*step.command)
    output.show((BLANK, heading("What to try next")))
    output.show(tuple(Line(f"  {_typed(c)}", Tone.HINT, verbatim=True) for c in tour.next_commands))


def _as_json(tour: Tour, run: Run) -> dict[str, Any]:
    steps = []
    for step in tour.steps:
        with redirect_stdout(io.StringIO()) as printed:
            status = run(*step.command, "--json")
        steps.append(
            {
                "command": ["discreet", *step.command],
                "exit_status": status,
                "result": json_module.loads(printed.getvalue()),
            }
        )
    return {
        "folder": str(tour.folder),
        "data": tour.data,
        "steps": steps,
        "next": [["discreet", *command] for command in tour.next_commands],
    }


def _typed(command: tuple[str, ...]) -> str:
    return " ".join(["discreet", *(output.quoted(part) for part in command)])
