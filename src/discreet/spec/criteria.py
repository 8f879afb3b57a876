"""The criteria beside k and l in a spec's ``[request]``.

Each is a number, numbers by sensitive attribute, or a list of tables, which hold its fixed parts, too:
``t = [{value = 0.2, attribute = "wage", distance = "ordered"}]``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from discreet.errors import InputError
from discreet.hierarchy.messages import listed, shown
from discreet.model.closest import closest
from discreet.model.criteria.base import Criterion
from discreet.model.criteria.fixed_parts import checked_part, fixed_parts
from discreet.model.criteria.registry import CRITERIA
from discreet.model.option import Option
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
    if isinstance(value, list) and value:
        return [_of_table(kind, table, (*key, place), label) for place, table in enumerate(value)]
    return [kind(_number(kind, value, key, label))]


def _of_table(kind: type[Criterion], table: object, key: KeyPath, label: str) -> Criterion:
    parts = {part.name: part for part in fixed_parts(kind)}
    known = ("value", *(("attribute",) if kind.of_attribute else ()), *parts)
    if not isinstance(table, Mapping):
        allowed = f"a table with value, and of {', '.join(known[1:])}" if known[1:] else "a table with value"
        raise InputError(f"{label}: {key_text(key)} = {value_text(table)}", allowed=allowed)
    for name in table:
        if name not in known:
            raise InputError(
                f"{label}: {key_text(key)} has an unknown key {shown(name)}",
                allowed=", ".join(known),
                advice=closest(str(name), known),
            )
    if "value" not in table:
        raise InputError(f"{label}: {key_text((*key, 'value'))} is missing", allowed=kind.parameter.allowed)
    attribute = table.get("attribute")
    if attribute is not None and not isinstance(attribute, str):
        where = key_text((*key, "attribute"))
        raise InputError(
            f"{label}: {where} = {value_text(attribute)}", allowed="the name of a sensitive attribute"
        )
    value = _number(kind, table["value"], (*key, "value"), label)
    chosen = {
        name: _part(part, table[name], (*key, name), label) for name, part in parts.items() if name in table
    }
    return kind(value, attribute, **chosen)


def _part(part: Option, value: object, key: KeyPath, label: str) -> Any:
    plain = float(value) if isinstance(value, Decimal) else value
    try:
        return checked_part(part, plain, part.name)
    except InputError:
        raise InputError(f"{label}: {key_text(key)} = {value_text(value)}", allowed=part.allowed) from None


def _number(kind: type[Criterion], value: object, key: KeyPath, label: str) -> Any:
    number = float(value) if isinstance(value, Decimal) else value
    try:
        return kind.parameter.checked(kind.name, number)
    except InputError:
        raise InputError(f"{label}: {key_text(key)} = {value_text(value)}", allowed=_allowed(kind)) from None


def _allowed(kind: type[Criterion]) -> str:
    several = ", or a table of them by sensitive attribute" if kind.of_attribute else ""
    listed = ", or a list of tables" if fixed_parts(kind) else ""
    return f"{kind.parameter.allowed}{several}{listed}"
