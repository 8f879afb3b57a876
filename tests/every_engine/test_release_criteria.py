"""Tests of criteria of a whole release, audited in every place by their own SQL, against plain Python."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.errors import InputError, RequirementNotMet
from discreet.model.criteria.base import AuditedBy, Criterion
from discreet.model.criteria.k_anonymity import HighestRisk
from discreet.model.criteria.release_shares import AverageRisk, RecordsAtRisk, SampleUniques
from discreet.model.release_address import ReleaseAddress
from discreet.model.requirement import Requirement
from discreet.model.search_result import SuppressionPolicy
from discreet.report.report import report
from discreet.verbs.audits import audit
from tests.criteria.plain_release import plain_rest, plain_score
from tests.every_engine.auditing import audited, drawn, drawn_enough, published, texts
from tests.every_engine.places import SLOW_ON_SPARK, Place
from tests.frequency.conftest import table_spec

CELLS = st.sampled_from(["*", "a", "b", "c", "é", "", None])
VALUES = st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5, 1 / 3, 0.75, 1.0])
RISKS = st.sampled_from([0.1, 0.25, 1 / 3, 0.5, 0.99])


@drawn(25)
@example(cells=["*", "*", *"aaabbc", "", None, None, "é"], value=0.3, above=0.5, apart=True)
@given(cells=st.lists(CELLS, max_size=24), value=VALUES, above=RISKS, apart=st.booleans())
def test_criteria_of_whole_tiny_tables_equal_plain_counting(
    place: Place, cells: list[str | None], value: float, above: float, apart: bool
) -> None:
    if drawn_enough(place):
        return
    criteria = AverageRisk(value), RecordsAtRisk(value, above=above), SampleUniques(value), HighestRisk(above)
    source = place.put({"q": ("VARCHAR", cells)})
    found = audited(place, source, *criteria, values=[], starred_apart=apart)
    sizes = list(Counter(cell for cell in cells if not (apart and cell == "*")).values())
    assert [each.criterion for each in found.criteria] == list(criteria)
    for each in found.criteria[:3]:
        score = plain_score(each.criterion, sizes) if sizes else None
        assert each.found == (None if score is None else each.criterion.value_of(score))
        assert (each.met, each.failing_classes) == (score is None or score >= each.criterion.threshold, 0)
        assert each.as_json()["passed"] is each.met
    small = sum(1 / size > above for size in sizes)
    assert (found.criteria[3].found, found.criteria[3].failing_classes) == (
        1 / min(sizes) if sizes else None,
        small,
    )
    met = all(each.met for each in found.criteria)
    assert found.passed == (bool(cells) and met and not small)
    assert found.failing_classes == small


@SLOW_ON_SPARK
def test_subjects_are_refused(place: Place) -> None:
    rows = [("a", "a", "false")] * 2
    source, witness = place.put(texts(rows, "q")), place.put(texts(rows, ["q", "who", "starred"]))
    with pytest.raises(InputError, match="it counts rows, and a person may have several rows"):
        audited(place, source, AverageRisk(0.5), values=[], subjects=witness)


@SLOW_ON_SPARK
def test_score_without_sql_is_counted_from_the_sizes(place: Place) -> None:
    class ScoredRisk(AverageRisk):
        """The average, without SQL."""

        audited_by = AuditedBy.SCORE

        def audit_query(self, rows: str) -> str:
            """Return nothing, since it is not used."""
            raise AssertionError(rows)

        def audit_score(self, sizes: dict[int, int]) -> int:  # type: ignore[override]
            """Return the same from the number of each size."""
            return plain_score(AverageRisk(0.5), [size for size, n in sizes.items() for _ in range(n)])

    class UnauditedRisk(ScoredRisk):
        """The average, without either."""

        audited_by = AuditedBy.NOTHING

    source = place.put(texts("aaab", "q"))
    (found,) = audited(place, source, ScoredRisk(0.4), values=[]).criteria
    assert (found.found, found.met) == (0.5, False)
    with pytest.raises(InputError, match="cannot be audited"):
        audited(place, source, UnauditedRisk(0.4), values=[])


SIZES = {"a": 5, "b": 3, "c": 3, "d": 2, "e": 1, "f": 1, "g": 1}


def publish(place: Place, *criteria: Criterion, policy: SuppressionPolicy) -> ReleaseAddress:
    """Classes of 5, 3, 3 and 2, and three of one row."""
    cells = [cell for cell, size in SIZES.items() for _ in range(size)]
    spec = table_spec(place.put(texts(cells, "q")), ["q"])
    return published(place, spec, (0,), Requirement(criteria=criteria), policy).address


@pytest.mark.parametrize("policy", list(SuppressionPolicy))
@SLOW_ON_SPARK
def test_published_release_has_the_decided_classes(place: Place, policy: SuppressionPolicy) -> None:
    criteria = AverageRisk(0.3), RecordsAtRisk(0.2, above=0.4)
    rest = plain_rest(list(SIZES.values()), Requirement(criteria=criteria))
    assert rest == [5, 3, 3]
    address = publish(place, *criteria, policy=policy)
    found = audit(address, settings=place.settings)
    assert found.passed, found.report.warnings
    assert sorted(found.report.class_sizes.items()) == [(3, 2), (5, 1)]
    assert (found.report.suppressed, found.report.k) == (5, 3)
    assert [each.criterion for each in found.report.criteria] == list(criteria)
    stricter = audit(address, criteria=[AverageRisk(0.25)], settings=place.settings)
    assert (stricter.passed, stricter.report.failing_classes) == (False, 0)
    text = " ".join(str(stricter).split())
    assert "0.25 required, 0.272727 in all classes together; it fails." in text
    written = report(address, output=place.folder / "r.html", settings=place.settings)
    assert written.passed
    assert "average risk of re-identification" in written.path.read_text(encoding="utf-8").lower()


@SLOW_ON_SPARK
def test_audit_that_counts_more_refuses_the_release(place: Place) -> None:
    class Lenient(AverageRisk):
        """A criterion that the search always passes, while its SQL is correct."""

        def tail_scores(self, tails):  # type: ignore[no-untyped-def]
            """Return the scores of a release without classes."""
            return tails.sizes * 0 + 10**9

    with pytest.raises(RequirementNotMet, match=r"average_risk=0.1 was required, but the release as a whole"):
        publish(place, Lenient(0.1), policy=SuppressionPolicy.DROP)
