"""Further attacks, in addition to the common ones; each is an immutable value with its options.

::

    discreet.attack("release.csv", table=table, by=[ColumnSets(largest_set=2), "population-uniques"])

``docs/attacks.md`` and ``docs/attacks-linkage.md`` list every option. ``named`` returns the class of an
attack by name, including attacks of other packages.
"""

from __future__ import annotations

from discreet.attacks.attribute_disclosure import BackgroundKnowledge, Skewness
from discreet.attacks.column_sets import ColumnSets
from discreet.attacks.composition import Intersection
from discreet.attacks.control_set import ControlSet
from discreet.attacks.declaration import Attack, AttackRequirement
from discreet.attacks.downcoding import Downcoding
from discreet.attacks.finding import Finding
from discreet.attacks.households import Households
from discreet.attacks.minimality import Minimality
from discreet.attacks.population_risk import PopulationUniques, SurveyWeights
from discreet.attacks.probabilistic_linkage import LinkageWithErrors
from discreet.attacks.registry import ATTACKS
from discreet.attacks.suda import Suda

__all__ = [
    "Attack",
    "AttackRequirement",
    "BackgroundKnowledge",
    "ColumnSets",
    "ControlSet",
    "Downcoding",
    "Finding",
    "Households",
    "Intersection",
    "LinkageWithErrors",
    "Minimality",
    "PopulationUniques",
    "Skewness",
    "Suda",
    "SurveyWeights",
    "named",
    "names",
]


def named(name: str) -> type[Attack]:
    """Return the attack of a name; ``InputError`` lists the existing names."""
    return ATTACKS.named(name)


def names() -> tuple[str, ...]:
    """Return the name of every attack, including those of other packages."""
    return ATTACKS.names()
