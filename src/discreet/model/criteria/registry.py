"""Registry of criteria, and their conversion to and from plain values.

The scores of k and l, which every frequency set counts, have names here.
"""

from __future__ import annotations

import re
from abc import ABCMeta
from collections.abc import Mapping, Sequence
from dataclasses import fields
from importlib import import_module
from typing import Any

from discreet.errors import InputError
from discreet.model.criteria.base import AuditedBy, Criterion, ScoreKey, changed_parameters, fixed_parameters
from discreet.model.criteria.distinct_diversity import DistinctDiversity
from discreet.model.criteria.k_anonymity import KAnonymity
from discreet.model.criteria.release_level import ReleaseCriterion
from discreet.model.registry import Registry

SIZE_SCORE = ScoreKey(KAnonymity)

KEYWORD_CRITERIA = (KAnonymity.name, DistinctDiversity.name)
"""Criteria with a keyword of their own, which every document contains even if they are not requested."""


def distinct_score(attribute: str) -> ScoreKey:
    """Return the score that counts the distinct values of a sensitive attribute."""
    return ScoreKey(DistinctDiversity, attribute)


def plain_values(criteria: Sequence[Criterion]) -> dict[str, Any]:
    """Return criteria by name, each as a number, as numbers by sensitive attribute, or as a list.

    The list contains ``value``, ``attribute`` and every fixed parameter of each criterion. It is used for
    criteria with fixed parameters other than the defaults, and for several criteria of one attribute, so the
    conversion loses no information.
    """
    names = dict.fromkeys(criterion.name for criterion in criteria)
    return {name: _plain_of_name([c for c in criteria if c.name == name]) for name in names}


def _plain_of_name(criteria: Sequence[Criterion]) -> Any:
    by_attribute = {criterion.attribute: criterion.value for criterion in criteria}
    if len(by_attribute) == len(criteria) and not any(map(changed_parameters, criteria)):
        if None not in by_attribute:
            return by_attribute
        if len(criteria) == 1:
            return by_attribute[None]
    return [
        {"value": criterion.value}
        | ({} if criterion.attribute is None else {"attribute": criterion.attribute})
        | changed_parameters(criterion)
        for criterion in criteria
    ]


_BUILT_IN = {
    "KAnonymity": "k_anonymity",
    "DistinctDiversity": "distinct_diversity",
    "EntropyDiversity": "entropy_diversity",
    "RecursiveDiversity": "recursive_diversity",
    "AlphaDeassociation": "alpha_deassociation",
    "BetaLikeness": "beta_likeness",
    "DeltaDisclosure": "delta_disclosure",
    "TCloseness": "t_closeness",
    "PSensitivity": "p_sensitivity",
    "ValueRange": "value_range",
    "Proximity": "proximity",
    "WeightedKAnonymity": "weighted_k",
    "KMap": "k_map",
    "DeltaPresence": "delta_presence",
    "AttackGain": "attack_gain",
    "HighestRisk": "k_anonymity",
    "AverageRisk": "release_shares",
    "RecordsAtRisk": "release_shares",
    "SampleUniques": "release_shares",
    "PopulationUniques": "population_uniques",
    "LKCPrivacy": "lkc_privacy",
}
"""Modules of the built-in criteria by class, k and l first; imported when a name is first looked up."""


def _built_in() -> list[type[Criterion]]:
    return [
        getattr(import_module(f"discreet.model.criteria.{module}"), name)
        for name, module in _BUILT_IN.items()
    ]


def _check_criterion(criterion: type[Criterion]) -> None:
    if not (isinstance(criterion, type) and issubclass(criterion, Criterion)):
        raise InputError(f"{criterion!r} was registered as a criterion", allowed="a subclass of Criterion")
    if re.fullmatch(r"[a-z][a-z0-9_]*", criterion.name) is None or criterion.name in _RESERVED_WORDS:
        raise InputError(
            f"a criterion named '{criterion.name}'",
            allowed=f"small letters, digits and _, and none of {', '.join(_RESERVED_WORDS)}",
        )
    for word in ("has_keyword", "counted_by_engines"):
        if getattr(criterion, word) and criterion.name not in KEYWORD_CRITERIA:
            raise InputError(
                f"{criterion.name} sets {word}", allowed=f"only for {' and '.join(KEYWORD_CRITERIA)}"
            )
    fixed_parameters(criterion)
    criterion.parameter.checked(f"the floor of {criterion.name}", criterion.floor)
    _check_audit(criterion)


def _check_audit(criterion: type[Criterion]) -> None:
    """Raise ``InputError`` if the method that ``audited_by`` names is not implemented."""
    by = criterion.audited_by
    means = {AuditedBy.NOTHING: (), AuditedBy.SCORE: ("audit_score",), AuditedBy.SQL: _AUDIT_METHODS}[by]
    none: tuple[Any, ...] = (None, Criterion.audit_query, Criterion.audit_against)
    none += (ReleaseCriterion.audit_query, ReleaseCriterion.audit_score)
    if means and all(getattr(criterion, name, None) in none for name in means):
        raise InputError(
            f"{criterion.name} declares audited_by = {by} but has no {' or '.join(means)}",
            advice="Implement it, or set audited_by = AuditedBy.NOTHING: then no release is made by it.",
        )


_AUDIT_METHODS = ("audit_query", "audit_against", "audit_groups")

_RESERVED_WORDS = (
    "max_suppressed",
    "suppressed",
    "max_level",
    "min_level",
    "levels",
    "height",
    "relaxed",
    "scope",
    "cost",
)
"""Other keys in requests and answers, which criteria must not use as names."""

CRITERIA: Registry[type[Criterion]] = Registry(
    "the criterion", "discreet.criteria", ABCMeta, _built_in, check=_check_criterion
)
"""All criteria, k and l first; those of other packages by the entry points ``discreet.criteria``."""


def register(criterion: type[Criterion]) -> type[Criterion]:
    """Add a criterion, which every verb then knows; usable as a decorator.

    Raises ``InputError`` for an object that is not a ``Criterion`` subclass, for a floor outside its
    parameter's bounds, for a field that is not an option (``fixed_parameters``), for a criterion without the
    method that ``audited_by`` names, and for a name that is taken or reserved.
    """
    return CRITERIA.register(criterion)


def criteria_from(given: Mapping[str, Any]) -> tuple[Criterion, ...]:
    """Return criteria from names and plain values, in the form of ``plain_values``.

    A value is a number, numbers by sensitive attribute, or a list of tables with ``value``, ``attribute`` and
    additional fields. Raises ``InputError`` for an unknown name, a field that the criterion does not have, or
    a value outside its parameter's bounds.
    """
    found: list[Criterion] = []
    for name, value in given.items():
        kind = CRITERIA.named(name)
        if isinstance(value, Mapping | list) and not value:
            raise InputError(f"no value was given for {name}", allowed=kind.parameter.allowed)
        if isinstance(value, Mapping):
            found += [kind(number, attribute) for attribute, number in value.items()]
        elif isinstance(value, list):
            found += [_criterion_from_table(kind, table) for table in value]
        else:
            found.append(kind(value))
    return tuple(found)


def _criterion_from_table(kind: type[Criterion], table: Any) -> Criterion:
    known = [field.name for field in fields(kind)]
    if not isinstance(table, Mapping) or "value" not in table or any(key not in known for key in table):
        raise InputError(
            f"{kind.name} = {table}", allowed=f"a table with value, and of {', '.join(known[1:])}"
        )
    return kind(**table)
