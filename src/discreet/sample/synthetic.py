"""Synthetic tables as in the Mondrian paper's experiments: rows, attributes, cardinality, distribution, seed.

A column draws codes 0 … cardinality - 1 by inverse transform from uniform numbers: with equal weights
(``uniform``), with the weights of a normal density at the codes (``normal``: mean and deviation in codes,
so a deviation that is given as a share of the domain is to be multiplied by the cardinality first), or
falling by a power law (``skewed``). With a correlation r, the uniform numbers of different columns come from
normal variables that share the fraction r of their variance; each column keeps its own distribution.

Cost: one pass per column over arrays of the rows' length.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError

SEED = 2026
_ROWS_PER_WRITE = 100_000
_NORMAL_GRID = np.linspace(-9.0, 9.0, 18_001)
_NORMAL_SHARES = np.array([0.5 * (1.0 + math.erf(z / math.sqrt(2.0))) for z in _NORMAL_GRID.tolist()])


class Distribution(StrEnum):
    """How a column's codes are spread."""

    UNIFORM = "uniform"
    NORMAL = "normal"
    SKEWED = "skewed"


@dataclass(frozen=True)
class SyntheticColumn:
    """A column of a synthetic table.

    ``mean`` and ``deviation`` are in codes and belong to ``normal``; without a mean it is the middle of the
    codes. ``skew`` belongs to ``skewed``: the first x codes hold ``(x / cardinality) ** (1 / skew)`` of the
    rows. ``labels`` are the cells' texts by code (None: the codes), ``hierarchy`` is the spec's entry for it
    (None: value → ``*``).
    """

    name: str
    cardinality: int
    distribution: Distribution = Distribution.UNIFORM
    mean: float | None = None
    deviation: float | None = None
    skew: float = 2.0
    labels: tuple[str, ...] | None = None
    hierarchy: Mapping[str, Any] | None = None
    role: str = "quasi-identifier"

    def __post_init__(self) -> None:
        if self.cardinality < 1:
            raise InputError(f"cardinality {self.cardinality} of '{self.name}'", allowed="1 or more")
        if self.labels is not None and len(self.labels) != self.cardinality:
            raise InputError(
                f"{len(self.labels)} labels of '{self.name}'", allowed=f"{self.cardinality}, one per code"
            )
        if self.distribution is Distribution.NORMAL and not (self.deviation and self.deviation > 0):
            raise InputError(f"deviation {self.deviation} of '{self.name}'", allowed="a number above 0")
        if self.skew <= 0:
            raise InputError(f"skew {self.skew} of '{self.name}'", allowed="a number above 0")

    def probabilities(self) -> NDArray[np.float64]:
        """The probability of each code, shape ``(cardinality,)``."""
        codes = np.arange(self.cardinality, dtype=np.float64)
        if self.distribution is Distribution.SKEWED:
            shares = ((codes + 1) / self.cardinality) ** (1.0 / self.skew)
            return np.diff(shares, prepend=0.0)
        if self.distribution is Distribution.NORMAL:
            assert self.deviation is not None
            mean = (self.cardinality - 1) / 2 if self.mean is None else self.mean
            exponents = -0.5 * ((codes - mean) / self.deviation) ** 2
            # The largest exponent is taken off, or a small deviation would leave every weight at 0.
            weights = np.exp(exponents - exponents.max())
            return np.asarray(weights / weights.sum(), dtype=np.float64)
        return np.full(self.cardinality, 1.0 / self.cardinality)

    def texts(self) -> tuple[str, ...]:
        """The cells' texts by code."""
        return self.labels or tuple(str(code) for code in range(self.cardinality))

    def attribute(self) -> dict[str, Any]:
        """The column's entry in a spec."""
        entry: dict[str, Any] = {"role": self.role}
        if self.hierarchy is not None:
            entry["hierarchy"] = dict(self.hierarchy)
        return entry


@dataclass(frozen=True, eq=False)
class SyntheticTable:
    """Columns, and their codes: ``codes[i]`` has one entry per row."""

    columns: tuple[SyntheticColumn, ...]
    codes: tuple[NDArray[np.int64], ...]

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.codes[0]) if self.codes else 0

    def arrays(self) -> dict[str, NDArray[np.str_]]:
        """The cells' texts by column."""
        return {
            column.name: np.array(column.texts())[codes]
            for column, codes in zip(self.columns, self.codes, strict=True)
        }

    def attributes(self) -> dict[str, Any]:
        """The attributes of a spec for this table."""
        return {column.name: column.attribute() for column in self.columns}

    def write_csv(self, path: Path) -> None:
        """Write the table as CSV (UTF-8, comma, LF) to a new file; ``FileExistsError`` where there is one."""
        texts = [column.texts() for column in self.columns]
        with path.open("x", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([column.name for column in self.columns])
            for start in range(0, self.rows, _ROWS_PER_WRITE):
                part = [codes[start : start + _ROWS_PER_WRITE].tolist() for codes in self.codes]
                cells = ([names[code] for code in c] for names, c in zip(texts, part, strict=True))
                writer.writerows(zip(*cells, strict=True))


def synthetic_table(
    columns: Sequence[SyntheticColumn], rows: int, *, correlation: float = 0.0, seed: int = SEED
) -> SyntheticTable:
    """A table of ``rows`` rows; equal for equal arguments (and one version of numpy).

    ``correlation`` is that of the normal variables behind any two columns, from 0 to 1.
    """
    if rows < 0:
        raise InputError(f"{rows} rows", allowed="0 or more")
    if not 0.0 <= correlation <= 1.0:
        raise InputError(f"a correlation of {correlation}", allowed="from 0 to 1")
    generator = np.random.default_rng(seed)
    shared = generator.standard_normal(rows) if correlation > 0 else None
    drawn = []
    for column in columns:
        if shared is None:
            uniform = generator.random(rows)
        else:
            own = generator.standard_normal(rows)
            uniform = _normal_share(math.sqrt(correlation) * shared + math.sqrt(1 - correlation) * own)
        drawn.append(draw(column, uniform))
    return SyntheticTable(tuple(columns), tuple(drawn))


def draw(column: SyntheticColumn, uniform: NDArray[np.float64]) -> NDArray[np.int64]:
    """A column's codes from numbers in [0, 1[, by inverse transform."""
    steps = np.cumsum(column.probabilities())
    found = np.searchsorted(steps, uniform * steps[-1], side="right")
    codes: NDArray[np.int64] = np.minimum(found, column.cardinality - 1).astype(np.int64)
    return codes


def mondrian_columns(
    attributes: int = 5,
    cardinality: int = 8,
    distribution: Distribution = Distribution.UNIFORM,
    *,
    mean: float | None = None,
    deviation: float | None = None,
) -> tuple[SyntheticColumn, ...]:
    """Equal numeric attributes ``a1``, ``a2``, … as in the synthetic tables of LeFevre et al. (2006)."""
    order = {"kind": "order", "fanout": 2} if cardinality > 2 else None
    return tuple(
        SyntheticColumn(f"a{place}", cardinality, distribution, mean, deviation, hierarchy=order)
        for place in range(1, attributes + 1)
    )


def _normal_share(normal: NDArray[np.float64]) -> NDArray[np.float64]:
    """The standard normal distribution function, to about 1e-7, by interpolation."""
    shares: NDArray[np.float64] = np.interp(normal, _NORMAL_GRID, _NORMAL_SHARES)
    return shares
