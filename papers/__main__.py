"""``python -m papers NAME``: recompute a paper's tables and plots and compare them with the print."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import options, output
from discreet.cli.command import VerbCommand
from discreet.cli.main import run_command
from discreet.cli.output import TerminalReporter

_DIFFERENT = 1
_PROGRAM = "python -m papers"

_Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="negotiation, partial-lattice, incognito, mondrian, patterns or permutation.",
    ),
]
_Output = Annotated[
    Path | None,
    typer.Option("--output", metavar="DIR", help="The folder for plots and the page. [out/reproduce/NAME]"),
]
_Data = Annotated[
    Path | None,
    typer.Option(
        "--data", metavar="DIR", help="The folder of real tables. [DISCREET_DATA, or ../shared/data]"
    ),
]
_Quick = Annotated[bool, typer.Option("--quick", help="Fewer sizes, rows and repetitions.")]


def reproduce(
    name: _Name,
    output_path: _Output = None,
    data: _Data = None,
    quick: _Quick = False,
) -> int:
    """Recompute a paper's tables and plots and compare them with the printed ones.

    The exit status is 1 where a figure differs and no reason is known.
    """
    from discreet.printing.document import BLANK
    from papers.reproduction import prepare_run

    settings, json = options.parse_settings(), output.prints_json()
    run = prepare_run(
        name, folder=output_path, data=data, settings=settings, quick=quick, reporter=TerminalReporter()
    )
    if not json:
        output.print_document(run.heading())
    for section in run.sections():
        if not json:
            output.print_document((BLANK, *section.document()))
    if json:
        output.print_json(run.as_json())
    else:
        output.print_document((BLANK, *run.summary()))
    return _DIFFERENT if run.differs else 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run one reproduction and return its exit status; errors are printed, as JSON with ``--json``."""
    return run_command(
        list(sys.argv[1:] if argv is None else argv),
        _command,
        program=_PROGRAM,
        help_command=f"{_PROGRAM} --help",
        own_process=argv is None,
    )


def _command() -> Any:
    application = typer.Typer(
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    application.command(cls=VerbCommand)(reproduce)
    return typer.main.get_command(application)


if __name__ == "__main__":
    sys.exit(main())
