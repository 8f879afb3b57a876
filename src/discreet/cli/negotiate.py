"""``discreet negotiate``: the exact answer or its relaxations, and the commands to publish them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import declared_options, options, output
from discreet.errors import InputError
from discreet.model.request import Request, SuppressionLimit
from discreet.model.search_result import Relaxation
from discreet.verbs.scripts import request_option_text

if TYPE_CHECKING:
    from discreet.printing.document import Document
    from discreet.results.answer_alternatives import AttributeSuppressionResult, FrontierResult
    from discreet.results.answers import AnswerResult, NegotiationResult
    from discreet.results.table_lattice import TableLattice
    from discreet.results.table_partial_lattice import TablePartialLattice
    from discreet.verbs.table import Table


FILE_OUTPUT, TABLE_OUTPUT = "--output release.csv", "--table SCHEMA.NAME"
"""Targets of a release: a file, or a table of the source's database."""


def suggest_publication(result: NegotiationResult, spec: Path, target: str = FILE_OUTPUT) -> Document:
    """Suggest the command that publishes the exact answer, or a relaxation that leaves rows to publish."""
    publishable = [a for a in result.answers if a.suppressed < result.rows]
    if not publishable:
        return ()
    if result.basis is not None:
        return _suggest_levels(publishable, spec, target)
    words = request_option_text(result.request)
    if result.exact is not None:
        return _suggest("To publish it:", spec, words, target)
    names = [str(a.relaxed) for a in publishable]
    chosen = str(Relaxation.HEIGHT) if Relaxation.HEIGHT in names else names[0]
    return _suggest(
        f"To publish a relaxation ({', '.join(names)}):",
        spec,
        f"{words} --accept-relaxation {chosen}",
        target,
    )


def suggest_local_publication(
    request: Request, spec: Path, effort: str | None, target: str = FILE_OUTPUT
) -> Document:
    """Suggest the command that publishes a request's exact answer by local recoding."""
    rounds = "" if effort is None else f" --effort {shlex.quote(effort)}"
    return _suggest("To publish it:", spec, f" --model local{request_option_text(request)}{rounds}", target)


def _suggest_levels(answers: list[AnswerResult], spec: Path, target: str) -> Document:
    """Suggest the command that publishes an answer by its levels, which need no lattice.

    The exact answer or the relaxed height is preferred.
    """
    answer = next((a for a in answers if a.relaxed in (None, str(Relaxation.HEIGHT))), answers[0])
    wish = Request(answer.answer.requirement, SuppressionLimit(rows=answer.suppressed))
    levels = "".join(f" --level {shlex.quote(f'{name}={level}')}" for name, level in answer.levels.items())
    title = f"To publish {f'the relaxation of {answer.relaxed}' if answer.relaxed else 'it'}:"
    return _suggest(title, spec, f"{levels}{request_option_text(wish)}", target)


def _suggest(title: str, spec: Path, words: str, target: str) -> Document:
    from discreet.printing.document import BLANK, Line, Tone

    command = f"  discreet publish {shlex.quote(str(spec))}{words} {target}"
    return (BLANK, Line(title), Line(command, Tone.HINT, verbatim=True))


_NO_EXACT_ANSWER = 3

_Frontier = Annotated[
    bool, typer.Option("--frontier", help="List the nodes not dominated in height, loss and suppression.")
]
_Cost = Annotated[
    str | None,
    typer.Option(
        "--cost",
        metavar="NAME",
        help="Cost of each answer; with --frontier, the cost compared with suppression; see below.",
    ),
]
_Neighbours = Annotated[
    bool, typer.Option("--neighbours", help="With --json: the effect of one level more or less.")
]
_Partial = Annotated[
    str | None,
    typer.Option(
        "--partial",
        metavar="P%",
        help="Count only the most important P percent of the nodes of each height.",
    ),
]
_Metric = Annotated[
    str | None,
    typer.Option(
        "--metric",
        metavar="NAME",
        help="With --partial, the metric that ranks nodes: lambda, gamma, mu, gamma-mu, or one with "
        "-product. [lambda]",
    ),
]
_NoRuntime = Annotated[
    bool, typer.Option("--no-runtime", help="With --partial: do not count the request's own node.")
]
_Attributes = Annotated[
    bool,
    typer.Option(
        "--attributes",
        help="Show suppression with one attribute at its top; text shows it without an exact answer.",
    ),
]
_LeftOutRows = Annotated[
    bool,
    typer.Option("--left-out", help="Show suppressed rows by value, for the owner only, not in a release."),
]
_Model = Annotated[
    str | None,
    typer.Option("--model", metavar="local", help="Answer by local recoding instead of full-domain levels."),
]
_Effort = Annotated[
    str | None,
    typer.Option("--effort", metavar="fast|N", help="With --model: N rounds of improvement. [fast]"),
]
_Bound = Annotated[
    bool, typer.Option("--bound", help="With --model: prove how much better any local recoding could be.")
]


def negotiate(
    spec: options.SpecPath,
    *,
    texts: options.RequestTexts,
    scope: options.ScopeOption = None,
    frontier: _Frontier = False,
    cost: _Cost = None,
    neighbours: _Neighbours = False,
    attributes: _Attributes = False,
    left_out: _LeftOutRows = False,
    partial: _Partial = None,
    metric: _Metric = None,
    no_runtime: _NoRuntime = False,
    model: _Model = None,
    effort: _Effort = None,
    bound: _Bound = False,
) -> int:
    """Find the lowest levels that meet the criteria, or relaxations.

    Options that are left out come from the spec's [request]. The exit status is 3 where there is no exact
    answer. If the lattice is too large to be evaluated, a partial one answers and reports its bounds.
    """
    from discreet.printing.document import BLANK
    from discreet.results.request_defaults import choose_cost
    from discreet.verbs.class_warnings import with_warnings

    table = options.open_table_of_spec(spec)
    request = options.parse_request(table, texts, scope)
    of_nodes = {
        "frontier": frontier,
        "cost": cost,
        "neighbours": neighbours,
        "attributes": attributes,
        "left_out": left_out,
        "partial": partial,
        "metric": metric,
        "no_runtime": no_runtime,
        "scope": scope,
    }
    if _is_local(model, of_nodes, {"effort": effort, "bound": bound}):
        return _answer_locally(table, request, spec, effort, bound=bound)
    resolved_cost = choose_cost(table.spec, declared_options.parse_cost(cost, table.spec))
    table.count_values()
    lattice = _choose_lattice(table, request, partial, metric, no_runtime=no_runtime, evaluated=frontier)
    result = with_warnings(table, lattice.with_costs(lattice.answer(request), resolved_cost))
    with_attributes = attributes or (result.exact is None and not output.prints_json())
    points = table.lattice_for(request.requirement).frontier_of(request, resolved_cost) if frontier else None
    suppressed_attributes = lattice.attribute_suppression_of(request) if with_attributes else None
    if output.prints_json():
        document = result.as_json() | _frontier_as_json(points)
        document |= _answer_details_as_json(result, lattice, neighbours=neighbours, left_out=left_out)
        if suppressed_attributes is not None:
            document["attributes"] = suppressed_attributes.as_json()
        output.print_json(document)
    else:
        publication = suggest_publication(result, spec, _output_options(table))
        _print_answer(result, lattice, suppressed_attributes, points, publication)
        if left_out and result.answers:
            output.print_document((BLANK, *lattice.left_out(result.answers[0]).document()))
    return 0 if result.exact is not None else _NO_EXACT_ANSWER


def _answer_details_as_json(
    result: NegotiationResult,
    lattice: TableLattice | TablePartialLattice,
    *,
    neighbours: bool,
    left_out: bool,
) -> dict[str, Any]:
    """Return the requested details of each answer in JSON: neighbours and suppressed rows."""
    details: dict[str, Any] = {}
    if neighbours:
        details["neighbours"] = [
            {"relaxed": a.relaxed, "steps": lattice.neighbours(a).as_json()} for a in result.answers
        ]
    if left_out:
        details["left_out"] = [
            {"relaxed": a.relaxed, **lattice.left_out(a).as_json()} for a in result.answers
        ]
    return details


def _frontier_as_json(points: FrontierResult | None) -> dict[str, Any]:
    """Return the frontier in JSON if it was computed, with the name of its cost."""
    if points is None:
        return {}
    named = {} if points.cost_name is None else {"frontier_cost": points.cost_name}
    return {"frontier": points.as_json(), **named}


def _choose_lattice(
    table: Table,
    request: Request,
    partial: str | None,
    metric: str | None,
    *,
    no_runtime: bool,
    evaluated: bool,
) -> TableLattice | TablePartialLattice:
    if partial is None:
        further = {"metric": metric, "no_runtime": no_runtime}
        options.refuse_given(further, "{} without --partial", advice="Add --partial 5%, say.")
        requirement = request.requirement
        return table.lattice_for(requirement) if evaluated else table.negotiable_lattice_for(requirement)
    if evaluated:
        raise InputError(
            "--frontier cannot be combined with --partial",
            allowed="one of the two",
            advice="The frontier needs every node; leave --partial out.",
        )
    return table.partial_lattice_for(
        request.requirement, partial, metric=metric or "lambda", runtime=not no_runtime
    )


def _print_answer(
    result: NegotiationResult,
    lattice: TableLattice | TablePartialLattice,
    suppressed_attributes: AttributeSuppressionResult | None,
    points: FrontierResult | None,
    steps: Document,
) -> None:
    from discreet.printing.document import BLANK

    output.print_document(result.document())
    if suppressed_attributes is not None:
        output.print_document((BLANK, *suppressed_attributes.document()))
    if result.answers:
        output.print_document((BLANK, *lattice.neighbours(result.answers[0]).document()))
    if points is not None:
        output.print_document((BLANK, *points.document()))
    output.print_document(steps)


def _output_options(table: Table) -> str:
    return FILE_OUTPUT if table.spec.source.url is None else TABLE_OUTPUT


def _is_local(model: str | None, of_nodes: Mapping[str, object], of_local: Mapping[str, object]) -> bool:
    """Return whether local recoding answers; ``InputError`` for options of the other kind of answer."""
    if model not in (None, "full-domain", "local", "cell-generalization"):
        raise InputError(f"--model {model}", allowed="local, full-domain")
    local = model in ("local", "cell-generalization")
    if local:
        options.refuse_given(of_nodes, "{} with --model local")
    else:
        options.refuse_given(of_local, "{} without --model local")
    return local


def _answer_locally(table: Table, request: Request, spec: Path, effort: str | None, *, bound: bool) -> int:
    rounds = "fast" if effort in (None, "fast") else options.parse_whole_option("--effort", effort) or 0
    result = table.negotiate_local(
        max_suppressed=str(request.max_suppressed),
        max_level=dict(request.max_level),
        min_level=dict(request.min_level),
        criteria=request.requirement.criteria,
        effort=rounds,
        bound=bound,
    )
    output.print_result(result)
    if result.exact is not None and not output.prints_json():
        output.print_document(suggest_local_publication(request, spec, effort, _output_options(table)))
    return 0 if result.exact is not None else _NO_EXACT_ANSWER
