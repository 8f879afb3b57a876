"""t-closeness equals plain fractions under each distance, in classes, lattices and releases."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

import discreet
from discreet.criteria import SensitiveAttribute
from discreet.errors import InputError, NoSolution
from discreet.frequency.fact_counter import FactCounter
from discreet.lattice.evaluation import evaluate_lattice
from discreet.model.criteria.float_criterion import NEVER_SCORE, SCORE_UNIT
from discreet.model.criteria.t_closeness import TCloseness
from discreet.model.criterion_inputs import ClassValues
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.search.node_counts import StatisticsCounter
from discreet.settings import Settings
from tests.criteria.known_tables import PATHS, WAGES, Classes, in_order, known, scores
from tests.criteria.plain_known_values import t_closeness
from tests.drawing import in_turn, some_of

DISTANCES = ["equal", "ordered", "hierarchical"]
ILL = st.sampled_from(list(PATHS))
SOME = st.lists(ILL, min_size=1, max_size=8)
CLASSES = st.lists(st.lists(ILL, max_size=9), min_size=1, max_size=5)
every_distance = pytest.mark.parametrize("distance", DISTANCES)
rounding = Fraction(101, 100 * SCORE_UNIT)


def plain(held: list[str], table: list[str], distance: str) -> Fraction | None:
    found: Fraction | None = t_closeness(held, table, distance, in_order(known(table)), PATHS)
    return found


@every_distance
@examples(max_examples=some_of(120), deadline=None)
@given(classes=CLASSES, more=st.lists(ILL, max_size=6), percent=st.integers(0, 100))
def test_scores_equal_plain_fractions(distance: str, classes: Classes, more: list[str], percent: int) -> None:
    table = [value for held in classes for value in held] + more
    criterion = TCloseness(percent / 100, "s", distance=distance)
    for held, score in zip(classes, scores(criterion, classes, table), strict=True):
        found = plain(held, table, distance)
        if found is None:
            assert score == NEVER_SCORE
            continue
        assert abs(Fraction(-score, SCORE_UNIT) - found) <= rounding
        assert (score >= criterion.threshold) == (found <= Fraction(percent, 100))
        assert TCloseness(criterion.value_of(score), distance=distance).threshold <= score


@examples(max_examples=some_of(80), deadline=None)
@given(st.lists(st.lists(st.sampled_from(WAGES), max_size=8), min_size=1, max_size=4))
def test_numbers_are_in_the_order_of_their_size(classes: Classes) -> None:
    table = [value for held in classes for value in held]
    for held, score in zip(classes, scores(TCloseness(1, distance="ordered"), classes, table), strict=True):
        found = plain(held, table, "ordered")
        assert (
            score == NEVER_SCORE if found is None else abs(Fraction(-score, SCORE_UNIT) - found) <= rounding
        )


@every_distance
@examples(max_examples=some_of(150), deadline=None)
@given(one=SOME, other=SOME, more=st.lists(ILL))
def test_union_is_no_farther_than_the_farther_class(
    distance: str, one: list[str], other: list[str], more: list[str]
) -> None:
    first, second, both = scores(
        TCloseness(0.2, distance=distance), [one, other, one + other], one + other + more
    )
    assert both >= min(first, second)


def test_t_closeness_is_not_growing() -> None:
    table = ["flu", "gout"] * 4
    close, both = scores(TCloseness(0, distance="equal"), [["flu", "gout"], ["flu", "gout", "flu"]], table)
    assert close == TCloseness(0).threshold > both
    assert not TCloseness.growing


def test_examples_of_the_paper() -> None:
    """Examples of Li et al. (2007), sections 5.2 and 5.3: incomes of 3k to 11k, and stomach ulcers."""
    salaries = [str(1000 * n) for n in range(3, 12)]
    first, second = scores(
        TCloseness(0, distance="ordered"), [["3000", "4000", "5000"], ["6000", "8000", "11000"]], salaries
    )
    assert (TCloseness(0).value_of(first), TCloseness(0).value_of(second)) == (
        pytest.approx(0.375),
        pytest.approx(0.166666667),
    )


def test_class_exactly_at_the_distance_passes() -> None:
    table = ["flu"] * 4 + ["gout"] * 6
    (score,) = scores(TCloseness(0.2), [["flu"] * 3 + ["gout"] * 2], table)
    assert score >= TCloseness(0.2).threshold
    assert score < TCloseness(0.199999999).threshold
    third = [["flu", "gout", "gout"], ["flu", "flu", "gout"]]
    for score in scores(TCloseness(0), third, ["flu", "gout"]):
        assert TCloseness(0).value_of(score) == 0.166666667
        assert score < TCloseness(0.166666666).threshold


def test_large_tables_are_counted_in_floating_point_numbers() -> None:
    rows = np.array([2**30, 2**30, 2**31, 5], np.int64)
    of = SensitiveAttribute.of(["1", "2", "3", "4"], rows)
    values = ClassValues(
        np.array([4, 1]), np.array([0, 0, 0, 0, 1]), np.array([0, 1, 2, 3, 0]), np.append(rows, 2**31), of
    )
    for distance in ("equal", "ordered"):
        near, far = TCloseness(0, distance=distance).scores(np.array([rows.sum(), 2**31]), values)
        assert abs(near) <= 1
        q = [Fraction(int(n), int(rows.sum())) for n in rows]
        partial = [1 - sum(q[: i + 1]) for i in range(4)]
        expected = 1 - q[0] if distance == "equal" else sum(partial) / 3
        assert abs(Fraction(-int(far), SCORE_UNIT) - expected) <= 2 * rounding


# --- counted tables and their releases ----------------------------------------------------------------------

CRITERIA = [
    TCloseness(0.35, "ill"),
    TCloseness(0.13, "ill", distance="ordered"),
    TCloseness(0.3, "ill", distance="hierarchical"),
    TCloseness(0.06, "wage", distance="ordered"),
]
Row = tuple[str, str, str, str]


def people(seed: int = 5, number: int = 160) -> list[Row]:
    """Return people whose illness depends on their age; some values are NULL."""
    random = np.random.default_rng(seed)
    ills = ("flu", "asthma", "angina", "ulcer", "cancer", "gout")
    found = []
    for _ in range(number):
        age = int(random.integers(20, 60))
        place = min(int(random.integers(0, 4)) + (age - 20) // 20, 5)
        ill = "" if random.random() < 0.05 else ills[place]
        found.append((str(age), str(random.choice(["Bonn", "Jena"])), ill, str(random.choice(WAGES))))
    return found


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """Write a table of people and its spec."""
    folder = tmp_path / "work"
    folder.mkdir()
    with (folder / "people.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("age", "city", "ill", "wage"), *people()])
    rows = json.dumps([list(path) for path in PATHS.values()])
    (folder / "discreet.toml").write_text(
        '[source]\npath = "people.csv"\n'
        '[attributes.age]\nrole = "quasi-identifier"\nhierarchy = {kind = "intervals", widths = [10, 20]}\n'
        '[attributes.city]\nrole = "quasi-identifier"\n'
        f'[attributes.ill]\nrole = "sensitive"\nhierarchy = {{kind = "levels", rows = {rows}}}\n'
        '[attributes.wage]\nrole = "sensitive"\n',
        encoding="utf-8",
    )
    return folder / "discreet.toml"


def distances(classes: list[list[Row]], criterion: TCloseness, table: list[Row]) -> list[Fraction | None]:
    """Return the plain distance of each class."""
    column = 2 if criterion.attribute == "ill" else 3
    whole = [row[column] for row in table if row[column]]
    return [
        plain([row[column] for row in held if row[column]], whole, criterion.distance) for held in classes
    ]


def passes(classes: list[list[Row]], criterion: TCloseness, table: list[Row]) -> list[bool]:
    most = Fraction(str(criterion.value))
    return [found is not None and found <= most for found in distances(classes, criterion, table)]


def classes_of(rows: list[Row], levels: tuple[int, int]) -> list[list[Row]]:
    """Return the rows of each class of a node."""
    found: defaultdict[object, list[Row]] = defaultdict(list)
    for row in rows:
        width = (1, 10, 20, 1000)[levels[0]]
        found[int(row[0]) // width, row[1] if levels[1] == 0 else "*"].append(row)
    return list(found.values())


def published(path: Path) -> list[list[Row]]:
    """Return the rows of each class of a written file."""
    found: defaultdict[object, list[Row]] = defaultdict(list)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found[row["age"], row["city"]].append((row["age"], row["city"], row["ill"], row["wage"]))
    return list(found.values())


@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
def test_every_node_suppresses_the_rows_of_plain_counting(
    criterion: TCloseness, spec: Path, settings: Settings
) -> None:
    table: FrequencySet = discreet.open(spec).frequency_set
    requirement = Requirement(3, criteria=[criterion])
    evaluated = evaluate_lattice(table, settings, criteria=[criterion])
    statistics, counter = StatisticsCounter(table, requirement, 10**9), FactCounter.of(table, requirement)
    seen = set()
    for levels in [(a, c) for a in range(4) for c in range(2)]:
        held = classes_of(people(), levels)
        fine = [len(c) >= 3 and ok for c, ok in zip(held, passes(held, criterion, people()), strict=True)]
        expected = sum(len(c) for c, ok in zip(held, fine, strict=True) if not ok)
        assert evaluated.suppressed(levels, requirement) == expected
        node = statistics.count(levels)
        assert int(node.class_sizes[node.failing].sum()) == expected
        seen.add(expected)
    assert len(seen) > 2
    assert counter.holds(np.arange(table.row_types))


@pytest.mark.parametrize(
    ("model", "criterion"),
    in_turn(["mondrian", "relaxed-mondrian", "local", "patterns"], CRITERIA, rounds=2),
    ids=str,
)
def test_models_that_merge_classes_meet_t_closeness(
    criterion: TCloseness, model: str, spec: Path, tmp_path: Path
) -> None:
    table = discreet.open(spec)
    try:
        release = table.publish(model, tmp_path / "out.csv", k=3, criteria=[criterion])
    except (InputError, NoSolution) as error:
        assert "t(" in str(error) or "t-closeness" in str(error)  # noqa: PT017 - a refusal is right, too
        return
    assert release.audit.passed
    held = published(release.path)
    assert min(map(len, held)) >= 3
    assert all(passes(held, criterion, people()))


@pytest.mark.parametrize(("required", "suppressed"), in_turn(CRITERIA, ["drop", "star"]), ids=str)
def test_release_with_suppression_is_audited_with_and_without_the_spec(
    required: TCloseness, suppressed: str, spec: Path, tmp_path: Path
) -> None:
    table = discreet.open(spec)
    release = table.publish(
        {"age": 1, "city": 0},
        tmp_path / "out.csv",
        k=3,
        criteria=[required],
        max_suppressed="95%",
        suppressed_rows=suppressed,
    )
    assert 0 < release.suppressed < 160
    assert release.audit.passed
    assert not any("compares classes" in str(warning) for warning in release.audit.report.warnings)
    held = [c for c in published(release.path) if c[0][0] != "*"]
    found = distances(held, required, people())
    assert all(one is not None and one <= Fraction(str(required.value)) for one in found)
    again = discreet.audit(release.path, spec=spec)
    assert again.passed
    (criterion,) = again.report.criteria
    worst = max(one for one in found if one is not None)
    assert abs(Fraction(criterion.found) - worst) <= rounding
    assert not again.report.warnings

    if required.distance == "hierarchical" or (required.distance, required.attribute) == ("ordered", "ill"):
        with pytest.raises(InputError, match=r"needs (the hierarchy|an order)") as error:
            discreet.audit(release.path)
        assert "--spec" in (error.value.advice or "")
        return
    without_spec = discreet.audit(release.path)
    assert any("is used; it differs if rows are suppressed" in w for w in without_spec.report.warnings)
    rows = [row for c in held for row in c]
    column = 2 if required.attribute == "ill" else 3
    expected = [
        plain([r[column] for r in c if r[column]], [r[column] for r in rows if r[column]], required.distance)
        for c in held
    ]
    worst = max(one for one in expected if one is not None)
    assert abs(Fraction(without_spec.report.criteria[0].found) - worst) <= rounding


def test_t_closeness_is_negotiated_searched_and_refused(spec: Path) -> None:
    table = discreet.open(spec)
    criterion = TCloseness(0.05, "ill")
    answer = table.negotiate(k=3, criteria=[criterion], max_level={"age": 2})
    relaxed = answer.relaxation("t")
    assert relaxed is not None
    (found,) = [c.value for c in relaxed.criteria if c.name == "t"]
    held = classes_of(people(), (relaxed.levels["age"], relaxed.levels["city"]))
    expected = distances(held, criterion, people())
    assert found >= max(Fraction(0) if one is None else one for one in expected) - rounding
    for algorithm in ("exhaustive", "optimal"):
        assert table.search(algorithm, k=3, criteria=[TCloseness(0.9, "ill")]).solutions
    with pytest.raises(InputError, match=r"t\(city\)|'city', which is not a sensitive"):
        table.negotiate(k=3, criteria=[TCloseness(0.5, "city")])


def test_missing_order_and_hierarchy_are_named_in_the_error(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("q,s\n1,b\n2,a\n1,a\n", encoding="utf-8")
    roles = {"q": {"role": "quasi-identifier"}, "s": {"role": "sensitive"}}
    table = discreet.open(tmp_path / "t.csv", {"attributes": roles})
    for distance, words in (("ordered", "needs an order"), ("hierarchical", "needs a hierarchy")):
        with pytest.raises(InputError, match=words) as error:
            table.negotiate(k=1, criteria=[TCloseness(0.5, distance=distance)])
        assert "[attributes.s]" in (error.value.advice or "")
    assert table.negotiate(k=1, criteria=[TCloseness(1)]).exact is not None
