"""A requirement as an SQL predicate, and the criteria that no engine counts."""

from __future__ import annotations

import pytest

from discreet.errors import InputError
from discreet.model.requirement import Requirement
from discreet.sql.recoded_rows import failure_predicate, is_engine_counted
from tests.criteria_of_tests import Share


def test_each_criterion_compares_its_count() -> None:
    asked = Requirement.of(5, {"b": 3}).bound(("a", "b"))
    assert failure_predicate(asked, "count(*)", {1: "count(v)"}) == "count(*) < 5 OR count(v) < 3"
    assert failure_predicate((), "n", {}) == "FALSE"


def test_a_criterion_that_no_engine_counts_is_refused() -> None:
    asked = Requirement(5, criteria=[Share(0.5, "a")])
    assert list(map(is_engine_counted, asked.criteria)) == [True, False]
    with pytest.raises(InputError, match=r"share\(a\)=0.5: the engine cannot compute") as error:
        failure_predicate(asked.bound(("a",)), "n", {0: "m"})
    assert error.value.allowed == "k, l"
