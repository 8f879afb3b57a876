"""Binary frames of the negotiation socket: one per move, so that text, histogram and colours change together.

A frame is the length of a header (four bytes, little endian), the header as JSON, and arrays. The header's
``arrays`` contains the offset of each array, its bytes and its kind; arrays begin at multiples of eight. By
position (``screens.lattice_view``) they are:

* ``suppressed``: the suppressed rows of every node, two bytes each if the table has fewer rows than 65,536,
  else four; omitted if the requirement is that of the last frame;
* ``published`` (four): each quasi-identifier's bins after the node's recoding (``screens.node_preview``);
  omitted if node and requirement are those of the last frame;
* ``levels`` (one or two bytes per quasi-identifier) and ``losses`` (four): sent once, and again when a
  partial lattice has counted more nodes.

The header contains the relaxations of a request as cards, each with the request that it leads to.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.measures.named_costs import NamedCost
from discreet.model.criteria.base import Criterion
from discreet.model.lattice import LatticeNode
from discreet.model.request import Request, SuppressionLimit, node_bounds
from discreet.model.requirement import Requirement
from discreet.model.search_result import Relaxation, cost_parts
from discreet.printing.document import Line, format_rows
from discreet.results.answers import AnswerResult, NegotiationResult
from discreet.results.node_summary import NodeSummary
from discreet.screens.lattice_view import LatticeView
from discreet.screens.node_preview import TableEffects
from discreet.web.negotiation_forms import PreviewRequest, RequestBody, SocketMove
from discreet.web.screen_messages import answer_message


def relaxation_cards(result: NegotiationResult, body: RequestBody) -> list[dict[str, Any]]:
    """Return one card per relaxation that has a solution, with the request that it leads to from ``body``.

    The texts of a card are its ``title``, the label at the ``mark`` of its node in the lattice, the name of
    the ``node``, and two sentences.
    """
    return [
        {
            "relaxed": answer.relaxed,
            **_card_titles(answer.relaxed, answer, result.request),
            "change": _change_text(answer, result),
            "result": _result_text(answer),
            "request": RequestBody.of_request(
                relaxed_request(answer, result.request), body.cost
            ).model_dump(),
        }
        for answer in result.answers
        if answer.relaxed is not None
    ]


def relaxed_request(answer: AnswerResult, request: Request) -> Request:
    """Return the request that an answer meets exactly: the relaxed part is changed, the others are kept."""
    if answer.relaxed == Relaxation.MAX_SUPPRESSED:
        return replace(request, max_suppressed=SuppressionLimit(rows=answer.suppressed))
    if answer.relaxed == Relaxation.HEIGHT:
        limits = dict(request.max_level)
        for name, level in answer.levels.items():
            if name in limits:
                limits[name] = max(limits[name], level)
        return replace(request, max_level=tuple(limits.items()))
    return replace(request, requirement=answer.answer.requirement)


def _card_titles(relaxed: str, answer: AnswerResult, request: Request) -> dict[str, str]:
    if relaxed == Relaxation.MAX_SUPPRESSED:
        return _card("Suppress more rows", "more rows", "Node with fewest suppressed rows")
    if relaxed == Relaxation.HEIGHT:
        return _card("Generalize further", "higher levels", "Node of higher levels")
    requested = {c.label: c.value for c in request.requirement.criteria if c.name == relaxed}
    titles = {c.name: c.title for c in request.requirement.criteria if len(c.name) > 1}
    called = titles.get(relaxed, relaxed)
    if any(c.value > requested[c.label] for c in answer.criteria if c.label in requested):
        return _card(f"Raise {called}", f"higher {called}", f"Node of the smallest {called}")
    return _card(f"Lower {called}", f"lower {called}", f"Node of the largest {called}")


def _card(title: str, mark: str, node: str) -> dict[str, str]:
    return {"title": title, "mark": mark, "node": node}


def _result_text(answer: AnswerResult) -> str:
    if answer.relaxed == Relaxation.MAX_SUPPRESSED:
        return f"The node has height {answer.height}."
    return f"Height {answer.height}, {format_rows(answer.suppressed, answer.rows)} suppressed."


def _change_text(answer: AnswerResult, result: NegotiationResult) -> str:
    request = result.request
    if answer.relaxed == Relaxation.MAX_SUPPRESSED:
        limit = request.max_suppressed.of(answer.rows)
        return f"At most {format_rows(answer.suppressed, answer.rows)} instead of {limit:,} rows."
    if answer.relaxed == Relaxation.HEIGHT:
        limits = dict(request.max_level)
        raised = [
            f"{name} {limits[name]} → {level}"
            for name, level in answer.levels.items()
            if level > limits.get(name, level)
        ]
        return f"Allow {', '.join(raised)}."
    holding = [c for c in answer.criteria if c.name == answer.relaxed]
    changed = [c for c in request.requirement.criteria if c.name == answer.relaxed]
    if holding and not holding[0].of_attribute:  # a single criterion: name it once
        return f"{_criteria_text(holding)} instead of {_number_text(changed[0].value)}."
    return f"{_criteria_text(holding)} instead of {_criteria_text(changed)}."


def _criteria_text(criteria: list[Criterion]) -> str:
    return ", ".join(f"{criterion.label} = {_number_text(criterion.value)}" for criterion in criteria)


def _number_text(value: int | float) -> str:
    return f"{value:g}" if isinstance(value, float) else f"{value:,}"


_ALIGNMENT = 8


@dataclass
class NegotiableView:
    """A lattice under negotiation and its view; a partial lattice grows with the requests.

    ``version`` changes when the nodes do; ``warnings`` are about the rows of the table. Safe for threads.
    """

    label: str
    _view: LatticeView
    warnings: tuple[str, ...] = ()
    _number: int = 0
    _lock: Lock = field(default_factory=Lock, repr=False)
    _frontiers: dict[tuple[int, Requirement, NamedCost | None], dict[str, Any]] = field(
        default_factory=dict, repr=False
    )
    _effects: TableEffects | None = field(default=None, repr=False)

    def current(self) -> tuple[str, LatticeView]:
        """Return the version and the view; rebuild the view if a partial lattice has counted more nodes."""
        with self._lock:
            if not self._view.is_current:
                self._view = LatticeView.of(self._view.source)
                self._number += 1
                self._frontiers.clear()
            return f"{self.label}-{self._number}", self._view

    def effects(self, view: LatticeView) -> TableEffects:
        """Return the shared input of the effects of all nodes, computed once."""
        with self._lock:
            if self._effects is None:
                self._effects = TableEffects(view.source.frequency_set)
            return self._effects

    def frontier(
        self, view: LatticeView, requirement: Requirement, cost: NamedCost | None = None
    ) -> dict[str, Any]:
        """Return the positions of the ``frontier``; for a cost also its name and the cost of each position.

        The results of the last requirements are cached.
        """
        key = (id(view), requirement, cost)
        with self._lock:
            result = self._frontiers.get(key)
        if result is None:
            result = _frontier(view, requirement, cost)
            with self._lock:
                if len(self._frontiers) >= 64:
                    self._frontiers.clear()
                self._frontiers[key] = result
        return result


def _frontier(view: LatticeView, requirement: Requirement, cost: NamedCost | None) -> dict[str, Any]:
    if cost is None:
        return {"frontier": view.frontier(requirement)}
    found = view.frontier_of_cost(requirement, cost)
    costs = [list(cost_parts(value)) for value in found.values()]
    return {"frontier": list(found), "frontier_cost": {"name": cost.name, "costs": costs}}


@dataclass
class SentState:
    """The state last sent to a connection, so that it is not sent again."""

    version: str | None = None
    requirement: Requirement | None = None
    effects: tuple[Any, ...] | None = None


def answer_facts(
    negotiable_view: NegotiableView, body: RequestBody, levels: dict[str, int] | None = None
) -> tuple[dict[str, Any], NegotiationResult, str, LatticeView]:
    """Return a frame's header without its arrays, with the result, the version and the view.

    The header contains outcome, sentences, answers, cards, and the summary of one node: the node of
    ``levels``, else the exact answer, else the first relaxation. Raises ``InputError`` for values that are
    not allowed.
    """
    request = body.request()
    result = replace(negotiable_view.current()[1].source.answer(request), warnings=negotiable_view.warnings)
    version, view = negotiable_view.current()
    lattice, requirement = view.source.lattice, request.requirement
    low, high = node_bounds(lattice, request)
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
            {"text": answer_message(part.text), "tone": str(part.tone)}
            for part in result.sentences()
            if isinstance(part, Line) and part.text
        ],
        "answers": [
            {**answer.as_json(), "place": view.position(answer.answer.node)} for answer in result.answers
        ],
        "cards": relaxation_cards(result, body),
        "low": list(low),
        "high": list(high),
        "high_place": view.position(high),
        "homogeneous": _homogeneous(view, result, summary, chosen),
        "node": {**summary.as_json(), "place": view.position(chosen), "asked": levels is not None},
    }
    return facts, result, version, view


def _homogeneous(
    view: LatticeView, result: NegotiationResult, summary: NodeSummary, node: LatticeNode
) -> dict[str, int]:
    """Count the groups of the exact answer in which all rows have the same sensitive value."""
    if result.outcome != "exact":
        return {}
    answer = result.answers[0].answer.node
    if answer != node:
        summary = view.source.summary_of(answer, result.request.requirement)
    return summary.homogeneous


def build_frame(negotiable_view: NegotiableView, move: SocketMove, sent: SentState) -> bytes:
    """Build the next frame of a connection and update ``sent``."""
    body = move.request
    facts, result, version, view = answer_facts(negotiable_view, body, move.levels)
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
        facts |= negotiable_view.frontier(view, requirement, body.named_cost())
    if move.looks is not None:
        _add_effects(facts, arrays, negotiable_view.effects(view), move.looks, requirement, sent)
    sent.version, sent.requirement = version, requirement
    return pack_frame({"id": move.id, **facts}, arrays)


def _add_effects(
    facts: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    base: TableEffects,
    preview: PreviewRequest,
    requirement: Requirement,
    sent: SentState,
) -> None:
    """Add the effects of the node to a frame unless they were sent with the last one."""
    node = tuple(facts["node"]["levels"].values())
    key = (facts["version"], node, requirement, preview.model_dump_json())
    if sent.effects == key:
        return
    preview.checked(base.table)
    effects = base.of_node(node, requirement)
    two, question = preview.together, preview.question
    facts["effects"] = {
        "detail": effects.detail,
        "together": None if two is None else effects.together(two.name, two.value, two.by),
        "question": None if question is None else effects.answer(question),
    }
    arrays["published"] = effects.published()
    sent.effects = key


def pack_frame(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> bytes:
    """Pack a header and arrays into one message; arrays are aligned to eight bytes."""
    places: dict[str, list[int | str]] = {}
    at = 0
    for name, array in arrays.items():
        places[name] = [at, array.nbytes, f"u{array.itemsize}" if array.dtype.kind == "u" else "f4"]
        at += -(-array.nbytes // _ALIGNMENT) * _ALIGNMENT
    text = json.dumps({**header, "arrays": places}, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-(4 + len(text)) % _ALIGNMENT)
    parts = [len(text).to_bytes(4, "little"), text]
    for array in arrays.values():
        data = np.ascontiguousarray(array).tobytes()
        parts += [data, bytes(-len(data) % _ALIGNMENT)]
    return b"".join(parts)
