"""``discreet negotiate``: the exact answer to a wish, or its relaxations."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import cost_options, criterion_options, options, output
from discreet.cli.next_steps import FILE, TABLE, publish_locally, publish_steps
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.model.request import Request
    from discreet.printing.document import Document
    from discreet.results.answers import NegotiationResult
    from discreet.results.attributes import AttributeSuppressionResult
    from discreet.results.choices import FrontierResult
    from discreet.results.lattice import TableLattice
    from discreet.results.partial import TablePartialLattice
    from discreet.verbs.searching import NamedCost
    from discreet.verbs.table import Table

NO_EXACT_ANSWER = 3

Frontier = Annotated[
    bool, typer.Option("--frontier", help="List the nodes not dominated in height, loss and suppression.")
]
Cost = Annotated[
    str | None,
    typer.Option(
        "--cost",
        metavar="NAME",
        help="What each answer costs; with --frontier, what is weighed against suppression; see below.",
    ),
]
Neighbours = Annotated[
    bool, typer.Option("--neighbours", help="With --json: what one level more or less would change.")
]
Partial = Annotated[
    str | None,
    typer.Option(
        "--partial",
        metavar="P%",
        help="Count only the most important P percent of the nodes of each height.",
    ),
]
Metric = Annotated[
    str | None,
    typer.Option(
        "--metric",
        metavar="NAME",
        help="With --partial, what ranks nodes: lambda, gamma, mu, gamma-mu, or one with -product. [lambda]",
    ),
]
NoRuntime = Annotated[
    bool, typer.Option("--no-runtime", help="With --partial: do not count the request's own node.")
]
Attributes = Annotated[
    bool,
    typer.Option("--attributes", help="Show what giving up one attribute would buy; text shows it unasked."),
]
LeftOutRows = Annotated[
    bool, typer.Option("--left-out", help="Show who is left out, by value; for your eyes, in no release.")
]
Model = Annotated[
    str | None,
    typer.Option("--model", metavar="local", help="Answer by local recoding instead of full-domain levels."),
]
Effort = Annotated[
    str | None,
    typer.Option("--effort", metavar="fast|N", help="With --model: N rounds of improvement. [fast]"),
]
Bound = Annotated[
    bool, typer.Option("--bound", help="With --model: prove how much better any local recoding could be.")
]


def negotiate(
    context: typer.Context,
    spec: options.SpecPath,
    k: options.K = None,
    l: options.L = None,
    max_suppressed: options.MaxSuppressed = None,
    max_level: options.MaxLevel = None,
    min_level: options.MinLevel = None,
    scope: options.Scope = None,
    frontier: Frontier = False,
    cost: Cost = None,
    neighbours: Neighbours = False,
    attributes: Attributes = False,
    left_out: LeftOutRows = False,
    partial: Partial = None,
    metric: Metric = None,
    no_runtime: NoRuntime = False,
    model: Model = None,
    effort: Effort = None,
    bound: Bound = False,
    json: options.Json = False,
    threads: options.Threads = None,
    memory_limit: options.MemoryLimit = None,
) -> int:
    """Find the lowest levels that meet the criteria, or relaxations.

    Options that are left out come from the spec's [request]. The exit status is 3 where there is no exact
    answer. Where the lattice is too large to be evaluated, a partial one answers, and says what it proves.
    """
    table = options.opened(spec, threads, memory_limit)
    criteria = criterion_options.asked(context)
    request = options.request_for(table, k, l, max_suppressed, max_level, min_level, criteria, scope)
    of_nodes = {
        "--frontier": frontier,
        "--cost": cost is not None,
        "--neighbours": neighbours,
        "--attributes": attributes,
        "--left-out": left_out,
        "--partial": partial is not None,
        "--metric": metric is not None,
        "--no-runtime": no_runtime,
        "--scope": scope is not None,
    }
    if _is_local(model, of_nodes, {"--effort": effort is not None, "--bound": bound}):
        return _answer_locally(table, request, spec, effort, bound=bound, json=json)
    asked = _cost(context, cost, table)
    table.count_values()
    lattice = _lattice(table, request, partial, metric, no_runtime=no_runtime, whole=frontier)
    result = _with_warnings(table, lattice.with_costs(lattice.answer(request), asked))
    shown = attributes or (result.exact is None and not json)
    points = table.lattice_for(request.requirement).frontier_of(request, asked) if frontier else None
    given_up = lattice.attribute_suppression_of(request) if shown else None
    if json:
        document = result.as_json() | _told(points)
        document |= _beside(result, lattice, neighbours=neighbours, left_out=left_out)
        if given_up is not None:
            document["attributes"] = given_up.as_json()
        output.print_json(document)
    else:
        _show(result, lattice, given_up, points, publish_steps(result, spec, _target(table)))
        if left_out and result.answers:
            output.show(_left_out(lattice, result))
    return 0 if result.exact is not None else NO_EXACT_ANSWER


def _with_warnings(table: Table, result: NegotiationResult) -> NegotiationResult:
    """The result with warnings about the rows and the groups of its answer."""
    from discreet.verbs.class_warnings import with_warnings

    return with_warnings(table, result)


def _beside(
    result: NegotiationResult,
    lattice: TableLattice | TablePartialLattice,
    *,
    neighbours: bool,
    left_out: bool,
) -> dict[str, Any]:
    """What was asked beside the answers, of each of them, in JSON."""
    told: dict[str, Any] = {}
    if neighbours:
        told["neighbours"] = [
            {"relaxed": a.relaxed, "steps": lattice.neighbours(a).as_json()} for a in result.answers
        ]
    if left_out:
        told["left_out"] = [{"relaxed": a.relaxed, **lattice.left_out(a).as_json()} for a in result.answers]
    return told


def _left_out(lattice: TableLattice | TablePartialLattice, result: NegotiationResult) -> Document:
    from discreet.printing.document import BLANK

    return (BLANK, *lattice.left_out(result.answers[0]).document())


def _cost(context: typer.Context, name: str | None, table: Table) -> NamedCost | None:
    """The cost that was asked, else the spec's."""
    from discreet.results.requests import cost_of

    return cost_of(table.spec, cost_options.asked(context, name, table.spec))


def _told(points: FrontierResult | None) -> dict[str, Any]:
    """The frontier in JSON, where it was asked, and the name of its cost, where it has one."""
    if points is None:
        return {}
    named = {} if points.cost_name is None else {"frontier_cost": points.cost_name}
    return {"frontier": points.as_json(), **named}


def _lattice(
    table: Table,
    request: Request,
    partial: str | None,
    metric: str | None,
    *,
    no_runtime: bool,
    whole: bool,
) -> TableLattice | TablePartialLattice:
    if partial is None:
        for option, given in (("--metric", metric is not None), ("--no-runtime", no_runtime)):
            if given:
                raise InputError(f"{option} without --partial", advice="Add --partial 5%, say.")
        requirement = request.requirement
        return table.lattice_for(requirement) if whole else table.negotiable_lattice_for(requirement)
    if whole:
        raise InputError(
            "--frontier beside --partial",
            allowed="one of the two",
            advice="The frontier needs every node; leave --partial out.",
        )
    return table.partial_lattice_for(
        request.requirement, partial, metric=metric or "lambda", runtime=not no_runtime
    )


def _show(
    result: NegotiationResult,
    lattice: TableLattice | TablePartialLattice,
    given_up: AttributeSuppressionResult | None,
    points: FrontierResult | None,
    steps: Document,
) -> None:
    from discreet.printing.document import BLANK

    output.show(result.document())
    if given_up is not None:
        output.show((BLANK, *given_up.document()))
    if result.answers:
        output.show((BLANK, *lattice.neighbours(result.answers[0]).document()))
    if points is not None:
        output.show((BLANK, *points.document()))
    output.show(steps)


def _target(table: Table) -> str:
    """Where a release of a table would go."""
    return FILE if table.spec.source.url is None else TABLE


def _is_local(model: str | None, of_nodes: Mapping[str, bool], of_local: Mapping[str, bool]) -> bool:
    """Whether local recoding is to answer; ``InputError`` for options of the other kind of answer."""
    if model not in (None, "full-domain", "local", "cell-generalization"):
        raise InputError(f"--model {model}", allowed="local, full-domain")
    local = model in ("local", "cell-generalization")
    refused = [option for option, given in (of_nodes if local else of_local).items() if given]
    if refused:
        raise InputError(f"{refused[0]} {'beside' if local else 'without'} --model local")
    return local


def _answer_locally(
    table: Table, request: Request, spec: Path, effort: str | None, *, bound: bool, json: bool
) -> int:
    rounds = "fast" if effort in (None, "fast") else options.whole_of("--effort", effort) or 0
    result = table.negotiate_local(
        max_suppressed=str(request.max_suppressed),
        max_level=dict(request.max_level),
        min_level=dict(request.min_level),
        criteria=request.requirement.criteria,
        effort=rounds,
        bound=bound,
    )
    if json:
        output.print_json(result.as_json())
    else:
        output.show(result.document())
        if result.exact is not None:
            output.show(publish_locally(request, spec, effort, _target(table)))
    return 0 if result.exact is not None else NO_EXACT_ANSWER
