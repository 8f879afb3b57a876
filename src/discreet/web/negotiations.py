"""The negotiation of a workspace's table: its lattice, evaluated once in a job, and its levels' meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from secrets import token_hex
from threading import Lock
from typing import Any

import numpy as np

from discreet.errors import LimitReached
from discreet.measures.costs import COSTS
from discreet.model.criteria.base import Criterion, Score, bind
from discreet.model.criteria.counts import SIZE
from discreet.model.criteria.fixed_parts import fixed_parts
from discreet.model.criteria.registry import CRITERIA
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.requirement import Requirement
from discreet.model.table_spec import TableSpec
from discreet.results.lattice import TableLattice
from discreet.results.partial import TablePartialLattice
from discreet.screens.lattice_view import LatticeView, view_of
from discreet.screens.model_forms import OptionField
from discreet.screens.node_effects import EffectsBase
from discreet.spec.costs import options_in_spec
from discreet.verbs.reporting import Reporter
from discreet.verbs.table import Table
from discreet.web.jobs import Jobs, JobState
from discreet.web.lattice_frames import NegotiableView
from discreet.web.problems import Conflict, NotEvaluated, NotFound
from discreet.web.requests import RequestBody
from discreet.web.workspace import Workspace

NOTHING = Requirement()
_KEY = "negotiation"
_EXAMPLES = 3
_SMALL_L = 5
_MANY_NODES = 50_000


@dataclass
class TableNegotiation:
    """One table's negotiation: views once the lattice is evaluated, and the jobs that evaluate it.

    ``views`` are by the scores that were counted beside those of k and l: without others, whose answers are
    the fastest, and with those that were asked for last. ``jobs`` are by the scores that they count: one that
    counts others is no answer to whoever waits for these.
    """

    table: Table
    views: dict[frozenset[Score], NegotiableView] = field(default_factory=dict)
    jobs: dict[frozenset[Score], str] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock, repr=False)

    def shown(self, requirement: Requirement = NOTHING) -> NegotiableView:
        """The view that answers a requirement.

        ``Conflict`` where the lattice is not evaluated yet, ``NotEvaluated`` where it is not for a criterion
        that is asked; ``InputError`` for one of an attribute that is not sensitive.
        """
        found = self.view_for(requirement)
        if found is None and self.views:
            raise NotEvaluated(
                f"the lattice is not evaluated for {', '.join(c.name for c in requirement.others)} yet",
                advice="Start it by POST to /api/negotiate/evaluation, with the request.",
            )
        if found is None:
            raise Conflict(
                "the lattice is not evaluated yet", advice="Start it by POST to /api/negotiate/evaluation."
            )
        return found

    def view_for(self, requirement: Requirement = NOTHING) -> NegotiableView | None:
        """The view of the fewest scores that answers a requirement, None where there is none."""
        asked = self.scores(requirement.others)
        fitting = [counted for counted in self.views if asked <= counted]
        return self.views[min(fitting, key=len)] if fitting else None

    @property
    def job(self) -> str | None:
        """The job that was started last."""
        return next(reversed(self.jobs.values()), None)

    def keep(self, criteria: Sequence[Criterion], view: NegotiableView) -> None:
        """Keep a view counted for some criteria, in place of that for others; for none, beside it."""
        counted = self.scores(criteria)
        beside = {scores: kept for scores, kept in self.views.items() if not (scores and counted)}
        self.views = beside | {counted: view}

    def scores(self, criteria: Sequence[Criterion]) -> frozenset[Score]:
        """What an evaluation for some criteria counts beside the sizes of classes."""
        sensitive = [a.name for a in self.table.spec.sensitive]
        return frozenset(bound.criterion.counted for bound in bind(criteria, sensitive)) - {SIZE}


def negotiation_of(workspace: Workspace) -> TableNegotiation:
    """The negotiation of a workspace's table; ``NotFound`` where there is no spec."""
    return workspace.memory(_KEY, lambda: TableNegotiation(workspace.table()))


def start_evaluation(workspace: Workspace, jobs: Jobs, requirement: Requirement = NOTHING) -> str | None:
    """Evaluate the lattice for a requirement in a job, the running one where one counts what is asked.

    None where it is evaluated. A job that counts something else runs to its end first.
    """
    found = negotiation_of(workspace)
    found.table.spec.require_quasi_identifiers()
    with found.lock:
        if found.view_for(requirement) is not None:
            return None
        criteria = _everywhere(requirement.others)
        counted = found.scores(criteria)
        found.jobs = {scores: job for scores, job in found.jobs.items() if _runs(jobs, job)}
        for scores, job in found.jobs.items():
            if counted <= scores:
                return job
        found.jobs[counted] = jobs.start(
            "Evaluating the lattice", lambda reporter: evaluate(workspace, found, reporter, criteria)
        )
        return found.jobs[counted]


def _everywhere(criteria: Sequence[Criterion]) -> tuple[Criterion, ...]:
    """Criteria of every sensitive attribute where they are of some, so that each slider is ready then."""
    everywhere = (replace(criterion, attribute=None) for criterion in criteria)
    return tuple({criterion.score: criterion for criterion in everywhere}.values())


def evaluate(
    workspace: Workspace, found: TableNegotiation, reporter: Reporter, criteria: Sequence[Criterion] = ()
) -> dict[str, Any]:
    """Count the table, evaluate its lattice for k, every l and ``criteria``, and order its nodes."""
    with workspace.lock:
        lattice = _lattice(found.table, criteria)
        with reporter.stage("Ordering the nodes"):
            view = view_of(lattice)
            _look_up_diversity(view)
        found.keep(criteria, NegotiableView(token_hex(4), view, found.table.warnings))
    return {"nodes": view.nodes, "of": lattice.lattice.size, "partial": view.is_partial}


def _lattice(table: Table, criteria: Sequence[Criterion]) -> TableLattice | TablePartialLattice:
    """The whole lattice with every sensitive attribute, or a partial one where that does not fit."""
    try:
        return table.lattice(criteria=criteria)
    except LimitReached:
        requirement = Requirement.of(2, 2 if table.spec.sensitive else None, criteria)
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
        "widths": _widths(source.lattice.heights),
        "unit": "rows" if table.subjects is None else "subjects",
        "attributes": [
            {
                "name": h.attribute,
                "height": h.height,
                "values": len(h.leaves),
                "levels": _levels(h, int(rows[:-1].argmax()) if len(rows) > 1 else None),
                "drawn": drawn.as_json(),
            }
            for h, rows, drawn in zip(table.hierarchies, counts, EffectsBase(table).attributes, strict=True)
        ],
        "sensitive": [{"name": s.attribute, "values": s.size} for s in table.sensitive],
        "criteria": criteria_facts(spec),
        "costs": [
            {
                "name": cost.name,
                "meaning": cost.meaning,
                "fields": [
                    OptionField.of(replace(each, hint=each.hint or each.help)).as_json()
                    for each in options_in_spec(cost)
                ],
            }
            for cost in COSTS
        ],
        "defaults": RequestBody.of_spec(spec).model_dump(),
    }


def _widths(heights: Sequence[int]) -> list[int]:
    """How many nodes of the whole lattice each height has."""
    found = np.ones(1)
    for height in heights:
        found = np.convolve(found, np.ones(height + 1))
    return [int(each) for each in found]


def criteria_facts(spec: TableSpec | None) -> list[dict[str, Any]]:
    """Every registered criterion beside k and l as a page needs it for a slider.

    ``stops`` ascend; ``first`` is the weakest of them, where a slider begins. ``fields`` are its fixed parts.
    ``lacks_population`` is whether it asks of the population as it is proposed, and the spec names none.
    """
    kinds = [kind for kind in CRITERIA if not kind.has_keyword]
    known = spec is not None and spec.of_population is not None
    return [_criterion(kind, kind.parameter.slider, known=known) for kind in kinds]


def _criterion(kind: type[Criterion], stops: tuple[float, ...], *, known: bool) -> dict[str, Any]:
    parameter = kind.parameter
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
        "fields": [
            OptionField.of(replace(part, hint=part.hint or part.help)).as_json() for part in fixed_parts(kind)
        ],
    }


def _levels(hierarchy: GeneralizationHierarchy, leaf: int | None) -> list[dict[str, Any]]:
    """Each level's number of values and some of them, that of the most frequent leaf first."""
    found = []
    for level, labels in enumerate(hierarchy.labels):
        first = 0 if leaf is None else int(hierarchy.ancestors[level][leaf])
        order = [first, *(i for i in range(min(len(labels), _EXAMPLES + 1)) if i != first)]
        found.append({"values": len(labels), "examples": [labels[i] for i in order[:_EXAMPLES] if labels]})
    return found
