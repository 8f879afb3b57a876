"""``discreet negotiate``: the exact answer to a wish, or its relaxations."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli import options, output
from discreet.cli.next_steps import publish_steps

NO_EXACT_ANSWER = 3

Frontier = Annotated[
    bool, typer.Option("--frontier", help="List the nodes not dominated in height, loss and suppression.")
]
Neighbours = Annotated[
    bool, typer.Option("--neighbours", help="With --json: what one level more or less would change.")
]


def negotiate(
    spec: options.SpecPath,
    k: options.K = None,
    l: options.L = None,
    max_suppressed: options.MaxSuppressed = None,
    max_level: options.MaxLevel = None,
    min_level: options.MinLevel = None,
    scope: options.Scope = None,
    frontier: Frontier = False,
    neighbours: Neighbours = False,
    json: options.Json = False,
    _debug: options.Debug = False,
    threads: options.Threads = None,
    memory_limit: options.MemoryLimit = None,
) -> int:
    """Find the lowest levels for k and l, or relaxations.

    Options that are left out come from the spec's [request]. The exit status is 3 where there is no exact
    answer.
    """
    from discreet.workbench.document import BLANK

    table = options.opened(spec, threads, memory_limit)
    request = options.request_for(table, k, l, max_suppressed, max_level, min_level, scope)
    lattice = table.lattice_for(request.requirement)
    result = lattice.answer(request)
    points = lattice.frontier_of(request) if frontier else None
    if json:
        document = result.as_json()
        if points is not None:
            document["frontier"] = points.as_json()
        if neighbours:
            document["neighbours"] = [
                {"relaxed": a.relaxed, "steps": lattice.neighbours(a).as_json()} for a in result.answers
            ]
        output.print_json(document)
    else:
        output.show(result.document())
        if result.answers:
            output.show((BLANK, *lattice.neighbours(result.answers[0]).document()))
        if points is not None:
            output.show((BLANK, *points.document()))
        output.show(publish_steps(result, spec))
    return 0 if result.exact is not None else NO_EXACT_ANSWER
