"""Tests of criteria of the rows of each value: the SQL of an audit equals plain fractions everywhere."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from discreet.model.criteria.entropy_diversity import EntropyDiversity
from discreet.model.criteria.float_criterion import SCORE_UNIT
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


@SLOW_ON_SPARK  # where test_strictest computes these criteria
@drawn(25)
@given(rows=TABLES, stop=st.integers(0, 99))
def test_value_shares_of_tiny_tables_equal_plain_counting(place: Place, rows: Rows, stop: int) -> None:
    if drawn_enough(place):
        return
    criteria = [replace(each, value=each.parameter.slider[stop % len(each.parameter.slider)]) for each in ALL]
    classes = [dict(each) for each in counted(rows).values()]
    table = Counter(s for _, s in rows if s is not None)
    report = audited(place, place.put(texts(rows)), *criteria)
    for found, criterion in zip(report.criteria, criteria, strict=True):
        measures = [measure(criterion, each, table) for each in classes]
        assert found.failing_classes == sum(not passes(criterion, each, table) for each in classes)
        known = [each for each in measures if each is not None]
        if len(known) < len(measures):
            assert found.found is None
        else:
            worst = min(known) if isinstance(criterion, EntropyDiversity) else max(known)
            assert abs(Decimal(found.found) - worst) <= Decimal("1.01") / SCORE_UNIT


@SLOW_ON_SPARK
def test_classes_that_meet_a_parameter_exactly_pass(place: Place) -> None:
    source = place.put(texts([(q, s) for q in "ab" for s in "xy" for _ in range(7)]))
    exact = {0: 2, 4: 0.5, 5: 0, 6: 0}
    report = audited(place, source, *(replace(ALL[i], value=value) for i, value in exact.items()))
    assert [found.failing_classes for found in report.criteria] == [0] * len(exact)
