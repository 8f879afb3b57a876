"""Generated workloads, as in LeFevre et al. (2006) and Zhang et al. (2007).

Each query restricts random attributes. To select a share s of the rows under independence, each of q
predicates selects values of about a share s^(1/q): a range from a random value for a numeric attribute, a
random set for any other. A point query (``selectivity`` None) has one value of each attribute, drawn by
frequency. The same seed gives the same workload. Cost: linear in the values per query.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.model.hierarchy import parse_decimal
from discreet.queries.aggregate_query import Aggregate, AggregateQuery, And, Atom, Constant, Interval, Members
from discreet.queries.region import AttributeDomain
from discreet.queries.workload_text import query_text

RowsByValue = Mapping[str, NDArray[np.int64]]
"""Rows of each value of an attribute, by code of its domain; without NULL, shape ``(values,)``."""


@dataclass(frozen=True)
class WorkloadDescription:
    """Parameters of a generated workload.

    Every query restricts ``dimensions`` of ``attributes`` (empty: all quasi-identifiers) so that about the
    share ``selectivity`` of the rows is selected (None: one value each). ``aggregate`` is of ``measure``,
    or ``COUNT(*)``.
    """

    queries: int = 100
    attributes: tuple[str, ...] = ()
    dimensions: int = 2
    selectivity: float | None = 0.05
    aggregate: Aggregate = Aggregate.COUNT
    measure: str | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.queries < 1 or self.dimensions < 1 or self.seed < 0:
            raise InputError(
                f"queries = {self.queries}, dimensions = {self.dimensions}, seed = {self.seed}",
                allowed="at least 1 query and 1 dimension; a seed of at least 0",
            )
        if self.selectivity is not None and not 0 < self.selectivity <= 1:
            raise InputError(f"selectivity = {self.selectivity}", allowed="above 0, at most 1")
        if self.measure is None and self.aggregate is not Aggregate.COUNT:
            raise InputError(f"{self.aggregate} without a measure", advice='Name one: measure = "age".')


def generate_workload(
    description: WorkloadDescription, domains: Mapping[str, AttributeDomain], rows: RowsByValue
) -> tuple[AggregateQuery, ...]:
    """Generate the queries of a description over attributes with known values and rows.

    Raises ``InputError`` for an attribute that is not among ``domains``, or has no value, or for more
    dimensions than attributes.
    """
    names = description.attributes or tuple(domains)
    unknown = [name for name in names if name not in domains]
    if unknown:
        raise InputError(f"a workload over '{unknown[0]}'", allowed=", ".join(domains))
    if description.dimensions > len(names):
        raise InputError(
            f"dimensions = {description.dimensions} of {len(names)} attributes",
            allowed=f"1 to {len(names)}",
        )
    empty = [name for name in names if not rows[name].sum()]
    if empty:
        raise InputError(f"a workload over '{empty[0]}', which is NULL in every row")
    random = np.random.default_rng(description.seed)
    return tuple(_draw_query(description, names, domains, rows, random) for _ in range(description.queries))


def _draw_query(
    description: WorkloadDescription,
    names: tuple[str, ...],
    domains: Mapping[str, AttributeDomain],
    rows: RowsByValue,
    random: np.random.Generator,
) -> AggregateQuery:
    chosen = sorted(random.choice(len(names), size=description.dimensions, replace=False).tolist())
    share = None
    if description.selectivity is not None:
        share = description.selectivity ** (1.0 / description.dimensions)
    parts = tuple(_draw_atom(domains[names[i]], rows[names[i]], share, random) for i in chosen)
    predicate = parts[0] if len(parts) == 1 else And(parts)
    query = AggregateQuery(description.aggregate, description.measure, predicate)
    return replace(query, text=query_text(query))


def _draw_atom(
    domain: AttributeDomain, rows: NDArray[np.int64], share: float | None, random: np.random.Generator
) -> Atom:
    occurring = np.flatnonzero(rows)
    if share is None:
        code = int(random.choice(occurring, p=rows[occurring] / rows.sum()))
        return Members(domain.attribute, (_constant(domain, code),))
    wanted = share * int(rows.sum())
    if not domain.is_numeric:
        order = random.permutation(occurring)
        number = int(np.searchsorted(np.cumsum(rows[order]), wanted * (1 - 1e-12))) + 1
        texts = sorted(domain.texts[code] for code in order[:number].tolist())
        return Members(domain.attribute, tuple(texts))
    order = occurring[np.argsort(domain.numbers[occurring], kind="stable")]
    sums = np.concatenate(([0], np.cumsum(rows[order])))
    begins = np.flatnonzero(sums[-1] - sums[:-1] >= wanted * (1 - 1e-12))
    first = int(random.choice(begins)) if len(begins) else 0
    last = min(int(np.searchsorted(sums, sums[first] + wanted * (1 - 1e-12))), len(order)) - 1
    low, high = (parse_decimal(domain.texts[int(order[position])]) for position in (first, max(first, last)))
    return Interval(domain.attribute, low, high)


def _constant(domain: AttributeDomain, code: int) -> Constant:
    number = parse_decimal(domain.texts[code]) if domain.is_numeric else None
    return domain.texts[code] if number is None else Decimal(number)
