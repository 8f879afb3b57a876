"""A request as one line of words, wherever the pages show one: nothing of what is asked is left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from discreet.errors import InputError
from discreet.model.criteria.registry import CRITERIA
from discreet.model.requirement import Requirement

_OWN = frozenset(
    {"k", "l", "max_suppressed", "max_level", "min_level", "scope", "order", "cost", "criteria", "suppressed"}
)


def request_words(request: Mapping[str, Any]) -> str:
    """Return the words of a request as the pages send it, or of a spec's ``[request]``.

    >>> request_words({"k": 5, "l": 3, "t": 0.2, "max_suppressed": "1%", "max_level": {"age": 2}})
    'k = 5, l = 3, t-closeness 0.2, at most 1% suppressed, age at most level 2'
    """
    return ", ".join(_parts(request)) or "nothing"


def requirement_words(requirement: Requirement) -> str:
    """Return the words of what a class must meet."""
    return request_words(requirement.as_json())


def _parts(request: Mapping[str, Any]) -> Iterator[str]:
    if request.get("k") is not None:
        yield f"k = {request['k']:,}"
    l = request.get("l")
    if isinstance(l, Mapping):
        yield from (f"l = {least} of {name}" for name, least in l.items())
    elif l is not None:
        yield f"l = {l}"
    others = {name: asked for name, asked in request.items() if name not in _OWN}
    for name, asked in {**others, **(request.get("criteria") or {})}.items():
        yield from _criterion(name, asked)
    limit = request.get("max_suppressed")
    if limit is not None:
        yield f"at most {limit:,} suppressed" if isinstance(limit, int) else f"at most {limit} suppressed"
    for key, side in (("max_level", "at most"), ("min_level", "at least")):
        yield from (f"{name} {side} level {level}" for name, level in (request.get(key) or {}).items())
    if request.get("scope") == "global":
        yield "relaxed height anywhere"
    if request.get("cost") is not None:
        yield f"by the cost {_cost(request['cost'])}"
    if request.get("order") not in (None, "sorted"):
        yield f"rows in {request['order']} order"
    if request.get("suppressed") == "star":
        yield "suppressed rows starred"


def _criterion(name: str, asked: Any) -> Iterator[str]:
    """The words of a criterion: a number, numbers by attribute, or tables with fixed parts."""
    title = _title(name)
    if isinstance(asked, Mapping):
        asked = [{"attribute": attribute, "value": value} for attribute, value in asked.items()]
    for each in asked if isinstance(asked, list) else [{"value": asked}]:
        parts = {key: value for key, value in each.items() if key not in ("value", "attribute")}
        fixed = ", ".join(f"{key} {value}" for key, value in parts.items())
        of = f" of {each['attribute']}" if each.get("attribute") else ""
        yield f"{title} {each.get('value')}{of}{f' ({fixed})' if fixed else ''}"


def _title(name: str) -> str:
    try:
        return CRITERIA.named(name).title
    except InputError:
        return name  # of a package that is not installed


def _cost(cost: Any) -> str:
    if not isinstance(cost, Mapping):
        return str(cost)
    options = ", ".join(f"{key} {value}" for key, value in cost.items() if key != "name")
    return f"{cost.get('name')} ({options})" if options else str(cost.get("name"))
