"""The criteria beside k and l in a spec's ``[request]``: a number, or numbers by sensitive attribute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from discreet.errors import InputError
from discreet.hierarchy.messages import listed, shown
from discreet.model.closest import closest
from discreet.model.criteria.base import Criterion
from discreet.model.criteria.registry import CRITERIA
from discreet.spec.document import RequestTable
from discreet.spec.problems import KeyPath, key_text, value_text


def split_request(content: object, label: str) -> tuple[object, tuple[Criterion, ...], tuple[str, ...]]:
    """``[request]`` without the criteria that are registered, these criteria, and what else it may hold.

    The last are names, listed only where there are keys that ``RequestTable`` does not know: no other package
    is loaded before. ``InputError`` for a value that a criterion does not take.
    """
    if not isinstance(content, Mapping):
        return content, (), ()
    unknown = [key for key in content if key not in RequestTable.model_fields]
    if not unknown:
        return content, (), ()
    kinds = {kind.name: kind for kind in CRITERIA if kind.name not in RequestTable.model_fields}
    found = [one for name in unknown if name in kinds for one in _read(kinds[name], content[name], label)]
    left = {key: value for key, value in content.items() if key not in kinds}
    return left, tuple(found), tuple(kinds)


def check_attributes(criteria: Sequence[Criterion], sensitive: Sequence[str], label: str) -> None:
    """``InputError`` for a criterion of an attribute that is not sensitive."""
    for criterion in criteria:
        if criterion.attribute is not None and criterion.attribute not in sensitive:
            key = key_text(("request", criterion.name, criterion.attribute))
            raise InputError(
                f"{label}: {key}: {shown(criterion.attribute)} is no sensitive attribute",
                allowed=listed(sensitive, 20) or "none: the spec names no sensitive attribute",
                advice=closest(criterion.attribute, sensitive),
            )


def _read(kind: type[Criterion], value: object, label: str) -> list[Criterion]:
    key: KeyPath = ("request", kind.name)
    if kind.of_attribute and isinstance(value, Mapping) and value:
        return [
            kind(_number(kind, part, (*key, str(name)), label), str(name)) for name, part in value.items()
        ]
    return [kind(_number(kind, value, key, label))]


def _number(kind: type[Criterion], value: object, key: KeyPath, label: str) -> Any:
    number = float(value) if isinstance(value, Decimal) else value
    try:
        return kind.parameter.checked(kind.name, number)
    except InputError:
        raise InputError(f"{label}: {key_text(key)} = {value_text(value)}", allowed=_allowed(kind)) from None


def _allowed(kind: type[Criterion]) -> str:
    several = ", or a table of them by sensitive attribute" if kind.of_attribute else ""
    return f"{kind.parameter.allowed}{several}"
