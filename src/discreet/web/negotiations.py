"""The negotiation of a workspace's table: its lattice, evaluated once in a job, and its levels' meaning."""

from __future__ import annotations

from dataclasses import dataclass, field
from secrets import token_hex
from threading import Lock
from typing import Any

import numpy as np

from discreet.errors import LimitReached
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.requirement import Requirement
from discreet.model.table_spec import TableSpec
from discreet.web.jobs import Jobs, JobState
from discreet.web.lattice_frames import NegotiableView
from discreet.web.problems import Conflict, NotFound
from discreet.web.requests import RequestBody
from discreet.web.workspace import Workspace
from discreet.workbench.lattice import TableLattice
from discreet.workbench.lattice_view import LatticeView, view_of
from discreet.workbench.partial import TablePartialLattice
from discreet.workbench.reporting import Reporter
from discreet.workbench.table import Table

_KEY = "negotiation"
_EXAMPLES = 3
_SMALL_L = 5
_MANY_NODES = 50_000


@dataclass
class TableNegotiation:
    """One table's negotiation: the view once the lattice is evaluated, and the job that evaluates it."""

    table: Table
    view: NegotiableView | None = None
    job: str | None = None
    lock: Lock = field(default_factory=Lock, repr=False)

    def shown(self) -> NegotiableView:
        """The view; ``Conflict`` where the lattice is not evaluated yet."""
        if self.view is None:
            raise Conflict(
                "the lattice is not evaluated yet", advice="Start it by POST to /api/negotiate/evaluation."
            )
        return self.view


def negotiation_of(workspace: Workspace) -> TableNegotiation:
    """The negotiation of a workspace's table; ``NotFound`` where there is no spec."""
    return workspace.memory(_KEY, lambda: TableNegotiation(workspace.table()))


def start_evaluation(workspace: Workspace, jobs: Jobs) -> str | None:
    """Evaluate the lattice in a job, the running one where there is one; None where it is evaluated."""
    found = negotiation_of(workspace)
    found.table.spec.require_quasi_identifiers()
    with found.lock:
        if found.view is not None:
            return None
        if found.job is not None and _runs(jobs, found.job):
            return found.job
        found.job = jobs.start(
            "Evaluating the lattice", lambda reporter: evaluate(workspace, found, reporter)
        )
        return found.job


def evaluate(workspace: Workspace, found: TableNegotiation, reporter: Reporter) -> dict[str, Any]:
    """Count the table, evaluate its lattice for k and for every l, and order its nodes."""
    with workspace.lock:
        lattice = _lattice(found.table)
        with reporter.stage("Ordering the nodes"):
            view = view_of(lattice)
            _look_up_diversity(view)
        found.view = NegotiableView(token_hex(4), view)
    return {"nodes": view.nodes, "of": lattice.lattice.size, "partial": view.is_partial}


def _lattice(table: Table) -> TableLattice | TablePartialLattice:
    """The whole lattice with every sensitive attribute, or a partial one where that does not fit."""
    try:
        return table.lattice()
    except LimitReached:
        requirement = Requirement.of(2, 2 if table.spec.sensitive else None)
        return table.negotiable_lattice_for(requirement)


def _look_up_diversity(view: LatticeView) -> None:
    """Ask for small l once, so that the first move of its slider is as fast as the others."""
    for name in view.source.frequency_set.sensitive_attributes:
        for l in range(2, _SMALL_L + 1) if view.nodes <= _MANY_NODES else ():
            view.suppression(Requirement.of(2, {name: l}))


def _runs(jobs: Jobs, job: str) -> bool:
    try:
        return jobs.find(job).state in (JobState.QUEUED, JobState.RUNNING)
    except NotFound:
        return False


def lattice_facts(view: LatticeView, version: str, spec: TableSpec) -> dict[str, Any]:
    """What the page needs to know of a lattice before any request: attributes, levels' meaning, sizes."""
    source = view.source
    table = source.frequency_set
    counts = [
        np.bincount(table.codes[:, i], weights=table.counts, minlength=h.null_code + 1)
        for i, h in enumerate(table.hierarchies)
    ]
    return {
        "version": version,
        "rows": source.rows,
        "row_types": table.row_types,
        "nodes": view.nodes,
        "of": source.lattice.size,
        "partial": view.is_partial,
        "starts": list(view.starts),
        "unit": "rows" if table.subjects is None else "subjects",
        "attributes": [
            {
                "name": h.attribute,
                "height": h.height,
                "values": len(h.leaves),
                "levels": _levels(h, int(rows[:-1].argmax()) if len(rows) > 1 else None),
            }
            for h, rows in zip(table.hierarchies, counts, strict=True)
        ],
        "sensitive": [{"name": s.attribute, "values": s.size} for s in table.sensitive],
        "defaults": RequestBody.of_defaults(spec.request).model_dump(),
    }


def _levels(hierarchy: GeneralizationHierarchy, leaf: int | None) -> list[dict[str, Any]]:
    """Each level's number of values and some of them, that of the most frequent leaf first."""
    found = []
    for level, labels in enumerate(hierarchy.labels):
        first = 0 if leaf is None else int(hierarchy.ancestors[level][leaf])
        order = [first, *(i for i in range(min(len(labels), _EXAMPLES + 1)) if i != first)]
        found.append({"values": len(labels), "examples": [labels[i] for i in order[:_EXAMPLES] if labels]})
    return found
