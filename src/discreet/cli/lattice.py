"""``discreet lattice``: the suppression of every node, or the histogram of one."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli import options, output

_EveryNode = Annotated[bool, typer.Option("--all", help="List every node, not one line per height.")]
_Histogram = Annotated[
    bool,
    typer.Option(
        "--histogram", help="Show how many classes of one node have each size, and each number of values."
    ),
]
_Node = Annotated[
    list[str] | None,
    typer.Option(
        "--node",
        metavar="ATTR=N,…",
        help="The node of --histogram: levels by attribute, 0 where not named; repeatable.",
    ),
]


def lattice(
    spec: options.SpecPath,
    *,
    criteria: options.CriterionTexts,
    every_node: _EveryNode = False,
    histogram: _Histogram = False,
    node: _Node = None,
) -> int:
    """Show how many rows every node suppresses, or the histogram of one node.

    At least one criterion is needed, k, l or a further one, but not for a histogram. Options that are left
    out come from the spec's [request].
    """
    from discreet.printing.document import BLANK
    from discreet.results.request_defaults import build_requirement

    table = options.open_table_of_spec(spec)
    if histogram or node is not None:
        parts = [part for text in node or () for part in text.split(",")]
        found = table.histogram(options.parse_level_options("--node", parts))
        return output.print_result(found)
    requirement = build_requirement(table.spec, **criteria.keywords())
    result = table.lattice_for(requirement).suppression_of(requirement)
    if output.prints_json():
        output.print_json(result.as_json(), indent=None)
    else:
        output.print_document(result.document())
        if every_node:
            output.print_document((BLANK, *result.every_node()))
    return 0
