"""Plausible values for every criterion of the registry, and the columns that each criterion needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from discreet.model.criteria.base import fixed_parameters
from discreet.model.criteria.registry import CRITERIA
from discreet.model.option import OptionKind
from tests.fuzz.cases import Condition

ILL, WAGE, WEIGHT = "illness", "wage", "weight"
"""The sensitive columns of a trial: texts with a hierarchy, numbers, weights of a survey."""

VALUES: Mapping[str, Sequence[Any]] = {
    "k": (2, 2, 3, 4),
    "l": (2, 2, 3),
    "entropy_l": (1.2, 1.5, 1.8, 2),
    "recursive_c": (0.8, 1.5, 2, 3, 5),
    "alpha": (0.4, 0.5, 0.6, 0.75, 0.8),
    "beta": (0.2, 0.5, 1, 2),
    "delta_disclosure": (0.3, 0.8, 1.2, 2),
    "t": (0.1, 0.2, 0.25, 0.35, 0.5),
    "p_sensitive": (2, 2, 3),
    "range_e": (1, 2, 5, 10, 20),
    "epsilon_m": (1.25, 1.5, 2, 2.5),
    "weighted_k": (3, 5, 8, 12),
    "k_map": (3, 4, 6, 9),
    "delta_presence": (0.3, 0.5, 0.6, 0.75, 0.9),
    "attack_gain": (3, 6, 8, 12),
    "highest_risk": (0.2, 0.25, 0.34, 0.5),
    "average_risk": (0.2, 0.25, 0.34, 0.45),
    "records_at_risk": (0, 0.1, 0.25, 0.4),
    "sample_uniques": (0, 0.1, 0.2),
    "population_uniques": (0.02, 0.1, 0.2),
    "lkc": (2, 3, 4),
}
"""By criterion. A criterion of the registry without an entry fails the fuzz by name."""

PARTS: Mapping[tuple[str, str], Sequence[Any]] = {
    ("recursive_c", "l"): (2, 3),
    ("p_sensitive", "level"): (0, 1),
    ("epsilon_m", "epsilon"): (0.0, 1.0, 2.5),
    ("k_map", "fraction"): (0.3, 0.5),
    ("k_map", "significance"): (0.05, 0.3),
    ("delta_presence", "least"): (0.0, 0.0, 0.1),
    ("attack_gain", "cost"): (1.0, 1.5, 4.0),
    ("records_at_risk", "above"): (0.2, 0.34, 0.5),
    ("population_uniques", "population"): (60, 200),
    ("population_uniques", "estimator"): ("zayatz", "zayatz", "dankar", "pitman", "snb"),
    ("lkc", "known"): (1, 2),
    ("lkc", "confidence"): (0.5, 0.75, 1.0),
}
"""Fixed parts that are not choices; choices are drawn from the declared ones."""

ATTRIBUTES = {"range_e": WAGE, "epsilon_m": WAGE, "weighted_k": WEIGHT}
"""Criteria of numbers, each with its column."""


def features_of_criteria() -> list[str]:
    """List every criterion of the registry, and every choice among the parts of one."""
    found = []
    for kind in CRITERIA.all():
        found.append(f"criterion {kind.name}")
        for part in fixed_parameters(kind):
            choices = part.choices or PARTS.get((kind.name, part.name), ())
            found += [f"criterion {kind.name} {part.name}={each}" for each in dict.fromkeys(choices)]
    return found


def missing_values() -> list[str]:
    """Name each criterion, and each part of one, for which this module has no value to draw."""
    found = [f"criterion {name}" for name in CRITERIA.names() if name not in VALUES]
    for kind in CRITERIA.all():
        for part in fixed_parameters(kind):
            if part.kind is not OptionKind.CHOICE and (kind.name, part.name) not in PARTS:
                found.append(f"criterion {kind.name} {part.name}")
    return found


def features_of(condition: Condition) -> list[str]:
    """List the features that a condition covers."""
    given = [f"criterion {condition.name} {name}={value}" for name, value in condition.parts]
    return [f"criterion {condition.name}", *given]


def condition_of(random: Random, name: str, wanted: Mapping[str, Any] | None = None) -> Condition:
    """Draw a condition of a criterion; ``wanted`` contains parts that are already chosen."""
    kind = CRITERIA.named(name)
    parts = {}
    for part in fixed_parameters(kind):
        # Parameters that require a fraction get one; all others are drawn.
        choices = PARTS.get((name, part.name)) or part.choices
        parts[part.name] = random.choice(list(choices))
    parts |= wanted or {}
    attribute = ATTRIBUTES.get(name)
    if kind.of_attribute and attribute is None:
        by_hierarchy = parts.get("distance") == "hierarchical" or parts.get("level", 0) > 0
        attribute = ILL if by_hierarchy else random.choice((ILL, ILL, WAGE))
        attribute = None if name == "l" else attribute
    return Condition(name, random.choice(list(VALUES[name])), attribute, tuple(parts.items()))


def every_condition(random: Random, *, people: bool) -> list[Condition]:
    """Draw one condition of each criterion except k and l; those of a population only if there is one."""
    found = [condition_of(random, name) for name in CRITERIA.names() if name not in ("k", "l")]
    return [one for one in found if people or not one.criterion.of_population]
