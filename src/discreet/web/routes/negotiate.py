"""Routes of screen 4, Negotiate: answers, their log, the chosen node, nodes of the lattice, the socket."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Response, WebSocket, WebSocketDisconnect
from numpy.typing import NDArray
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool

from discreet.errors import DiscreetError
from discreet.model.request import Request, node_bounds
from discreet.results.node_rows import preview_rows, report_suppression
from discreet.results.node_summary import summarize_node
from discreet.screens.lattice_view import LatticeView
from discreet.screens.nearby_requests import find_nearby_requests
from discreet.web.error_responses import RESPONSES, Conflict, FieldError, error_json
from discreet.web.lattice_frames import NegotiableView, SentState, answer_facts, build_frame, pack_frame
from discreet.web.negotiation_forms import (
    AnswerBody,
    ChosenNode,
    ComparisonBody,
    EvaluationBody,
    EvaluationStarted,
    NodeBody,
    NodesBody,
    RequestBody,
    RequestOnly,
    RequirementBody,
    RowsBody,
    ScreenState,
    SocketMove,
    last_request,
    read_chosen_node,
    write_chosen_node,
)
from discreet.web.negotiations import NO_REQUIREMENT, lattice_facts, negotiation_of, start_evaluation
from discreet.web.request_guard import CurrentJobs, CurrentWorkspace
from discreet.web.screen_messages import describe_request
from discreet.web.step_progress import lattice_heights, profile_cache_of
from discreet.web.workspace import Workspace

router = APIRouter(prefix="/api/negotiate", tags=["negotiate"], responses=RESPONSES)


@router.get("", summary="State of the negotiation")
def state(workspace: CurrentWorkspace) -> ScreenState:
    """Return the state of the negotiation: evaluation, last request, and chosen node."""
    found, request, spec = negotiation_of(workspace), last_request(workspace), workspace.spec()
    return ScreenState(
        evaluated=found.view_for(request.request().requirement) is not None,
        job=found.job,
        request=request,
        choice=read_chosen_node(workspace),
        requests=len(workspace.requests),
        heights=lattice_heights(workspace, spec, profile_cache_of(workspace).find(spec.source)) or [],
    )


@router.post("/evaluation", summary="Evaluate the lattice", status_code=202)
def evaluation(
    workspace: CurrentWorkspace, jobs: CurrentJobs, body: EvaluationBody | None = None
) -> EvaluationStarted:
    """Start the job that counts the table and evaluates every node, or return the running one."""
    request = None if body is None else body.request
    job = start_evaluation(
        workspace, jobs, NO_REQUIREMENT if request is None else request.request().requirement
    )
    return EvaluationStarted(job=job, evaluated=job is None)


@router.post("/answer", summary="The answer to a request")
def answer(
    body: AnswerBody,
    workspace: CurrentWorkspace,
    suppressed: Annotated[bool, Query(description="Add the suppressed rows of every node.")] = False,
) -> dict[str, Any]:
    """Return a socket frame's header as JSON: outcome, sentences, answers, cards, and one node."""
    negotiable_view = negotiation_of(workspace).negotiable_view(body.request.request().requirement)
    facts, result, _, view = answer_facts(negotiable_view, body.request, body.levels)
    requirement = result.request.requirement
    facts |= negotiable_view.frontier(view, requirement, body.request.named_cost())
    if suppressed:
        facts["suppressed"] = view.suppression(requirement).tolist()
    return facts


@router.post("/offers", summary="Nearby requests")
def offers(body: RequestOnly, workspace: CurrentWorkspace) -> dict[str, Any]:
    """Return requests near this one that gain something for a small price; none without an exact answer."""
    request = body.request.request()
    _, view = negotiation_of(workspace).negotiable_view(request.requirement).current()
    result = view.source.answer(request)
    if result.outcome != "exact":
        return {"offers": []}
    found = find_nearby_requests(view, request, result.answers[0].answer.node)
    return {
        "offers": [
            {
                "gain": offer.gain,
                "price": offer.price,
                "place": view.position(offer.node),
                "levels": list(offer.node),
                "request": RequestBody.of_request(offer.request, body.request.cost).model_dump(),
            }
            for offer in found
        ]
    }


@router.post("/left-out", summary="Suppressed rows")
def report_suppressed(body: NodeBody, workspace: CurrentWorkspace) -> dict[str, Any]:
    """Report the rows that a node suppresses, by value, and the attribute that costs most.

    The answer contains real values and is only for the publisher.
    """
    request = body.request.request()
    _, view = negotiation_of(workspace).negotiable_view(request.requirement).current()
    source = view.source
    requirement = request.requirement
    return report_suppression(
        source.frequency_set, source.suppressed, source.lattice, source.node_of(body.levels), requirement
    ).as_json()


@router.get("/requests", summary="The history of requests")
def requests(workspace: CurrentWorkspace, last: Annotated[int, Query(ge=1, le=1000)] = 100) -> dict[str, Any]:
    """Return the last requests with their outcomes, the oldest first."""
    found = [e for e in workspace.requests.entries(last) if e.get("screen") == "negotiate"]
    return {"requests": [{**each, "asked": describe_request(each["request"])} for each in found]}


@router.post("/requests", summary="Add a request to the history", status_code=201)
def keep_request(body: RequestOnly, workspace: CurrentWorkspace) -> dict[str, Any]:
    """Answer a request again, and append it to the history with its outcome."""
    request = body.request.request()
    negotiable_view = negotiation_of(workspace).negotiable_view(request.requirement)
    result = negotiable_view.current()[1].source.answer(request)
    first = result.answers[0].as_json() if result.answers else None
    entry = {
        "screen": "negotiate",
        "request": body.request.model_dump(),
        "outcome": result.outcome,
        "answer": first,
    }
    workspace.set_state("request", entry["request"])
    workspace.record_version()
    return workspace.requests.append(entry)


@router.post("/spec", summary="Write the request into the spec")
def save_request(body: RequestOnly, workspace: CurrentWorkspace) -> dict[str, str]:
    """Write this request into the spec's ``[request]``, so that the command line uses it."""
    request = body.request.request()
    negotiable_view = negotiation_of(workspace).negotiable_view(request.requirement)
    node_bounds(negotiable_view.current()[1].source.lattice, request)
    with workspace.edit_lock:
        document = {**workspace.document(), "request": body.request.as_spec()}
        return {"version": workspace.save_spec(document)}


@router.get("/choice", summary="The chosen node")
def choice(workspace: CurrentWorkspace) -> ChosenNode | None:
    """Return the node that was chosen for the release, or null."""
    return read_chosen_node(workspace)


@router.put("/choice", summary="Choose a node")
def choose(body: NodeBody, workspace: CurrentWorkspace) -> ChosenNode:
    """Choose a node for the release; ``conflict`` if it suppresses more rows than the request allows."""
    request = body.request.request()
    _, view = negotiation_of(workspace).negotiable_view(request.requirement).current()
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
        heights=dict(zip(view.source.lattice.attributes, view.source.lattice.heights, strict=True)),
        requirement=RequirementBody(k=body.request.k, l=body.request.l, criteria=body.request.criteria),
        max_suppressed=body.request.max_suppressed,
        height=summary.height,
        loss=summary.loss,
        suppressed=summary.suppressed,
        rows=summary.rows,
        unit=summary.unit,
        homogeneous=summary.homogeneous,
        request=body.request,
        of=workspace.table_digest(),
        stale=False,
    )
    write_chosen_node(workspace, chosen)
    return chosen


@router.delete("/choice", summary="Remove the chosen node", status_code=204)
def unchoose(workspace: CurrentWorkspace) -> Response:
    """Remove the chosen node."""
    write_chosen_node(workspace, None)
    return Response(status_code=204)


@router.websocket("/socket")
async def socket(socket: WebSocket, workspace: CurrentWorkspace) -> None:
    """Answer each message with one frame (``lattice_frames``).

    An error is a frame with ``error`` and no arrays.
    """
    await socket.accept()
    sent = SentState()
    with suppress(WebSocketDisconnect):
        while True:
            text = await socket.receive_text()
            await socket.send_bytes(await run_in_threadpool(_answer_move, workspace, text, sent))


def _answer_move(workspace: Workspace, text: str, sent: SentState) -> bytes:
    """Return the frame that answers a message; an error is a frame, too."""
    number = 0
    try:
        try:
            move = SocketMove.model_validate_json(text)
        except ValidationError as error:
            position = ".".join(str(part) for part in error.errors()[0]["loc"])
            raise FieldError(f"{position or 'the move'} is malformed", field=position) from None
        number = move.id
        negotiable_view = negotiation_of(workspace).negotiable_view(move.request.request().requirement)
        return build_frame(negotiable_view, move, sent)
    except DiscreetError as error:
        return pack_frame({"id": number, **error_json(error)}, {})


@router.get("/lattice", summary="The lattice without a request")
def lattice(workspace: CurrentWorkspace) -> dict[str, Any]:
    """Return attributes with heights and labels of each level, nodes per height, and the spec's request."""
    found = negotiation_of(workspace)
    version, view = found.negotiable_view().current()
    return lattice_facts(view, version, found.table.spec)


@router.post("/frontier", summary="The nondominated nodes")
def frontier(body: RequestOnly, workspace: CurrentWorkspace) -> dict[str, Any]:
    """Return the nodes not dominated in height, loss and suppressed rows, with these three values."""
    request, negotiable_view, view = _resolve_request(workspace, body)
    suppressed = view.suppression(request.requirement)
    found = negotiable_view.frontier(view, request.requirement, body.request.named_cost())
    rows = [_node_row(view, position, int(suppressed[position])) for position in found["frontier"]]
    frontier_cost = {} if "frontier_cost" not in found else {"frontier_cost": found["frontier_cost"]}
    return {
        "limit": request.max_suppressed.of(view.source.rows),
        "rows": view.source.rows,
        "nodes": rows,
        **frontier_cost,
    }


@router.post("/node", summary="One node")
def node(body: NodeBody, workspace: CurrentWorkspace) -> dict[str, Any]:
    """Return levels, loss, suppressed rows, class sizes and distinct values of a node, and its neighbours."""
    request, _, view = _resolve_request(workspace, body)
    source, requirement = view.source, request.requirement
    found = source.node_of(body.levels)
    around = source.neighbours(body.levels, criteria=requirement.criteria)
    summary = source.summary_of(found, requirement, body.request.named_cost())
    return {**summary.as_json(), "neighbours": around.as_json()}


@router.post("/comparison", summary="Compare nodes")
def comparison(body: ComparisonBody, workspace: CurrentWorkspace) -> dict[str, Any]:
    """Return the summaries of several nodes under one request."""
    request, _, view = _resolve_request(workspace, body)
    low, high = node_bounds(view.source.lattice, request)
    limit = request.max_suppressed.of(view.source.rows)
    found = []
    for levels in body.nodes:
        position = view.source.node_of(levels)
        summary = view.source.summary_of(position, request.requirement, body.request.named_cost())
        inside = all(a <= b <= c for a, b, c in zip(low, position, high, strict=True))
        found.append({**summary.as_json(), "meets": summary.suppressed <= limit, "within_levels": inside})
    return {"requirement": str(request.requirement), "limit": limit, "nodes": found}


@router.post("/rows", summary="Some rows before and after")
def rows(body: RowsBody, workspace: CurrentWorkspace) -> dict[str, Any]:
    """Return row types before and after the generalization of a node: real values, only for the publisher."""
    request, _, view = _resolve_request(workspace, body)
    found = view.source.node_of(body.levels)
    return preview_rows(view.source.frequency_set, found, request.requirement, body.number).as_json()


@router.post("/nodes", summary="A page of the table of nodes")
def nodes(body: NodesBody, workspace: CurrentWorkspace) -> dict[str, Any]:
    """Return levels, height, loss and suppressed rows of nodes, and whether each meets the request."""
    request, negotiable_view, view = _resolve_request(workspace, body)
    low, high = node_bounds(view.source.lattice, request)
    suppressed = view.suppression(request.requirement)
    limit = request.max_suppressed.of(view.source.rows)
    meets = (suppressed <= limit) & (view.levels >= low).all(axis=1) & (view.levels <= high).all(axis=1)
    positions = np.arange(view.nodes)
    if body.only == "meets":
        positions = np.flatnonzero(meets)
    elif body.only == "frontier":
        positions = _frontier_positions(negotiable_view, view, body)
    if body.order != "height":
        key = suppressed if body.order == "suppressed" else view.losses
        positions = positions[np.argsort(key[positions], kind="stable")]
    page = positions[body.first : body.first + body.number].tolist()
    return {
        "total": len(positions),
        "first": body.first,
        "attributes": list(view.source.lattice.attributes),
        "nodes": [{**_node_row(view, p, int(suppressed[p])), "meets": bool(meets[p])} for p in page],
    }


@router.post("/attributes", summary="Suppression with one attribute at its top")
def attributes(body: RequestOnly, workspace: CurrentWorkspace) -> dict[str, Any]:
    """Return the suppressed rows of the request with each attribute generalized to its top in turn."""
    request, _, view = _resolve_request(workspace, body)
    found = view.source.attribute_suppression_of(request)
    return {"rows": view.source.rows, "attributes": found.as_json()}


def _frontier_positions(
    negotiable_view: NegotiableView, view: LatticeView, body: RequestOnly
) -> NDArray[np.int64]:
    found = negotiable_view.frontier(view, body.request.request().requirement, body.request.named_cost())
    return np.array(found["frontier"], dtype=np.int64)


def _resolve_request(workspace: Workspace, body: RequestOnly) -> tuple[Request, NegotiableView, LatticeView]:
    """Return a request, and the view that answers it; raise ``InputError`` for a non-sensitive attribute."""
    request = body.request.request()
    negotiable_view = negotiation_of(workspace).negotiable_view(request.requirement)
    _, view = negotiable_view.current()
    request.requirement.check(view.source.frequency_set.sensitive_attributes)
    return request, negotiable_view, view


def _node_row(view: LatticeView, position: int, suppressed: int) -> dict[str, Any]:
    levels = view.levels[position].tolist()
    return {
        "place": position,
        "levels": dict(zip(view.source.lattice.attributes, levels, strict=True)),
        "height": sum(levels),
        "loss": float(view.losses[position]),
        "suppressed": suppressed,
    }
