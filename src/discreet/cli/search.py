"""``discreet search``: one named algorithm, with its counts."""

from __future__ import annotations

import math
from contextlib import nullcontext
from typing import Annotated

import typer

from discreet.cli import cost_options, criterion_options, options, output
from discreet.cli.signals import interrupt_asks_for_an_answer
from discreet.errors import InputError
from discreet.settings import parse_bytes

NO_SOLUTION = 3


def _algorithms(typed: str) -> list[str]:
    """The algorithms that a shell may complete what is typed to."""
    from discreet.verbs.searching import ALGORITHMS

    return [name for name in ALGORITHMS if name.startswith(typed)]


Algorithm = Annotated[
    str | None,
    typer.Option(
        "--algorithm",
        metavar="NAME",
        autocompletion=_algorithms,
        help="samarati, bottom-up, bottom-up-rollup, incognito, incognito-superroots, incognito-cube,"
        " exhaustive, optimal or anytime.",
    ),
]
MarkingOption = Annotated[
    str,
    typer.Option(
        "--marking",
        metavar="direct|transitive",
        help="What a node that meets the requirement marks: its direct generalizations, or all. [direct]",
        show_default=False,
    ),
]
InDatabase = Annotated[
    bool,
    typer.Option("--in-database", help="Leave the rows in the engine: each frequency set is a GROUP BY."),
]
CubeBudget = Annotated[
    str | None,
    typer.Option(
        "--cube-budget",
        metavar="SIZE",
        help="incognito-cube: what points of higher levels may take beside the cube, such as 100MB. [none]",
    ),
]
TimeBudget = Annotated[
    str | None,
    typer.Option("--time-budget", metavar="SECONDS", help="anytime: end with the best node by then."),
]
NodeBudget = Annotated[
    str | None,
    typer.Option("--node-budget", metavar="N", help="anytime: end after so many nodes were checked."),
]
EverySolution = Annotated[
    bool, typer.Option("--all", help="List every solution found, not the minimal ones alone.")
]


def search(
    context: typer.Context,
    spec: options.SpecPath,
    algorithm: Algorithm = None,
    k: options.K = None,
    l: options.L = None,
    max_suppressed: options.MaxSuppressed = None,
    max_level: options.MaxLevel = None,
    min_level: options.MinLevel = None,
    cost: cost_options.CostOption = None,
    marking: MarkingOption = "direct",
    in_database: InDatabase = False,
    cube_budget: CubeBudget = None,
    time_budget: TimeBudget = None,
    node_budget: NodeBudget = None,
    every_solution: EverySolution = False,
    json: options.Json = False,
    threads: options.Threads = None,
    memory_limit: options.MemoryLimit = None,
) -> int:
    """Run one named search and show its counts.

    Options of the request that are left out come from the spec's [request]. The exit status is 3 where there
    is no solution.
    """
    from discreet.printing.document import BLANK
    from discreet.verbs.searching import ALGORITHMS

    if algorithm is None:
        raise InputError("no search algorithm was named", allowed=f"--algorithm {', '.join(ALGORITHMS)}")
    table = options.opened(spec, threads, memory_limit)
    with interrupt_asks_for_an_answer() if algorithm == "anytime" else nullcontext():
        outcome = table.search(
            algorithm,
            k=options.k_of(k),
            l=options.l_of(l),
            max_suppressed=max_suppressed,
            max_level=options.levels_of("--max-level", max_level),
            min_level=options.levels_of("--min-level", min_level),
            criteria=criterion_options.asked(context),
            marking=marking,
            in_database=in_database,
            cost=cost_options.asked(context, cost, table.spec),
            cube_budget=0 if cube_budget is None else parse_bytes(cube_budget),
            time_budget=_seconds(time_budget),
            node_budget=options.whole_of("--node-budget", node_budget),
        )
    if json:
        output.print_json(outcome.as_json())
    else:
        output.show(outcome.document())
        if every_solution and outcome.solutions:
            output.show((BLANK, *outcome.every_solution()))
    return 0 if outcome.solutions else NO_SOLUTION


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds > 0):
        raise InputError(f"--time-budget {text}", allowed="a number of seconds above 0, such as 10")
    return seconds
