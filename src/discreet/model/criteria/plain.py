"""Criteria as plain values, as documents and specs have them: the inverse of ``registry.criteria_from``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.model.criteria.base import Criterion
from discreet.model.criteria.fixed_parts import given_parts


def plain(criteria: Sequence[Criterion]) -> dict[str, Any]:
    """Criteria by name: a number, numbers by sensitive attribute, or a list where these do not tell all.

    The list has ``value``, ``attribute`` and every fixed part of each. It is for criteria that are asked
    otherwise than their class proposes, or several times of one attribute; nothing that was asked is lost.
    """
    names = dict.fromkeys(criterion.name for criterion in criteria)
    return {name: _of_one_name([c for c in criteria if c.name == name]) for name in names}


def _of_one_name(criteria: Sequence[Criterion]) -> Any:
    by_attribute = {criterion.attribute: criterion.value for criterion in criteria}
    if len(by_attribute) == len(criteria) and not any(map(given_parts, criteria)):
        if None not in by_attribute:
            return by_attribute
        if len(criteria) == 1:
            return by_attribute[None]
    return [
        {"value": criterion.value}
        | ({} if criterion.attribute is None else {"attribute": criterion.attribute})
        | given_parts(criterion)
        for criterion in criteria
    ]
