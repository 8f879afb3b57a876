"""``discreet compare``: releases, nodes and models side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import criterion_options, options, output
from discreet.cli.progress import TerminalReporter
from discreet.model import option as option_values

Releases = Annotated[
    list[Path] | None,
    typer.Argument(metavar="[RELEASE]…", help="Published files, ours or another program's."),
]
Node = Annotated[
    list[str] | None,
    typer.Option(
        "--node",
        metavar="ATTR=N,ATTR=N",
        help="Levels that could be published (0 where not named); repeatable.",
    ),
]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", metavar="NAME", help="A model to try, with its defaults; repeatable."),
]
EveryModel = Annotated[bool, typer.Option("--every-model", help="Try every model that recodes.")]


def compare(
    context: typer.Context,
    spec: options.SpecPath,
    release: Releases = None,
    node: Node = None,
    model: Models = None,
    every_model: EveryModel = False,
    k: options.K = None,
    l: options.L = None,
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
    from discreet.verbs import beside

    table = options.opened(spec, threads, memory_limit)
    models = [*(model or []), *(name for name, _ in beside.tried_models() if every_model)]
    found = beside.compare(
        table,
        release or (),
        levels={text: option_values.levels_of("--node", text.split(",")) for text in node or ()},
        models=list(dict.fromkeys(models)),
        k=options.k_of(k),
        l=options.l_of(l),
        max_suppressed=max_suppressed,
        max_level=options.levels_of("--max-level", max_level),
        min_level=options.levels_of("--min-level", min_level),
        criteria=criterion_options.asked(context),
        reporter=TerminalReporter(),
    )
    if json:
        output.print_json(found.as_json())
    else:
        output.show(found.document())
    return 0
