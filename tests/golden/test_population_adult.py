"""Adult with ARX's research subset: the levels that its own tests assert for k-map and δ-presence."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import discreet
from discreet.model.criteria.base import Criterion
from discreet.model.criteria.delta_presence import DeltaPresence
from discreet.model.criteria.k_map import KMap
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.results.publish_result import count_suppressed_rows

NAMES = ["sex", "age", "race", "marital_status", "education", "native_country", "work_class", "salary_class"]
USA = 318_622_525


@pytest.fixture(scope="module")
def subset(data_dir: Path) -> FrequencySet:
    """Return the subset with the whole of Adult as its population."""
    return opened(
        data_dir, data_dir / "arx_benchmark" / "adult_subset.csv", data_dir / "adult/adult_30162.csv"
    )


def opened(data_dir: Path, rows: Path, people: Path | None) -> FrequencySet:
    folder = data_dir / "adult" / "hierarchies_arx"
    roles = {n: {"role": "quasi-identifier", "hierarchy": str(folder / f"{n}.csv")} for n in NAMES}
    population = {} if people is None else {"population": {"path": people}}
    return discreet.open(rows, {"attributes": roles, **population}).frequency_set


def criteria_of(models: str) -> tuple[Criterion, ...] | None:
    """Return the criteria of a benchmark row, or None if it requires others."""
    found = {
        "(0.0,0.2)-presence": DeltaPresence(0.2),
        "(0.05,0.15)-presence": DeltaPresence(0.15, least=0.05),
        **{f"({k})-map": KMap(k) for k in (2, 3, 5, 10)},
    }
    return (found[models],) if models in found else None


def test_every_benchmark_node_is_a_solution(subset: FrequencySet, data_dir: Path) -> None:
    assert (subset.rows, subset.population and subset.population.people) == (3_016, 30_162)
    with (data_dir / "arx_benchmark" / "golden_adult.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if criteria_of(row["models"]) is not None]
    suppressed = []
    for row in rows:
        assert row["attributes"].split() == NAMES
        node = tuple(map(int, row["levels"].split()))
        found = count_suppressed_rows(subset, node, Requirement(criteria=criteria_of(row["models"]) or ()))
        assert found <= float(row["suppression_limit"]) * subset.rows
        suppressed.append((row["id"].removeprefix("Anonymization"), found))
    assert len(suppressed) >= 10
    assert dict(suppressed)["DPresence-5"] == 114


@pytest.mark.parametrize("levels", ["1 0 1 2 2 2 2 1", "1 0 1 2 3 2 2 1"])
def test_suppressed_rows_are_a_share_of_the_people_who_match_no_class(
    subset: FrequencySet, levels: str
) -> None:
    """Suppressed rows are a share of the people who match no class.

    ARX asserts (0.05,0.15)-presence of these nodes, with 5-anonymity or recursive (4,5)-diversity. Of the
    people who match no class, 0.05 to 0.15 have a suppressed row.
    """
    node = tuple(map(int, levels.split()))
    found = count_suppressed_rows(subset, node, Requirement(5, criteria=[DeltaPresence(0.15, least=0.05)]))
    assert 0 < found <= 0.05 * subset.rows
    assert count_suppressed_rows(subset, node, Requirement(5, criteria=[DeltaPresence(0.15)])) == found
    narrow = Requirement(5, criteria=[DeltaPresence(0.15, least=0.149)])
    assert count_suppressed_rows(subset, node, narrow) == subset.rows


def test_estimate_gives_the_same_k(data_dir: Path) -> None:
    """1000-map of the United States at 1 %, estimated by zero-truncated Poisson, equals a plain k."""
    adult = opened(data_dir, data_dir / "adult" / "adult_30162.csv", None)
    estimated = KMap(1000, estimator="zero-truncated-poisson", fraction=adult.rows / USA, significance=0.01)
    node = (0, 0, 1, 1, 1, 2, 1, 0)
    found = count_suppressed_rows(adult, node, Requirement(criteria=[estimated]))
    assert found == count_suppressed_rows(adult, node, Requirement(3))
    assert found <= 0.05 * adult.rows
