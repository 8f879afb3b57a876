"""Saved answers, releases and models of a workspace, compared with the same metrics and the current request.

Metrics are computed in jobs and cached until the table changes. Each contender is checked against the current
request: its levels, suppressed rows and classes.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from string import ascii_uppercase
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, ValidationError, computed_field

from discreet.errors import DiscreetError
from discreet.measures.loss import LossTables
from discreet.model.criteria.release_shares import AverageRisk
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from discreet.results.node_rows import published_classes_meet
from discreet.results.table_lattice import TableLattice
from discreet.screens.lattice_view import LatticeView
from discreet.screens.release_comparison import PairedRows
from discreet.verbs.audits import audit
from discreet.verbs.benchmark import (
    LEVELS_KIND,
    MODEL_KIND,
    RELEASE_KIND,
    Benchmark,
    ComparedRelease,
    find_best,
    list_comparable_models,
    recode_at_levels,
)
from discreet.verbs.models.model_registry import model_title
from discreet.verbs.models.recoding_model import RequestOptions
from discreet.verbs.original_comparison import read_release_pair
from discreet.verbs.release_facts import ReleaseFacts
from discreet.verbs.run_context import Reporter
from discreet.verbs.table_context import TableContext
from discreet.web.error_responses import Conflict, FieldError, NotFound
from discreet.web.negotiation_forms import RequestBody, last_request
from discreet.web.screen_messages import describe_request, describe_requirement
from discreet.web.workspace import Workspace
from discreet.web.workspace_releases import is_comparable, list_releases

_STATE_KEY = "saved"
MAX_SAVED_ANSWERS = 20
"""Maximum number of saved answers in a workspace; a chart of more is not readable."""


class SavedAnswer(BaseModel):
    """A node with the request that it answers."""

    name: str = Field(min_length=1, max_length=80)
    levels: dict[str, int] = Field(description="The level of each quasi-identifier.")
    request: RequestBody
    suppressed: int | None = Field(None, description="Suppressed rows, if stored.")
    detail: float | None = Field(None, description="Detail, if stored.")
    of: str = Field("", description="Digest of the table and its hierarchies.")
    stale: bool = Field(False, description="True if these have changed since.")

    @computed_field(description="The request in words.")  # type: ignore[prop-decorator]
    @property
    def asked(self) -> str:
        """The request in words."""
        return describe_request(self.request.model_dump())


def saved_answers(workspace: Workspace) -> list[SavedAnswer]:
    """Return the saved answers that fit the table's quasi-identifiers, the oldest first."""
    if not workspace.has_spec:
        return []
    names = {a.name for a in workspace.spec().quasi_identifiers}
    digest, result = workspace.table_digest(), []
    for each in workspace.state(_STATE_KEY) or []:
        with suppress(ValidationError):
            answer = SavedAnswer.model_validate(each)
            if set(answer.levels) == names:
                result.append(answer.model_copy(update={"stale": answer.of != digest}))
    return result


def save_answer(workspace: Workspace, answer: SavedAnswer) -> None:
    """Store an answer and replace one of the same name; raise ``Conflict`` if there are too many."""
    name = answer.name.strip()
    if not name:
        raise FieldError("the answer has no name", field="name")
    with workspace.edit_lock:
        others = [each for each in saved_answers(workspace) if each.name != name]
        if len(others) >= MAX_SAVED_ANSWERS:
            raise Conflict(
                f"{MAX_SAVED_ANSWERS} answers are saved already", advice="Remove one of them first."
            )
        stored = answer.model_copy(update={"name": name, "of": workspace.table_digest(), "stale": False})
        _write(workspace, [*others, stored])


def remove_answer(workspace: Workspace, name: str) -> None:
    """Remove a saved answer; do nothing if there is none of the name."""
    with workspace.edit_lock:
        _write(workspace, [each for each in saved_answers(workspace) if each.name != name])


def _write(workspace: Workspace, answers: list[SavedAnswer]) -> None:
    workspace.set_state(_STATE_KEY, [each.model_dump(exclude={"asked"}) for each in answers])


@dataclass(frozen=True)
class RequestCheck:
    """Result of checking a contender against the current request.

    ``meets`` is None if it cannot be determined; ``reason`` explains why the request is not met.
    """

    meets: bool | None
    reason: str | None = None


def check_request(
    workspace: Workspace, table: TableContext, each: SavedAnswer | ReleaseFacts, request: Request
) -> RequestCheck:
    """Check a contender against a request: its levels, its suppressed rows, and its classes."""
    levels: Mapping[str, int] = each.levels if isinstance(each, SavedAnswer) else each.manifest.levels
    bounds = {*dict(request.max_level), *dict(request.min_level)}
    if not bounds <= set(levels):
        return RequestCheck(None, "its levels are unknown")
    if any(levels[name] > most for name, most in request.max_level) or any(
        levels[name] < least for name, least in request.min_level
    ):
        return RequestCheck(False, "its levels are not allowed")
    out = each.suppressed if isinstance(each, SavedAnswer) else each.manifest.suppressed
    limit = request.max_suppressed.of(table.frequency_set.rows)
    if out is None or out > limit:
        rows = "an unknown number of rows" if out is None else f"{out:,} rows"
        return RequestCheck(None if out is None else False, f"{rows} suppressed, {limit:,} allowed")
    try:
        met = (
            _answer_meets(table, each, request)
            if isinstance(each, SavedAnswer)
            else _release_meets(workspace, each, request)
        )
    except DiscreetError as error:
        return RequestCheck(None, error.message)
    if met is None:
        return RequestCheck(None, "its groups cannot be compared with the population")
    words = describe_requirement(request.requirement)
    return RequestCheck(met, None if met else f"its groups do not all meet {words}")


def _answer_meets(table: TableContext, each: SavedAnswer, request: Request) -> bool | None:
    counted = table.frequency_set
    node = tuple(each.levels[name] for name in counted.attributes)
    return published_classes_meet(counted, node, each.request.request().requirement, request.requirement)


def _release_meets(workspace: Workspace, each: ReleaseFacts, request: Request) -> bool:
    requirement = request.requirement
    if dict(each.manifest.requirement) == requirement.as_json():
        return True
    found = audit(
        each.address,
        spec=workspace.spec(),
        k=requirement.k,
        l=requirement.l_as_json(),
        criteria=requirement.others,
        settings=workspace.settings,
    )
    return found.passed


MAX_POINTS = 40_000
"""Maximum number of nodes sent as dots; of more nodes an even sample is sent."""


@dataclass
class ContenderMetrics:
    """The metrics measured on one version of the table."""

    benchmark: Benchmark
    known: dict[Hashable, ComparedRelease] = field(default_factory=dict)
    model_metrics: dict[str, ComparedRelease] = field(default_factory=dict)
    request_key: str = ""
    request_checks: dict[Hashable, RequestCheck] = field(default_factory=dict)
    pairs: dict[Hashable, PairedRows | None] = field(default_factory=dict)
    lock: RLock = field(default_factory=RLock, repr=False)


def contender_metrics(workspace: Workspace) -> ContenderMetrics:
    """Return the metrics of the current table; the first call counts the table and draws the queries."""

    def make() -> ContenderMetrics:
        with workspace.lock:
            return ContenderMetrics(Benchmark(workspace.table()))

    return workspace.compute_once("comparison", make)


def comparison_document(workspace: Workspace, figures: ContenderMetrics | None) -> dict[str, Any]:
    """Return every contender with its letter, and with its metrics if they are known."""
    request = last_request(workspace) if workspace.has_spec else None
    request_json = None if request is None else request.model_dump_json()
    rows = [*_answer_rows(workspace, figures, request_json), *_release_rows(workspace, figures, request_json)]
    if figures is not None and request is not None and figures.request_key == request_json:
        about = {
            "kind": MODEL_KIND,
            "asked": describe_request(request.model_dump()),
            "meets": True,
            "unmet": None,
        }
        rows += [
            {**about, "name": name, "title": model_title(name), "model": name, "figures": found.as_json()}
            for name, found in figures.model_metrics.items()
        ]
    for index, row in enumerate(rows):
        row["letter"] = _letter(index)
    measured = [
        ComparedRelease(**{**row["figures"], "name": row["letter"]})
        for row in rows
        if row.get("figures") is not None
    ]
    return {
        "request": None if request is None else request.model_dump(),
        "asked": None if request is None else describe_request(request.model_dump()),
        "candidates": rows,
        "best": find_best(measured),
        "queries": 0 if figures is None else len(figures.benchmark.queries),
        "missing": sum(1 for row in rows if not row.get("stale") and not _is_known(row)),
    }


def _is_known(row: dict[str, Any]) -> bool:
    return row.get("figures") is not None and row.get("judged", True)


def measure_candidates(workspace: Workspace, reporter: Reporter, *, every_model: bool) -> dict[str, Any]:
    """Measure the candidates that have no metrics yet and return the comparison.

    With ``every_model``, also run every model under the last request.
    """
    figures = contender_metrics(workspace)
    request = last_request(workspace)
    request_json = request.model_dump_json()
    work = [each for each in saved_answers(workspace) if not each.stale]
    files = [each for each in list_releases(workspace) if is_comparable(workspace, each)]
    with reporter.stage("Measuring answers and releases") as advance:
        todo: list[SavedAnswer | ReleaseFacts] = [*work, *files]
        for done, each in enumerate(todo):
            key = _contender_key(each)
            if key not in figures.known:
                figures.known[key] = _measure(figures, each)
            if (key, request_json) not in figures.request_checks:
                figures.request_checks[key, request_json] = check_request(
                    workspace, figures.benchmark.table, each, request.request()
                )
            advance(done + 1, len(work) + len(files))
    if every_model:
        _try_models(workspace, figures, reporter)
    return comparison_document(workspace, figures)


def _try_models(workspace: Workspace, figures: ContenderMetrics, reporter: Reporter) -> None:
    body = last_request(workspace)
    options = RequestOptions(
        body.k, body.l, body.max_suppressed, body.max_level, body.min_level, body.further_criteria()
    )
    with figures.lock:
        if figures.request_key != body.model_dump_json():
            figures.model_metrics.clear()
            figures.request_key = body.model_dump_json()
    models = list(list_comparable_models())
    for number, (name, model) in enumerate(models):
        with reporter.stage(f"Trying {model.title}") as advance:
            advance(number, len(models))
            if name not in figures.model_metrics:
                requested = options
                if not model.takes_suppression:
                    requested = RequestOptions(
                        options.k, options.l, None, options.max_level, options.min_level, options.criteria
                    )
                found = figures.benchmark.of_model(name, name, requested, reporter)
                with figures.lock:
                    figures.model_metrics[name] = found


def _measure(figures: ContenderMetrics, each: SavedAnswer | ReleaseFacts) -> ComparedRelease:
    if isinstance(each, ReleaseFacts):
        return figures.benchmark.of_release(each.name, each.address)
    return figures.benchmark.of_levels(each.name, each.levels, each.request.request().requirement)


def _answer_rows(
    workspace: Workspace, figures: ContenderMetrics | None, request_json: str | None
) -> list[dict[str, Any]]:
    return [
        {
            **_known_metrics(figures, None if each.stale else _contender_key(each), request_json),
            "asked": describe_request(each.request.model_dump()),
            "name": each.name,
            "kind": LEVELS_KIND,
            "title": "One level per column",
            "levels": each.levels,
            "request": each.request.model_dump(),
            "stale": each.stale,
        }
        for each in saved_answers(workspace)
    ]


def _release_rows(
    workspace: Workspace, figures: ContenderMetrics | None, request_json: str | None
) -> list[dict[str, Any]]:
    result = []
    for each in list_releases(workspace):
        comparable = is_comparable(workspace, each)
        metrics = _known_metrics(figures, _contender_key(each) if comparable else None, request_json)
        row = {"name": each.name, "kind": RELEASE_KIND, "title": model_title(each.manifest.model)}
        text = f"{describe_request(each.manifest.requirement)}, {each.manifest.suppressed:,} suppressed"
        result.append(
            row | metrics | {"asked": text, "date": each.as_json()["date"], "stale": not comparable}
        )
    return result


def _known_metrics(
    figures: ContenderMetrics | None, key: Hashable | None, request_json: str | None
) -> dict[str, Any]:
    """Return the known metrics of a contender, and the result of its check against the current request."""
    known = None if figures is None or key is None else figures.known.get(key)
    found = None if figures is None or key is None else figures.request_checks.get((key, request_json))
    return {
        "figures": None if known is None else known.as_json(),
        "judged": found is not None,
        "meets": None if found is None else found.meets,
        "unmet": None if found is None else found.reason,
    }


def _contender_key(each: SavedAnswer | ReleaseFacts) -> Hashable:
    if isinstance(each, SavedAnswer):
        return (LEVELS_KIND, str(sorted(each.levels.items())), str(each.request.request().requirement))
    stamps = sorted(
        (str(p), p.stat().st_mtime_ns, p.stat().st_size) for p in each.files.values() if p.exists()
    )
    return (RELEASE_KIND, each.name, str(stamps))


def _letter(index: int) -> str:
    """Return the letter of a contender: A to Z, then AA, AB, …"""
    before, last = divmod(index, len(ascii_uppercase))
    return ("" if not before else _letter(before - 1)) + ascii_uppercase[last]


def node_points(view: LatticeView, body: RequestBody) -> dict[str, Any]:
    """Return every node as a point: detail kept, mean risk, and whether it meets the request.

    Detail is that of a node without suppressed rows, so that a point stays fixed while the limit moves. Nodes
    that publish no row are left out. The result is empty for a partial lattice and for a table with a
    subject.
    """
    request = body.request()
    if not isinstance(view.source, TableLattice) or view.source.frequency_set.subjects is not None:
        return {"detail": [], "found": [], "meets": [], "frontier": [], "nodes": 0}
    source, requirement = view.source, request.requirement
    evaluated = source.evaluated
    probe = Requirement(criteria=(*requirement.criteria, AverageRisk(1.0)))
    sums = evaluated.published_sums(probe)
    classes = np.zeros(source.lattice.size, np.int64) if sums is None else sums[0]
    suppressed = evaluated.suppression(requirement)
    published = source.rows - suppressed
    levels = source.lattice.all_levels()
    names = LossTables.of(source.frequency_set).tables  # without weights, as in comparisons of releases
    lost = np.sum([table[levels[:, i]] for i, table in enumerate(names)], axis=0)
    detail: NDArray[np.float64] = 1.0 - lost / max(len(names), 1)
    meets = suppressed <= request.max_suppressed.of(source.rows)
    some = np.flatnonzero((published > 0) & (classes > 0))
    found = classes[some] / published[some]
    points = detail[some], found, meets[some]
    line = _pareto_frontier(*points)
    step = max(1, -(-len(some) // MAX_POINTS))
    places = np.unique(np.concatenate([np.arange(0, len(some), step), np.array(line, dtype=np.int64)]))
    at = {int(index): i for i, index in enumerate(places)}
    return {
        "detail": np.round(points[0][places], 5).tolist(),
        "found": [float(f"{value:.4g}") for value in found[places]],
        "meets": meets[some][places].astype(int).tolist(),
        "frontier": [at[index] for index in line],
        "nodes": len(some),
    }


def _pareto_frontier(detail: Any, risks: Any, meets: Any) -> list[int]:
    """Return the points that meet the request and are Pareto-optimal in detail and risk, by detail."""
    best, line = np.inf, []
    places = np.flatnonzero(meets)
    for index in places[np.lexsort((risks[places], -detail[places]))]:
        if risks[index] < best:
            best = risks[index]
            line.append(int(index))
    return line[::-1]


def find_paired_rows(workspace: Workspace, kind: str, name: str) -> PairedRows | None:
    """Return the original's rows paired with those of a saved answer or a release.

    None for a release whose rows cannot be paired. Raises ``NotFound`` for an unknown name, and ``Conflict``
    for an answer saved before the table changed.
    """
    figures = contender_metrics(workspace)
    if kind == LEVELS_KIND:
        each = next((a for a in saved_answers(workspace) if a.name == name), None)
        if each is None:
            raise NotFound("no saved answer has this name")
        if each.stale:
            raise Conflict("the table has changed since", advice="Repeat this request.")
        return _cached_pairs(figures, _contender_key(each), lambda: _pair_answer(figures, each))
    facts = next((r for r in list_releases(workspace) if r.name == name), None)
    if facts is None or not is_comparable(workspace, facts):
        raise NotFound("no release of this table has this name")
    return _cached_pairs(figures, _contender_key(facts), lambda: _pair_release(figures, facts))


def _pair_answer(figures: ContenderMetrics, each: SavedAnswer) -> PairedRows:
    table = figures.benchmark.table
    recoding = recode_at_levels(table, each.levels, each.request.request().requirement)
    return PairedRows.of_recoding(table.frequency_set, recoding)


def _pair_release(figures: ContenderMetrics, facts: ReleaseFacts) -> PairedRows | None:
    pair, _ = read_release_pair(figures.benchmark.table, facts.address, figures.benchmark.original)
    return PairedRows.of_release(pair)


def _cached_pairs(figures: ContenderMetrics, key: Hashable, make: Any) -> PairedRows | None:
    with figures.lock:
        if key not in figures.pairs:
            while len(figures.pairs) >= 4:
                figures.pairs.pop(next(iter(figures.pairs)))
            figures.pairs[key] = make()
        return figures.pairs[key]
