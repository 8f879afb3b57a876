"""Negotiate: the lattice, answers to requests, single nodes, and a socket for the moves of a slider."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Query, Response, WebSocket, WebSocketDisconnect
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.concurrency import run_in_threadpool

from discreet.errors import DiscreetError, InputError
from discreet.model.request import bounds_of
from discreet.web.chosen_node import (
    ChosenNode,
    RequirementBody,
    forget_choice,
    read_choice,
    write_choice,
)
from discreet.web.dependencies import CurrentJobs, CurrentWorkspace
from discreet.web.lattice_frames import Sent, answer_facts, frame, packed
from discreet.web.negotiations import NOTHING, lattice_facts, negotiation_of, start_evaluation
from discreet.web.problems import RESPONSES, Conflict, FieldError, error_json
from discreet.web.requests import RequestBody
from discreet.web.workspace import Workspace
from discreet.workbench.lattice_view import LatticeView
from discreet.workbench.node_summary import summarize_node
from discreet.workbench.row_preview import preview_rows

router = APIRouter(prefix="/api/negotiate", tags=["negotiate"], responses=RESPONSES)

_MOST_SHOWN = 2000
Levels = dict[str, int]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class AnswerBody(_Body):
    """A request, and the node to sum up (the answer's own where none is given)."""

    request: RequestBody
    levels: Levels | None = Field(None, description="A node, by quasi-identifier; 0 where not named.")


class NodeBody(_Body):
    """A node under a request."""

    request: RequestBody
    levels: Levels = Field(description="A node, by quasi-identifier; 0 where not named.")


class ComparisonBody(_Body):
    """Nodes to put side by side under one request."""

    request: RequestBody
    nodes: list[Levels] = Field(min_length=1, max_length=8)


class RowsBody(NodeBody):
    """A node whose rows to preview."""

    number: int = Field(6, ge=1, le=50, description="Row types to show.")


class NodesBody(_Body):
    """A page of the table of nodes."""

    request: RequestBody
    first: int = Field(0, ge=0, le=10**9, description="How many nodes to pass over.")
    number: int = Field(50, ge=1, le=_MOST_SHOWN)
    order: Literal["height", "suppressed", "loss"] = "height"
    only: Literal["all", "meets", "frontier"] = "all"


class RequestOnly(_Body):
    """A request."""

    request: RequestBody


class EvaluationBody(_Body):
    """What the lattice is to answer."""

    request: RequestBody | None = Field(None, description="A request; without one k and every l are counted.")


class ScreenState(BaseModel):
    """Where the negotiation stands."""

    evaluated: bool = Field(description="Whether the lattice is there, so that requests can be answered.")
    job: str | None = Field(description="The job that evaluates it, if one was started.")
    request: RequestBody = Field(description="The request asked last, else the spec's.")
    choice: ChosenNode | None = Field(description="The node that was chosen.")
    requests: int = Field(description="Requests in the history.")


class EvaluationStarted(BaseModel):
    """The job to follow; null where there is nothing to wait for."""

    job: str | None
    evaluated: bool


@router.get("", summary="Where the negotiation stands")
def state(workspace: CurrentWorkspace) -> ScreenState:
    """Whether the lattice is evaluated, the last request, and the chosen node."""
    found, request = negotiation_of(workspace), _last_request(workspace)
    return ScreenState(
        evaluated=found.view_for(request.request().requirement) is not None,
        job=found.job,
        request=request,
        choice=read_choice(workspace),
        requests=len(workspace.requests),
    )


@router.post("/evaluation", summary="Evaluate the lattice", status_code=202)
def evaluation(
    workspace: CurrentWorkspace, jobs: CurrentJobs, body: EvaluationBody | None = None
) -> EvaluationStarted:
    """Start the job that counts the table and evaluates every node; the running one where there is one."""
    asked = None if body is None else body.request
    job = start_evaluation(workspace, jobs, NOTHING if asked is None else asked.request().requirement)
    return EvaluationStarted(job=job, evaluated=job is None)


@router.get("/lattice", summary="The lattice before any request")
def lattice(workspace: CurrentWorkspace) -> dict[str, Any]:
    """Attributes with heights and what each level shows, nodes per height, and the spec's request."""
    found = negotiation_of(workspace)
    version, view = found.shown().current()
    return lattice_facts(view, version, found.table.spec)


@router.post("/answer", summary="The answer to a request")
def answer(
    body: AnswerBody,
    workspace: CurrentWorkspace,
    suppressed: Annotated[bool, Query(description="Add the suppressed rows of every node.")] = False,
) -> dict[str, Any]:
    """What the socket sends for a move of a slider, as JSON: outcome, sentences, answers, cards, one node."""
    shown = negotiation_of(workspace).shown(body.request.request().requirement)
    facts, result, _, view = answer_facts(shown, body.request, body.levels)
    requirement = result.request.requirement
    facts["frontier"] = shown.frontier(view, requirement)
    if suppressed:
        facts["suppressed"] = view.suppression(requirement).tolist()
    return facts


@router.post("/frontier", summary="The nodes that no other beats")
def frontier(body: RequestOnly, workspace: CurrentWorkspace) -> dict[str, Any]:
    """The nodes not dominated in height, loss and suppressed rows, with the three."""
    request = body.request.request()
    shown = negotiation_of(workspace).shown(request.requirement)
    _, view = shown.current()
    request.requirement.check(view.source.frequency_set.sensitive_attributes)
    suppressed = view.suppression(request.requirement)
    places = shown.frontier(view, request.requirement)
    return {
        "limit": request.max_suppressed.of(view.source.rows),
        "rows": view.source.rows,
        "nodes": [_node_row(view, place, int(suppressed[place])) for place in places],
    }


@router.post("/node", summary="One node")
def node(body: NodeBody, workspace: CurrentWorkspace) -> dict[str, Any]:
    """Levels, loss, suppressed rows, class sizes, distinct values; and each neighbour's suppressed rows."""
    requirement = body.request.request().requirement
    _, view = negotiation_of(workspace).shown(requirement).current()
    source = view.source
    found = source.node_of(body.levels)
    requirement.check(source.frequency_set.sensitive_attributes)
    around = source.neighbours(body.levels, criteria=requirement.criteria)
    return {**summarize_node(source, found, requirement).as_json(), "neighbours": around.as_json()}


@router.post("/comparison", summary="Nodes side by side")
def comparison(body: ComparisonBody, workspace: CurrentWorkspace) -> dict[str, Any]:
    """Several nodes summed up under one request."""
    request = body.request.request()
    _, view = negotiation_of(workspace).shown(request.requirement).current()
    low, high = bounds_of(view.source.lattice, request)
    limit = request.max_suppressed.of(view.source.rows)
    found = []
    for levels in body.nodes:
        place = view.source.node_of(levels)
        summary = summarize_node(view.source, place, request.requirement)
        inside = all(a <= b <= c for a, b, c in zip(low, place, high, strict=True))
        found.append({**summary.as_json(), "meets": summary.suppressed <= limit, "within_levels": inside})
    return {"requirement": str(request.requirement), "limit": limit, "nodes": found}


@router.post("/rows", summary="Some rows before and after")
def rows(body: RowsBody, workspace: CurrentWorkspace) -> dict[str, Any]:
    """Row types before and after the generalization of a node: real values, for the publisher's eyes only."""
    requirement = body.request.request().requirement
    _, view = negotiation_of(workspace).shown(requirement).current()
    found = view.source.node_of(body.levels)
    return preview_rows(view.source.frequency_set, found, requirement, body.number).as_json()


@router.post("/nodes", summary="A page of the table of nodes")
def nodes(body: NodesBody, workspace: CurrentWorkspace) -> dict[str, Any]:
    """Levels, height, loss and suppressed rows of nodes, and whether each meets the request."""
    request = body.request.request()
    shown = negotiation_of(workspace).shown(request.requirement)
    _, view = shown.current()
    request.requirement.check(view.source.frequency_set.sensitive_attributes)
    low, high = bounds_of(view.source.lattice, request)
    suppressed = view.suppression(request.requirement)
    limit = request.max_suppressed.of(view.source.rows)
    meets = (suppressed <= limit) & (view.levels >= low).all(axis=1) & (view.levels <= high).all(axis=1)
    places = np.arange(view.nodes)
    if body.only == "meets":
        places = np.flatnonzero(meets)
    elif body.only == "frontier":
        places = np.array(shown.frontier(view, request.requirement), dtype=np.int64)
    if body.order != "height":
        key = suppressed if body.order == "suppressed" else view.losses
        places = places[np.argsort(key[places], kind="stable")]
    page = places[body.first : body.first + body.number].tolist()
    return {
        "total": len(places),
        "first": body.first,
        "attributes": list(view.source.lattice.attributes),
        "nodes": [{**_node_row(view, p, int(suppressed[p])), "meets": bool(meets[p])} for p in page],
    }


@router.post("/attributes", summary="What giving up one attribute would buy")
def attributes(body: RequestOnly, workspace: CurrentWorkspace) -> dict[str, Any]:
    """The same request with each attribute at its top in turn."""
    request = body.request.request()
    _, view = negotiation_of(workspace).shown(request.requirement).current()
    found = view.source.attribute_suppression_of(request)
    return {"rows": view.source.rows, "attributes": found.as_json()}


@router.get("/requests", summary="The history of requests")
def requests(workspace: CurrentWorkspace, last: Annotated[int, Query(ge=1, le=1000)] = 100) -> dict[str, Any]:
    """The last requests with their outcomes, the oldest first."""
    return {"requests": [e for e in workspace.requests.entries(last) if e.get("screen") == "negotiate"]}


@router.post("/requests", summary="Keep a request in the history", status_code=201)
def keep_request(body: RequestOnly, workspace: CurrentWorkspace) -> dict[str, Any]:
    """Answer a request once more, and append it with its outcome."""
    request = body.request.request()
    shown = negotiation_of(workspace).shown(request.requirement)
    result = shown.current()[1].source.answer(request)
    first = result.answers[0].as_json() if result.answers else None
    entry = {
        "screen": "negotiate",
        "request": body.request.model_dump(),
        "outcome": result.outcome,
        "answer": first,
    }
    return workspace.requests.append(entry)


@router.post("/spec", summary="Write the request into the spec")
def save_request(body: RequestOnly, workspace: CurrentWorkspace) -> dict[str, str]:
    """The spec's ``[request]`` becomes this request: the command line then asks the same."""
    request = body.request.request()
    shown = negotiation_of(workspace).shown(request.requirement)
    bounds_of(shown.current()[1].source.lattice, request)
    with workspace.editing:
        document = {**workspace.document(), "request": body.request.as_spec()}
        return {"version": workspace.save_spec(document)}


@router.get("/choice", summary="The chosen node")
def choice(workspace: CurrentWorkspace) -> ChosenNode | None:
    """The node that was chosen for the release, or null."""
    return read_choice(workspace)


@router.put("/choice", summary="Choose a node")
def choose(body: NodeBody, workspace: CurrentWorkspace) -> ChosenNode:
    """Choose a node for the release; ``conflict`` where it suppresses more rows than the request allows."""
    request = body.request.request()
    _, view = negotiation_of(workspace).shown(request.requirement).current()
    found = view.source.node_of(body.levels)
    summary = summarize_node(view.source, found, request.requirement)
    limit = request.max_suppressed.of(summary.rows)
    if summary.suppressed > limit:
        raise Conflict(
            f"the node suppresses {summary.suppressed:,} rows; the request allows {limit:,}",
            advice="Choose a node that meets the request, or relax it.",
        )
    chosen = ChosenNode(
        levels=summary.levels,
        requirement=RequirementBody(k=body.request.k, l=body.request.l, criteria=body.request.criteria),
        max_suppressed=body.request.max_suppressed,
        height=summary.height,
        loss=summary.loss,
        suppressed=summary.suppressed,
        rows=summary.rows,
        request=body.request,
    )
    write_choice(workspace, chosen)
    return chosen


@router.delete("/choice", summary="Choose nothing", status_code=204)
def unchoose(workspace: CurrentWorkspace) -> Response:
    """Forget the chosen node."""
    forget_choice(workspace)
    return Response(status_code=204)


class Move(_Body):
    """What a page sends over the socket: a request, the node it looks at, and what else it wants."""

    id: int = Field(0, ge=0, le=2**53)
    request: RequestBody
    levels: Levels | None = None
    frontier: bool = False


@router.websocket("/socket")
async def socket(socket: WebSocket, workspace: CurrentWorkspace) -> None:
    """One frame per message (``lattice_frames``); an error comes as a frame with ``error`` and no arrays."""
    await socket.accept()
    sent = Sent()
    try:
        while True:
            text = await socket.receive_text()
            await socket.send_bytes(await run_in_threadpool(_frame, workspace, text, sent))
    except WebSocketDisconnect:
        return


def _frame(workspace: Workspace, text: str, sent: Sent) -> bytes:
    number = 0
    try:
        try:
            move = Move.model_validate_json(text)
        except ValidationError as error:
            place = ".".join(str(part) for part in error.errors()[0]["loc"])
            raise FieldError(f"{place or 'the move'} has another form", field=place) from None
        number = move.id
        shown = negotiation_of(workspace).shown(move.request.request().requirement)
        return frame(shown, move.request, sent, number=number, levels=move.levels, frontier=move.frontier)
    except DiscreetError as error:
        return packed({"id": number, **error_json(error)}, {})


def _last_request(workspace: Workspace) -> RequestBody:
    """The request asked last, where it fits the spec, from the spec's least levels on; else the spec's."""
    spec = workspace.spec()
    names = {a.name for a in spec.quasi_identifiers}
    for entry in reversed(workspace.requests.entries(20)):
        if entry.get("screen") != "negotiate":
            continue
        try:
            found = RequestBody.model_validate(entry.get("request"))
        except ValidationError:
            continue
        with suppress(InputError):  # a criterion of another package, or of a column of another role by now
            found.request().requirement.bound([a.name for a in spec.sensitive])
            if {*found.max_level, *found.min_level} <= names:
                return found.model_copy(update={"min_level": {**spec.request.min_level, **found.min_level}})
    return RequestBody.of_defaults(spec.request)


def _node_row(view: LatticeView, place: int, suppressed: int) -> dict[str, Any]:
    levels = view.levels[place].tolist()
    return {
        "place": place,
        "levels": dict(zip(view.source.lattice.attributes, levels, strict=True)),
        "height": sum(levels),
        "loss": float(view.losses[place]),
        "suppressed": suppressed,
    }
