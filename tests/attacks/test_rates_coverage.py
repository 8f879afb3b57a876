"""The confidence intervals of the three attacks have their nominal coverage, shown by simulation."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

import numpy as np
import pytest

from discreet.attacks.control_set import (
    GuessChances,
    SuccessRate,
    TargetRecords,
    compute_attack_risk,
    compute_inference_chances,
    compute_linking_chances,
    compute_mean_rates,
)
from discreet.attacks.published_table import ValueCounts
from discreet.measures.generalized_table import GeneralizedTable, exact_cells

Z = NormalDist().inv_cdf(0.975)
REPLICATIONS = 400
AGES, TOWNS = 8, 5
Cell = tuple[int, int]


def population(seed: int, *, alike: bool) -> dict[Cell, float]:
    """Return the share of each age and town; ``alike`` makes the two independent."""
    random = np.random.default_rng(seed)
    if alike:
        shares = np.outer(random.dirichlet(np.full(AGES, 5.0)), random.dirichlet(np.full(TOWNS, 5.0)))
    else:
        shares = random.dirichlet(np.full(AGES * TOWNS, 0.7)).reshape(AGES, TOWNS)
    return {(age, town): float(shares[age, town]) for age in range(AGES) for town in range(TOWNS)}


def drawn(random: np.random.Generator, shares: dict[Cell, float], number: int) -> list[Cell]:
    cells = list(shares)
    return [cells[place] for place in random.choice(len(cells), number, p=list(shares.values()))]


def release_of(rows: list[Cell], k: int) -> dict[Cell, int]:
    """Count the rows of each class with at least k rows."""
    sizes = {cell: rows.count(cell) for cell in sorted(set(rows))}
    return {cell: size for cell, size in sizes.items() if size >= k}


def table_of(release: dict[Cell, int]) -> GeneralizedTable:
    cells = (
        exact_cells("age", [f"a{i}" for i in range(AGES)]),
        exact_cells("town", [f"t{i}" for i in range(TOWNS)]),
    )
    return GeneralizedTable(cells, np.array(list(release)), np.array(list(release.values())))


def targets(people: list[Cell], values: tuple[np.ndarray, ...] = ()) -> TargetRecords:
    return TargetRecords(np.array(people), values, np.ones(len(people), dtype=np.int64))


def plain_chance(release: dict[Cell, int], cell: Cell) -> float:
    """Return the chance that two draws, by age and by town, give the same row of the person's class."""
    first = sum(size for (age, _), size in release.items() if age == cell[0])
    second = sum(size for (_, town), size in release.items() if town == cell[1])
    return release[cell] / (first * second) if cell in release else 0.0


def expected(release: dict[Cell, int], shares: dict[Cell, float]) -> float:
    return sum(share * plain_chance(release, cell) for cell, share in shares.items())


@pytest.mark.parametrize(
    ("people", "k", "alike"), [(60, 2, True), (150, 2, False), (150, 5, True), (300, 5, False)]
)
def test_intervals_of_linking_rates_cover_the_truth(people: int, k: int, alike: bool) -> None:
    """Over many control sets, rates spread as their interval says; 95 of 100 intervals cover the truth."""
    shares = population(1, alike=alike)
    random = np.random.default_rng(2)
    release = release_of(drawn(random, shares, people), k)
    truth, table = expected(release, shares), table_of(release)
    samples = [
        compute_linking_chances(table, targets(drawn(random, shares, people))) for _ in range(REPLICATIONS)
    ]
    most = max(plain_chance(release, cell) for cell in shares)
    rates = [rate for sample in samples for rate in compute_mean_rates([sample], Z, most)]
    covered = sum(low <= truth <= high for low, high in (rate.interval for rate in rates))
    assert 0.92 <= covered / REPLICATIONS <= 0.98
    spread = float(np.std([rate.value for rate in rates]))
    assert np.mean([rate.error for rate in rates]) == pytest.approx(Z * spread, rel=0.15)
    single = SuccessRate(rates[0].right, people, Z)
    assert rates[0].error < single.error / 3


@pytest.mark.parametrize("leak", [0.0, 1.0])
def test_risk_covers_the_truth_and_begins_above_0_only_with_a_leak(leak: float) -> None:
    """``leak`` is the share of people in the release; else people in and out of the table are alike.

    With a leak, an interval of single trials includes 0.
    """
    shares = population(3, alike=False)
    random = np.random.default_rng(13)
    release = release_of(drawn(random, shares, 150), 3)
    rows = sum(release.values())
    mixed = {cell: leak * release.get(cell, 0) / rows + (1 - leak) * shares[cell] for cell in shares}
    main, control = expected(release, mixed), expected(release, shares)
    truth, table = (main - control) / (1 - control), table_of(release)
    found = []
    for _ in range(REPLICATIONS):
        both = [compute_linking_chances(table, targets(drawn(random, each, 400))) for each in (mixed, shares)]
        found.append(compute_attack_risk(*compute_mean_rates(both, Z)))
    above_zero = sum(low > 0 for _, low, _ in found) / REPLICATIONS
    if not leak:
        assert truth == 0
        assert above_zero <= 0.05
        return
    assert truth > 0
    assert above_zero > 0.9
    assert 0.92 <= sum(low <= truth <= high for _, low, high in found) / REPLICATIONS <= 0.98
    blind = compute_attack_risk(SuccessRate(400 * main, 400, Z), SuccessRate(400 * control, 400, Z))
    assert blind[1] == 0


def test_inferring_with_ties() -> None:
    """Guesses drawn by lot among equally frequent values are averaged as well."""
    shares = {(age, 0): 1 / AGES for age in range(AGES)}
    table = table_of({(age, 0): 4 for age in range(AGES)})
    # Classes of even age have two values with two rows each; the others have one value with four rows.
    units = np.array([age for age in range(AGES) for _ in range(2 if age % 2 == 0 else 1)])
    shown = np.array([v for age in range(AGES) for v in ((0, 1) if age % 2 == 0 else (0,))])
    rows = np.array([r for age in range(AGES) for r in ((2, 2) if age % 2 == 0 else (4,))])
    values = ValueCounts("s", ("x", "y"), units, shown, rows, np.full(AGES, 4))
    random = np.random.default_rng(5)
    errors, covered = [], 0
    for _ in range(REPLICATIONS):
        people = drawn(random, shares, 80)
        own = np.array([int(random.random() < 0.5) for _ in people])
        sample = compute_inference_chances(table, values, 0, targets(people, (own,)))
        (rate,) = compute_mean_rates([sample], Z, most=1.0)
        covered += rate.interval[0] <= 0.5 <= rate.interval[1]
        errors.append(rate.error / SuccessRate(rate.right, rate.guesses, Z).error)
    assert 0.92 <= covered / REPLICATIONS <= 0.98
    assert max(errors) < 0.85


def test_chances_of_0_and_1_have_wilson_s_interval() -> None:
    hits = GuessChances(np.array([1.0, 0.0, 1.0]), np.array([3, 5, 2]))
    (rate,) = compute_mean_rates([hits], Z, most=1.0)
    assert rate.trials == pytest.approx(10)
    assert rate.interval == pytest.approx(SuccessRate(5, 10, Z).interval)


def test_intervals_of_constant_chances() -> None:
    same, none, without_rows = (
        GuessChances(np.full(4, chance), np.full(4, rows))
        for chance, rows in ((0.01, 5), (0.0, 5), (0.01, 0))
    )
    alike, never, unknown = compute_mean_rates([same, none, without_rows], Z)
    assert alike.interval == pytest.approx((0.01 * 20 / (20 + Z**2), 0.01))
    assert never.interval == pytest.approx((0.0, 0.01 * Z**2 / (20 + Z**2)))
    assert unknown.interval == (0.0, 1.0)
    (sure,) = compute_mean_rates([same], Z, most=1.0)
    assert sure.interval == pytest.approx((0.01, 0.01))
    (empty,) = compute_mean_rates([none], Z)
    assert empty.interval == pytest.approx(SuccessRate(0, 20, Z).interval)


def test_half_width_is_the_error_of_a_mean() -> None:
    """With many people, the half width is z times the standard deviation of their chances over √n."""
    random = np.random.default_rng(8)
    chances = GuessChances(random.uniform(0.001, 0.002, 5000), np.ones(5000, np.int64))
    (rate,) = compute_mean_rates([chances], Z)
    assert rate.error == pytest.approx(Z * float(chances.right.std()) / sqrt(5000), rel=1e-2)
    assert rate.value == pytest.approx(float(chances.right.mean()))
