"""The tables of the experiments as frequency sets, and the partitionings that are compared on them.

The papers give the deviation of their normal columns as .2 without a unit. In values it would put nearly all
rows on one value; as a share of the domain it spreads them. Both are shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.measures.class_sizes import ClassSizes
from discreet.model.class_recoding import ClassRecoding, RecodingModel
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import TOP, GeneralizationHierarchy
from discreet.model.requirement import Requirement
from discreet.mondrian.options import Cut, MondrianOptions
from discreet.mondrian.partition import partition
from discreet.reproduce.printed import printed
from discreet.sample.synthetic import Distribution, mondrian_columns, synthetic_table
from discreet.settings import Settings
from discreet.taxonomy.searches import search

FIGURES: Mapping[str, Any] = printed("mondrian")
SINGLE, MEDIAN, BEST = (
    "single-dimensional, least loss",
    "multidimensional, median",
    "multidimensional, best cut",
)


@dataclass(frozen=True)
class Spread:
    """How a synthetic column is drawn: its title, and the deviation in values (None: uniform)."""

    title: str
    deviation: float | None


def spreads(cardinality: int, deviation: float) -> tuple[Spread, ...]:
    """The uniform columns, and both readings of a normal one's deviation."""
    return (
        Spread("uniform", None),
        Spread(f"normal, σ = {deviation:g} of the domain", deviation * cardinality),
        Spread(f"normal, σ = {deviation:g} in values", deviation),
    )


def drawn(
    attributes: int, cardinality: int, rows: int, spread: Spread, mean: float, seed: int
) -> FrequencySet:
    """A synthetic table's frequency set; ``mean`` is for normal columns."""
    if spread.deviation is None:
        columns = mondrian_columns(attributes, cardinality)
    else:
        columns = mondrian_columns(
            attributes, cardinality, Distribution.NORMAL, mean=mean, deviation=spread.deviation
        )
    table = synthetic_table(columns, rows, seed=seed)
    names = ["X", "Y"] if attributes == 2 else [column.name for column in columns]
    return counted([numbers(name, cardinality) for name in names], table.codes)


def numbers(name: str, cardinality: int) -> GeneralizationHierarchy:
    """The numbers from 0, without levels between them and the top."""
    labels = tuple(str(value) for value in range(cardinality))
    ancestors = (np.arange(cardinality), np.zeros(cardinality, dtype=np.int64))
    return GeneralizationHierarchy(name, (labels, (TOP,)), ancestors, "numbers")


def counted(
    hierarchies: Sequence[GeneralizationHierarchy], columns: Sequence[NDArray[np.int64]]
) -> FrequencySet:
    """The frequency set of columns of leaf codes."""
    codes, counts = np.unique(np.stack(columns, axis=1), axis=0, return_counts=True)
    return FrequencySet(tuple(hierarchies), codes.astype(np.int64), counts.astype(np.int64))


def partitionings(table: FrequencySet, k: int, settings: Settings) -> dict[str, ClassRecoding]:
    """The single-dimensional greedy by loss of detail, and Mondrian with the median and with the best cut.

    The greedy is no optimum by C_DM or C_AVG, which ``quality`` has for tables that are compared by these.
    """
    requirement = Requirement(k)
    return {
        SINGLE: search(RecodingModel.ORDERED_SINGLE, table, requirement, settings),
        MEDIAN: partition(table, requirement, settings, MondrianOptions(cut=Cut.MEDIAN)),
        BEST: partition(table, requirement, settings, MondrianOptions(cut=Cut.BEST)),
    }


def sizes_of(recoding: ClassRecoding) -> ClassSizes:
    """The sizes of a recoding's classes."""
    sizes, numbers_of = np.unique(recoding.class_rows(), return_counts=True)
    return ClassSizes(sizes, numbers_of, recoding.suppressed)
