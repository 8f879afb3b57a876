"""β and k of a private sample, checked against sums of the effect of one row, and released samples."""

from __future__ import annotations

import csv
import json
from collections import Counter
from fractions import Fraction
from functools import cache
from math import ceil, comb, exp, floor, log, sqrt
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.differential import private_sample
from discreet.differential.private_sample import RANDOM_BITS, compute_sampling, draw_class_rows
from discreet.errors import DiscreetError, InputError, LimitReached
from discreet.model.privacy_loss import PrivacyLoss
from discreet.verbs.audits import audit
from tests.differential.conftest import Made

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
def test_one_row_changes_no_more_than_the_loss_says(epsilon: str, delta: str) -> None:
    sampling = compute_sampling(loss(epsilon, delta))
    worst = exact_delta(float(epsilon), float(sampling.beta), sampling.k)
    assert 0 < worst <= float(delta) * (1 + 1e-9)


def test_the_bound_is_not_tight() -> None:
    """The page's table lists the k in use and the smaller k that the exact divergence allows."""
    page = (Path(__file__).parents[2] / "docs" / "differential-privacy.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.count("|") == 7]
    told = [row for row in rows if row[0].replace(".", "").isdigit()]
    assert len(told) == 3
    for epsilon, delta, beta, k, arx, exact in told:
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
def test_k_is_the_least_by_the_theorem_s_bound_in_exact_fractions(epsilon: str, delta: str) -> None:
    sampling = compute_sampling(loss(epsilon, delta))
    assert plain_delta(sampling.k, Fraction(epsilon), sampling.beta, 60) <= Fraction(delta)
    assert plain_delta(sampling.k - 1, Fraction(epsilon), sampling.beta, 60) > Fraction(delta)


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "1", "2", "10"])
def test_beta_is_the_largest_multiple_that_is_allowed(epsilon: str) -> None:
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
def test_arx_has_a_k_that_is_larger_by_one(epsilon: str, delta: str, k: int) -> None:
    assert arx_k(float(epsilon), float(delta)) == k
    assert compute_sampling(loss(epsilon, delta)).k == k - 1


def test_arx_tests_adult_at_these_losses(data_dir: Path) -> None:
    with (data_dir / "arx_benchmark" / "golden_adult.csv").open(newline="") as file:
        asked = {row["models"] for row in csv.DictReader(file) if "-DP" in row["models"]}
    assert asked == {"(2.0,1.0E-5)-DP", "(1.5,1.0E-6)-DP"}


@pytest.mark.parametrize(("epsilon", "delta"), [("0.001", "1e-6"), ("11", "1e-6"), ("1", "0")])
def test_what_is_not_computed_is_refused(epsilon: str, delta: str) -> None:
    with pytest.raises(InputError, match="of a sample"):
        compute_sampling(loss(epsilon, delta))


def test_rows_are_drawn_with_the_probability() -> None:
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
def test_a_sample_is_released(made: Made, name: str, capsys: pytest.CaptureFixture[str]) -> None:
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


def test_a_sample_without_a_class_is_an_empty_table(made: Made) -> None:
    table = made(MANY[-20:])
    result = table.safepub({"age": 1}, table.spec.path.parent / "s.csv", epsilon=1, delta="0.001")  # type: ignore[union-attr]
    assert result.path.read_text() == "age,sex\n"


def test_of_a_subject_one_row_counts(made: Made) -> None:
    rows = [("25", "F", "flu", "a")] * 900 + [("45", "M", "flu", str(i)) for i in range(600)]
    table = made(rows, names=("age", "sex", "disease", "who"), subject="who")
    result = table.safepub({"age": 1}, table.spec.path.parent / "s.csv", epsilon=1, delta="0.001")  # type: ignore[union-attr]
    assert result.sample.classes == 1
    assert "one subject" in result.privacy["neighbours"]


def test_the_budget_is_spent_before_rows_are_drawn(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    table = made(MANY)

    def fails(*_: object) -> None:
        assert table.budget().spent.as_json()["epsilon"] == "0.5"
        raise KeyboardInterrupt

    monkeypatch.setattr(private_sample, "draw_class_rows", fails)
    with pytest.raises(KeyboardInterrupt):
        table.safepub({"age": 1}, table.spec.path.parent / "s.csv", epsilon="0.5", delta="0.001")  # type: ignore[union-attr]
    assert table.budget().spent.as_json()["epsilon"] == "0.5"
    assert not (table.spec.path.parent / "s.csv").exists()  # type: ignore[union-attr]


def test_what_is_told_is_the_same_for_other_rows(
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
def test_levels_that_are_not_allowed(made: Made, levels: dict[str, int], fact: str) -> None:
    table = made(MANY)
    with pytest.raises(DiscreetError, match=fact):
        table.safepub(levels, table.spec.path.parent / "s.csv", epsilon=1, delta="0.001")  # type: ignore[union-attr]
    assert table.budget().balance.entries == ()
