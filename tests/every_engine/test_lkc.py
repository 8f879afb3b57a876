"""Tests of LKC-privacy, audited in every place by its own SQL, against plain enumeration."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.model.criteria import lkc_privacy
from discreet.model.criteria.lkc_privacy import LKCPrivacy
from tests.criteria.plain_cells import PlainClass, plain_score
from tests.drawing import some_of
from tests.every_engine.places import SLOW_ON_SPARK, Place
from tests.every_engine.test_counting import drawn_enough
from tests.every_engine.test_criteria import EVERYTHING, TABLES, Rows, audited, columns_of


def plain_classes(rows: Rows) -> list[PlainClass]:
    held = defaultdict(list)
    for row in rows:
        held[row[:2]].append(row[2:])
    return [PlainClass(cells, tuple(values)) for cells, values in held.items()]


@examples(max_examples=some_of(20), suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(rows=EVERYTHING, k=2, known=2, confidence=0.75, apart=True)
@given(
    rows=TABLES,
    k=st.integers(1, 4),
    known=st.integers(1, 3),
    confidence=st.sampled_from([0.4, 0.5, 0.75, 1.0]),
    apart=st.booleans(),
)
def test_tiny_tables(place: Place, rows: Rows, k: int, known: int, confidence: float, apart: bool) -> None:
    if drawn_enough(place):
        return
    asked = LKCPrivacy(k, known=known, confidence=confidence)
    report = audited(place, place.put(columns_of(rows)), asked, starred_apart=apart)
    classes = plain_classes([row for row in rows if not (apart and set(row) == {"*"})])
    score = plain_score(asked, classes)
    (found,) = report.criteria
    assert (found.found, found.met) == (score, score is None or score >= k)
    assert report.passed == (bool(rows) and found.met)


@SLOW_ON_SPARK
def test_the_strictest_value_and_too_many_combinations(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: Rows = [("a", town, s, "x") for town in "bc" for s in ("p", "q", "r") for _ in range(2)]
    rows += [("d", "b", s, "y") for s in ("p", "q", "r")]
    source = place.put(columns_of(rows))
    told = audited(place, source, values=["s"], strictest=True).strictest
    (mine,) = (each for each in told if each.criterion is LKCPrivacy)
    assert (mine.value, dict(mine.parts)) == (3, {"known": 2, "confidence": 0.5})
    (bare,) = (
        each
        for each in audited(place, source, values=[], strictest=True).strictest
        if each.criterion is LKCPrivacy
    )
    assert bare.reason == "needs a sensitive attribute"
    monkeypatch.setattr(lkc_privacy, "MAX_COMBINATIONS", 1)
    with pytest.raises(InputError, match="1 of 2 quasi-identifiers make 2 combinations"):
        audited(place, source, LKCPrivacy(2, known=1), values=["s"])
