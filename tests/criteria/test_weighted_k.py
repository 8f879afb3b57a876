"""k by survey weights equals plain sums in classes, in every node, in releases and in their audits."""

from __future__ import annotations

import csv
import random
from collections import defaultdict
from decimal import ROUND_FLOOR, Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

import discreet
from discreet.criteria import WeightedKAnonymity
from discreet.errors import InputError
from discreet.lattice.evaluation import evaluate_lattice
from discreet.model.requirement import Requirement
from discreet.models import Local, Mondrian
from discreet.settings import Settings
from tests.criteria.known_tables import Classes, scores
from tests.drawing import some_of

WEIGHT = st.decimals(-5, 99999, places=4).map(str)
ROWS = 120
SPEC = """
[source]
path = "survey.csv"
[attributes.age]
role = "quasi-identifier"
hierarchy = {kind = "intervals", anchor = 0, widths = [10, 20, 40]}
[attributes.city]
role = "quasi-identifier"
[attributes.weight]
role = "sensitive"
[attributes.ill]
role = "sensitive"
"""


def people_of(weights: list[str]) -> Decimal:
    """Return the plain sum of the weights, each truncated to thousandths."""
    each = [max(Decimal(w), Decimal(0)).quantize(Decimal("0.001"), ROUND_FLOOR) for w in weights if w]
    return sum(each, Decimal(0))


@examples(max_examples=some_of(100), deadline=None)
@given(st.lists(st.lists(WEIGHT, max_size=6), min_size=1, max_size=5), st.integers(1, 200000))
def test_scores_are_sums_of_weights(classes: Classes, k: int) -> None:
    table = [weight for held in classes for weight in held]
    criterion = WeightedKAnonymity(k, "weight")
    for held, score in zip(classes, scores(criterion, classes, table), strict=True):
        assert score == people_of(held) * 1000
        assert (score >= criterion.threshold) == (people_of(held) >= k)
        assert score < 1000 or WeightedKAnonymity(criterion.value_of(score)).threshold <= score


@examples(max_examples=some_of(80), deadline=None)
@given(st.lists(WEIGHT, min_size=1), st.lists(WEIGHT))
def test_weighted_k_is_growing(held: list[str], more: list[str]) -> None:
    one, both = scores(WeightedKAnonymity(2), [held, held + more], held + more)
    assert both >= one
    assert WeightedKAnonymity.growing


Row = tuple[str, str, str, str]


def survey() -> list[Row]:
    draw = random.Random(7)
    return [
        (
            str(draw.randrange(20, 60)),
            draw.choice("ABC"),
            draw.choice(["12.5", "7", "0.29", "310.125", "", "-2"]),
            draw.choice("xyz"),
        )
        for _ in range(ROWS)
    ]


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    with (tmp_path / "survey.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("age", "city", "weight", "ill"), *survey()])
    found = tmp_path / "discreet.toml"
    found.write_text(SPEC, encoding="utf-8")
    return found


def classes_of(levels: tuple[int, int]) -> list[list[Row]]:
    found: dict[tuple[int, str], list[Row]] = defaultdict(list)
    for row in survey():
        shown = int(row[0]) // (1, 10, 20, 40)[levels[0]] if levels[0] < 4 else 0
        found[shown, row[1] if levels[1] == 0 else "*"].append(row)
    return list(found.values())


@pytest.mark.parametrize("k", [20, 310, 2000])
def test_every_node_suppresses_classes_of_too_few_people(spec: Path, settings: Settings, k: int) -> None:
    table, criterion = discreet.open(spec), WeightedKAnonymity(k, "weight")
    requirement = Requirement(2, criteria=[criterion])
    evaluated = evaluate_lattice(table.frequency_set, settings, criteria=[criterion])
    for levels in [(a, c) for a in range(5) for c in range(2)]:
        failing = [
            len(held)
            for held in classes_of(levels)
            if len(held) < 2 or people_of([row[2] for row in held]) < k
        ]
        assert evaluated.suppressed(levels, requirement) == sum(failing)


def test_request_with_weights_becomes_an_audited_release(spec: Path, tmp_path: Path) -> None:
    table, criterion = discreet.open(spec), WeightedKAnonymity(310, "weight")
    answer = table.negotiate(k=2, criteria=[criterion], max_suppressed="30%")
    assert answer.exact is not None
    release = table.publish(answer.exact, tmp_path / "out.csv")
    [found] = [f for f in release.audit.report.criteria if f.criterion.name == "weighted_k"]
    assert release.audit.passed
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    held: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows:
        held[row["age"], row["city"]].append(row["weight"])
    assert found.found == int(min(map(people_of, held.values())))
    audit = discreet.audit(tmp_path / "out.csv", quasi_identifiers=["age", "city"], sensitive=["weight"])
    assert audit.rows == len(rows)


def test_models_meet_weighted_k(spec: Path, tmp_path: Path) -> None:
    table, criterion = discreet.open(spec), WeightedKAnonymity(310, "weight")
    for model in (Mondrian(), Local()):
        release = table.publish(model, tmp_path / f"{model.name}.csv", k=3, criteria=[criterion])
        assert release.audit.passed, model


def test_weights_that_are_not_numbers_are_refused(spec: Path) -> None:
    with pytest.raises(InputError, match="numbers"):
        discreet.open(spec).negotiate(k=2, criteria=[WeightedKAnonymity(5, "ill")])
    with pytest.raises(InputError, match="weighted_k"):
        WeightedKAnonymity(0)
