"""The optima of Adult that ARX's own tests assert, and the requests that reproduce them."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.measures.cost_registry import cost_named
from discreet.measures.named_costs import NamedCost
from discreet.model.criteria.base import Criterion
from discreet.model.criteria.delta_presence import DeltaPresence
from discreet.model.criteria.k_map import KMap
from discreet.model.criteria.population_uniques import PopulationUniques
from discreet.model.criteria.registry import CRITERIA
from discreet.model.criteria.release_shares import AverageRisk, SampleUniques
from tests.golden.adult_rows import EIGHT, SENSITIVE

DIFFERENTIAL_PRIVACY = "differential privacy is another promise: a random sample and a noisy choice"
SOME_OF_A_SIZE = "it suppresses some classes of the last size, by the order of the rows; here all go"
OPEN = {
    **{f"DifferentialPrivacy-{n}": DIFFERENTIAL_PRIVACY for n in (0, 5, 19, 25, 43, 55, 58, 64)},
    **{f"RiskBased-{n}": SOME_OF_A_SIZE for n in (0, 1, 2, 4)},
    "RiskBased-5": "its SNB has two slips (docs/criteria/release.md); a node of less loss meets it",
    "KAnonymity-0": "nine quasi-identifiers, 12,960 nodes: tests/search/test_optimal_adult.py has it",
    "EntropyLDiversity-3": "it leaves a sum with negative terms early, and fails classes that pass",
}
"""Rows that the plain judge of this folder does not cover, each with its reason."""

SLOW = {"Profitability-3"}
"""Rows for which nearly every node must be counted."""

_COSTS = {
    "Non-uniform entropy": ("entropy", {"charge": "none"}),
    "Non-monotonic non-uniform entropy": ("entropy", {"charge": "suppressed"}),
    "Monotonic discernability (DM*)": ("dm-star", {}),
    "Average equivalence class size": ("aecs", {}),
}
_GAME = {
    "publisher_benefit": 120.0,
    "publisher_loss": 3000.0,
    "adversary_gain": 120.0,
    "adversary_cost": 20.0,
}
_AGGREGATES = {"Rank": "rank", "Geometric mean": "geometric-mean"}
_DRAWN = {"Subset-0": 20_000, "Subset-1": 10_000, "Subset-3": 9_000}


@dataclass(frozen=True)
class Golden:
    """An asserted optimum: the request, its node and its score, in parts if it is a rank."""

    name: str
    models: str
    limit: float
    metric: str
    gs_factor: float
    aggregate: str
    score: tuple[float, ...]
    node: tuple[int, ...]

    @property
    def drawn(self) -> int | None:
        """The number of draws of its research subset, or None if it is not drawn."""
        return _DRAWN.get(self.name)

    @property
    def has_research_subset(self) -> bool:
        """True if the published rows are the file's tenth."""
        return any(word in self.models for word in ("presence", ")-map", "profitability")) and (
            "estimated" not in self.models
        )

    @property
    def cost(self) -> NamedCost:
        """The cost that the optimum minimizes."""
        if self.metric.startswith("Loss"):
            return cost_named("loss", aggregate=_AGGREGATES[self.aggregate], gs_factor=self.gs_factor)
        if self.metric.startswith("PublisherBenefit"):
            return cost_named(
                "payout",
                publisher_benefit=120.0,
                publisher_loss=3000.0,
                adversary_gain=120.0,
                adversary_cost=20.0,
            )
        name, options = _COSTS[self.metric]
        return cost_named(name, **options)

    @property
    def weights(self) -> dict[str, float]:
        """The attribute weights; half of the Loss tests weigh by the position among nine columns."""
        kind, number = self.name.split("-")
        if kind != "UtilityMetricsLoss" or int(number) < 50:
            return {}
        return {name: float(9 if name == "salary_class" else place) for place, name in enumerate(EIGHT, 1)}

    @property
    def is_a_sum(self) -> bool:
        """True if the score is a sum over the rows where ours is their mean."""
        return "entropy" in self.metric.lower()


_CRITERIA: tuple[tuple[str, str, dict[str, str]], ...] = (
    (r"(\d+)-anonymity$", "k", {}),
    (r"([\d.]+)-closeness with hierarchical", "t", {"distance": "hierarchical"}),
    (r"([\d.]+)-closeness with equal", "t", {"distance": "equal"}),
    (r"([\d.]+)-closeness with ordered", "t", {"distance": "ordered"}),
    (r"recursive-\(([\d.]+),5\)-diversity", "recursive_c", {"l": "5"}),
    (r"shannon-entropy-([\d.]+)-diversity", "entropy_l", {"estimator": "shannon"}),
    (r"basic-([\d.]+)-likeness", "beta", {"variant": "basic"}),
    (r"enhanced-([\d.]+)-likeness", "beta", {"variant": "enhanced"}),
    (r"\((\d+)\)-map$", "k_map", {}),
)
_USA = 318_622_525
_ESTIMATE = KMap(1000, estimator="zero-truncated-poisson", fraction=30_162 / _USA, significance=0.01)
OF_RELEASE: dict[str, Criterion] = {
    "RiskBased-0": AverageRisk(0.01),
    "RiskBased-1": SampleUniques(0.01),
    "RiskBased-2": PopulationUniques(1e-4, population=_USA, estimator="dankar"),
    "RiskBased-4": PopulationUniques(1e-4, population=_USA, estimator="pitman"),
}
"""Requirements on the whole release, for rows where the rule of suppression makes a difference."""

_NO_ATTACK = KMap(6)
"""An attack gains 120 divided by the matching people and costs 20: it does not pay with six of them."""


def criteria_of(row: Golden) -> tuple[Criterion, ...] | None:
    """Return the models of a row as criteria of discreet, or None if one has no equivalent.

    Inclusion is not a criterion: it determines the published rows.
    """
    found = []
    for text in row.models.split(" & "):
        if text.strip() == "Inclusion":
            continue
        criterion = _criterion(text.strip())
        if criterion is None:
            return None
        found.append(criterion)
    return tuple(sorted(found, key=lambda each: each.name))


def _criterion(text: str) -> Criterion | None:
    if text.startswith("(1000)-map estimated"):
        return _ESTIMATE
    if text == "no-attack-profitability (journalist)":
        return _NO_ATTACK
    presence = re.match(r"\(([\d.]+),([\d.]+)\)-presence$", text)
    if presence is not None:
        return DeltaPresence(float(presence[2]), least=float(presence[1]))
    for pattern, name, fixed in _CRITERIA:
        match = re.match(pattern, text)
        if match is None:
            continue
        kind = CRITERIA.named(name)
        parts: dict[str, Any] = {key: int(part) if part.isdigit() else part for key, part in fixed.items()}
        return kind(float(match[1]), SENSITIVE, **parts) if kind.of_attribute else kind(int(match[1]))
    return None


def golden_rows(folder: Path) -> list[Golden]:
    """Return all golden rows."""
    with (folder / "arx_benchmark" / "golden_adult.csv").open(encoding="utf-8", newline="") as file:
        return [_golden(row) for row in csv.DictReader(file)]


def _golden(row: dict[str, str]) -> Golden:
    score = json.loads(row["score"]) if row["score"].startswith("[") else [float(row["score"])]
    return Golden(
        name=row["id"].removeprefix("Anonymization"),
        models=row["models"],
        limit=float(row["suppression_limit"]),
        metric=row["metric"],
        gs_factor=float(row["gs_factor"]),
        aggregate=row["aggregate"],
        score=tuple(map(float, score)),
        node=tuple(map(int, row["levels"].split())),
    )
