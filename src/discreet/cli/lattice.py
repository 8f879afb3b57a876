"""``discreet lattice``: every node's suppression."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli import criterion_options, options, output

EveryNode = Annotated[bool, typer.Option("--all", help="List every node, not one line per height.")]
Histogram = Annotated[
    bool,
    typer.Option(
        "--histogram", help="Show how many classes of one node have each size, and each number of values."
    ),
]
Node = Annotated[
    list[str] | None,
    typer.Option(
        "--node",
        metavar="ATTR=N,…",
        help="The node of --histogram: levels by attribute, 0 where not named; repeatable.",
    ),
]


def lattice(
    context: typer.Context,
    spec: options.SpecPath,
    k: options.K = None,
    l: options.L = None,
    every_node: EveryNode = False,
    histogram: Histogram = False,
    node: Node = None,
    json: options.Json = False,
    threads: options.Threads = None,
    memory_limit: options.MemoryLimit = None,
) -> int:
    """Show how many rows every node suppresses, or the histogram of one node.

    At least one criterion is needed, k, l or a further one, but not for a histogram. Options that are left
    out come from the spec's [request].
    """
    from discreet.printing.document import BLANK
    from discreet.results.requests import requirement_of

    table = options.opened(spec, threads, memory_limit)
    if histogram or node is not None:
        parts = [part for text in node or () for part in text.split(",")]
        found = table.histogram(options.levels_of("--node", parts))
        if json:
            output.print_json(found.as_json())
        else:
            output.show(found.document())
        return 0
    criteria = criterion_options.asked(context)
    requirement = requirement_of(table.spec, k=options.k_of(k), l=options.l_of(l), criteria=criteria)
    result = table.lattice_for(requirement).suppression_of(requirement)
    if json:
        output.print_json(result.as_json(), indent=None)
    else:
        output.show(result.document())
        if every_node:
            output.show((BLANK, *result.every_node()))
    return 0
