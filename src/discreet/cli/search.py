"""``discreet search``: run one named search and show its counts."""

from __future__ import annotations

import math
from contextlib import nullcontext
from typing import Annotated

import typer

from discreet.cli import declared_options, options, output
from discreet.cli.process import interrupt_returns_best
from discreet.errors import InputError
from discreet.settings import parse_bytes

_NO_SOLUTION = 3


def _complete_algorithm(typed: str) -> list[str]:
    """Return the algorithms that complete a word, for the shell."""
    from discreet.verbs.table_search import ALGORITHMS

    return [name for name in ALGORITHMS if name.startswith(typed)]


_Algorithm = Annotated[
    str | None,
    typer.Option(
        "--algorithm",
        metavar="NAME",
        autocompletion=_complete_algorithm,
        help="samarati, bottom-up, bottom-up-rollup, incognito, incognito-superroots, incognito-cube,"
        " exhaustive, optimal or anytime.",
    ),
]
_MarkingOption = Annotated[
    str,
    typer.Option(
        "--marking",
        metavar="direct|transitive",
        help="Nodes marked by a node that meets the requirement: its direct generalizations, or all. "
        "[direct]",
        show_default=False,
    ),
]
_InDatabase = Annotated[
    bool,
    typer.Option("--in-database", help="Leave the rows in the engine: each frequency set is a GROUP BY."),
]
_CubeBudget = Annotated[
    str | None,
    typer.Option(
        "--cube-budget",
        metavar="SIZE",
        help="incognito-cube: memory for points of higher levels in addition to the cube, such as 100MB. "
        "[none]",
    ),
]
_TimeBudget = Annotated[
    str | None,
    typer.Option("--time-budget", metavar="SECONDS", help="anytime: end with the best node by then."),
]
_NodeBudget = Annotated[
    str | None,
    typer.Option("--node-budget", metavar="N", help="anytime: limit on checked nodes."),
]
_EverySolution = Annotated[
    bool, typer.Option("--all", help="List every solution found, not only the minimal ones.")
]


def search(
    spec: options.SpecPath,
    *,
    algorithm: _Algorithm = None,
    request: options.RequestTexts,
    cost: declared_options.CostOption = None,
    marking: _MarkingOption = "direct",
    in_database: _InDatabase = False,
    cube_budget: _CubeBudget = None,
    time_budget: _TimeBudget = None,
    node_budget: _NodeBudget = None,
    every_solution: _EverySolution = False,
) -> int:
    """Run one named search and show its counts.

    Options of the request that are left out come from the spec's [request]. The exit status is 3 where there
    is no solution.
    """
    from discreet.printing.document import BLANK
    from discreet.verbs.table_search import ALGORITHMS

    if algorithm is None:
        raise InputError("no search algorithm was given", allowed=f"--algorithm {', '.join(ALGORITHMS)}")
    table = options.open_table_of_spec(spec)
    with interrupt_returns_best() if algorithm == "anytime" else nullcontext():
        outcome = table.search(
            algorithm,
            **request.keywords(),
            marking=marking,
            in_database=in_database,
            cost=declared_options.parse_cost(cost, table.spec),
            cube_budget=0 if cube_budget is None else parse_bytes(cube_budget),
            time_budget=_parse_seconds(time_budget),
            node_budget=options.parse_whole_option("--node-budget", node_budget),
        )
    output.print_result(outcome)
    if every_solution and outcome.solutions and not output.prints_json():
        output.print_document((BLANK, *outcome.every_solution()))
    return 0 if outcome.solutions else _NO_SOLUTION


def _parse_seconds(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds > 0):
        raise InputError(f"--time-budget {text}", allowed="a number of seconds above 0, such as 10")
    return seconds
