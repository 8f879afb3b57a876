"""A negotiation over a socket: one frame per move, so that text, histogram and colours change together.

A frame is the length of a header (four bytes, little endian), the header as JSON, and arrays. The header's
``arrays`` says where each array begins, its bytes and its kind; arrays begin at multiples of eight. By place
(``screens.lattice_view``) they are:

* ``suppressed``: the suppressed rows of every node, two bytes each where the table has fewer rows than
  65,536, else four; left out where the requirement is the one that the last frame had;
* ``published`` (four): each quasi-identifier's bins after the node's recoding, one after the other
  (``screens.node_effects``); left out where node and requirement are those of the last frame;
* ``levels`` (one or two bytes per quasi-identifier) and ``losses`` (four): sent once, and again when a
  partial lattice has counted more nodes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.measures.named_cost import NamedCost
from discreet.model.cost_value import parts_of
from discreet.model.lattice import LatticeNode
from discreet.model.request import bounds_of
from discreet.model.requirement import Requirement
from discreet.printing.document import Line
from discreet.results.answers import NegotiationResult
from discreet.results.node_summary import NodeSummary
from discreet.screens.lattice_view import LatticeView
from discreet.screens.node_effects import EffectsBase
from discreet.web.negotiation_forms import Looks, Move
from discreet.web.relaxations import cards
from discreet.web.requests import RequestBody
from discreet.web.wording import answer_words

_ALIGNED = 8


@dataclass
class NegotiableView:
    """A lattice that is negotiated on, and how it is shown; a partial one grows with the requests.

    ``version`` changes when the nodes do; ``warnings`` are about the rows of the table. Threads may share it.
    """

    label: str
    _view: LatticeView
    warnings: tuple[str, ...] = ()
    _number: int = 0
    _lock: Lock = field(default_factory=Lock, repr=False)
    _frontiers: dict[tuple[int, Requirement, NamedCost | None], dict[str, Any]] = field(
        default_factory=dict, repr=False
    )
    _effects: EffectsBase | None = field(default=None, repr=False)

    def current(self) -> tuple[str, LatticeView]:
        """The version and the view, made anew where a partial lattice has counted more nodes."""
        with self._lock:
            if not self._view.is_current:
                self._view = LatticeView.of(self._view.source)
                self._number += 1
                self._frontiers.clear()
            return f"{self.label}-{self._number}", self._view

    def effects(self, view: LatticeView) -> EffectsBase:
        """What the effects of all nodes have in common."""
        with self._lock:
            if self._effects is None:
                self._effects = EffectsBase(view.source.frequency_set)
            return self._effects

    def frontier(
        self, view: LatticeView, requirement: Requirement, cost: NamedCost | None = None
    ) -> dict[str, Any]:
        """The places of the ``frontier``; of a cost also its name and what each place costs.

        The last few requirements are remembered.
        """
        key = (id(view), requirement, cost)
        with self._lock:
            found = self._frontiers.get(key)
        if found is None:
            found = _frontier(view, requirement, cost)
            with self._lock:
                if len(self._frontiers) >= 64:
                    self._frontiers.clear()
                self._frontiers[key] = found
        return found


def _frontier(view: LatticeView, requirement: Requirement, cost: NamedCost | None) -> dict[str, Any]:
    if cost is None:
        return {"frontier": view.frontier(requirement)}
    found = view.frontier_of_cost(requirement, cost)
    costs = [list(parts_of(value)) for value in found.values()]
    return {"frontier": list(found), "frontier_cost": {"name": cost.name, "costs": costs}}


@dataclass
class Sent:
    """What a connection was sent last, so that it is not sent again."""

    version: str | None = None
    requirement: Requirement | None = None
    effects: tuple[Any, ...] | None = None


def answer_facts(
    shown: NegotiableView, body: RequestBody, levels: dict[str, int] | None = None
) -> tuple[dict[str, Any], NegotiationResult, str, LatticeView]:
    """The header of a frame without its arrays: outcome, sentences, answers, cards, and one node's summary.

    The node is the one of ``levels``, else the exact answer, else the first relaxation. ``InputError`` for
    values that are not allowed.
    """
    request = body.request()
    result = replace(shown.current()[1].source.answer(request), warnings=shown.warnings)
    version, view = shown.current()
    lattice, requirement = view.source.lattice, request.requirement
    low, high = bounds_of(lattice, request)
    chosen = result.answers[0].answer.node if result.answers else high
    if levels is not None:
        chosen = lattice.node_of(levels, lattice.bottom)
    summary = view.source.summary_of(chosen, requirement, body.named_cost())
    facts: dict[str, Any] = {
        "version": version,
        "request": body.model_dump(),
        "requirement": str(requirement),
        "rows": result.rows,
        "limit": request.max_suppressed.of(result.rows),
        "outcome": result.outcome,
        "is_proven": result.is_proven,
        "sentences": [
            {"text": answer_words(part.text), "tone": str(part.tone)}
            for part in result.sentences()
            if isinstance(part, Line) and part.text
        ],
        "answers": [
            {**answer.as_json(), "place": view.place(answer.answer.node)} for answer in result.answers
        ],
        "cards": cards(result, body),
        "low": list(low),
        "high": list(high),
        "high_place": view.place(high),
        "homogeneous": _homogeneous(view, result, summary, chosen),
        "node": {**summary.as_json(), "place": view.place(chosen), "asked": levels is not None},
    }
    return facts, result, version, view


def _homogeneous(
    view: LatticeView, result: NegotiationResult, summary: NodeSummary, node: LatticeNode
) -> dict[str, int]:
    """Count the groups of the exact answer in which everyone has the same sensitive value."""
    if result.outcome != "exact":
        return {}
    answer = result.answers[0].answer.node
    if answer != node:
        summary = view.source.summary_of(answer, result.request.requirement)
    return summary.homogeneous


def frame(shown: NegotiableView, move: Move, sent: Sent) -> bytes:
    """The next frame of a connection; ``sent`` is brought up to date."""
    body = move.request
    facts, result, version, view = answer_facts(shown, body, move.levels)
    requirement = result.request.requirement
    arrays: dict[str, NDArray[Any]] = {}
    if sent.version != version:
        kind = np.uint8 if max(view.source.lattice.heights, default=0) < 256 else np.uint16
        arrays |= {"levels": view.levels.astype(kind), "losses": view.losses.astype("<f4")}
        facts["starts"] = list(view.starts)
    changed = (sent.version, sent.requirement) != (version, requirement)
    if changed:
        wide = "<u2" if view.source.rows < 2**16 else "<u4"
        arrays["suppressed"] = view.suppression(requirement).astype(wide)
    if move.frontier:
        facts |= shown.frontier(view, requirement, body.named_cost())
    if move.looks is not None:
        _add_effects(facts, arrays, shown.effects(view), move.looks, requirement, sent)
    sent.version, sent.requirement = version, requirement
    return packed({"id": move.id, **facts}, arrays)


def _add_effects(
    facts: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    base: EffectsBase,
    looks: Looks,
    requirement: Requirement,
    sent: Sent,
) -> None:
    """What readers would see of the node, where they were not sent it already."""
    node = tuple(facts["node"]["levels"].values())
    key = (facts["version"], node, requirement, looks.model_dump_json())
    if sent.effects == key:
        return
    looks.checked(base.table)
    effects = base.of_node(node, requirement)
    two, question = looks.together, looks.question
    facts["effects"] = {
        "detail": effects.detail,
        "together": None if two is None else effects.together(two.name, two.value, two.by),
        "question": None if question is None else effects.answer(question),
    }
    arrays["published"] = effects.published()
    sent.effects = key


def packed(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> bytes:
    """A header and arrays as one message."""
    places: dict[str, list[int | str]] = {}
    at = 0
    for name, array in arrays.items():
        places[name] = [at, array.nbytes, f"u{array.itemsize}" if array.dtype.kind == "u" else "f4"]
        at += -(-array.nbytes // _ALIGNED) * _ALIGNED
    text = json.dumps({**header, "arrays": places}, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-(4 + len(text)) % _ALIGNED)
    parts = [len(text).to_bytes(4, "little"), text]
    for array in arrays.values():
        data = np.ascontiguousarray(array).tobytes()
        parts += [data, bytes(-len(data) % _ALIGNED)]
    return b"".join(parts)
