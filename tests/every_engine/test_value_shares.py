"""Tests of criteria of the rows of each value: the SQL of an audit equals plain fractions everywhere."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.model.criteria.base import Criterion
from discreet.model.criteria.entropy_diversity import EntropyDiversity
from discreet.model.criteria.float_criterion import SCORE_UNIT
from discreet.model.criteria.registry import plain_values
from tests.criteria.plain_value_shares import measure, passes
from tests.criteria.test_value_shares import ALL
from tests.every_engine.auditing import audited, drawn, drawn_enough, texts
from tests.every_engine.places import SLOW_ON_SPARK, Place

Rows = list[tuple[str, str | None]]
TABLES = st.lists(
    st.tuples(st.sampled_from(["a", "b", "é"]), st.sampled_from(["x", "y", "z", None])),
    min_size=1,
    max_size=40,
)


def counted(rows: Rows) -> dict[str, Counter[str]]:
    """Count rows by value and class, without NULL."""
    found: dict[str, Counter[str]] = {q: Counter() for q, _ in rows}
    for q, s in rows:
        if s is not None:
            found[q][s] += 1
    return found


@SLOW_ON_SPARK  # where the strictest value of each is told of drawn tables, too
@pytest.mark.parametrize("criterion", ALL, ids=[str(plain_values([c])) for c in ALL])
@drawn(12)
@given(rows=TABLES, stop=st.integers(0, 99))
def test_tiny_tables(place: Place, criterion: Criterion, rows: Rows, stop: int) -> None:
    if drawn_enough(place):
        return
    stops = criterion.parameter.slider
    criterion = replace(criterion, value=stops[stop % len(stops)])
    classes = counted(rows)
    table = {
        value: sum(c[value] for c in classes.values()) for value in {s for _, s in rows if s is not None}
    }
    [found] = audited(place, place.put(texts(rows)), criterion).criteria
    measures = [measure(criterion, dict(c), table) for c in classes.values()]
    assert found.failing_classes == sum(not passes(criterion, dict(c), table) for c in classes.values())
    if None in measures:
        assert found.found is None
    else:
        told = [m for m in measures if m is not None]
        worst = min(told) if isinstance(criterion, EntropyDiversity) else max(told)
        assert abs(Decimal(found.found) - worst) <= Decimal("1.01") / SCORE_UNIT


@SLOW_ON_SPARK
def test_what_meets_a_parameter_exactly_passes(place: Place) -> None:
    source = place.put(texts([(q, s) for q in "ab" for s in "xy" for _ in range(7)]))
    exact = {0: 2, 4: 0.5, 5: 0, 6: 0}
    report = audited(place, source, *(replace(ALL[i], value=value) for i, value in exact.items()))
    assert [found.failing_classes for found in report.criteria] == [0] * len(exact)
