"""Tests of criteria of the rows of each value: the SQL of an audit equals plain fractions everywhere."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from discreet.audit.class_audit import audit_source
from discreet.model.audit_report import AuditReport
from discreet.model.criteria.base import Criterion
from discreet.model.criteria.entropy_diversity import EntropyDiversity
from discreet.model.criteria.float_criterion import SCORE_UNIT
from discreet.model.criteria.registry import plain_values
from discreet.model.requirement import Requirement
from tests.criteria.plain_value_shares import measure, passes
from tests.criteria.test_value_shares import ALL
from tests.drawing import some_of
from tests.every_engine.places import SLOW_ON_SPARK, Place
from tests.every_engine.test_counting import drawn_enough

Rows = list[tuple[str, str | None]]
TABLES = st.lists(
    st.tuples(st.sampled_from(["a", "b", "é"]), st.sampled_from(["x", "y", "z", None])),
    min_size=1,
    max_size=40,
)


def audited(place: Place, rows: Rows, criterion: Criterion) -> AuditReport:
    source = place.put({"q": ("VARCHAR", [q for q, _ in rows]), "s": ("VARCHAR", [s for _, s in rows])})
    with place.connect(source) as engine:
        return audit_source(
            engine,
            source,
            quasi_identifiers=["q"],
            sensitive=["s"],
            requirement=Requirement(criteria=[criterion]),
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
@examples(max_examples=some_of(12), suppress_health_check=[HealthCheck.function_scoped_fixture])
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
    report = audited(place, rows, criterion)
    [found] = report.criteria
    measures = [measure(criterion, dict(c), table) for c in classes.values()]
    assert found.failing_classes == sum(not passes(criterion, dict(c), table) for c in classes.values())
    if None in measures:
        assert found.found is None
    else:
        told = [m for m in measures if m is not None]
        worst = min(told) if isinstance(criterion, EntropyDiversity) else max(told)
        assert abs(Decimal(found.found) - worst) <= Decimal("1.01") / SCORE_UNIT


@SLOW_ON_SPARK
@pytest.mark.parametrize(
    "criterion",
    [
        replace(ALL[0], value=2),
        replace(ALL[4], value=0.5),
        replace(ALL[5], value=0),
        replace(ALL[6], value=0),
    ],
    ids=str,
)
def test_what_meets_a_parameter_exactly_passes(place: Place, criterion: Criterion) -> None:
    rows: Rows = [(q, s) for q in "ab" for s in "xy" for _ in range(7)]
    assert audited(place, rows, criterion).passed
