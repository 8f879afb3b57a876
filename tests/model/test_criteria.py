"""Criteria: their values, their scores, and their combination in a requirement."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.model.criteria.base import AuditedBy, Criterion, ScoreKey
from discreet.model.criteria.distinct_diversity import DistinctDiversity
from discreet.model.criteria.k_anonymity import KAnonymity
from discreet.model.criteria.registry import CRITERIA, criteria_from, register
from discreet.model.criterion_inputs import ClassStatistics, ClassValues
from discreet.model.requirement import Requirement, failing_mask, threshold_mask
from tests.criteria_of_tests import Share

FACTS = ClassStatistics(
    sizes=np.array([3, 2, 5]),
    values=(
        ClassValues(
            distinct=np.array([3, 1, 2]),
            owners=np.array([0, 0, 0, 1, 2, 2]),
            codes=np.array([0, 1, 2, 0, 0, 1]),
            counts=np.array([1, 1, 1, 2, 4, 1]),
        ),
        None,
    ),
)


def test_every_criterion_is_judged() -> None:
    def fails(requirement: Requirement) -> list[bool]:
        judged: list[bool] = failing_mask(requirement.bound(("s", "t")), FACTS).tolist()
        return judged

    assert fails(Requirement(k=3)) == [False, True, False]
    assert fails(Requirement(l=(("s", 3),))) == [False, True, True]
    assert fails(Requirement(5, (("s", 2),))) == [True, True, False]
    assert fails(Requirement(criteria=[Share(0.5, "s")])) == [False, True, True]
    assert fails(Requirement(criteria=[Share(0.8, "s")])) == [False, True, False]
    assert fails(Requirement()) == [False, False, False]
    assert threshold_mask([np.array([1, 2]), np.array([5, 1])], [2, None]).tolist() == [True, False]
    assert threshold_mask([np.array([1, 2]), np.array([5, 1])], [1, 2]).tolist() == [False, True]


def test_requirement_is_its_criteria() -> None:
    requirement = Requirement(3, (("s", 2),), [Share(0.5, "s", spare=1)])
    assert requirement.criteria == (KAnonymity(3), DistinctDiversity(2, "s"), Share(0.5, "s", 1))
    assert (requirement.k, requirement.l, requirement.others) == (3, (("s", 2),), (Share(0.5, "s", 1),))
    assert requirement.names == ("k", "l", "share")
    assert str(requirement) == "k=3, l(s)=2, share(s, spare=1)=0.5"
    assert requirement.as_json() == {
        "k": 3,
        "l": {"s": 2},
        "share": [{"value": 0.5, "attribute": "s", "spare": 1}],
    }
    assert requirement.weakened("k", 2).criteria[0] == KAnonymity(2)
    assert Requirement(3, 2) == Requirement(criteria=[KAnonymity(3), DistinctDiversity(2)])
    assert [(b.criterion.attribute, b.index) for b in Requirement(3, 2).bound(("s", "t"))] == [
        (None, None),
        ("s", 0),
        ("t", 1),
    ]


def test_scores_are_compared_with_thresholds() -> None:
    size, values, share = ScoreKey(KAnonymity), ScoreKey(DistinctDiversity, "s"), Share(0.1, "s", 1).score
    assert share == ScoreKey(Share, "s", (("spare", 1),)) != Share(0.1, "s").score
    criterion = Requirement(3, criteria=[Share(0.5, "s", 1)])
    assert criterion.thresholds((size, values, share), ("s",)) == (3, None, 500)
    with pytest.raises(InputError, match="share of a value was required"):
        criterion.thresholds((size, values), ("s",))


def test_relaxation_is_never_stricter() -> None:
    criterion = Requirement(3, criteria=[Share(0.5, "s"), Share(0.9, "t")])
    assert criterion.weakened("share", 300).others == (Share(0.7, "s"), Share(0.9, "t"))
    assert criterion.weakened("k", 2).k == 2
    assert criterion.weakened("k", 4).k == 3


def test_relaxation_stops_at_the_floor() -> None:
    criterion = Requirement(3, 4, [Share(0.5, "s"), Share(0.6, "t")])
    assert criterion.relaxed("k", 2) == criterion.weakened("k", 2)
    assert criterion.relaxed("share", 100) == criterion.weakened("share", 100)
    for name, score in (("k", 1), ("k", None), ("l", 1), ("share", 99), ("share", None), ("m", 5)):
        assert criterion.relaxed(name, score) is None


def test_relaxed_value_is_met_by_its_own_score() -> None:
    for score in range(1001):
        assert Share(0.0).weakened(score).threshold == score


@pytest.mark.parametrize("value", [-0.1, 1.5, float("nan"), "1", True])
def test_values_out_of_range_are_refused(value: Any) -> None:
    with pytest.raises(InputError, match="share of s") as error:
        Share(value, "s")
    assert error.value.allowed == "a number from 0 to 1"


@pytest.mark.parametrize("name", ["height", "max_suppressed", "Share", "my-share", ""])
def test_names_of_other_meaning_are_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"a criterion named '{name}'"):
        register(type("Other", (Share,), {"name": name}))


def test_impossible_requirements_are_refused(share: type[Criterion]) -> None:
    with pytest.raises(InputError, match="given twice"):
        Requirement(criteria=[Share(0.5), Share(0.6)])
    with pytest.raises(InputError, match="given twice"):
        Requirement(criteria=[Share(0.5), Share(0.6, "s")])
    with pytest.raises(InputError, match="given twice"):
        Requirement(l=(("s", 2),), criteria=[DistinctDiversity(3)])
    with pytest.raises(InputError, match=r"k does not apply to a single attribute \('s'\)"):
        KAnonymity(3, "s")
    with pytest.raises(InputError, match="no attribute is sensitive"):
        Requirement(criteria=[Share(0.5)]).bound(())
    with pytest.raises(InputError, match="not a sensitive attribute"):
        Requirement(criteria=[Share(0.5, "u")]).bound(("s",))
    with pytest.raises(InputError, match="the criterion 'shares'") as error:
        criteria_from({"shares": 0.5})
    assert error.value.allowed == ", ".join(CRITERIA.names())
    with pytest.raises(InputError, match="the floor of low = 2"):
        register(type("Low", (Share,), {"name": "low", "floor": 2}))
    with pytest.raises(InputError, match="as a criterion"):
        register(int)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="mine sets has_keyword"):
        register(type("Mine", (KAnonymity,), {"name": "mine"}))
    uncounted = {"name": "uncounted", "audit_query": Criterion.audit_query}
    with pytest.raises(InputError, match="declares audited_by = sql but has no audit_query"):
        register(type("Uncounted", (Share,), uncounted))
    with pytest.raises(InputError, match="declares audited_by = score but has no audit_score"):
        register(type("Uncounted", (Share,), uncounted | {"audited_by": AuditedBy.SCORE}))
    assert criteria_from({"k": 3, "share": {"s": 0.5}}) == (KAnonymity(3), Share(0.5, "s"))


@pytest.mark.parametrize(
    ("criteria", "expected"),
    [
        ([Share(0.5)], 0.5),
        ([Share(0.5, "s")], {"s": 0.5}),
        ([Share(0.5, "s"), Share(0.25, "value")], {"s": 0.5, "value": 0.25}),
        ([Share(0.5, spare=2)], [{"value": 0.5, "spare": 2}]),
        (
            [Share(0.5, "s"), Share(0.25, "s", spare=2)],
            [{"value": 0.5, "attribute": "s"}, {"value": 0.25, "attribute": "s", "spare": 2}],
        ),
    ],
)
def test_document_contains_every_field_of_a_criterion(
    share: type[Criterion], criteria: list[Criterion], expected: object
) -> None:
    document = Requirement(2, criteria=criteria).as_json()
    assert document == {"k": 2, "l": None, "share": expected}
    assert criteria_from({"share": expected}) == tuple(criteria)


@pytest.mark.parametrize(
    "given", [[{}], [0.5], [{"value": 0.5, "spares": 1}], [{"value": 2}], [[]], None, "x"]
)
def test_document_of_another_form_is_refused(share: type[Criterion], given: object) -> None:
    with pytest.raises(InputError, match="share"):
        criteria_from({"share": given})
