"""``discreet compare``: compare releases, nodes and models on one original."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import options, output
from discreet.cli.output import TerminalReporter
from discreet.model import option as option_values

_Releases = Annotated[
    list[Path] | None,
    typer.Argument(metavar="[RELEASE]…", help="Published files, ours or another program's."),
]
_Node = Annotated[
    list[str] | None,
    typer.Option(
        "--node",
        metavar="ATTR=N,ATTR=N",
        help="Levels that could be published (0 where not named); repeatable.",
    ),
]
_Models = Annotated[
    list[str] | None,
    typer.Option("--model", metavar="NAME", help="A model to try, with its defaults; repeatable."),
]
_EveryModel = Annotated[bool, typer.Option("--every-model", help="Try every model that recodes.")]


def compare(
    spec: options.SpecPath,
    release: _Releases = None,
    *,
    node: _Node = None,
    model: _Models = None,
    every_model: _EveryModel = False,
    request: options.RequestTexts,
) -> int:
    """Compare releases, levels and models side by side.

    Nothing is written: levels and models are recoded in memory. They must meet the request, whose options
    come from the spec's [request] where they are left out.
    """
    from discreet.verbs import benchmark

    table = options.open_table_of_spec(spec)
    models = [*(model or []), *(name for name, _ in benchmark.list_comparable_models() if every_model)]
    found = benchmark.compare(
        table,
        release or (),
        levels={text: option_values.parse_levels("--node", text.split(",")) for text in node or ()},
        models=list(dict.fromkeys(models)),
        **request.keywords(),
        reporter=TerminalReporter(),
    )
    return output.print_result(found)
