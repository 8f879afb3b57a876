"""``discreet reproduce``: a paper's tables and plots, computed again and printed beside."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import options, output
from discreet.cli.progress import TerminalReporter

DIFFERENT = 1

Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="negotiation, partial-lattice, incognito, mondrian, patterns or permutation.",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option("--output", metavar="DIR", help="The folder for plots and the page. [out/reproduce/NAME]"),
]
Data = Annotated[
    Path | None,
    typer.Option(
        "--data", metavar="DIR", help="The folder of real tables. [DISCREET_DATA, or ../shared/data]"
    ),
]
Quick = Annotated[bool, typer.Option("--quick", help="Fewer sizes, rows and repetitions.")]


def reproduce(
    name: Name,
    output_path: Output = None,
    data: Data = None,
    quick: Quick = False,
    json: options.Json = False,
    threads: options.Threads = None,
    memory_limit: options.MemoryLimit = None,
) -> int:
    """Compute a paper's tables and plots again, beside the printed ones.

    The exit status is 1 where a figure differs and no reason is known.
    """
    from discreet.printing.document import BLANK
    from discreet.reproduce.run import prepare_run

    settings = options.settings_of(threads, memory_limit)
    run = prepare_run(
        name, folder=output_path, data=data, settings=settings, quick=quick, reporter=TerminalReporter()
    )
    if not json:
        output.show(run.heading())
    for section in run.sections():
        if not json:
            output.show((BLANK, *section.document()))
    if json:
        output.print_json(run.as_json())
    else:
        output.show((BLANK, *run.summary()))
    return DIFFERENT if run.differs else 0
