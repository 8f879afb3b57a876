"""The negotiation of a workspace's table: its lattice, evaluated once in a job, and its facts for pages.

Views are stored by the scores that were counted: one without further criteria, which answers fastest, and one
with those requested last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from secrets import token_hex
from threading import Lock
from typing import Any

import numpy as np

from discreet.errors import LimitReached
from discreet.measures.cost_registry import COSTS
from discreet.model.criteria.base import Criterion, ScoreKey, bind_criteria, fixed_parameters
from discreet.model.criteria.registry import CRITERIA, SIZE_SCORE
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.option import Option
from discreet.model.requirement import Requirement
from discreet.model.table_spec import TableSpec
from discreet.results.table_lattice import TableLattice
from discreet.results.table_partial_lattice import TablePartialLattice
from discreet.screens.lattice_view import LatticeView
from discreet.screens.node_preview import TableEffects
from discreet.screens.option_forms import OptionField
from discreet.spec.request_section import spec_options
from discreet.verbs.run_context import Reporter
from discreet.verbs.table import Table
from discreet.web.error_responses import Conflict, NotEvaluated, NotFound
from discreet.web.job_queue import JobQueue, JobState
from discreet.web.lattice_frames import NegotiableView
from discreet.web.negotiation_forms import RequestBody
from discreet.web.workspace import Workspace

NO_REQUIREMENT = Requirement()
_CACHE_KEY = "negotiation"
_MAX_EXAMPLES = 3


@dataclass
class TableNegotiation:
    """One table's negotiation: views of the evaluated lattice, and the jobs that evaluate it.

    ``views`` are keyed by the scores counted in addition to those of k and l: one without further scores,
    which answers fastest, and one with those requested last. ``jobs`` are keyed by the scores that they
    count, because a job that counts other scores cannot answer a waiting request.
    """

    table: Table
    views: dict[frozenset[ScoreKey], NegotiableView] = field(default_factory=dict)
    jobs: dict[frozenset[ScoreKey], str] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock, repr=False)

    def negotiable_view(self, requirement: Requirement = NO_REQUIREMENT) -> NegotiableView:
        """Return the view that answers a requirement.

        Raises ``Conflict`` if the lattice is not evaluated yet, ``NotEvaluated`` if it is not evaluated for a
        requested criterion, and ``InputError`` for a criterion of an attribute that is not sensitive.
        """
        result = self.view_for(requirement)
        if result is None and self.views:
            raise NotEvaluated(
                f"the lattice is not evaluated for {', '.join(c.name for c in requirement.others)} yet",
                advice="Start it by POST to /api/negotiate/evaluation, with the request.",
            )
        if result is None:
            raise Conflict(
                "the lattice is not evaluated yet", advice="Start it by POST to /api/negotiate/evaluation."
            )
        return result

    def view_for(self, requirement: Requirement = NO_REQUIREMENT) -> NegotiableView | None:
        """Return the view with the fewest scores that answers a requirement, None if there is none."""
        scores = self.scores(requirement.others)
        fitting = [counted for counted in self.views if scores <= counted]
        return self.views[min(fitting, key=len)] if fitting else None

    @property
    def job(self) -> str | None:
        """The id of the job that was started last, None if there is none."""
        return next(reversed(self.jobs.values()), None)

    def store_view(self, criteria: Sequence[Criterion], view: NegotiableView) -> None:
        """Store the view counted for some criteria; it replaces the view for other criteria.

        The view without further criteria is always kept.
        """
        counted = self.scores(criteria)
        remaining = {scores: old_view for scores, old_view in self.views.items() if not (scores and counted)}
        self.views = remaining | {counted: view}

    def scores(self, criteria: Sequence[Criterion]) -> frozenset[ScoreKey]:
        """Return the scores that an evaluation for some criteria counts in addition to the class sizes."""
        sensitive = [a.name for a in self.table.spec.sensitive]
        return frozenset(bound.criterion.counted for bound in bind_criteria(criteria, sensitive)) - {
            SIZE_SCORE
        }


def negotiation_of(workspace: Workspace) -> TableNegotiation:
    """Return the negotiation of a workspace's table; raise ``NotFound`` if there is no spec."""
    return workspace.compute_once(_CACHE_KEY, lambda: TableNegotiation(workspace.table()))


def start_evaluation(
    workspace: Workspace, jobs: JobQueue, requirement: Requirement = NO_REQUIREMENT
) -> str | None:
    """Start a job that evaluates the lattice for a requirement and return its id; None if it is evaluated.

    A running job that counts the required scores is returned instead of a new one. A job that counts other
    scores runs to its end first.
    """
    found = negotiation_of(workspace)
    found.table.spec.require_quasi_identifiers()
    with found.lock:
        if found.view_for(requirement) is not None:
            return None
        criteria = _for_every_attribute(requirement.others)
        counted = found.scores(criteria)
        found.jobs = {scores: job for scores, job in found.jobs.items() if _is_running(jobs, job)}
        for scores, job in found.jobs.items():
            if counted <= scores:
                return job
        found.jobs[counted] = jobs.start(
            "Evaluating the lattice", lambda reporter: run_evaluation(workspace, found, reporter, criteria)
        )
        return found.jobs[counted]


def _for_every_attribute(criteria: Sequence[Criterion]) -> tuple[Criterion, ...]:
    """Extend criteria of some sensitive attributes to all, so that the slider of each attribute is ready."""
    everywhere = (replace(criterion, attribute=None) for criterion in criteria)
    return tuple({criterion.score: criterion for criterion in everywhere}.values())


def run_evaluation(
    workspace: Workspace,
    negotiation: TableNegotiation,
    reporter: Reporter,
    criteria: Sequence[Criterion] = (),
) -> dict[str, Any]:
    """Count the table, evaluate its lattice for k, every l and ``criteria``, and order its nodes."""
    with workspace.lock:
        lattice = _count_lattice(negotiation.table, criteria)
        with reporter.stage("Ordering the nodes"):
            view = LatticeView.of(lattice)
        negotiation.store_view(criteria, NegotiableView(token_hex(4), view, negotiation.table.warnings))
    return {"nodes": view.nodes, "of": lattice.lattice.size, "partial": view.is_partial}


def _count_lattice(table: Table, criteria: Sequence[Criterion]) -> TableLattice | TablePartialLattice:
    """Return the whole lattice with every sensitive attribute, or a partial one if memory is too small."""
    try:
        return table.lattice(criteria=criteria)
    except LimitReached:
        requirement = Requirement.of(2, 2 if table.spec.sensitive else None, criteria)
        return table.negotiable_lattice_for(requirement)


def _is_running(jobs: JobQueue, job: str) -> bool:
    try:
        return jobs.find(job).state in (JobState.QUEUED, JobState.RUNNING)
    except NotFound:
        return False


def lattice_facts(view: LatticeView, version: str, spec: TableSpec) -> dict[str, Any]:
    """Return the facts that a page needs before any request: attributes, meaning of levels, sizes."""
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
        "widths": _nodes_by_height(source.lattice.heights),
        "unit": "rows" if table.subjects is None else "subjects",
        "attributes": [
            {
                "name": h.attribute,
                "height": h.height,
                "values": len(h.leaves),
                "levels": _level_facts(h, int(rows[:-1].argmax()) if len(rows) > 1 else None),
                "drawn": drawn.as_json(),
            }
            for h, rows, drawn in zip(table.hierarchies, counts, TableEffects(table).attributes, strict=True)
        ],
        "sensitive": [{"name": s.attribute, "values": s.size} for s in table.sensitive],
        "criteria": criteria_facts(spec),
        "costs": [
            {
                "name": cost.name,
                "meaning": cost.meaning,
                "fields": [_option_field(each) for each in spec_options(cost)],
            }
            for cost in COSTS
        ],
        "defaults": RequestBody.of_spec(spec).model_dump(),
    }


def _option_field(option: Option) -> dict[str, Any]:
    return asdict(OptionField.of(replace(option, hint=option.hint or option.help)))


def _nodes_by_height(heights: Sequence[int]) -> list[int]:
    """Return the number of nodes of the whole lattice at each height."""
    found = np.ones(1)
    for height in heights:
        found = np.convolve(found, np.ones(height + 1))
    return [int(each) for each in found]


def criteria_facts(spec: TableSpec | None) -> list[dict[str, Any]]:
    """Return every registered criterion other than k and l with the data of its slider.

    ``stops`` ascend; ``first`` is the weakest of them, the slider's initial value. ``fields`` are its fixed
    parts. ``lacks_population`` is True if its default needs a population and the spec names none.
    """
    known = spec is not None and spec.of_population is not None
    return [_criterion_facts(kind, known=known) for kind in CRITERIA if not kind.has_keyword]


def _criterion_facts(kind: type[Criterion], *, known: bool) -> dict[str, Any]:
    parameter, stops = kind.parameter, kind.parameter.slider
    return {
        "lacks_population": not known and kind(stops[0]).of_population,
        "name": kind.name,
        "title": kind.title,
        "hint": parameter.hint,
        "of_attribute": kind.of_attribute,
        "whole": parameter.whole,
        "least": parameter.least,
        "most": parameter.most,
        "stops": list(stops),
        "first": min(stops, key=lambda stop: kind(stop).threshold),
        "fields": [_option_field(part) for part in fixed_parameters(kind)],
    }


def _level_facts(hierarchy: GeneralizationHierarchy, leaf: int | None) -> list[dict[str, Any]]:
    """Return each level's number of values with a few examples, the most frequent leaf's value first."""
    result = []
    for level, labels in enumerate(hierarchy.labels):
        first = 0 if leaf is None else int(hierarchy.ancestors[level][leaf])
        order = [first, *(i for i in range(min(len(labels), _MAX_EXAMPLES + 1)) if i != first)]
        result.append(
            {"values": len(labels), "examples": [labels[i] for i in order[:_MAX_EXAMPLES] if labels]}
        )
    return result
