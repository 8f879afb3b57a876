"""Household risks, checked against a loop over people and the figure printed in the practice guide."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from math import prod
from pathlib import Path

import numpy as np
import pytest

import discreet
from discreet.attackers import Households
from discreet.attacks.households import compute_hierarchical_risk
from discreet.settings import Settings
from discreet.verbs.table import Table
from tests.drawing import in_turn

Person = Mapping[str, str]


def opened(folder: Path, people: list[dict[str, str]], **source: str) -> Table:
    lines = [",".join(people[0]), *(",".join(row.values()) for row in people)]
    (folder / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    source_lines = "".join(f'{name} = "{value}"\n' for name, value in source.items())
    (folder / "discreet.toml").write_text(
        f'[source]\npath = "people.csv"\n{source_lines}\n'
        '[attributes.who]\nrole = "identifier"\n'
        '[attributes.home]\nrole = "identifier"\n'
        '[attributes.age]\nrole = "quasi-identifier"\nhierarchy = {kind = "intervals", widths = [10]}\n'
        '[attributes.city]\nrole = "quasi-identifier"\n',
        encoding="utf-8",
    )
    quiet = Settings(memory_limit=10**9, threads=1, private_log=folder / "log.jsonl")
    return discreet.open(folder / "discreet.toml", settings=quiet)


def drawn(seed: int, rows: int = 30, people: int = 30) -> list[dict[str, str]]:
    random = np.random.default_rng(seed)
    return [
        {
            "who": f"p{i if people == rows else int(random.integers(0, people))}",
            "home": "" if random.random() < 0.1 else f"h{random.integers(0, 9)}",
            "age": str(random.integers(20, 49)),
            "city": "Kiel" if random.random() < 0.5 else "Bonn",
        }
        for i in range(rows)
    ]


def plain(rows: list[dict[str, str]], classes: list[str | None]) -> tuple[list[float], int]:
    """Return the sorted chances of the households and the fewest households of a class.

    A class label of None marks a suppressed row.
    """
    people: dict[str, set[str]] = defaultdict(set)
    homes: dict[str, set[str]] = defaultdict(set)
    home_of = [row["home"] or f"alone {i}" for i, row in enumerate(rows)]
    for row, home, label in zip(rows, home_of, classes, strict=True):
        if label is not None:
            people[label].add(row["who"])
            homes[label].add(home)
    best: dict[tuple[str, str], float] = Counter()  # type: ignore[assignment]
    for row, home, label in zip(rows, home_of, classes, strict=True):
        chance = 0.0 if label is None else 1 / len(people[label])
        best[home, row["who"]] = max(best[home, row["who"]], chance)
    found = [prod(1 - r for (h, _), r in best.items() if h == home) for home in set(home_of)]
    return sorted(1 - missed for missed in found), min(len(each) for each in homes.values())


@pytest.mark.parametrize(("seed", "subject"), in_turn(range(6), [False, True]))
def test_household_risks_equal_a_plain_loop(tmp_path: Path, seed: int, subject: bool) -> None:
    people = drawn(seed, people=14 if subject else 30)
    table = opened(tmp_path, people, **({"subject": "who"} if subject else {}))
    table.publish({"age": 1, "city": 0}, tmp_path / "r.csv", k=3, max_suppressed="60%")
    if not subject:
        people = [{**row, "who": str(i)} for i, row in enumerate(people)]
    keys = [f"{row['age']}{row['city']}" for row in people]
    wide = [f"{int(row['age']) // 10}{row['city']}" for row in people]
    members = {label: {r["who"] for r, w in zip(people, wide, strict=True) if w == label} for label in wide}
    shown = [label if len(members[label]) >= 3 else None for label in wide]
    found = discreet.attack(tmp_path / "r.csv", table=table, by=Households(household="home"), threshold=0.4)
    finding = found.finding("households")
    for name, classes in (("before", [*keys]), ("after", shown)):
        risks, k = plain(people, classes)
        assert finding.figure(f"k_{name}") == k
        assert finding.figure(f"highest_{name}") == pytest.approx(risks[-1])
        assert finding.figure(f"mean_{name}") == pytest.approx(sum(risks) / len(risks))
        assert finding.figure(f"expected_{name}") == pytest.approx(sum(risks))
        assert finding.figure(f"at_risk_{name}") == sum(risk > 0.4 for risk in risks)
    assert finding.figure("units") == len(risks)
    assert sum(int(row[1] or 0) for row in finding.tables[0].rows) == len(risks)


def test_household_of_three_of_the_practice_guide() -> None:
    found = compute_hierarchical_risk(np.array([0.02, 0.03, 0.03, 1.0]), np.array([0, 0, 0, 1]), 2)
    assert found[0] == pytest.approx(0.078, abs=5e-4)
    assert found[1] == 1


def test_class_of_one_family_has_a_k_of_one_household(tmp_path: Path) -> None:
    people = [{"who": f"p{i}", "home": "h", "age": "30", "city": "Kiel"} for i in range(3)]
    table = opened(tmp_path, people)
    table.publish({"age": 0, "city": 0}, tmp_path / "r.csv", k=3)
    found = discreet.attack(tmp_path / "r.csv", table=table, by=Households(household="home"))
    assert found.finding("households").figure("k_after") == 1
    assert found.finding("households").figure("highest_after") == pytest.approx(1 - (2 / 3) ** 3)
