"""Profitability of an attack (Wan et al. 2015): expected gain at most the cost in every class.

In the game of a publisher and an adversary (``measures.special_purpose_costs``) the adversary identifies a
row of a class with probability 1 / rows of the class, or 1 / people matching it, and pays for the attempt. If
the attempt costs at least as much as it gains, the adversary does not attack, and the publisher loses
nothing: the game without attack.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from math import ceil, inf, isfinite, nextafter
from typing import ClassVar

from discreet.errors import InputError
from discreet.model.criteria.base import Parameter
from discreet.model.criteria.k_anonymity import SizeCriterion
from discreet.model.option import OptionKind, option


class Attacker(StrEnum):
    """Knowledge of the adversary: the people in the table, or only its population."""

    PROSECUTOR = "prosecutor"
    JOURNALIST = "journalist"


@dataclass(frozen=True)
class AttackGain(SizeCriterion):
    """``value`` / rows is at most ``cost`` in every class: identifying a person does not pay.

    The rows are those of the class, or for the ``journalist`` the people of the spec's population matching
    it.
    """

    cost: float = option(4.0, kind=OptionKind.DECIMAL, help="cost of an attempt to the adversary")
    attacker: str = option(
        Attacker.PROSECUTOR,
        choices=Attacker,
        help="the attacker knows the table's people, or only the population",
    )

    name: ClassVar[str] = "attack_gain"
    title: ClassVar[str] = "profitability of an attack"
    citation: ClassVar[str] = "Wan et al. (2015)"
    parameter: ClassVar[Parameter] = Parameter(
        "no class is worth attacking at this gain per identified person",
        least=0,
        most=1e12,
        whole=False,
        stops=(8, 12, 20, 40, 80, 100, 120, 200, 300, 400, 600, 1000, 2000),
    )
    floor: ClassVar[float] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        right = isinstance(self.cost, int | float) and not isinstance(self.cost, bool)
        if not right or not isfinite(self.cost) or not self.cost > 0:
            raise InputError(f"cost of {self.name} = {self.cost}", allowed="a number above 0")
        object.__setattr__(self, "cost", float(self.cost))

    @property
    def of_population(self) -> bool:
        """True if the adversary knows only the population."""
        return self.attacker == Attacker.JOURNALIST

    @property
    def threshold(self) -> int:
        """Smallest number at which an attack gains at most its cost, exact for the requested decimals."""
        return max(ceil(Fraction(str(self.value)) / Fraction(str(self.cost))), 1)

    def value_of(self, score: int) -> float:
        """Return the largest gain for which a class of this size is not worth attacking."""
        value = min(float(max(score, 0) * Fraction(str(self.cost))), self.parameter.most)
        while value > 0 and replace(self, value=value).threshold > max(score, 1):
            value = nextafter(value, -inf)
        return value
