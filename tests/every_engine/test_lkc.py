"""Tests of LKC-privacy, audited in every place by its own SQL, against plain enumeration."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.model.audit_report import StrictestValue
from discreet.model.criteria import lkc_privacy
from discreet.model.criteria.lkc_privacy import LKCPrivacy
from tests.criteria.plain_cells import PlainClass, plain_score
from tests.every_engine.auditing import audited, drawn, drawn_enough, texts
from tests.every_engine.places import SLOW_ON_SPARK, Place
from tests.every_engine.test_criteria import EVERYTHING, KEYS, TABLES, VALUES, Rows

NAMES = [*KEYS, *VALUES]


def plain_classes(rows: Rows) -> list[PlainClass]:
    held = defaultdict(list)
    for row in rows:
        held[row[:2]].append(row[2:])
    return [PlainClass(cells, tuple(values)) for cells, values in held.items()]


@drawn(20)
@example(rows=EVERYTHING, k=2, known=2, confidence=0.75, apart=True)
@given(
    rows=TABLES,
    k=st.integers(1, 4),
    known=st.integers(1, 3),
    confidence=st.sampled_from([0.4, 0.5, 0.75, 1.0]),
    apart=st.booleans(),
)
def test_lkc_privacy_of_tiny_tables_equals_plain_counting(
    place: Place, rows: Rows, k: int, known: int, confidence: float, apart: bool
) -> None:
    if drawn_enough(place):
        return
    criterion = LKCPrivacy(k, known=known, confidence=confidence)
    source = place.put(texts(rows, NAMES))
    report = audited(place, source, criterion, keys=KEYS, values=VALUES, starred_apart=apart)
    classes = plain_classes([row for row in rows if not (apart and set(row) == {"*"})])
    score = plain_score(criterion, classes)
    (found,) = report.criteria
    assert (found.found, found.met) == (score, score is None or score >= k)
    assert report.passed == (bool(rows) and found.met)


@SLOW_ON_SPARK
def test_strictest_value_is_found_and_too_many_combinations_are_refused(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: Rows = [("a", town, s, "x") for town in "bc" for s in ("p", "q", "r") for _ in range(2)]
    rows += [("d", "b", s, "y") for s in ("p", "q", "r")]
    source = place.put(texts(rows, NAMES))

    def strictest(values: list[str]) -> StrictestValue:
        found = audited(place, source, keys=KEYS, values=values, strictest=True).strictest
        return next(each for each in found if each.criterion is LKCPrivacy)

    mine = strictest(["s"])
    assert (mine.value, dict(mine.parts)) == (3, {"known": 2, "confidence": 0.5})
    assert strictest([]).reason == "needs a sensitive attribute"
    monkeypatch.setattr(lkc_privacy, "MAX_COMBINATIONS", 1)
    with pytest.raises(InputError, match="1 of 2 quasi-identifiers make 2 combinations"):
        audited(place, source, LKCPrivacy(2, known=1), keys=KEYS)
