"""Tests of the strictest value of every criterion: equal to plain fractions in every place, none left out."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from discreet.model.audit_report import NEVER_MET, StrictestValue
from discreet.model.criteria.base import Criterion
from discreet.model.criteria.entropy_diversity import EntropyDiversity
from discreet.model.criteria.float_criterion import SCORE_UNIT
from discreet.model.criteria.k_anonymity import HighestRisk
from discreet.model.criteria.registry import CRITERIA
from discreet.model.criteria.release_level import ReleaseCriterion
from discreet.model.criteria.t_closeness import TCloseness
from tests.criteria.known_tables import WAGES, in_order, known
from tests.criteria.plain_known_values import t_closeness
from tests.criteria.plain_release import plain_share
from tests.criteria.plain_value_shares import measure
from tests.every_engine.auditing import audited, drawn, drawn_enough, texts
from tests.every_engine.places import SLOW_ON_SPARK, Place

Rows = list[tuple[str, str | None]]
TABLES = st.lists(
    st.tuples(st.sampled_from(["a", "b", "é"]), st.sampled_from([*WAGES[:4], None])), min_size=1, max_size=30
)
NEAR = Decimal("1.01") / SCORE_UNIT
BY_SHARES = ("entropy_l", "recursive_c", "alpha", "beta", "delta_disclosure")
OF_RELEASE = ("average_risk", "records_at_risk", "sample_uniques")


def plain(criterion: Criterion, classes: dict[str, list[str | None]]) -> Any:
    """Return the measure of the worst class, or of the release; None if no value is met."""
    held = [Counter(cell for cell in cells if cell is not None) for cells in classes.values()]
    sizes = [len(cells) for cells in classes.values()]
    table = sum(held, Counter())
    if isinstance(criterion, TCloseness):
        whole = list(table.elements())
        order = in_order(known(whole))
        found = [t_closeness(list(c.elements()), whole, criterion.distance, order, {}) for c in held]
        return None if None in found else max(map(Fraction, filter(None, found)), default=Fraction(0))
    if isinstance(criterion, HighestRisk):
        return Fraction(1, min(sizes))
    if isinstance(criterion, ReleaseCriterion):
        return plain_share(criterion, sizes)
    codes = {value: code for code, value in enumerate(sorted(table))}
    counted = [{codes[value]: n for value, n in c.items()} for c in held]
    measures = [measure(criterion, c, {codes[v]: n for v, n in table.items()}) for c in counted]
    measured = [each for each in measures if each is not None]
    if len(measured) < len(measures):
        return None
    return min(measured) if isinstance(criterion, EntropyDiversity) else max(measured)


# Spark audits only this table: unequal classes and shares, NULL, and a class that lacks a value.
SPARK_S: Rows = [
    *[(q, WAGES[i]) for q, i in zip("aaaaaaabbbbb", (0, 0, 0, 1, 1, 2, 3, 0, 1, 1, 2, 2), strict=True)],
    *[("é", WAGES[3]), ("é", WAGES[0]), ("é", None), ("a", None)],
]


@SLOW_ON_SPARK
@drawn(25)
@example(rows=SPARK_S)
@given(rows=TABLES)
def test_strictest_values_of_tiny_tables_equal_plain_ones(place: Place, rows: Rows) -> None:
    if drawn_enough(place):
        return
    classes: dict[str, list[str | None]] = {}
    for q, s in rows:
        classes.setdefault(q, []).append(s)
    report = audited(place, place.put(texts(rows)), strictest=True)
    found = report.strictest
    assert (report.passed, report.criteria) == (True, ())
    assert {one.criterion for one in found} == set(CRITERIA)
    for one in found:
        name = one.criterion.name
        if name == "k":
            assert one.value == min(map(len, classes.values()))
        elif name == "l":
            fewest = min(len({*cells} - {None}) for cells in classes.values())
            assert (one.value, one.reason) == ((fewest, None) if fewest else (None, NEVER_MET))
        elif name == "t" and one.parts["distance"] == "hierarchical" and any(s is not None for _, s in rows):
            assert one.reason == "needs a hierarchy, which the publisher's --spec may have"
        elif name in {*BY_SHARES, *OF_RELEASE, "t", "highest_risk"}:
            agrees(one, plain(one.criterion(one.criterion.floor, one.attribute, **one.parts), classes))


def agrees(one: StrictestValue, worst: Any) -> None:
    if worst is None:
        assert (one.value, one.reason) == (None, NEVER_MET), one
        return
    exact = Decimal(worst.numerator) / Decimal(worst.denominator) if isinstance(worst, Fraction) else worst
    if one.criterion.name == "recursive_c":  # the smallest c above the quotient, in billionths
        assert 0 < Decimal(repr(one.value)) - exact <= NEAR, (one, exact)
    else:
        assert abs(Decimal(repr(one.value)) - exact) <= NEAR, (one, exact)
