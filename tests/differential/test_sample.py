"""Private samples: β and k against exact sums, the choice of levels, and released samples."""

from __future__ import annotations

import csv
import json
import random
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import product
from math import ceil, comb, exp, floor, log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet.differential import private_sample
from discreet.differential.marginals import encode_labels
from discreet.differential.private_sample import (
    DETAIL_UNIT,
    RANDOM_BITS,
    PrivateLevelChoice,
    choose_noisy_max,
    compute_sampling,
    draw_class_rows,
)
from discreet.errors import DiscreetError, InputError, LimitReached
from discreet.model.privacy_loss import PrivacyLoss
from discreet.model.table_spec import TableSpec
from discreet.spec.spec_reader import spec_from_mapping
from discreet.verbs.audits import audit
from tests.cli.conftest import Run, run
from tests.differential.conftest import ATTRIBUTES, Made, made
from tests.drawing import some_of

LOSSES = [("2", "1e-5"), ("1", "1e-3"), ("1", "0.05"), ("0.5", "1e-2"), ("3", "1e-4"), ("0.1", "0.01")]
ARX = [("2", "1e-5", 114), ("1.5", "1e-6", 100)]
"""ε and δ of ARX's tests of the model on Adult, and the k that its loops (below) compute."""


def loss(epsilon: str, delta: str) -> PrivacyLoss:
    return PrivacyLoss(Fraction(epsilon), Fraction(delta))


def shown(drawn: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Return the probability of each shown class size; sizes below k are shown as zero."""
    found = np.where(np.arange(len(drawn)) >= k, drawn, 0.0)
    found[0] = drawn[:k].sum()
    return found


def one_more(drawn: NDArray[np.float64], beta: float) -> NDArray[np.float64]:
    """Return the distribution of drawn rows of a class with one more row."""
    return np.append(drawn * (1 - beta), 0.0) + np.append(0.0, drawn * beta)


def excess(one: NDArray[np.float64], other: NDArray[np.float64], epsilon: float) -> float:
    """Return the excess of one distribution over e^ε times the other: the least δ for this pair."""
    return float(np.maximum(one - exp(epsilon) * other, 0.0).sum())


def exact_delta(epsilon: float, beta: float, k: int) -> float:
    """Return the least δ over all class sizes and one more row, by outcome and in both directions."""
    drawn, worst = np.ones(1), 0.0
    for _ in range(int(3 * k / beta) + 5):
        fewer = np.append(shown(drawn, k), 0.0)
        drawn = one_more(drawn, beta)
        more = shown(drawn, k)
        worst = max(worst, excess(more, fewer, epsilon), excess(fewer, more, epsilon))
    return worst


@pytest.mark.parametrize(("epsilon", "delta"), LOSSES)
def test_one_row_changes_at_most_the_loss(epsilon: str, delta: str) -> None:
    sampling = compute_sampling(loss(epsilon, delta))
    worst = exact_delta(float(epsilon), float(sampling.beta), sampling.k)
    assert 0 < worst <= float(delta) * (1 + 1e-9)


def test_bound_is_not_tight_as_documented() -> None:
    """The page's table lists the k in use and the smaller k that the exact divergence allows."""
    page = (Path(__file__).parents[2] / "docs" / "differential-privacy.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.count("|") == 7]
    documented = [row for row in rows if row[0].replace(".", "").isdigit()]
    assert len(documented) == 3
    for epsilon, delta, beta, k, arx, exact in documented:
        sampling = compute_sampling(loss(epsilon, delta))
        assert (f"{float(sampling.beta):.4f}", sampling.k) == (beta, int(k))
        assert int(arx) == int(k) + 1
        least = int(exact)
        assert exact_delta(float(epsilon), float(sampling.beta), least) <= float(delta)
        assert exact_delta(float(epsilon), float(sampling.beta), least - 1) > float(delta)


def plain_delta(k: int, epsilon: Fraction, beta: Fraction, sizes: int) -> Fraction:
    """Return the theorem's δ over ``sizes`` sizes in fractions; e^(−ε) is the fraction of its double."""
    gamma = 1 - (1 - beta) * Fraction(exp(-epsilon))
    first, unit = ceil(k / gamma - 1), 2**RANDOM_BITS
    yes = int(beta * unit)
    worst = Fraction(0)
    for size in range(first, first + sizes):
        drawn = range(floor(gamma * size) + 1, size + 1)
        ways = sum(comb(size, j) * yes**j * (unit - yes) ** (size - j) for j in drawn)
        worst = max(worst, Fraction(ways, unit**size))
    return worst


@pytest.mark.parametrize(("epsilon", "delta"), [("2", "0.1"), ("2", "0.01"), ("1", "0.05"), ("0.7", "0.1")])
def test_k_is_the_least_by_the_theorem_in_exact_fractions(epsilon: str, delta: str) -> None:
    sampling = compute_sampling(loss(epsilon, delta))
    assert plain_delta(sampling.k, Fraction(epsilon), sampling.beta, 60) <= Fraction(delta)
    assert plain_delta(sampling.k - 1, Fraction(epsilon), sampling.beta, 60) > Fraction(delta)


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "1", "2", "10"])
def test_beta_is_the_largest_allowed_multiple(epsilon: str) -> None:
    beta = compute_sampling(loss(epsilon, "1e-6")).beta
    assert (beta * 2**RANDOM_BITS).denominator == 1
    assert float(beta) == pytest.approx(1 - exp(-float(epsilon)), rel=1e-14)
    assert beta <= 1 - Fraction(exp(-float(epsilon))) + Fraction(1, 2**RANDOM_BITS)


def arx_k(epsilon: float, delta: float) -> int:
    """Return ARX's k by the same loops in Python; they count one further after δ is kept."""
    beta = 1 - exp(-epsilon)
    gamma = (exp(epsilon) - 1 + beta) / exp(epsilon)

    @cache
    def tail(size: int) -> float:
        drawn = range(floor(size * gamma) + 1, size + 1)
        return sum(comb(size, j) * beta**j * (1 - beta) ** (size - j) for j in drawn)

    def worst(k: int) -> float:
        size, found, bound = ceil(k / gamma - 1), -1.0, float("inf")
        while found < bound:
            found = max(found, tail(size))
            bound = exp(-size * (gamma * log(gamma / beta) - (gamma - beta)))
            size += 1
        return found

    k, found = 1, float("inf")
    while not found < delta:
        found, k = worst(k), k + 1
    return k


@pytest.mark.parametrize(("epsilon", "delta", "k"), ARX)
def test_arx_k_is_larger_by_one(epsilon: str, delta: str, k: int) -> None:
    assert arx_k(float(epsilon), float(delta)) == k
    assert compute_sampling(loss(epsilon, delta)).k == k - 1


@pytest.mark.parametrize(("epsilon", "delta"), [("0.001", "1e-6"), ("11", "1e-6"), ("1", "0")])
def test_loss_outside_the_supported_range_is_refused(epsilon: str, delta: str) -> None:
    with pytest.raises(InputError, match="of a sample"):
        compute_sampling(loss(epsilon, delta))


def test_rows_are_drawn_with_probability_beta() -> None:
    """The rows drawn are within 6.5 standard deviations, which random draws break once in 1e10 runs."""
    beta, rows = Fraction(5, 8), 3_000_000
    drawn = draw_class_rows({"a": rows, "b": 0, "c": 1}, beta)
    assert abs(drawn["a"] - rows * 0.625) < 6.5 * sqrt(rows * 0.625 * 0.375)
    assert drawn["b"] == 0
    assert drawn["c"] in (0, 1)
    assert draw_class_rows({"a": 1000}, Fraction(0)) == {"a": 0}
    assert draw_class_rows({"a": 1000}, Fraction(1)) == {"a": 1000}


MANY = [("25", "F", "flu")] * 900 + [("45", "M", "cold")] * 600 + [(None, "x", None)] * 300
MANY += [("55", "F", "secret")] * 20


@pytest.mark.parametrize("name", ["sample.csv", "sample.parquet"])
def test_sample_is_released_and_spends_its_budget(
    made: Made, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table = made(MANY)
    folder = table.spec.path.parent  # type: ignore[union-attr]
    result = table.safepub({"age": 1}, folder / name, epsilon="1", delta="0.001")
    sample = result.sample
    assert sample.sampling.k > 20
    manifest = json.loads(sample.manifest_path.read_text(encoding="utf-8"))
    assert manifest["privacy"]["k"] == sample.sampling.k
    assert str(len(MANY)) not in str(result) + sample.manifest_path.read_text() + json.dumps(result.as_json())
    if name.endswith("csv"):
        with result.path.open(newline="") as file:
            found = Counter((row["age"], row["sex"]) for row in csv.DictReader(file))
        # 900, 600 and 300 rows times 0.632, within 6.5 standard deviations; 20 rows never reach k.
        expected = {("20-29", "F"): 900, ("40-49", "M"): 600, ("(other)", "(other)"): 300}
        assert set(found) == set(expected)
        for labels, number in expected.items():
            beta = float(sample.sampling.beta)
            assert abs(found[labels] - number * beta) < 6.5 * sqrt(number * beta * (1 - beta))
        assert sum(found.values()) == sample.rows == manifest["rows"]
    with pytest.raises(InputError, match="differential privacy"):
        audit(result.path)
    assert result.left.as_json() == {"epsilon": "0", "delta": "0"}
    with pytest.raises(LimitReached, match="privacy budget"):
        table.safepub({"age": 1}, folder / "more.csv", epsilon="0.5", delta="0.001")


def test_sample_without_class_is_an_empty_table(made: Made) -> None:
    table = made(MANY[-20:])
    result = table.safepub({"age": 1}, table.spec.path.parent / "s.csv", epsilon=1, delta="0.001")  # type: ignore[union-attr]
    assert result.path.read_text() == "age,sex\n"


def test_one_row_per_subject_counts(made: Made) -> None:
    rows = [("25", "F", "flu", "a")] * 900 + [("45", "M", "flu", str(i)) for i in range(600)]
    table = made(rows, names=("age", "sex", "disease", "who"), subject="who")
    result = table.safepub({"age": 1}, table.spec.path.parent / "s.csv", epsilon=1, delta="0.001")  # type: ignore[union-attr]
    assert result.sample.classes == 1
    assert "one subject" in result.privacy["neighbours"]


@pytest.mark.parametrize("step", ["choose_noisy_max", "draw_class_rows"])
def test_budget_is_spent_before_anything_is_drawn(
    step: str, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = made(MANY)

    def fails(*_: object) -> None:
        assert table.budget().spent.as_json()["epsilon"] == "0.5"
        raise KeyboardInterrupt

    monkeypatch.setattr(private_sample, step, fails)
    search = "0.1" if step == "choose_noisy_max" else None
    with pytest.raises(KeyboardInterrupt):
        table.safepub({}, "s.csv", epsilon="0.5", delta="0.001", search_epsilon=search)
    assert table.budget().spent.as_json()["epsilon"] == "0.5"
    assert not Path("s.csv").exists()


def test_output_with_fixed_draws_is_equal_for_other_rows(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With fixed draws, two tables report identical texts."""
    monkeypatch.setattr(private_sample, "draw_class_rows", lambda *_: {'["20-29", "F"]': 500})
    texts = []
    for number, rows in enumerate([MANY, [], [("old", "'", "")] * 50]):
        table = made(rows, folder=f"work{number}")
        folder = tmp_path / f"work{number}"
        result = table.safepub({"age": 1}, folder / "s.csv", epsilon="0.5", delta="0.001")
        parts = [str(result), json.dumps(result.as_json()), (folder / "s.csv").read_text()]
        parts.append((folder / "s.csv.manifest.json").read_text())
        texts.append("\n".join(parts).replace(str(folder), "FOLDER").replace(folder.name, "FOLDER"))
    assert len(set(texts)) == 1


@pytest.mark.parametrize(
    ("levels", "fact"),
    [({"disease": 0}, "no quasi-identifier"), ({"age": 9}, "level 9"), ({"age": -1}, "-1")],
)
def test_levels_that_are_not_allowed_are_refused(made: Made, levels: dict[str, int], fact: str) -> None:
    table = made(MANY)
    with pytest.raises(DiscreetError, match=fact):
        table.safepub(levels, table.spec.path.parent / "s.csv", epsilon=1, delta="0.001")  # type: ignore[union-attr]
    assert table.budget().balance.entries == ()


__all__ = ["made", "run"]

TOWNS = {"kind": "levels", "rows": [["Ulm", "S", "*"], ["Rom", "S", "*"], ["Kiel", "N", "*"]]}
AGES = [*map(str, range(20, 60)), "77", "(other)"]


def spec(town: Any = None, **request: Any) -> TableSpec:
    """Return a spec of public ages, sexes without a hierarchy, and towns whose leaves come from rows."""
    town = town or {"role": "quasi-identifier", "weight": 0.5, "hierarchy": TOWNS}
    document = {
        "source": {"path": "people.csv"},
        "attributes": {**ATTRIBUTES, "town": town},
        "request": request,
        "privacy_budget": {"epsilon": "3"},
    }
    return spec_from_mapping(document, base=Path(), label="a test")


def label(name: str, value: str, level: int) -> str:
    """Return the label of a value at a level, in plain Python; "(other)" replaces NULL."""
    if name == "age" and value in AGES[:40]:
        width = (1, 10, 20)[level] if level < 3 else 0
        return "*" if not width else str(int(value) // width)
    if name == "sex" and value in "FM":
        return "*" if level else value
    if name == "town" and value in ("Ulm", "Rom", "Kiel"):
        return (value, "N" if value == "Kiel" else "S", "*")[level]
    return value if name == "town" and level == 0 else "(other)"


def plain_scores(rows: list[tuple[str, str, str]], least: int) -> list[int]:
    """Compute the scores of all nodes, class by class."""
    found = []
    for levels in product(range(4), range(2), range(3)):
        names = ("age", "sex", "town")
        sizes = Counter(tuple(map(label, names, row, levels)) for row in rows)
        lost = Fraction(levels[0], 3) + levels[1] + Fraction(levels[2], 4)
        detail = max(1, int(1000 * (1 - lost / Fraction(5, 2))))
        found.append(detail * sum(max(0, size - least + 1) for size in sizes.values()))
    return found


def counted(rows: list[tuple[str, str, str]]) -> dict[str, int]:
    lowest = [
        (age if age in AGES[:40] else "(other)", sex if sex in "FM" else "(other)", town)
        for age, sex, town in rows
    ]
    return dict(Counter(map(encode_labels, lowest)))


def draw(seed: int, number: int) -> list[tuple[str, str, str]]:
    chance = random.Random(seed)
    towns = ["Ulm", "Rom", "Kiel", "Bern", "(other)"]
    return [(chance.choice(AGES), chance.choice("FMx"), chance.choice(towns)) for _ in range(number)]


@examples(max_examples=some_of(25), deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 60), st.sampled_from([1, 2, 5, 20]))
def test_scores_equal_plain_classes_and_one_row_adds_at_most_one(seed: int, number: int, least: int) -> None:
    rows = draw(seed, number + 1)
    search = PrivateLevelChoice.of(spec(), {})
    scores = [search.scores(counted(some), least).tolist() for some in (rows[:-1], rows)]
    assert scores == [plain_scores(some, least) for some in (rows[:-1], rows)]
    assert all(0 <= more - fewer <= DETAIL_UNIT for fewer, more in zip(*scores, strict=True))


def test_search_is_restricted_to_levels_within_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    search = PrivateLevelChoice.of(spec(min_level={"age": 1}, max_level={"age": 2}), {"town": 1})
    assert {tuple(axis.level for axis in node) for node in search.nodes} == set(product((1, 2), (0, 1), (1,)))
    broken = {
        "role": "quasi-identifier",
        "hierarchy": {"kind": "levels", "rows": [["Ulm", "S"], ["Rom", "N"]]},
    }
    with pytest.raises(InputError, match="top value"):
        PrivateLevelChoice.of(spec(town=broken), {})
    with pytest.raises(InputError, match="level 7"):
        PrivateLevelChoice.of(spec(), {"town": 7})
    monkeypatch.setattr(private_sample, "MAX_LEVEL_NODES", 23)
    with pytest.raises(InputError, match="24 combinations"):
        PrivateLevelChoice.of(spec(), {})


def test_choice_of_levels_has_the_probability_of_the_mechanism() -> None:
    """Permute-and-flip examines the lower score first half of the time and takes it by exp(-ε · apart)."""
    epsilon, apart, draws = Fraction(1), 1500, 600
    scores = PrivateLevelChoice.of(spec(), {}).details()[:2] * 0
    scores[1] = apart
    lower = sum(choose_noisy_max(scores, epsilon) == 0 for _ in range(draws))
    expected = draws * exp(-1.5) / 2
    assert abs(lower - expected) < 6.5 * (expected * (1 - expected / draws)) ** 0.5


MANY_PEOPLE = [("25", "F", "flu")] * 900 + [("45", "M", "cold")] * 600 + [("55", "F", "secret")] * 20


def test_sample_at_chosen_levels_reports_the_search(made: Made, run: Run) -> None:
    table = made(MANY_PEOPLE)
    folder = table.spec.path.parent  # type: ignore[union-attr]
    options = ["--epsilon", "1", "--delta", "0.001", "--search-epsilon", "0.2", "--json"]
    document = run("dp", "sample", table.spec.path, "--output", folder / "s.csv", *options).json
    # Full detail keeps all but twenty rows; the score of any other node is lower by hundreds of rows.
    assert document["levels"] == {"age": 0, "sex": 0}
    assert document["privacy"]["epsilon"] == "1"
    assert document["privacy"]["search"]["epsilon"] == "0.2"
    assert "private search chose" in document["privacy"]["mechanism"]
    assert document["budget"]["left"] == {"epsilon": "0", "delta": "0"}
    manifest = json.loads((folder / "s.csv.manifest.json").read_text(encoding="utf-8"))
    assert manifest["privacy"] == document["privacy"]
    with (folder / "s.csv").open(newline="", encoding="utf-8") as file:
        assert {(row["age"], row["sex"]) for row in csv.DictReader(file)} == {("25", "F"), ("45", "M")}
    with pytest.raises(LimitReached, match="privacy budget"):
        table.safepub({}, folder / "t.csv", epsilon=1, delta="0.001", search_epsilon="0.1")


def test_sample_spends_the_rest_of_the_search(made: Made) -> None:
    table = made(MANY_PEOPLE)
    folder = table.spec.path.parent  # type: ignore[union-attr]
    searched = table.safepub(
        {"sex": 1}, folder / "s.csv", epsilon="0.5", delta="0.0005", search_epsilon="0.1"
    )
    given_levels = table.safepub({"sex": 1}, folder / "t.csv", epsilon="0.4", delta="0.0005")
    assert searched.sample.sampling == given_levels.sample.sampling
    assert searched.sample.levels["sex"] == 1
    assert "chose the levels" in str(searched)


@pytest.mark.parametrize("search", ["1", "2", "0"])
def test_search_that_uses_all_epsilon_is_refused_before_spending(made: Made, search: str) -> None:
    table = made(MANY_PEOPLE)
    with pytest.raises(InputError):
        table.safepub({}, "s.csv", epsilon=1, delta="0.001", search_epsilon=search)
    assert table.budget().balance.entries == ()
