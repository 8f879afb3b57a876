"""The relaxations of a request as cards: what each gives way on, in words, and the request it leads to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from discreet.model.negotiation import Relaxation
from discreet.model.request import Request, SuppressionLimit
from discreet.web.requests import RequestBody
from discreet.workbench.answers import AnswerResult, NegotiationResult
from discreet.workbench.document import rows_and_share

_TITLES = {
    Relaxation.MAX_SUPPRESSED: "Suppress more rows",
    Relaxation.HEIGHT: "Generalize further",
    Relaxation.K: "Lower k",
    Relaxation.L: "Lower l",
}


def cards(result: NegotiationResult) -> list[dict[str, Any]]:
    """One card per relaxation that has a solution: title, two sentences, and the request that it leads to."""
    return [
        {
            "relaxed": answer.relaxed,
            "title": _TITLES[Relaxation(answer.relaxed)],
            "change": _change(answer, result),
            "result": _result(answer),
            "request": RequestBody.of_request(applied(answer, result.request)).model_dump(),
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
    if answer.relaxed == Relaxation.K:
        return f"k = {answer.k:,} instead of {request.requirement.k:,}."
    return f"{_l_text(answer.l)} instead of {_l_text(request.requirement.l_as_json())}."


def _l_text(l: int | dict[str, int] | None) -> str:
    if isinstance(l, dict):
        return ", ".join(f"l({name}) = {number:,}" for name, number in l.items())
    return f"l = {l:,}" if l is not None else "no l"
