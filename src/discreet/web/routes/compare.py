"""Routes of Compare: saved answers, releases and models with the same metrics, and original rows in pairs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path
from fastapi.responses import Response
from pydantic import Field

from discreet.web.comparisons import (
    SavedAnswer,
    comparison_document,
    contender_metrics,
    find_paired_rows,
    measure_candidates,
    node_points,
    remove_answer,
    save_answer,
    saved_answers,
)
from discreet.web.error_responses import RESPONSES, NotFound
from discreet.web.job_queue import JobStarted
from discreet.web.negotiation_forms import RequestOnly, StrictBody
from discreet.web.negotiations import negotiation_of
from discreet.web.request_guard import CurrentJobs, CurrentWorkspace

router = APIRouter(prefix="/api/compare", tags=["compare"], responses=RESPONSES)


class CompareBody(StrictBody):
    """Options of a measurement."""

    every_model: bool = Field(False, description="Also try every model under the last request.")


class SaveBody(RequestOnly):
    """An answer to save."""

    name: str = Field(max_length=80)
    levels: dict[str, int]


class PairedRowsBody(StrictBody):
    """A page of the original's rows paired with those of a saved answer or a release."""

    kind: Literal["answer", "release"]
    name: str = Field(max_length=200)
    first: int = Field(0, ge=0)
    number: int = Field(60, ge=1, le=500)
    which: Literal["all", "changed", "left-out"] = "all"
    left_out: bool = Field(False, description="Include suppressed rows.")


@router.get("", summary="Contenders")
def overview(workspace: CurrentWorkspace) -> dict[str, Any]:
    """Return the candidates with their letters and known metrics, and the number still to measure."""
    if not workspace.has_spec:
        return {"request": None, "candidates": [], "best": {}, "queries": 0, "missing": 0}
    workspace.spec().require_quasi_identifiers()
    return comparison_document(workspace, contender_metrics(workspace))


@router.post("/jobs", summary="Measure the candidates", status_code=202)
def start(body: CompareBody, workspace: CurrentWorkspace, jobs: CurrentJobs) -> JobStarted:
    """Start the job that measures candidates without metrics; its result is the comparison."""
    if not workspace.has_spec:
        raise NotFound("there is no spec yet", advice="Load a table first.")
    title = "Trying every model" if body.every_model else "Measuring the candidates"
    return JobStarted(
        job=jobs.start(
            title, lambda reporter: measure_candidates(workspace, reporter, every_model=body.every_model)
        )
    )


@router.post("/nodes", summary="All nodes as points")
def nodes(body: RequestOnly, workspace: CurrentWorkspace) -> dict[str, Any]:
    """Return detail, mean risk and verdict of the request for each node, and the frontier."""
    requirement = body.request.request().requirement
    return node_points(negotiation_of(workspace).negotiable_view(requirement).current()[1], body.request)


@router.get("/saved", summary="The saved answers")
def saved(workspace: CurrentWorkspace) -> list[SavedAnswer]:
    """Return the saved answers, the oldest first."""
    return saved_answers(workspace)


@router.post("/saved", summary="Save an answer", status_code=201)
def save(body: SaveBody, workspace: CurrentWorkspace) -> list[SavedAnswer]:
    """Save a node of the lattice by name, with the request that it answers."""
    requirement = body.request.request().requirement
    negotiable_view = negotiation_of(workspace).negotiable_view(requirement)
    view = negotiable_view.current()[1]
    node = view.source.node_of(body.levels)
    effects = negotiable_view.effects(view).of_node(node, requirement)
    answer = SavedAnswer(
        name=body.name,
        levels=view.source.lattice.levels_of(node),
        request=body.request,
        suppressed=view.source.rows - int(effects.published_rows.sum()),
        detail=effects.detail,
        of="",
        stale=False,
    )
    save_answer(workspace, answer)
    return saved_answers(workspace)


@router.delete("/saved/{name}", summary="Remove a saved answer", status_code=204)
def forget(
    name: Annotated[str, Path(max_length=80, description="Its name.")], workspace: CurrentWorkspace
) -> Response:
    """Remove a saved answer; releases published from it are kept."""
    remove_answer(workspace, name)
    return Response(status_code=204)


@router.post("/rows", summary="Paired rows")
def rows(body: PairedRowsBody, workspace: CurrentWorkspace) -> dict[str, Any]:
    """Return a page of rows before and after the release: real values, only for the owner.

    Suppressed rows are counted, and shown only with ``left_out``.
    """
    pairs = find_paired_rows(workspace, body.kind, body.name)
    if pairs is None:
        return {"linked": False, "attributes": [], "total": 0, "rows": [], "left_out": None, "first": 0}
    page = pairs.page(body.first, body.number, body.which, with_left_out=body.left_out)
    answer = {"linked": True, "attributes": list(pairs.table.attributes), "people": pairs.table.rows}
    return {**answer, "left_out": pairs.left_out, **page}
