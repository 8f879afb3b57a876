"""Disclosure of sensitive values by classes, checked against a loop over rows."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.attacks.attribute_disclosure import compute_disclosure
from discreet.attacks.published_table import NO_VALUE, ValueCounts
from tests.oracle.plain_attacks import values_by_unit

TEXTS = ("flu", "cold", "mumps")
ROWS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from((*TEXTS, None))), min_size=1, max_size=14)


def counts_of(rows: list[tuple[int, str | None]]) -> ValueCounts:
    units = {u: i for i, u in enumerate(sorted({u for u, _ in rows}))}
    pairs = Counter((units[u], NO_VALUE if v is None else TEXTS.index(v)) for u, v in rows)
    keys = sorted(pairs)
    return ValueCounts(
        "disease",
        TEXTS,
        np.array([k[0] for k in keys]),
        np.array([k[1] for k in keys]),
        np.array([pairs[k] for k in keys]),
        np.bincount([units[u] for u, _ in rows]),
    )


@given(ROWS)
def test_every_figure_by_hand(rows: list[tuple[int, str | None]]) -> None:
    found = compute_disclosure(counts_of(rows), Fraction(2, 3))
    by_unit = values_by_unit([{"u": str(u), "v": v} for u, v in rows], lambda row: row["u"], "v")
    distinct = {u: len({v for v in vs if v is not None}) for u, vs in by_unit.items()}
    modes = {u: max(Counter(v for v in vs if v is not None).values(), default=0) for u, vs in by_unit.items()}
    assert found.rows == len(rows)
    assert found.units == len(by_unit)
    assert found.fewest_values == min(distinct.values())
    assert found.homogeneous_rows == sum(len(by_unit[u]) for u, d in distinct.items() if d <= 1)
    assert found.dominated_rows == sum(
        len(by_unit[u]) for u, m in modes.items() if 3 * m > 2 * len(by_unit[u])
    )
    assert found.guessed == pytest.approx(sum(modes.values()) / len(rows))
    whole = Counter(v for _, v in rows if v is not None)
    assert found.baseline == pytest.approx(max(whole.values(), default=0) / len(rows))
    assert found.entropy_l == pytest.approx(min(_entropy_l(vs) for vs in by_unit.values()))


def _entropy_l(values: list[str | None]) -> float:
    counted = Counter(v for v in values if v is not None)
    total = sum(counted.values())
    return exp(-sum(n / total * log(n / total) for n in counted.values())) if total else 0.0
