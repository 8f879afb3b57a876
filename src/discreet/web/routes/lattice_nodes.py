"""Negotiate: the nodes of the lattice under a request: one, some side by side, all of them, their rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from fastapi import APIRouter
from numpy.typing import NDArray

from discreet.model.request import Request, bounds_of
from discreet.results.row_preview import preview_rows
from discreet.screens.lattice_view import LatticeView
from discreet.web.dependencies import CurrentWorkspace
from discreet.web.lattice_frames import NegotiableView
from discreet.web.negotiation_forms import ComparisonBody, NodeBody, NodesBody, RequestOnly, RowsBody
from discreet.web.negotiations import lattice_facts, negotiation_of
from discreet.web.problems import RESPONSES
from discreet.web.workspace import Workspace

router = APIRouter(prefix="/api/negotiate", tags=["negotiate"], responses=RESPONSES)


@router.get("/lattice", summary="The lattice before any request")
def lattice(workspace: CurrentWorkspace) -> dict[str, Any]:
    """Attributes with heights and what each level shows, nodes per height, and the spec's request."""
    found = negotiation_of(workspace)
    version, view = found.shown().current()
    return lattice_facts(view, version, found.table.spec)


@router.post("/frontier", summary="The nodes that no other beats")
def frontier(body: RequestOnly, workspace: CurrentWorkspace) -> dict[str, Any]:
    """The nodes not dominated in height, loss and suppressed rows, with the three."""
    request, shown, view = _asked(workspace, body)
    suppressed = view.suppression(request.requirement)
    found = shown.frontier(view, request.requirement, body.request.named_cost())
    rows = [_node_row(view, place, int(suppressed[place])) for place in found["frontier"]]
    told = {} if "frontier_cost" not in found else {"frontier_cost": found["frontier_cost"]}
    return {
        "limit": request.max_suppressed.of(view.source.rows),
        "rows": view.source.rows,
        "nodes": rows,
        **told,
    }


@router.post("/node", summary="One node")
def node(body: NodeBody, workspace: CurrentWorkspace) -> dict[str, Any]:
    """Levels, loss, suppressed rows, class sizes, distinct values; and each neighbour's suppressed rows."""
    request, _, view = _asked(workspace, body)
    source, requirement = view.source, request.requirement
    found = source.node_of(body.levels)
    around = source.neighbours(body.levels, criteria=requirement.criteria)
    summary = source.summary_of(found, requirement, body.request.named_cost())
    return {**summary.as_json(), "neighbours": around.as_json()}


@router.post("/comparison", summary="Nodes side by side")
def comparison(body: ComparisonBody, workspace: CurrentWorkspace) -> dict[str, Any]:
    """Several nodes summed up under one request."""
    request, _, view = _asked(workspace, body)
    low, high = bounds_of(view.source.lattice, request)
    limit = request.max_suppressed.of(view.source.rows)
    found = []
    for levels in body.nodes:
        place = view.source.node_of(levels)
        summary = view.source.summary_of(place, request.requirement, body.request.named_cost())
        inside = all(a <= b <= c for a, b, c in zip(low, place, high, strict=True))
        found.append({**summary.as_json(), "meets": summary.suppressed <= limit, "within_levels": inside})
    return {"requirement": str(request.requirement), "limit": limit, "nodes": found}


@router.post("/rows", summary="Some rows before and after")
def rows(body: RowsBody, workspace: CurrentWorkspace) -> dict[str, Any]:
    """Row types before and after the generalization of a node: real values, for the publisher's eyes only."""
    request, _, view = _asked(workspace, body)
    found = view.source.node_of(body.levels)
    return preview_rows(view.source.frequency_set, found, request.requirement, body.number).as_json()


@router.post("/nodes", summary="A page of the table of nodes")
def nodes(body: NodesBody, workspace: CurrentWorkspace) -> dict[str, Any]:
    """Levels, height, loss and suppressed rows of nodes, and whether each meets the request."""
    request, shown, view = _asked(workspace, body)
    low, high = bounds_of(view.source.lattice, request)
    suppressed = view.suppression(request.requirement)
    limit = request.max_suppressed.of(view.source.rows)
    meets = (suppressed <= limit) & (view.levels >= low).all(axis=1) & (view.levels <= high).all(axis=1)
    places = np.arange(view.nodes)
    if body.only == "meets":
        places = np.flatnonzero(meets)
    elif body.only == "frontier":
        places = _frontier_places(shown, view, body)
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
    request, _, view = _asked(workspace, body)
    found = view.source.attribute_suppression_of(request)
    return {"rows": view.source.rows, "attributes": found.as_json()}


def _frontier_places(shown: NegotiableView, view: LatticeView, body: RequestOnly) -> NDArray[np.int64]:
    found = shown.frontier(view, body.request.request().requirement, body.request.named_cost())
    return np.array(found["frontier"], dtype=np.int64)


def _asked(workspace: Workspace, body: RequestOnly) -> tuple[Request, NegotiableView, LatticeView]:
    """A request and the lattice that answers it; ``InputError`` for an attribute that is not sensitive."""
    request = body.request.request()
    shown = negotiation_of(workspace).shown(request.requirement)
    _, view = shown.current()
    request.requirement.check(view.source.frequency_set.sensitive_attributes)
    return request, shown, view


def _node_row(view: LatticeView, place: int, suppressed: int) -> dict[str, Any]:
    levels = view.levels[place].tolist()
    return {
        "place": place,
        "levels": dict(zip(view.source.lattice.attributes, levels, strict=True)),
        "height": sum(levels),
        "loss": float(view.losses[place]),
        "suppressed": suppressed,
    }
