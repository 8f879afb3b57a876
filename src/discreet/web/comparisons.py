"""What a workspace compares: its saved answers, its releases, and models that were tried, with their figures.

Figures are computed in jobs, remembered as long as the table stays as it is, and told as they come.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from string import ascii_uppercase
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.measures.loss import LossTables
from discreet.model.criteria.average_risk import AverageRisk
from discreet.model.requirement import Requirement
from discreet.results.lattice import TableLattice
from discreet.screens.lattice_view import LatticeView
from discreet.screens.paired_rows import PairedRows
from discreet.verbs.beside import (
    ANSWER,
    MODEL,
    RELEASE,
    Contender,
    Yardstick,
    best_of,
    recoding_of_levels,
    tried_models,
)
from discreet.verbs.comparing import read_beside
from discreet.verbs.models.base import Asked
from discreet.verbs.models.registry import title_of
from discreet.verbs.releases import ReleaseFacts
from discreet.verbs.reporting import Reporter
from discreet.web.chosen_node import last_request
from discreet.web.meeting import Meeting, meeting_of
from discreet.web.problems import Conflict, NotFound
from discreet.web.releases import all_releases, is_comparable
from discreet.web.request_words import request_words
from discreet.web.requests import RequestBody
from discreet.web.saved_answers import SavedAnswer, saved_answers
from discreet.web.workspace import Workspace

MOST_DOTS = 40_000
"""Nodes that are sent as dots; of more, evenly some."""


@dataclass
class Figures:
    """What was measured of one version of the table."""

    yardstick: Yardstick
    known: dict[Hashable, Contender] = field(default_factory=dict)
    tried: dict[str, Contender] = field(default_factory=dict)
    of_request: str = ""
    judged: dict[Hashable, Meeting] = field(default_factory=dict)
    pairs: dict[Hashable, PairedRows | None] = field(default_factory=dict)
    lock: RLock = field(default_factory=RLock, repr=False)


def figures_of(workspace: Workspace) -> Figures:
    """The figures of the table as it stands; the first call counts it and draws the queries."""

    def make() -> Figures:
        with workspace.lock:
            return Figures(Yardstick(workspace.table()))

    return workspace.memory("side by side", make)


def comparison(workspace: Workspace, figures: Figures | None) -> dict[str, Any]:
    """Every contender with its letter, and with its figures where they are known."""
    request = last_request(workspace) if workspace.has_spec else None
    asked = None if request is None else request.model_dump_json()
    rows = [*_answers(workspace, figures, asked), *_releases(workspace, figures, asked)]
    if figures is not None and request is not None and figures.of_request == asked:
        about = {"kind": MODEL, "asked": request_words(request.model_dump()), "meets": True, "unmet": None}
        rows += [
            {**about, "name": name, "title": title_of(name), "model": name, "figures": found.as_json()}
            for name, found in figures.tried.items()
        ]
    for place, row in enumerate(rows):
        row["letter"] = _letter(place)
    measured = [
        Contender(**{**row["figures"], "name": row["letter"]})
        for row in rows
        if row.get("figures") is not None
    ]
    return {
        "request": None if request is None else request.model_dump(),
        "asked": None if request is None else request_words(request.model_dump()),
        "contenders": rows,
        "best": best_of(measured),
        "queries": 0 if figures is None else len(figures.yardstick.queries),
        "missing": sum(1 for row in rows if not row.get("stale") and not _is_known(row)),
    }


def _is_known(row: dict[str, Any]) -> bool:
    return row.get("figures") is not None and row.get("judged", True)


def measure(workspace: Workspace, reporter: Reporter, *, every_model: bool) -> dict[str, Any]:
    """Measure what is not known yet, and perhaps every model under the last request; the comparison."""
    figures = figures_of(workspace)
    request = last_request(workspace)
    asked = request.model_dump_json()
    work = [each for each in saved_answers(workspace) if not each.stale]
    files = [each for each in all_releases(workspace) if is_comparable(workspace, each)]
    with reporter.stage("Measuring answers and releases") as advance:
        todo: list[SavedAnswer | ReleaseFacts] = [*work, *files]
        for done, each in enumerate(todo):
            key = _key(each)
            if key not in figures.known:
                figures.known[key] = _measured(figures, each)
            if (key, asked) not in figures.judged:
                figures.judged[key, asked] = meeting_of(
                    workspace, figures.yardstick.table, each, request.request()
                )
            advance(done + 1, len(work) + len(files))
    if every_model:
        _try_models(workspace, figures, reporter)
    return comparison(workspace, figures)


def _try_models(workspace: Workspace, figures: Figures, reporter: Reporter) -> None:
    body = last_request(workspace)
    asked = Asked(body.k, body.l, body.max_suppressed, body.max_level, body.min_level, body.further())
    with figures.lock:
        if figures.of_request != body.model_dump_json():
            figures.tried.clear()
            figures.of_request = body.model_dump_json()
    models = list(tried_models())
    for number, (name, model) in enumerate(models):
        with reporter.stage(f"Trying {model.title}") as advance:
            advance(number, len(models))
            if name not in figures.tried:
                wish = asked
                if not model.takes_suppression:
                    wish = Asked(asked.k, asked.l, None, asked.max_level, asked.min_level, asked.criteria)
                found = figures.yardstick.of_model(name, name, wish, reporter)
                with figures.lock:
                    figures.tried[name] = found


def _measured(figures: Figures, each: SavedAnswer | ReleaseFacts) -> Contender:
    if isinstance(each, ReleaseFacts):
        return figures.yardstick.of_release(each.name, each.address)
    return figures.yardstick.of_levels(each.name, each.levels, each.request.request().requirement)


def _answers(workspace: Workspace, figures: Figures | None, asked: str | None) -> list[dict[str, Any]]:
    return [
        {
            **_told_of(figures, None if each.stale else _key(each), asked),
            "asked": request_words(each.request.model_dump()),
            "name": each.name,
            "kind": ANSWER,
            "title": "Every column alike",
            "levels": each.levels,
            "request": each.request.model_dump(),
            "stale": each.stale,
        }
        for each in saved_answers(workspace)
    ]


def _releases(workspace: Workspace, figures: Figures | None, asked: str | None) -> list[dict[str, Any]]:
    found = []
    for each in all_releases(workspace):
        comparable = is_comparable(workspace, each)
        told = _told_of(figures, _key(each) if comparable else None, asked)
        row = {"name": each.name, "kind": RELEASE, "title": title_of(each.manifest.model)}
        words = f"{request_words(each.manifest.requirement)}, {each.manifest.suppressed:,} suppressed"
        found.append(row | told | {"asked": words, "date": each.as_json()["date"], "stale": not comparable})
    return found


def _told_of(figures: Figures | None, key: Hashable | None, asked: str | None) -> dict[str, Any]:
    """What is known of a contender: its figures, and whether it meets the present request."""
    known = None if figures is None or key is None else figures.known.get(key)
    found = None if figures is None or key is None else figures.judged.get((key, asked))
    return {
        "figures": None if known is None else known.as_json(),
        "judged": found is not None,
        "meets": None if found is None else found.meets,
        "unmet": None if found is None else found.why,
    }


def _key(each: SavedAnswer | ReleaseFacts) -> Hashable:
    if isinstance(each, SavedAnswer):
        return (ANSWER, str(sorted(each.levels.items())), str(each.request.request().requirement))
    stamps = sorted(
        (str(p), p.stat().st_mtime_ns, p.stat().st_size) for p in each.files.values() if p.exists()
    )
    return (RELEASE, each.name, str(stamps))


def _letter(place: int) -> str:
    """A to Z, then AA, AB, …"""
    before, last = divmod(place, len(ascii_uppercase))
    return ("" if not before else _letter(before - 1)) + ascii_uppercase[last]


def dots(view: LatticeView, body: RequestBody) -> dict[str, Any]:
    """Every node as a dot: detail kept, found on average, and whether it meets the request.

    Detail is that of a node of which no row is suppressed, so that a dot stays where it is while the limit
    moves. Nodes that publish nothing are left out, and so is everything where classes are not told.
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
    kept = source.rows - suppressed
    levels = source.lattice.all_levels()
    names = LossTables.of(source.frequency_set).tables  # without weights, as releases are compared
    lost = np.sum([table[levels[:, i]] for i, table in enumerate(names)], axis=0)
    detail: NDArray[np.float64] = 1.0 - lost / max(len(names), 1)
    meets = suppressed <= request.max_suppressed.of(source.rows)
    some = np.flatnonzero((kept > 0) & (classes > 0))
    found = classes[some] / kept[some]
    points = detail[some], found, meets[some]
    line = _frontier(*points)
    step = max(1, -(-len(some) // MOST_DOTS))
    places = np.unique(np.concatenate([np.arange(0, len(some), step), np.array(line, dtype=np.int64)]))
    at = {int(place): i for i, place in enumerate(places)}
    return {
        "detail": np.round(points[0][places], 5).tolist(),
        "found": [float(f"{value:.4g}") for value in found[places]],
        "meets": meets[some][places].astype(int).tolist(),
        "frontier": [at[place] for place in line],
        "nodes": len(some),
    }


def _frontier(detail: Any, found: Any, meets: Any) -> list[int]:
    """The dots that meet the request and that no other beats in detail and in being found, by detail."""
    best, line = np.inf, []
    places = np.flatnonzero(meets)
    for place in places[np.lexsort((found[places], -detail[places]))]:
        if found[place] < best:
            best = found[place]
            line.append(int(place))
    return line[::-1]


def pairs_of(workspace: Workspace, kind: str, name: str) -> PairedRows | None:
    """The original beside a saved answer or a release, row by row; None where a release tells no pairs."""
    figures = figures_of(workspace)
    if kind == ANSWER:
        each = next((a for a in saved_answers(workspace) if a.name == name), None)
        if each is None:
            raise NotFound("no answer of this name is saved")
        if each.stale:
            raise Conflict("the table has changed since", advice="Ask for this answer again.")
        return _kept(figures, _key(each), lambda: _of_answer(figures, each))
    facts = next((r for r in all_releases(workspace) if r.name == name), None)
    if facts is None or not is_comparable(workspace, facts):
        raise NotFound("there is no release of that name that has this table as its original")
    return _kept(figures, _key(facts), lambda: _of_release(figures, facts))


def _of_answer(figures: Figures, each: SavedAnswer) -> PairedRows:
    table = figures.yardstick.table
    recoding = recoding_of_levels(table, each.levels, each.request.request().requirement)
    return PairedRows.of_recoding(table.frequency_set, recoding)


def _of_release(figures: Figures, facts: ReleaseFacts) -> PairedRows | None:
    pair, _ = read_beside(figures.yardstick.table, facts.address, figures.yardstick.original)
    return PairedRows.of_release(pair)


def _kept(figures: Figures, key: Hashable, make: Any) -> PairedRows | None:
    with figures.lock:
        if key not in figures.pairs:
            while len(figures.pairs) >= 4:
                figures.pairs.pop(next(iter(figures.pairs)))
            figures.pairs[key] = make()
        return figures.pairs[key]
