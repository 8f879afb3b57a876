"""Tests of the trials: all declared features can be drawn, oracles are right, planted faults are found."""

from __future__ import annotations

import secrets
from importlib import import_module
from random import Random
from typing import Any

import pytest

from discreet.model.criteria.base import Criterion
from tests.criteria_of_tests import share  # noqa: F401 - a fixture
from tests.drawing import NEW
from tests.fuzz.attempt import attempt
from tests.fuzz.campaign import Campaign, table_lines, trial_named
from tests.fuzz.chains import UNKNOWN, chain_of, shown_at
from tests.fuzz.columns import RULES, pool_of, rule_of
from tests.fuzz.plan import CYCLE, TURNS, declared, planned, seed_for, uncovered, undrawable, wants_of
from tests.fuzz.publishing import Notes
from tests.fuzz.shrinking import shrunken
from tests.fuzz.trial_drawing import trial_of

BASE = secrets.randbits(24) if NEW else 11
FIRST = 30
"""Number of attempts in ``make test``; ``make fuzz`` continues after them."""


def test_first_turns_of_the_plan_pass() -> None:
    campaign = Campaign(minutes=3, base=BASE, processor=True, cases=FIRST)
    assert campaign.run(), dict(campaign.failed)
    assert campaign.notes.releases >= FIRST // 3
    assert campaign.notes.mutated > campaign.notes.audits > 0
    assert campaign.notes.nodes > 1000


def test_every_declared_feature_can_be_drawn() -> None:
    assert undrawable() == []
    assert CYCLE < TURNS


@pytest.mark.parametrize("name", [kind for kind in RULES if kind not in (*UNKNOWN, "builtin")])
def test_every_kind_of_hierarchy_has_chains(name: str) -> None:
    for seed in range(12):
        rule = rule_of(Random(seed), name)
        values = list(pool_of(Random(seed), rule))
        chains = chain_of(rule, values)
        assert chains is not None
        assert {len(chain) for chain in chains.values()} == {len(chains[values[0]])}


def test_new_criterion_is_reported_as_not_drawable(share: type[Criterion]) -> None:  # noqa: F811
    assert undrawable() == ["criterion share", "criterion share spare"]


def test_unpublished_features_are_reported_by_name() -> None:
    every = declared()
    assert uncovered(every) == []
    assert uncovered(every[1:]) == every[:1]


def test_plan_has_every_model_and_journey_in_one_cycle() -> None:
    wants = [wants_of(turn) for turn in range(CYCLE)]
    taken = {f"{key} {value}" for want in wants for key, value in want.items()}
    taken |= {value for want in wants for value in want.values()}
    lacking = [
        f for f in declared() if f not in taken and f.split(" ")[0] in ("criterion", "model", "journey")
    ]
    assert lacking == ["journey publish"]


def test_trial_is_reproduced_from_its_name() -> None:
    assert repr(planned(3)) == repr(planned(3)) != repr(planned(4))
    assert repr(trial_named("trial-3")) == repr(planned(3))
    feature = "way mask"
    assert repr(trial_named(f"trial-3 for {feature}")) == repr(trial_of(*seed_for(feature, 3)))
    assert trial_named("case-3").seed == 3


CHAINS = [
    ({"kind": "intervals", "widths": [5, 10], "lower": 18, "upper": 90}, "19", ("18-19", "18-19")),
    ({"kind": "intervals", "breaks": [[18, 25, 35], [35]]}, "7", ("<18", "<35")),
    ({"kind": "intervals", "widths": [0.5, 2], "anchor": 0.5}, "-0.1", ("[-0.5, 0[", "[-1.5, 0.5[")),
    ({"kind": "intervals", "upper": 4}, "9", ("≥4",)),
    ({"kind": "mask"}, "0217", ("021*", "02**", "0***")),
    ({"kind": "mask", "steps": [1, 2], "pad": True, "length": 5}, "E11", ("E11**", "E1***")),
    ({"kind": "dates", "levels": ["day", "week"]}, "2021-01-01", ("2021-01-01", "2020-W53")),
    ({"kind": "age", "reference": "2026-11-23", "widths": [5]}, "1985-11-24", ("40", "40-44")),
    ({"kind": "builtin", "name": "age"}, "97", ("≥90", "≥90", "≥90")),
    ({"kind": "taxonomy", "tree": {"A": ["x", {"B": ["y", "z"]}]}}, "x", ("x", "A")),
    ({"kind": "order", "values": ["a", "b", "c"], "sizes": [2]}, "b", ("a … b",)),
    ({"kind": "order", "values": ["a", "b", "c"], "fanout": 2, "label": "set"}, "c", ("c",)),
]


@pytest.mark.parametrize(("rule", "value", "above"), CHAINS)
def test_chain_has_the_documented_labels(rule: Any, value: str, above: tuple[str, ...]) -> None:
    chains = chain_of(rule, [value])
    assert chains is not None
    assert chains[value] == (value, *above, "*")
    assert shown_at(chains, None, 0) is None
    assert shown_at(chains, None, len(above) + 1) == "*"


def test_audit_that_passes_everything_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("discreet.audit.class_audit"), "_passed", lambda *_: True)
    campaign = Campaign(minutes=1, base=11, processor=True, first=True, cases=FIRST)
    assert not campaign.run()
    assert [why for why in campaign.failed if "the verdict of an audit" in why]


def test_failing_trial_gets_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("discreet.audit.class_audit"), "_passed", lambda *_: True)
    trial = next(t for t in map(planned, range(11_000, 11_020)) if attempt(t).failed)
    why = attempt(trial).why
    found = shrunken(trial, why, attempt)
    assert attempt(found).why == why
    assert found.rows < trial.rows
    assert len(found.columns) < len(trial.columns)


def test_table_of_a_campaign_counts_releases_and_formats() -> None:
    notes = Notes()
    notes.table.update({("k", "patterns", "csv"): 3, ("k", "patterns", "sav"): 1, ("t", "levels", "csv"): 2})
    lines = table_lines(notes.table)
    assert lines[0].split() == ["levels", "patterns"]
    assert next(line for line in lines if line.startswith("k ")).split() == ["k", "-", "4/2"]
    assert next(line for line in lines if line.startswith("t ")).split() == ["t", "2/1", "-"]
