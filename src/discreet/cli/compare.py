"""``discreet compare``: compare releases, nodes and models on one original."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import declared_options, options, output
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
    context: typer.Context,
    spec: options.SpecPath,
    release: _Releases = None,
    node: _Node = None,
    model: _Models = None,
    every_model: _EveryModel = False,
    k: options.KOption = None,
    l: options.LOption = None,
    max_suppressed: options.MaxSuppressed = None,
    max_level: options.MaxLevel = None,
    min_level: options.MinLevel = None,
    json: options.Json = False,
    threads: options.Threads = None,
    memory_limit: options.MemoryLimit = None,
) -> int:
    """Compare releases, levels and models side by side.

    Nothing is written: levels and models are recoded in memory. They must meet the request, whose options
    come from the spec's [request] where they are left out.
    """
    from discreet.verbs import benchmark

    table = options.open_table_of_spec(spec, threads, memory_limit)
    models = [*(model or []), *(name for name, _ in benchmark.list_comparable_models() if every_model)]
    found = benchmark.compare(
        table,
        release or (),
        levels={text: option_values.parse_levels("--node", text.split(",")) for text in node or ()},
        models=list(dict.fromkeys(models)),
        k=options.parse_k(k),
        l=options.parse_l(l),
        max_suppressed=max_suppressed,
        max_level=options.parse_level_options("--max-level", max_level),
        min_level=options.parse_level_options("--min-level", min_level),
        criteria=declared_options.parse_criteria(context),
        reporter=TerminalReporter(),
    )
    if json:
        output.print_json(found.as_json())
    else:
        output.print_document(found.document())
    return 0
