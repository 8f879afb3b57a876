"""The full-domain model under criteria that need levels: the cheapest node, by plain enumeration."""

from __future__ import annotations

import csv
from collections import Counter
from itertools import product
from pathlib import Path

import pytest

from discreet.criteria import Criterion, DeltaPresence, KMap
from discreet.measures.recoding_metrics import level_shares
from docs.criteria_page import K, table_in

LIMIT = 40


def label(row: dict[str, str], levels: tuple[int, int]) -> tuple[str, str]:
    width = (1, 10, 20, 100)[levels[0]]
    return str(int(row["age"]) // width), row["city"] if not levels[1] else "*"


def fails(criterion: Criterion, rows: int, people: int) -> bool:
    if rows < K:
        return True
    return people < criterion.value if criterion.name == "k_map" else rows > criterion.value * people


@pytest.mark.parametrize("criterion", [KMap(9), KMap(14), DeltaPresence(0.75), DeltaPresence(0.6)], ids=str)
def test_published_node_has_the_least_loss(criterion: Criterion, tmp_path: Path) -> None:
    table = table_in(tmp_path)
    with (tmp_path / "people.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with (tmp_path / "register.csv").open(encoding="utf-8", newline="") as file:
        register = list(csv.DictReader(file))
    hierarchies = table.frequency_set.hierarchies
    shares = [level_shares(hierarchy) for hierarchy in hierarchies]
    codes = [[h.code_of_leaf[row[h.attribute]] for h in hierarchies] for row in rows]
    losses = {}
    for levels in product(range(4), range(2)):
        sizes = Counter(label(row, levels) for row in rows)
        people = Counter(label(row, levels) for row in register)
        gone = [fails(criterion, sizes[at], people[at]) for at in (label(row, levels) for row in rows)]
        each = [
            sum(share[level, code] for share, level, code in zip(shares, levels, own, strict=True))
            for own in codes
        ]
        lost = sum(2.0 if out else own for out, own in zip(gone, each, strict=True))
        shown = {label(row, levels) for row, out in zip(rows, gone, strict=True) if not out}
        unmatched = sum(label(row, levels) not in shown for row in register)
        # δ-presence also bounds the share of the people whom no class matches, taken together.
        rest_may_fail = criterion.name == "delta_presence" and sum(gone) > criterion.value * unmatched
        if sum(gone) <= LIMIT and not (rest_may_fail and sum(gone)):
            losses[levels] = lost
    release = table.publish(
        "full-domain", tmp_path / "out.csv", k=K, max_suppressed=LIMIT, criteria=[criterion]
    )
    assert release.audit.passed
    found = tuple(release.levels[hierarchy.attribute] for hierarchy in hierarchies)
    assert losses[found] == pytest.approx(min(losses.values()))
