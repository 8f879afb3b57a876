"""Costs that are neither sums over cells nor class sizes: divergence, payout, classification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.errors import InputError
from discreet.measures.cell_costs import gs_factor_option
from discreet.measures.cell_sums import Factors
from discreet.measures.classification_cost import ClassificationCost
from discreet.measures.cost_kinds import Cost
from discreet.measures.divergence_cost import DivergenceCost
from discreet.measures.named_cost import NamedCost
from discreet.measures.payout_cost import Game, PayoutCost
from discreet.model.frequency_set import FrequencySet
from discreet.model.option import OptionKind, option
from discreet.model.requirement import Requirement


@dataclass(frozen=True, kw_only=True)
class Divergence(NamedCost):
    """Σ p · log2(p / q) over the row types, q spreads rows over what they stand for (``divergence_cost``)."""

    name = "kl-divergence"
    meaning = "bits by which the release's distribution is off the original's"

    def over(self, table: FrequencySet, requirement: Requirement, weights: tuple[float, ...]) -> Cost:  # noqa: ARG002
        """The cost of the nodes of a table."""
        return DivergenceCost(table)


def _money(default: float, says: str) -> Any:
    return option(default, kind=OptionKind.DECIMAL, least=0, most=1e15, metavar="X", help=says)


@dataclass(frozen=True, kw_only=True)
class Payout(NamedCost):
    """What a publisher forgoes in the game with an adversary, all rows together (``payout_cost``)."""

    name = "payout"
    meaning = "what a publisher forgoes in the game with an adversary"

    publisher_benefit: float = _money(1200.0, "what an unchanged row is worth to its publisher")
    publisher_loss: float = _money(300.0, "what the publisher loses by a row that is identified")
    adversary_gain: float = _money(300.0, "what an adversary gains by identifying a row")
    adversary_cost: float = _money(4.0, "what an adversary pays for trying")
    gs_factor: float = gs_factor_option()

    def over(
        self,
        table: FrequencySet,
        requirement: Requirement,  # noqa: ARG002
        weights: tuple[float, ...],  # noqa: ARG002
    ) -> Cost:
        """The cost of the nodes of a table."""
        game = Game(self.publisher_benefit, self.publisher_loss, self.adversary_gain, self.adversary_cost)
        return PayoutCost.over(self.name, table, game, Factors.of(self.gs_factor))


@dataclass(frozen=True, kw_only=True)
class Classification(NamedCost):
    """How badly the classes predict a quasi-identifier (Iyengar 2002; ``classification_cost``)."""

    name = "classification"
    meaning = "rows that their class's most frequent value of the target is not"

    target: str | None = option(
        None, metavar="ATTR", help="the quasi-identifier that is predicted", shown="the last one"
    )
    gs_factor: float = gs_factor_option()

    def over(
        self,
        table: FrequencySet,
        requirement: Requirement,  # noqa: ARG002
        weights: tuple[float, ...],  # noqa: ARG002
    ) -> Cost:
        """The cost of the nodes of a table; ``InputError`` for a target that is no quasi-identifier."""
        target = table.attributes[-1] if self.target is None else self.target
        if target not in table.attributes:
            raise InputError(
                f"the target '{target}' of the cost '{self.name}'", allowed=", ".join(table.attributes)
            )
        return ClassificationCost(self.name, table, table.attributes.index(target), self.gs_factor)
