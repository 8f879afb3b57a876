"""From options and the spec's defaults to a request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import index

from discreet.measures.costs import AnyCost, NamedCost, cost_asked, cost_named
from discreet.model.criteria.base import Criterion
from discreet.model.request import Request, Scope
from discreet.model.requirement import Requirement
from discreet.model.table_spec import TableSpec

Levels = Mapping[str, int]


def cost_of(spec: TableSpec, given: AnyCost | None) -> NamedCost | None:
    """The cost that was given, else the one that the spec's ``[request]`` names; None where neither does.

    ``InputError`` for a name that no cost has.
    """
    if given is not None:
        return cost_asked(given)
    asked = spec.request.cost
    return None if asked is None else cost_named(asked.name, **dict(asked.options))


def request_of(
    spec: TableSpec,
    *,
    k: int | None = None,
    l: int | Mapping[str, int] | None = None,
    max_suppressed: str | int | None = None,
    max_level: Levels | None = None,
    min_level: Levels | None = None,
    scope: str | None = None,
    criteria: Iterable[Criterion] = (),
) -> Request:
    """A request from what was given, and the spec's ``[request]`` for what was not.

    Levels, and criteria of one name, are merged attribute by attribute. ``InputError`` where neither asks
    for anything, and for values that are not allowed.
    """
    defaults, criteria = spec.request, tuple(criteria)
    if criteria:  # k and l may be among them
        asked = Requirement.of(None if k is None else _whole(k), l, criteria)
        k, l, criteria = asked.k, asked.l_as_json(), asked.others
    limit = next((given for given in (max_suppressed, defaults.max_suppressed) if given is not None), 0)
    return Request.of(
        k=_whole(k) if k is not None else defaults.k,
        l=_merged_l(spec, l),
        max_suppressed=limit if isinstance(limit, str) else _whole(limit),
        max_level=_merged_levels(defaults.max_level, max_level),
        min_level=_merged_levels(defaults.min_level, min_level),
        scope=scope or defaults.scope or Scope.ABOVE,
        criteria=_merged_criteria(spec, criteria),
    )


def requirement_of(
    spec: TableSpec,
    *,
    k: int | None = None,
    l: int | Mapping[str, int] | None = None,
    criteria: Iterable[Criterion] = (),
) -> Requirement:
    """The requirement alone, with the spec's defaults; ``InputError`` where neither asks for anything."""
    return request_of(spec, k=k, l=l, criteria=criteria).requirement


def _merged_criteria(spec: TableSpec, given: Sequence[Criterion]) -> tuple[Criterion, ...]:
    """A criterion of one attribute wins over the default of it; one of all wins over all of its name."""
    found: list[Criterion] = []
    for default in spec.request.criteria:
        rivals = [criterion for criterion in given if criterion.name == default.name]
        places = {criterion.attribute for criterion in rivals}
        if not rivals:
            found.append(default)
        elif None not in places and default.attribute is None:
            found += [default.at(a.name) for a in spec.sensitive if a.name not in places]
        elif None not in places and default.attribute not in places:
            found.append(default)
    return (*found, *given)


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
