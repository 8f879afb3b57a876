"""Requests, requirements and costs from keyword arguments and the spec's defaults.

Each builder merges the caller's values with the spec's ``[request]``: levels and criteria attribute by
attribute, other values as a whole. Light on purpose: the command line and the script generator need it
without a lattice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, Signature, signature
from operator import index
from typing import Any, TypedDict, TypeVar, Unpack, cast

from discreet.measures.cost_registry import AnyCost, cost_named, resolve_cost
from discreet.measures.named_costs import NamedCost
from discreet.model.criteria.base import Criterion
from discreet.model.request import RelaxationScope, Request
from discreet.model.requirement import Requirement
from discreet.model.table_spec import TableSpec

LevelsByAttribute = Mapping[str, int]


class CriterionKeywords(TypedDict, total=False):
    """Keywords of the criteria: k, l, and further ``criteria``; the spec's where they are not given."""

    k: int | None
    l: int | Mapping[str, int] | None
    criteria: Iterable[Criterion]


class RequestKeywords(CriterionKeywords, total=False):
    """Keywords of a request without its scope."""

    max_suppressed: str | int | None
    max_level: LevelsByAttribute | None
    min_level: LevelsByAttribute | None


class ScopedRequestKeywords(RequestKeywords, total=False):
    """Keywords of a request."""

    scope: str | None


_Function = TypeVar("_Function", bound=Callable[..., Any])


def with_keywords(keywords: type) -> Callable[[_Function], _Function]:
    """Name the keywords of a function that declares ``**options: Unpack[keywords]``.

    Its signature names them, for ``help``, completion in notebooks and docs/python.md (type checkers read
    ``Unpack``), and any other keyword is a ``TypeError``.
    """

    def name(function: _Function) -> _Function:
        *found, _ = signature(function).parameters.values()
        first = next((i for i, each in enumerate(found) if each.kind is each.KEYWORD_ONLY), len(found))
        named = [
            Parameter(
                word,
                Parameter.KEYWORD_ONLY,
                default=() if word in _EMPTY else None,
                annotation=getattr(kind, "__forward_arg__", kind),
            )
            for word, kind in keywords.__annotations__.items()
        ]
        names = {each.name for each in (*found, *named)}

        @wraps(function)
        def checked(*arguments: Any, **options: Any) -> Any:
            unknown = next((word for word in options if word not in names), None)
            if unknown is not None:
                raise TypeError(f"{function.__name__}() got an unexpected keyword argument {unknown!r}")
            return function(*arguments, **options)

        checked.__signature__ = Signature([*found[:first], *named, *found[first:]])  # type: ignore[attr-defined]
        return cast("_Function", checked)

    return name


_EMPTY = {"criteria", "null_values"}
"""Keywords whose default is an empty tuple; that of the others is None."""


def choose_cost(spec: TableSpec, requested: AnyCost | None) -> NamedCost | None:
    """Return the given cost, else that of the spec's ``[request]``; None without either.

    Raises ``InputError`` for an unknown name.
    """
    if requested is not None:
        return resolve_cost(requested)
    default_cost = spec.request.cost
    return None if default_cost is None else cost_named(default_cost.name, **dict(default_cost.options))


def build_request(
    spec: TableSpec,
    *,
    k: int | None = None,
    l: int | Mapping[str, int] | None = None,
    max_suppressed: str | int | None = None,
    max_level: LevelsByAttribute | None = None,
    min_level: LevelsByAttribute | None = None,
    scope: str | None = None,
    criteria: Iterable[Criterion] = (),
) -> Request:
    """Build a request from the given values, with the spec's ``[request]`` as defaults.

    Levels, and criteria of one name, are merged attribute by attribute. Raises ``InputError`` without any
    criterion, and for values that are not allowed.
    """
    defaults, criteria = spec.request, tuple(criteria)
    if criteria:  # k and l may be among them
        requirement = Requirement.of(None if k is None else _plain_int(k), l, criteria)
        k, l, criteria = requirement.k, requirement.l_as_json(), requirement.others
    limit = next(
        (requested for requested in (max_suppressed, defaults.max_suppressed) if requested is not None), 0
    )
    return Request.of(
        k=_plain_int(k) if k is not None else defaults.k,
        l=_merged_l(spec, l),
        max_suppressed=limit if isinstance(limit, str) else _plain_int(limit),
        max_level=_merged_levels(defaults.max_level, max_level),
        min_level=_merged_levels(defaults.min_level, min_level),
        scope=scope or defaults.scope or RelaxationScope.ABOVE,
        criteria=_merged_criteria(spec, criteria),
    )


def build_requirement(spec: TableSpec, **options: Unpack[CriterionKeywords]) -> Requirement:
    """Build only the requirement, with the spec's defaults; raise ``InputError`` without any criterion."""
    return build_request(spec, **options).requirement


def _merged_criteria(spec: TableSpec, requested: Sequence[Criterion]) -> tuple[Criterion, ...]:
    """Merge criteria by name: one of an attribute replaces its default, one without all defaults."""
    found: list[Criterion] = []
    for default in spec.request.criteria:
        rivals = [criterion for criterion in requested if criterion.name == default.name]
        places = {criterion.attribute for criterion in rivals}
        if not rivals:
            found.append(default)
        elif None not in places and default.attribute is None:
            found += [default.at(a.name) for a in spec.sensitive if a.name not in places]
        elif None not in places and default.attribute not in places:
            found.append(default)
    return (*found, *requested)


def _merged_l(spec: TableSpec, requested: int | Mapping[str, int] | None) -> int | Mapping[str, int] | None:
    """Merge ``l``: values by attribute replace the default per attribute; a number replaces all of it."""
    default = spec.request.l
    if requested is None:
        return default
    if not isinstance(requested, Mapping):
        return _plain_int(requested)
    if default is None:
        return _merged_levels({}, requested)
    if isinstance(default, Mapping):
        return _merged_levels(default, requested)
    return _merged_levels({a.name: default for a in spec.sensitive}, requested)


def _merged_levels(defaults: LevelsByAttribute, requested: LevelsByAttribute | None) -> dict[str, int]:
    return {**defaults, **{name: _plain_int(level) for name, level in (requested or {}).items()}}


def _plain_int(value: int) -> int:
    """Convert a whole number (also numpy's) to ``int``; other values are left for the model to refuse."""
    try:
        return value if isinstance(value, bool) else index(value)
    except TypeError:
        return value
