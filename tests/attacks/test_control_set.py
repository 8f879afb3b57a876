"""The three attacks with a control set, checked against loops over rows and Wilson's definition."""

from __future__ import annotations

import csv
import json
from collections import Counter
from itertools import product
from math import sqrt
from pathlib import Path

import numpy as np
import pytest

import discreet
from discreet.attackers import ControlSet
from discreet.attacks.control_set import SuccessRate, compute_attack_risk
from discreet.errors import InputError
from tests.attacks.test_linkage import table_of, write
from tests.drawing import NEW

Row = dict[str, str | None]


def drawn(seed: int, rows: int) -> list[Row]:
    random = np.random.default_rng(seed)
    return [
        {
            "name": f"p{i}",
            "age": str(random.integers(20, 32)),
            "city": str(random.choice(["Berlin", "Bonn"])),
            "disease": str(random.choice(["a", "b", "c"])),
        }
        for i in range(rows)
    ]


def labels(row: Row) -> tuple[str, str]:
    """Return the released labels of a row: ages in intervals of two, cities unchanged."""
    return str(int(row["age"] or 0) // 2), str(row["city"])


def plain(release: list[Row], people: list[Row]) -> dict[str, tuple[float, int]]:
    """Count the right guesses and all guesses of each attack, by attack name."""
    shown = [(labels(row), row["disease"]) for row in release]
    mine = Counter((labels(row), row["disease"]) for row in people)
    predicates = set(shown)
    found: dict[str, tuple[float, int]] = {}
    found["singling_out"] = sum(mine[p] == 1 for p in predicates), len(predicates)
    linked = inferred = 0.0
    for row in people:
        age, city = labels(row)
        first = [i for i, ((a, _), _) in enumerate(shown) if a == age]
        second = [i for i, ((_, c), _) in enumerate(shown) if c == city]
        if first and second:
            linked += sum(i == j for i, j in product(first, second)) / (len(first) * len(second))
        values = Counter(v for labelled, v in shown if labelled == (age, city))
        modes = [v for v, n in values.items() if n == max(values.values())]
        inferred += (row["disease"] in modes) / max(len(modes), 1)
    found["linking"], found["inferring_disease"] = (linked, len(people)), (inferred, len(people))
    return found


@pytest.mark.parametrize("seed", range(5 if NEW else 3))
def test_rates_equal_plain_loops(tmp_path: Path, seed: int) -> None:
    people, others = drawn(seed, 40), drawn(100 + seed, 35)
    table = table_of(tmp_path, people)
    table.publish({"age": 1, "city": 0}, tmp_path / "r.csv", k=2, max_suppressed="90%")
    write(tmp_path / "control.csv", others)
    with (tmp_path / "r.csv").open(newline="", encoding="utf-8") as file:
        kept = Counter((r["age"], r["city"]) for r in csv.DictReader(file))
    sizes = Counter(labels(row) for row in people)
    release = [row for row in people if sizes[labels(row)] >= 2]
    assert sorted(kept.values()) == sorted(n for n in sizes.values() if n >= 2)
    by = ControlSet(control=tmp_path / "control.csv")
    finding = discreet.attack(tmp_path / "r.csv", table=table, by=by).finding("control-set")
    for name, (right, guesses) in plain(release, people).items():
        assert finding.figure(f"rate_{name}") == pytest.approx(right / guesses), name
    for name, (right, guesses) in plain(release, others).items():
        assert finding.figure(f"control_{name}") == pytest.approx(right / guesses), name
    assert (finding.figure("rows"), finding.figure("control_rows")) == (40, 35)
    assert [row[0] for row in finding.tables[0].rows] == ["singling out", "linking", "inferring disease"]


@pytest.mark.parametrize(("right", "guesses"), [(0, 5), (3, 10), (7, 7), (250, 1000)])
def test_intervals_end_where_the_normal_test_rejects(right: int, guesses: int) -> None:
    """Each end of Wilson's interval is a rate p whose score |p̂ − p| is z times its standard error."""
    rate = SuccessRate(right, guesses, 1.959964)
    low, high = rate.interval
    for end in (low, high):
        if 0 < end < 1:
            assert abs(rate.value - end) == pytest.approx(1.959964 * sqrt(end * (1 - end) / guesses))
    assert low <= rate.value <= high


def test_risk_is_the_gain_over_the_control() -> None:
    many = [SuccessRate(right, 10**8, 1.96) for right in (60_000_000, 20_000_000)]
    value, low, high = compute_attack_risk(many[0], many[1])
    assert value == pytest.approx((0.6 - 0.2) / (1 - 0.2), abs=1e-6)
    assert low < value < high
    assert high - low < 1e-3
    assert compute_attack_risk(many[1], many[0])[0] == 0
    assert compute_attack_risk(SuccessRate(0, 0, 1.96), SuccessRate(0, 0, 1.96))[:2] == (0, 0)


def test_table_as_its_own_control_has_no_risk(tmp_path: Path) -> None:
    people = drawn(7, 60)
    table = table_of(tmp_path, people)
    table.publish({"age": 1, "city": 0}, tmp_path / "r.csv", k=2, max_suppressed="90%")
    by = ControlSet(control=tmp_path / "people.csv")
    finding = discreet.attack(tmp_path / "r.csv", table=table, by=by).finding("control-set")
    for name in ("singling_out", "linking", "inferring_disease"):
        assert finding.figure(f"rate_{name}") == finding.figure(f"control_{name}")
        assert finding.figure(f"risk_{name}") == 0
    assert finding.notes == ()


def test_unfit_control_sets_are_refused_or_noted(tmp_path: Path) -> None:
    people = drawn(1, 20)
    table = table_of(tmp_path, people)
    table.publish({"age": 2, "city": 2}, tmp_path / "r.csv", k=2)
    write(tmp_path / "short.csv", [{"name": "x", "age": "20", "city": "Bonn"}])
    with pytest.raises(InputError, match="disease"):
        discreet.attack(tmp_path / "r.csv", table=table, by=ControlSet(control=tmp_path / "short.csv"))
    write(tmp_path / "few.csv", drawn(2, 5))
    finding = discreet.attack(tmp_path / "r.csv", table=table, by=ControlSet(control=tmp_path / "few.csv"))
    assert "compares fairly only" in finding.finding("control-set").notes[0]
    options = json.loads(json.dumps(finding.as_json()))["findings"][0]["options"]
    assert options == {"control": str(tmp_path / "few.csv"), "confidence": 0.95}
