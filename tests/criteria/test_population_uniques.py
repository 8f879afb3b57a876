"""Population uniqueness: estimates checked by other methods, the rule, releases and their audits."""

from __future__ import annotations

from math import comb, exp, isnan, lgamma, log

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.lattice.evaluation import evaluate_lattice
from discreet.model.criteria.population_uniques import ESTIMATORS, PopulationUniques, audit_estimate
from discreet.model.criterion_inputs import SizeTails
from discreet.model.requirement import Requirement, smallest_kept_size
from tests.criteria.test_release_lattice import SETTINGS
from tests.negotiation.conftest import table_and_request
from tests.oracle.plain_criteria import classes_at


def random_sizes(seed: int) -> list[int]:
    """Return class sizes with a long tail, a short tail, or nearly no tail."""
    random = np.random.default_rng(seed)
    number = int(random.integers(3, 60))
    drawn = (
        random.geometric(random.uniform(0.05, 0.7), number),
        np.minimum(random.zipf(random.uniform(1.3, 3), number), 300),
        random.integers(1, 6, number),
    )
    return [1, 1, 2, *(int(size) for size in drawn[seed % 3])]


def share(sizes: list[int], population: int, estimator: str) -> float:
    return float(ESTIMATORS[estimator](SizeTails.of_classes(np.array(sizes)), population)[0])


@pytest.mark.parametrize(
    ("estimator", "times"),
    [
        *[("zayatz", times) for times in (1, 3, 50, 10**5)],
        # Each takes seconds because it maximizes a likelihood; below a factor of ten, dankar uses other
        # estimators.
        *[("pitman", times) for times in (1, 10**5)],
        *[("dankar", times) for times in (3, 50)],
        *[pytest.param("pitman", times, marks=pytest.mark.slow) for times in (3, 50)],
        *[pytest.param("dankar", times, marks=pytest.mark.slow) for times in (1, 10**5)],
    ],
)
def test_search_and_audit_agree_on_random_sizes(estimator: str, times: int) -> None:
    for seed in range(6):
        sizes = random_sizes(seed)
        population, counted = times * sum(sizes), {size: sizes.count(size) for size in sizes}
        assert share(sizes, population, estimator) == pytest.approx(
            audit_estimate(counted, population, estimator), rel=1e-9, abs=1e-15, nan_ok=True
        )


@pytest.mark.parametrize("times", [2, 50])
def test_search_and_audit_agree_on_snb(times: int) -> None:
    for seed in range(3):
        sizes = random_sizes(seed)
        counted = {size: sizes.count(size) for size in sizes}
        found = share(sizes, times * sum(sizes), "snb")
        assert found == pytest.approx(
            audit_estimate(counted, times * sum(sizes), "snb"), rel=1e-9, abs=1e-15, nan_ok=True
        )


def test_zayatz_by_whole_numbers() -> None:
    sizes, population = [1, 1, 1, 2, 2, 4], 30
    n = sum(sizes)
    chances = [size * comb(population - size, n - 1) for size in sizes]
    expected = 3 * (3 * chances[0] / sum(chances)) / n
    assert share(sizes, population, "zayatz") == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_pitman_estimate_is_at_the_greatest_likelihood(seed: int) -> None:
    """Neither a small nor a large step in any direction raises the likelihood."""
    sizes = random_sizes(seed)
    found = share(sizes, 10**6, "pitman")

    def likelihood(alpha: float, theta: float) -> float:
        total = sum(log(theta + i * alpha) for i in range(1, len(sizes)))
        total -= sum(log(theta + i) for i in range(1, sum(sizes)))
        return total + sum(log(i - alpha) for size in sizes for i in range(1, size))

    def estimate(alpha: float, theta: float) -> float:
        return exp(lgamma(theta + 1) - lgamma(theta + alpha) + (alpha - 1) * log(10**6))

    grid = [(a / 200, 10 ** (t / 40) - a / 200) for a in range(5, 200, 5) for t in range(-80, 100, 4)]
    best = max(grid, key=lambda at: likelihood(*at))
    near = [estimate(best[0] + da, best[1] * (1 + dt)) for da in (-0.03, 0, 0.03) for dt in (-0.3, 0, 0.3)]
    assert min(near) <= found <= max(near)


def test_snb_estimates_the_population_of_its_sample() -> None:
    """SNB finds a population of 100,000 classes of geometric sizes from a sample of half its people."""
    random = np.random.default_rng(3)
    people = random.geometric(0.4, 100_000)
    sample = random.binomial(people, 0.5)
    sizes = sample[sample > 0].tolist()
    found = share(sizes, int(people.sum()), "snb") * people.sum()
    assert found == pytest.approx((people == 1).sum(), rel=0.1)


def test_dankar_estimate_is_pitman_or_the_smaller_of_snb_and_zayatz() -> None:
    sizes = random_sizes(1)
    assert share(sizes, 20 * sum(sizes), "dankar") == share(sizes, 20 * sum(sizes), "pitman")
    both = share(sizes, 3 * sum(sizes), "snb"), share(sizes, 3 * sum(sizes), "zayatz")
    assert share(sizes, 3 * sum(sizes), "dankar") == np.fmin(*both)


def test_release_without_an_estimate_fails() -> None:
    assert share([2, 2, 5], 100, "dankar") == 0.0
    assert isnan(share([1, 1, 1], 1000, "pitman"))
    assert isnan(share([1, 1, 3], 10, "snb"))
    unlikely = PopulationUniques(1.0, population=1000, estimator="pitman")
    for criterion in (unlikely, PopulationUniques(0.5, population=40)):
        assert smallest_kept_size([criterion], np.array([1, 1, 1])) == 2**62
    assert (
        smallest_kept_size([PopulationUniques(0, population=40, estimator="snb")], np.array([1, 1, 3])) == 3
    )
    assert PopulationUniques(1.0, population=9, estimator="snb").audit_score({1: 2, 3: 1}) == -1


def test_single_nodes_and_all_nodes_at_once_decide_alike() -> None:
    """Single nodes and all nodes at once decide alike on remaining uniques, and audits agree."""
    for seed in range(2):
        table, _ = table_and_request(seed)
        if not table.rows:
            continue
        criterion = PopulationUniques(0.02, population=20 * table.rows)
        evaluated = evaluate_lattice(table, SETTINGS, diversity=False)
        found = evaluated.suppression(Requirement(criteria=[criterion])).tolist()
        for index, node in list(enumerate(evaluated.lattice.nodes()))[:: evaluated.lattice.size // 6 + 1]:
            sizes = [int(table.counts[types].sum()) for types in classes_at(table, node)]
            counted = {size: sizes.count(size) for size in sizes}
            goes = criterion.audit_score(counted) < criterion.threshold
            assert found[index] == (counted.get(1, 0) if goes else 0)
            assert evaluated.suppressed(node, Requirement(criteria=[criterion])) == found[index]


def test_invalid_populations_and_estimators_are_refused() -> None:
    with pytest.raises(InputError, match="the estimator 'benedetti'"):
        PopulationUniques(0.1, estimator="benedetti")
    with pytest.raises(InputError, match="the population of population_uniques = 0"):
        PopulationUniques(0.1, population=0)
    with pytest.raises(InputError, match="a population of 5 people is smaller than the table"):
        smallest_kept_size([PopulationUniques(0.1, population=5)], np.array([1, 5]))
    with pytest.raises(InputError, match="smaller than the table"):
        PopulationUniques(0.1, population=5).audit_score({6: 1})


@pytest.mark.parametrize("value", [0.0, 1e-7, 0.1, 1 / 3, 1.0])
def test_score_meets_the_value_derived_from_it(value: float) -> None:
    criterion = PopulationUniques(value)
    for score in (criterion.threshold, min(criterion.threshold + 1, 10**12), 12345, 10**12):
        assert PopulationUniques(criterion.value_of(score)).threshold <= score
