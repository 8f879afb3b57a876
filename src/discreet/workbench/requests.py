"""From options and the spec's defaults to a request."""

from __future__ import annotations

from collections.abc import Mapping
from operator import index

from discreet.model.request import Request, Scope
from discreet.model.requirement import Requirement
from discreet.model.table_spec import TableSpec

Levels = Mapping[str, int]


def request_of(
    spec: TableSpec,
    *,
    k: int | None = None,
    l: int | Mapping[str, int] | None = None,
    max_suppressed: str | int | None = None,
    max_level: Levels | None = None,
    min_level: Levels | None = None,
    scope: str | None = None,
) -> Request:
    """A request from what was given, and the spec's ``[request]`` for what was not.

    Levels are merged attribute by attribute. ``InputError`` where neither says k or l, and for values that
    are not allowed.
    """
    defaults = spec.request
    limit = next((given for given in (max_suppressed, defaults.max_suppressed) if given is not None), 0)
    return Request.of(
        k=_whole(k) if k is not None else defaults.k,
        l=_merged_l(spec, l),
        max_suppressed=limit if isinstance(limit, str) else _whole(limit),
        max_level=_merged_levels(defaults.max_level, max_level),
        min_level=_merged_levels(defaults.min_level, min_level),
        scope=scope or defaults.scope or Scope.ABOVE,
    )


def requirement_of(
    spec: TableSpec, *, k: int | None = None, l: int | Mapping[str, int] | None = None
) -> Requirement:
    """The requirement alone, with the spec's defaults; ``InputError`` where neither says k or l."""
    return request_of(spec, k=k, l=l).requirement


def _merged_l(spec: TableSpec, given: int | Mapping[str, int] | None) -> int | Mapping[str, int] | None:
    """``l`` by attribute wins over the default attribute by attribute; a number wins over all of it."""
    default = spec.request.l
    if given is None:
        return default
    if not isinstance(given, Mapping):
        return _whole(given)
    if default is None:
        return _merged_levels({}, given)
    if isinstance(default, Mapping):
        return _merged_levels(default, given)
    return _merged_levels({a.name: default for a in spec.sensitive}, given)


def _merged_levels(defaults: Levels, given: Levels | None) -> dict[str, int]:
    return {**defaults, **{name: _whole(level) for name, level in (given or {}).items()}}


def _whole(value: int) -> int:
    """A plain ``int`` from any whole number (numpy's too); other values are left for the model to refuse."""
    try:
        return value if isinstance(value, bool) else index(value)
    except TypeError:
        return value
