"""Synthetic tables as the papers use them: rows, attributes, cardinality, distribution, correlation, seed.

``generate_table`` draws codes by inverse transform: uniform, normal or skewed by a power law (LeFevre et al.
2006). ``generate_losses`` has a sensitive attribute that follows age (Zhang et al. 2007);
``generate_lands_end`` and ``generate_ipums`` have the shape of two tables that were never published (LeFevre
et al. 2005; Pilalidou and Vassiliadis). Cost: one pass per column over arrays of the rows' length.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError

SYNTHETIC_SEED = 2026
_ROWS_PER_WRITE = 100_000
_NORMAL_GRID = np.linspace(-9.0, 9.0, 18_001)
_NORMAL_SHARES = np.array([0.5 * (1.0 + math.erf(z / math.sqrt(2.0))) for z in _NORMAL_GRID.tolist()])


class ColumnDistribution(StrEnum):
    """Distribution of a column's codes."""

    UNIFORM = "uniform"
    NORMAL = "normal"
    SKEWED = "skewed"


@dataclass(frozen=True)
class SyntheticColumn:
    """Column of a synthetic table.

    ``mean`` and ``deviation`` are in codes and apply to ``normal``; the default mean is the middle of the
    codes. ``skew`` applies to ``skewed``: the first x codes have the share
    ``(x / cardinality) ** (1 / skew)`` of the rows. ``labels`` are the cells' texts by code (None: the
    codes), ``hierarchy`` is its entry in the spec (None: value → ``*``).
    """

    name: str
    cardinality: int
    distribution: ColumnDistribution = ColumnDistribution.UNIFORM
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
        if self.distribution is ColumnDistribution.NORMAL and not (self.deviation and self.deviation > 0):
            raise InputError(f"deviation {self.deviation} of '{self.name}'", allowed="a number above 0")
        if self.skew <= 0:
            raise InputError(f"skew {self.skew} of '{self.name}'", allowed="a number above 0")

    def probabilities(self) -> NDArray[np.float64]:
        """Return the probability of each code, shape ``(cardinality,)``."""
        codes = np.arange(self.cardinality, dtype=np.float64)
        if self.distribution is ColumnDistribution.SKEWED:
            shares = ((codes + 1) / self.cardinality) ** (1.0 / self.skew)
            return np.diff(shares, prepend=0.0)
        if self.distribution is ColumnDistribution.NORMAL:
            assert self.deviation is not None
            mean = (self.cardinality - 1) / 2 if self.mean is None else self.mean
            exponents = -0.5 * ((codes - mean) / self.deviation) ** 2
            # Without subtracting the largest exponent a small deviation would make every weight 0.
            weights = np.exp(exponents - exponents.max())
            return np.asarray(weights / weights.sum(), dtype=np.float64)
        return np.full(self.cardinality, 1.0 / self.cardinality)

    def texts(self) -> tuple[str, ...]:
        """Return the cells' texts by code."""
        return self.labels or tuple(str(code) for code in range(self.cardinality))

    def attribute(self) -> dict[str, Any]:
        """Return the column's entry in a spec."""
        entry: dict[str, Any] = {"role": self.role}
        if self.hierarchy is not None:
            entry["hierarchy"] = dict(self.hierarchy)
        return entry


@dataclass(frozen=True, eq=False)
class SyntheticTable:
    """Columns and their codes: ``codes[i]`` has one entry per row."""

    columns: tuple[SyntheticColumn, ...]
    codes: tuple[NDArray[np.int64], ...]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.codes[0]) if self.codes else 0

    def arrays(self) -> dict[str, NDArray[np.str_]]:
        """Return the cells' texts by column."""
        return {
            column.name: np.array(column.texts())[codes]
            for column, codes in zip(self.columns, self.codes, strict=True)
        }

    def attributes(self) -> dict[str, Any]:
        """Return the attributes of a spec for this table."""
        return {column.name: column.attribute() for column in self.columns}

    def write_csv(self, path: Path) -> None:
        """Write the table as CSV (UTF-8, comma, LF) to a new file; ``FileExistsError`` if the file exists."""
        texts = [column.texts() for column in self.columns]
        with path.open("x", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([column.name for column in self.columns])
            for start in range(0, self.rows, _ROWS_PER_WRITE):
                part = [codes[start : start + _ROWS_PER_WRITE].tolist() for codes in self.codes]
                cells = ([names[code] for code in c] for names, c in zip(texts, part, strict=True))
                writer.writerows(zip(*cells, strict=True))


def generate_table(
    columns: Sequence[SyntheticColumn], rows: int, *, correlation: float = 0.0, seed: int = SYNTHETIC_SEED
) -> SyntheticTable:
    """Generate a table of ``rows`` rows; equal arguments give equal tables under one version of numpy.

    Parameters
    ----------
    columns
        The columns to draw.
    rows
        Number of rows, 0 or more.
    correlation
        Correlation of the normal variables behind any two columns, from 0 to 1.
    seed
        Seed of the generator.

    Raises
    ------
    InputError
        If ``rows`` or ``correlation`` is out of range.
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
            uniform = _normal_distribution_function(
                math.sqrt(correlation) * shared + math.sqrt(1 - correlation) * own
            )
        drawn.append(draw_codes(column, uniform))
    return SyntheticTable(tuple(columns), tuple(drawn))


def draw_codes(column: SyntheticColumn, uniform: NDArray[np.float64]) -> NDArray[np.int64]:
    """Draw a column's codes by inverse transform of numbers in [0, 1[."""
    steps = np.cumsum(column.probabilities())
    found = np.searchsorted(steps, uniform * steps[-1], side="right")
    codes: NDArray[np.int64] = np.minimum(found, column.cardinality - 1).astype(np.int64)
    return codes


def mondrian_columns(
    attributes: int = 5,
    cardinality: int = 8,
    distribution: ColumnDistribution = ColumnDistribution.UNIFORM,
    *,
    mean: float | None = None,
    deviation: float | None = None,
) -> tuple[SyntheticColumn, ...]:
    """Return equal numeric attributes ``a1``, ``a2``, … as in the tables of LeFevre et al. (2006)."""
    order = {"kind": "order", "fanout": 2} if cardinality > 2 else None
    return tuple(
        SyntheticColumn(f"a{place}", cardinality, distribution, mean, deviation, hierarchy=order)
        for place in range(1, attributes + 1)
    )


def _normal_distribution_function(normal: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute the standard normal distribution function by interpolation, to about 1e-7."""
    shares: NDArray[np.float64] = np.interp(normal, _NORMAL_GRID, _NORMAL_SHARES)
    return shares


PER_YEAR = 50
YOUNGEST, OLDEST = 17, 90
MEAN_AGE, AGE_DEVIATION = 41.0, 16.0
LOSS_COLUMN = "capital_loss"
_OTHER_COLUMNS = (
    ("sex", 2),
    ("race", 5),
    ("marital_status", 7),
    ("education", 16),
    ("native_country", 41),
    ("work_class", 7),
    ("occupation", 14),
)


def generate_losses(rows: int, deviation: float, *, seed: int = SYNTHETIC_SEED) -> SyntheticTable:
    """Generate ``rows`` people; ``deviation``, 0 or more, is in the unit of the loss.

    Equal arguments give equal tables.
    """
    if not deviation >= 0 or not np.isfinite(deviation):
        raise InputError(f"a deviation of {deviation}", allowed="a number, 0 or more")
    ages = tuple(str(age) for age in range(YOUNGEST, OLDEST + 1))
    columns = (
        SyntheticColumn(
            "age",
            len(ages),
            ColumnDistribution.NORMAL,
            mean=MEAN_AGE - YOUNGEST,
            deviation=AGE_DEVIATION,
            labels=ages,
            hierarchy={"kind": "intervals", "widths": [5, 10, 20]},
        ),
        *(
            SyntheticColumn(name, number, ColumnDistribution.SKEWED, labels=_numbered_labels(name, number))
            for name, number in _OTHER_COLUMNS
        ),
    )
    table = generate_table(columns, rows, seed=seed)
    noise = deviation * np.random.default_rng([seed, 1]).standard_normal(rows)
    losses = np.maximum(1, np.rint(PER_YEAR * (table.codes[0] + YOUNGEST) + noise)).astype(np.int64)
    values, codes = np.unique(losses, return_inverse=True)
    loss = SyntheticColumn(
        LOSS_COLUMN, max(len(values), 1), labels=tuple(map(str, values.tolist())) or ("0",), role="sensitive"
    )
    return SyntheticTable((*columns, loss), (*table.codes, codes.astype(np.int64)))


def _numbered_labels(name: str, number: int) -> tuple[str, ...]:
    return tuple(f"{name}-{code + 1:02d}" for code in range(number))


LANDS_END_ROWS = 4_591_581
IPUMS_ROWS = 600_000
_MASK = {"kind": "mask"}
_FIRST_ORDER = date(2003, 1, 1)


def generate_lands_end(rows: int = LANDS_END_ROWS, seed: int = SYNTHETIC_SEED) -> SyntheticTable:
    """Generate orders of a retailer with the eight quasi-identifiers of LeFevre et al. (2005, figure 9).

    A style determines price and cost, except for a tenth of the orders, which are marked down.
    """
    columns = _lands_end_columns()
    table = generate_table(columns, rows, seed=seed)
    place = {column.name: i for i, column in enumerate(columns)}
    codes = list(table.codes)
    generator = np.random.default_rng([seed, 1])
    usual = generator.random(rows) >= 0.1
    for name in ("price", "cost"):
        of_style = draw_codes(columns[place[name]], generator.random(columns[place["style"]].cardinality))
        codes[place[name]] = np.where(usual, of_style[codes[place["style"]]], codes[place[name]])
    return SyntheticTable(columns, tuple(codes))


def _lands_end_columns() -> tuple[SyntheticColumn, ...]:
    days = tuple((_FIRST_ORDER + timedelta(days=day)).isoformat() for day in range(320))
    return (
        SyntheticColumn(
            "zipcode",
            31_953,
            ColumnDistribution.SKEWED,
            skew=1.6,
            labels=tuple(f"{code * 3 + 501:05d}" for code in range(31_953)),
            hierarchy=_MASK,
        ),
        SyntheticColumn(
            "order_date", 320, labels=days, hierarchy={"kind": "dates", "levels": ["month", "quarter"]}
        ),
        SyntheticColumn("gender", 2, labels=("female", "male")),
        SyntheticColumn("style", 1_509, ColumnDistribution.SKEWED, labels=_padded_labels("style", 1_509)),
        SyntheticColumn(
            "price",
            346,
            ColumnDistribution.SKEWED,
            skew=1.5,
            labels=tuple(f"{code * 25 + 99:04d}" for code in range(346)),
            hierarchy=_MASK,
        ),
        SyntheticColumn("quantity", 1, labels=("1",)),
        SyntheticColumn(
            "cost",
            1_412,
            ColumnDistribution.SKEWED,
            skew=1.5,
            labels=tuple(f"{code * 6 + 40:04d}" for code in range(1_412)),
            hierarchy=_MASK,
        ),
        SyntheticColumn("shipment", 2, labels=("home", "store")),
    )


def generate_ipums(rows: int = IPUMS_ROWS, seed: int = SYNTHETIC_SEED) -> SyntheticTable:
    """Generate people of a census: age, birthplace, education, gender; occupation is sensitive.

    Heights are 4, 3, 4 (implied by the node numbers in Pilalidou and Vassiliadis) and 1. Occupation depends
    on education, and birthplaces are distributed as unevenly as states.
    """
    columns = (
        SyntheticColumn(
            "age",
            78,
            ColumnDistribution.NORMAL,
            mean=22.0,
            deviation=19.0,
            labels=tuple(str(age) for age in range(17, 95)),
            hierarchy={"kind": "intervals", "widths": [5, 10, 20], "anchor": 17},
        ),
        SyntheticColumn(
            "birthplace",
            57,
            ColumnDistribution.SKEWED,
            skew=2.2,
            labels=_padded_labels("place", 57),
            hierarchy={"kind": "order", "values": _padded_labels("place", 57), "sizes": [6, 18]},
        ),
        SyntheticColumn(
            "education",
            17,
            ColumnDistribution.NORMAL,
            mean=8.0,
            deviation=3.0,
            labels=_padded_labels("degree", 17),
            hierarchy={"kind": "order", "values": _padded_labels("degree", 17), "sizes": [2, 4, 8]},
        ),
        SyntheticColumn("gender", 2, labels=("female", "male")),
        SyntheticColumn(
            "occupation",
            50,
            ColumnDistribution.SKEWED,
            skew=1.8,
            labels=_padded_labels("occupation", 50),
            role="sensitive",
        ),
    )
    table = generate_table(columns, rows, seed=seed)
    age, birthplace, education, gender, occupation = table.codes
    # Neighbouring degrees share occupations: a rotation keeps the cardinality and the skew.
    with_degree = (occupation + 2 * education) % columns[-1].cardinality
    return SyntheticTable(columns, (age, birthplace, education, gender, with_degree))


def _padded_labels(name: str, size: int) -> tuple[str, ...]:
    return tuple(f"{name}-{number:0{len(str(size))}d}" for number in range(1, size + 1))
