"""Costs whose parts are sums over the cells of one attribute: precision, loss, entropy.

Each declares how suppressed rows are charged, how generalization and suppression are weighed against each
other (``gs_factor``, ARX's), and how the attributes' parts become one (``aggregate``). A part is multiplied
by its attribute's weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any

import numpy as np

from discreet.measures.aggregates import Aggregate
from discreet.measures.cell_sums import (
    Factors,
    LevelSum,
    LevelSums,
    among_suppressed,
    domain_sums,
    free_of_charge,
    information_sums,
    rows_by_code,
)
from discreet.measures.cost_kinds import CellCost, Cost
from discreet.measures.named_cost import NamedCost
from discreet.model.frequency_set import FrequencySet
from discreet.model.option import OptionKind, option
from discreet.model.requirement import Requirement


class Charge(StrEnum):
    """What a suppressed row costs: its whole domain, what suppressed rows hide from each other, nothing."""

    DOMAIN = "domain"
    SUPPRESSED = "suppressed"
    NONE = "none"


def aggregate_option(default: Aggregate) -> Any:
    """The option of that name, by the default that a cost has."""
    return option(None, choices=tuple(Aggregate), help="how attributes' parts become one cost", shown=default)


def gs_factor_option() -> Any:
    """The option of that name."""
    return option(
        0.5,
        kind=OptionKind.DECIMAL,
        least=0,
        most=1,
        metavar="X",
        help="0 favours suppression, 1 generalization",
        label="Generalization against suppression",
    )


def charge_option(*choices: Charge) -> Any:
    """The option of that name."""
    return option(Charge.DOMAIN, choices=choices, help="what a suppressed row costs")


@dataclass(frozen=True, kw_only=True)
class Precision(NamedCost):
    """1 − Prec (Sweeney 2002): the mean of level / height, where a suppressed row shows the top."""

    name = "precision"
    meaning = "the mean of level / height, a suppressed row at the top"

    aggregate: str | None = aggregate_option(Aggregate.ARITHMETIC_MEAN)
    charge: str = charge_option(Charge.DOMAIN, Charge.NONE)
    gs_factor: float = gs_factor_option()

    def over(
        self,
        table: FrequencySet,
        requirement: Requirement,  # noqa: ARG002
        weights: tuple[float, ...],
    ) -> Cost:
        """The cost of the nodes of a table; one without rows costs what its levels say."""
        factors, rows = Factors.of(self.gs_factor), max(table.rows, 1)
        sums = []
        for i, hierarchy in enumerate(table.hierarchies):
            of_code = rows_by_code(table, i)
            shares = [
                factors.published * level / max(hierarchy.height, 1) for level in range(hierarchy.height + 1)
            ]
            penalties = [
                0.0 if self.charge == Charge.NONE else factors.suppressed - share for share in shares
            ]
            levels = zip(shares, penalties, strict=True)
            sums.append(tuple(LevelSum(s * rows, np.full(len(of_code), p), of_code) for s, p in levels))
        parts = tuple(partial(_per_row, weight, rows) for weight in weights)
        aggregate = Aggregate(self.aggregate or Aggregate.ARITHMETIC_MEAN)
        return CellCost(self.name, tuple(sums), parts, aggregate)


@dataclass(frozen=True, kw_only=True)
class Loss(NamedCost):
    """ARX's Loss: x = (mean of m/D − g/D) / (1 − g/D) for each attribute, g the factor of generalization.

    A suppressed row has m = D, or only part of the way there where ``gs_factor`` favours suppression.
    """

    name = "loss"
    meaning = "the share of each domain that a value stands for (ARX's Loss)"

    aggregate: str | None = aggregate_option(Aggregate.GEOMETRIC_MEAN)
    gs_factor: float = gs_factor_option()

    def over(
        self,
        table: FrequencySet,
        requirement: Requirement,  # noqa: ARG002
        weights: tuple[float, ...],
    ) -> Cost:
        """The cost of the nodes of a table."""
        factors = Factors.of(self.gs_factor)
        parts = tuple(
            partial(_share_lost, weight, table.rows, len(hierarchy.leaves), factors.published)
            for hierarchy, weight in zip(table.hierarchies, weights, strict=True)
        )
        aggregate = Aggregate(self.aggregate or Aggregate.GEOMETRIC_MEAN)
        return CellCost(self.name, domain_sums(table, factors), parts, aggregate)


@dataclass(frozen=True, kw_only=True)
class Entropy(NamedCost):
    """Non-uniform entropy: the bits by which a row's values leave its leaves open, averaged over the rows.

    For each attribute log2(rows with the value / rows with the leaf). A suppressed row shows the whole domain
    (``charge`` ``domain``), or its value and, on top, log2(suppressed rows / those of them with its value)
    (``suppressed``, as ARX has it), or its value alone (``none``, ARX's monotonic one).
    """

    name = "entropy"
    meaning = "bits by which a row's values leave its leaves open"

    aggregate: str | None = aggregate_option(Aggregate.SUM)
    charge: str = charge_option(*Charge)
    gs_factor: float = gs_factor_option()

    def over(
        self,
        table: FrequencySet,
        requirement: Requirement,  # noqa: ARG002
        weights: tuple[float, ...],
    ) -> Cost:
        """The cost of the nodes of a table."""
        factors = Factors.of(self.gs_factor)
        sums: LevelSums = information_sums(table, factors)
        if self.charge != Charge.DOMAIN:
            sums = free_of_charge(sums)
        if self.charge == Charge.SUPPRESSED:
            sums = among_suppressed(table, sums, factors.suppressed)
        parts = tuple(partial(_per_row, weight, max(table.rows, 1)) for weight in weights)
        # What a value leaves open grows as what suppression hides of it shrinks; the lighter weight remains.
        lasting = min(factors.published / factors.suppressed, 1.0) if factors.suppressed else 1.0
        return CellCost(self.name, sums, parts, Aggregate(self.aggregate or Aggregate.SUM), lasting)


def _per_row(weight: float, rows: int, total: Any) -> Any:
    return weight * total / rows


def _share_lost(weight: float, rows: int, leaves: int, published: float, total: Any) -> Any:
    """x from the leaves shown, added over the rows; a domain of one leaf has nothing to lose."""
    if not rows or leaves <= 1:
        return 0.0 * total
    return weight * ((total - published * rows) / (rows * (leaves - published)))
