"""Synthetic tables with the shape of two that were never published: Lands End's orders, an extract of IPUMS.

Row counts, cardinalities and heights are those of the papers (for IPUMS, whose counts the paper's text has
lost, those commonly told of that extract); distributions and dependences are our own. Nothing in them is
anybody's, and no figure of theirs is a figure of the real table.
"""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np

from discreet.sample.synthetic import (
    SEED,
    Distribution,
    SyntheticColumn,
    SyntheticTable,
    draw,
    synthetic_table,
)

LANDS_END_ROWS = 4_591_581
IPUMS_ROWS = 600_000
_MASK = {"kind": "mask"}
_FIRST_ORDER = date(2003, 1, 1)


def lands_end_shaped(rows: int = LANDS_END_ROWS, seed: int = SEED) -> SyntheticTable:
    """Orders of a retailer: eight quasi-identifiers as LeFevre et al. (2005, figure 9) have them.

    A style has its price and its cost, but for a tenth of the orders, which are marked down.
    """
    columns = _lands_end_columns()
    table = synthetic_table(columns, rows, seed=seed)
    place = {column.name: i for i, column in enumerate(columns)}
    codes = list(table.codes)
    generator = np.random.default_rng([seed, 1])
    usual = generator.random(rows) >= 0.1
    for name in ("price", "cost"):
        of_style = draw(columns[place[name]], generator.random(columns[place["style"]].cardinality))
        codes[place[name]] = np.where(usual, of_style[codes[place["style"]]], codes[place[name]])
    return SyntheticTable(columns, tuple(codes))


def _lands_end_columns() -> tuple[SyntheticColumn, ...]:
    days = tuple((_FIRST_ORDER + timedelta(days=day)).isoformat() for day in range(320))
    return (
        SyntheticColumn(
            "zipcode",
            31_953,
            Distribution.SKEWED,
            skew=1.6,
            labels=tuple(f"{code * 3 + 501:05d}" for code in range(31_953)),
            hierarchy=_MASK,
        ),
        SyntheticColumn(
            "order_date", 320, labels=days, hierarchy={"kind": "dates", "levels": ["month", "quarter"]}
        ),
        SyntheticColumn("gender", 2, labels=("female", "male")),
        SyntheticColumn("style", 1_509, Distribution.SKEWED, labels=_numbered("style", 1_509)),
        SyntheticColumn(
            "price",
            346,
            Distribution.SKEWED,
            skew=1.5,
            labels=tuple(f"{code * 25 + 99:04d}" for code in range(346)),
            hierarchy=_MASK,
        ),
        SyntheticColumn("quantity", 1, labels=("1",)),
        SyntheticColumn(
            "cost",
            1_412,
            Distribution.SKEWED,
            skew=1.5,
            labels=tuple(f"{code * 6 + 40:04d}" for code in range(1_412)),
            hierarchy=_MASK,
        ),
        SyntheticColumn("shipment", 2, labels=("home", "store")),
    )


def ipums_shaped(rows: int = IPUMS_ROWS, seed: int = SEED) -> SyntheticTable:
    """People of a census: age, birthplace, education, gender; occupation is sensitive.

    Heights are 4, 3, 4 (told by the node numbers in Pilalidou and Vassiliadis) and 1. Occupation goes with
    education, and birthplaces are as uneven as states are.
    """
    columns = (
        SyntheticColumn(
            "age",
            78,
            Distribution.NORMAL,
            mean=22.0,
            deviation=19.0,
            labels=tuple(str(age) for age in range(17, 95)),
            hierarchy={"kind": "intervals", "widths": [5, 10, 20], "anchor": 17},
        ),
        SyntheticColumn(
            "birthplace",
            57,
            Distribution.SKEWED,
            skew=2.2,
            labels=_numbered("place", 57),
            hierarchy={"kind": "order", "values": _numbered("place", 57), "sizes": [6, 18]},
        ),
        SyntheticColumn(
            "education",
            17,
            Distribution.NORMAL,
            mean=8.0,
            deviation=3.0,
            labels=_numbered("degree", 17),
            hierarchy={"kind": "order", "values": _numbered("degree", 17), "sizes": [2, 4, 8]},
        ),
        SyntheticColumn("gender", 2, labels=("female", "male")),
        SyntheticColumn(
            "occupation",
            50,
            Distribution.SKEWED,
            skew=1.8,
            labels=_numbered("occupation", 50),
            role="sensitive",
        ),
    )
    table = synthetic_table(columns, rows, seed=seed)
    age, birthplace, education, gender, occupation = table.codes
    # Neighbouring degrees share occupations: a rotation keeps the cardinality and the unevenness.
    with_degree = (occupation + 2 * education) % columns[-1].cardinality
    return SyntheticTable(columns, (age, birthplace, education, gender, with_degree))


def _numbered(name: str, size: int) -> tuple[str, ...]:
    return tuple(f"{name}-{number:0{len(str(size))}d}" for number in range(1, size + 1))
