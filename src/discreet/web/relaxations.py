"""The relaxations of a request as cards: what each gives way on, in words, and the request it leads to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from discreet.model.criteria.base import Criterion
from discreet.model.negotiation import Relaxation
from discreet.model.request import Request, SuppressionLimit
from discreet.printing.document import rows_and_share
from discreet.results.answers import AnswerResult, NegotiationResult
from discreet.web.requests import RequestBody


def cards(result: NegotiationResult, body: RequestBody) -> list[dict[str, Any]]:
    """One card per relaxation that has a solution, with the request that it leads to from ``body``.

    Its words are a ``title``, what is said at the ``mark`` of its node in the lattice, what the ``node`` is
    called, and two sentences.
    """
    return [
        {
            "relaxed": answer.relaxed,
            **_words(answer.relaxed, answer, result.request),
            "change": _change(answer, result),
            "result": _result(answer),
            "request": RequestBody.of_request(applied(answer, result.request))
            .model_copy(update={"cost": body.cost})
            .model_dump(),
        }
        for answer in result.answers
        if answer.relaxed is not None
    ]


def applied(answer: AnswerResult, request: Request) -> Request:
    """The request that an answer meets exactly: the part that gave way is changed, the others are kept."""
    if answer.relaxed == Relaxation.MAX_SUPPRESSED:
        return replace(request, max_suppressed=SuppressionLimit(rows=answer.suppressed))
    if answer.relaxed == Relaxation.HEIGHT:
        limits = dict(request.max_level)
        for name, level in answer.levels.items():
            if name in limits:
                limits[name] = max(limits[name], level)
        return replace(request, max_level=tuple(limits.items()))
    return replace(request, requirement=answer.answer.requirement)


def _words(relaxed: str, answer: AnswerResult, request: Request) -> dict[str, str]:
    if relaxed == Relaxation.MAX_SUPPRESSED:
        return _card("Suppress more rows", "more rows", "Node with fewest suppressed rows")
    if relaxed == Relaxation.HEIGHT:
        return _card("Generalize further", "higher levels", "Node of higher levels")
    asked = {c.label: c.value for c in request.requirement.criteria if c.name == relaxed}
    titles = {c.name: c.title for c in request.requirement.criteria if len(c.name) > 1}
    called = titles.get(relaxed, relaxed)
    if any(c.value > asked[c.label] for c in answer.criteria if c.label in asked):
        return _card(f"Raise {called}", f"higher {called}", f"Node of the smallest {called}")
    return _card(f"Lower {called}", f"lower {called}", f"Node of the largest {called}")


def _card(title: str, mark: str, node: str) -> dict[str, str]:
    return {"title": title, "mark": mark, "node": node}


def _result(answer: AnswerResult) -> str:
    if answer.relaxed == Relaxation.MAX_SUPPRESSED:
        return f"The node has height {answer.height}."
    return f"Height {answer.height}, {rows_and_share(answer.suppressed, answer.rows)} suppressed."


def _change(answer: AnswerResult, result: NegotiationResult) -> str:
    request = result.request
    if answer.relaxed == Relaxation.MAX_SUPPRESSED:
        limit = request.max_suppressed.of(answer.rows)
        return f"At most {rows_and_share(answer.suppressed, answer.rows)} instead of {limit:,} rows."
    if answer.relaxed == Relaxation.HEIGHT:
        limits = dict(request.max_level)
        raised = [
            f"{name} {limits[name]} → {level}"
            for name, level in answer.levels.items()
            if level > limits.get(name, level)
        ]
        return f"Allow {', '.join(raised)}."
    holding = [c for c in answer.criteria if c.name == answer.relaxed]
    asked = [c for c in request.requirement.criteria if c.name == answer.relaxed]
    if holding and not holding[0].of_attribute:  # there is one, so its name once will do
        return f"{_told(holding)} instead of {_number(asked[0].value)}."
    return f"{_told(holding)} instead of {_told(asked)}."


def _told(criteria: list[Criterion]) -> str:
    return ", ".join(f"{criterion.label} = {_number(criterion.value)}" for criterion in criteria)


def _number(value: int | float) -> str:
    return f"{value:g}" if isinstance(value, float) else f"{value:,}"
