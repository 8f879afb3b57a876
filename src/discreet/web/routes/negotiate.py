"""Negotiate: answers to requests, their history, the chosen node, and a socket for the moves of a slider."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response, WebSocket, WebSocketDisconnect
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool

from discreet.errors import DiscreetError
from discreet.model.request import bounds_of
from discreet.results.left_out import left_out
from discreet.results.node_summary import summarize_node
from discreet.screens.lattice_view import LatticeView
from discreet.screens.offers import offers_of
from discreet.web.chosen_node import (
    ChosenNode,
    RequirementBody,
    last_request,
    read_choice,
    write_choice,
)
from discreet.web.dependencies import CurrentJobs, CurrentWorkspace
from discreet.web.lattice_frames import Sent, answer_facts, frame, packed
from discreet.web.negotiation_forms import (
    AnswerBody,
    EvaluationBody,
    EvaluationStarted,
    Move,
    NodeBody,
    RequestOnly,
    ScreenState,
)
from discreet.web.negotiations import NOTHING, negotiation_of, start_evaluation
from discreet.web.next_moves import NextMoves
from discreet.web.problems import RESPONSES, Conflict, FieldError, error_json
from discreet.web.request_words import request_words
from discreet.web.requests import RequestBody
from discreet.web.steps import lattice_heights
from discreet.web.studies import studies_of
from discreet.web.workspace import Workspace

router = APIRouter(prefix="/api/negotiate", tags=["negotiate"], responses=RESPONSES)


@router.get("", summary="Where the negotiation stands")
def state(workspace: CurrentWorkspace) -> ScreenState:
    """Whether the lattice is evaluated, the last request, and the chosen node."""
    found, request, spec = negotiation_of(workspace), last_request(workspace), workspace.spec()
    return ScreenState(
        evaluated=found.view_for(request.request().requirement) is not None,
        job=found.job,
        request=request,
        choice=read_choice(workspace),
        requests=len(workspace.requests),
        heights=lattice_heights(workspace, spec, studies_of(workspace).known(spec.source)) or [],
    )


@router.post("/evaluation", summary="Evaluate the lattice", status_code=202)
def evaluation(
    workspace: CurrentWorkspace, jobs: CurrentJobs, body: EvaluationBody | None = None
) -> EvaluationStarted:
    """Start the job that counts the table and evaluates every node; the running one where there is one."""
    asked = None if body is None else body.request
    job = start_evaluation(workspace, jobs, NOTHING if asked is None else asked.request().requirement)
    return EvaluationStarted(job=job, evaluated=job is None)


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
    facts |= shown.frontier(view, requirement, body.request.named_cost())
    if suppressed:
        facts["suppressed"] = view.suppression(requirement).tolist()
    return facts


@router.post("/offers", summary="What else is within reach")
def offers(body: RequestOnly, workspace: CurrentWorkspace) -> dict[str, Any]:
    """Requests near this one that gain something for a small price; none where it has no exact answer."""
    request = body.request.request()
    _, view = negotiation_of(workspace).shown(request.requirement).current()
    result = view.source.answer(request)
    if result.outcome != "exact":
        return {"offers": []}
    found = offers_of(view, request, result.answers[0].answer.node)
    return {
        "offers": [
            {
                "gain": offer.gain,
                "price": offer.price,
                "place": view.place(offer.node),
                "levels": list(offer.node),
                "request": RequestBody.of_request(offer.request)
                .model_copy(update={"cost": body.request.cost})
                .model_dump(),
            }
            for offer in found
        ]
    }


@router.post("/left-out", summary="Who is suppressed")
def who_is_left_out(body: NodeBody, workspace: CurrentWorkspace) -> dict[str, Any]:
    """What a node suppresses, by value, and the attribute that costs most: for the publisher's eyes."""
    request = body.request.request()
    _, view = negotiation_of(workspace).shown(request.requirement).current()
    source = view.source
    requirement = request.requirement
    return left_out(
        source.frequency_set, source, source.lattice, source.node_of(body.levels), requirement
    ).as_json()


@router.get("/requests", summary="The history of requests")
def requests(workspace: CurrentWorkspace, last: Annotated[int, Query(ge=1, le=1000)] = 100) -> dict[str, Any]:
    """The last requests with their outcomes, the oldest first."""
    found = [e for e in workspace.requests.entries(last) if e.get("screen") == "negotiate"]
    return {"requests": [{**each, "asked": request_words(each["request"])} for each in found]}


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
    workspace.set_state("request", entry["request"])
    workspace.noted()
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
    write_choice(workspace, chosen)
    return chosen


@router.delete("/choice", summary="Choose nothing", status_code=204)
def unchoose(workspace: CurrentWorkspace) -> Response:
    """Forget the chosen node."""
    write_choice(workspace, None)
    return Response(status_code=204)


@router.websocket("/socket")
async def socket(socket: WebSocket, workspace: CurrentWorkspace) -> None:
    """One frame per message (``lattice_frames``); an error comes as a frame with ``error`` and no arrays."""
    await socket.accept()
    sent, ahead = Sent(), NextMoves()
    try:
        while True:
            text = await socket.receive_text()
            data, answered = await run_in_threadpool(_frame, workspace, text, sent)
            await socket.send_bytes(data)
            if answered is not None:
                ahead.begin(*answered)
    except WebSocketDisconnect:
        await ahead.end()


def _frame(
    workspace: Workspace, text: str, sent: Sent
) -> tuple[bytes, tuple[LatticeView, RequestBody] | None]:
    """A frame, and the view and the request that it answers; None where it tells an error."""
    number = 0
    try:
        try:
            move = Move.model_validate_json(text)
        except ValidationError as error:
            place = ".".join(str(part) for part in error.errors()[0]["loc"])
            raise FieldError(f"{place or 'the move'} has another form", field=place) from None
        number = move.id
        shown = negotiation_of(workspace).shown(move.request.request().requirement)
        return frame(shown, move, sent), (shown.current()[1], move.request)
    except DiscreetError as error:
        return packed({"id": number, **error_json(error)}, {}), None
