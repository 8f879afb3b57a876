"""Criteria that compare with the whole table are audited with the input, for any suppressed rows."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest

import discreet
from discreet.cli.main import main
from discreet.model.criteria.base import Criterion
from discreet.model.criteria.beta_likeness import ENHANCED, BetaLikeness
from discreet.model.criteria.delta_disclosure import DeltaDisclosure
from discreet.model.criteria.float_criterion import SCORE_UNIT
from discreet.model.criteria.value_range import ValueRange
from tests.criteria.plain_value_shares import measure
from tests.criteria.test_t_closeness import Row, people, published, spec

__all__ = ["spec"]

CRITERIA = [
    BetaLikeness(0.75, "wage"),
    BetaLikeness(0.9, "wage", variant=ENHANCED),
    DeltaDisclosure(1.1, "wage"),
]


def counts(rows: list[Row]) -> Counter[int]:
    """Count rows by wage; each wage is replaced by a number."""
    places = {wage: place for place, wage in enumerate(sorted({row[3] for row in people()}))}
    return Counter(places[row[3]] for row in rows)


@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
def test_audit_of_a_release_with_suppression_finds_the_worst_class(
    criterion: Criterion, spec: Path, tmp_path: Path
) -> None:
    found = discreet.open(spec).publish(
        {"age": 1, "city": 0}, tmp_path / "out.csv", k=3, criteria=[criterion], max_suppressed="95%"
    )
    assert 0 < found.suppressed < 160
    assert found.audit.passed
    classes = published(found.path)
    for table, audit in (
        (people(), discreet.audit(found.path, spec=spec)),
        ([row for held in classes for row in held], discreet.audit(found.path)),
    ):
        measures = [measure(criterion, counts(held), counts(table)) for held in classes]
        assert None not in measures
        worst = max(each for each in measures if each is not None)
        (judged,) = audit.report.criteria
        assert abs(Decimal(judged.found) - worst) <= Decimal("1.01") / SCORE_UNIT
    assert discreet.audit(found.path, spec=spec).passed


def test_suggested_audit_commands_pass(
    spec: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(spec.parent)
    shown = ("publish", "discreet.toml", "--level", "age=1", "--level", "city=0", "--max-suppressed", "95%")
    assert main([*shown, "--k", "3", "--t", "wage=0.4", "--output", "out.csv"]) == 0
    assert capsys.readouterr().out.endswith("discreet audit out.csv --spec discreet.toml\n")
    assert main(["audit", "out.csv", "--spec", "discreet.toml"]) == 0
    assert main(["report", "out.csv", "--spec", "discreet.toml"]) == 0
    capsys.readouterr()
    assert main([*shown, "--k", "3", "--output", "alone.csv"]) == 0
    assert capsys.readouterr().out.endswith("discreet audit alone.csv\n")


def test_criterion_of_numbers_is_audited_without_the_original(spec: Path, tmp_path: Path) -> None:
    found = discreet.open(spec).publish(
        {"age": 2, "city": 1}, tmp_path / "out.csv", criteria=[ValueRange(1, "wage")], max_suppressed="95%"
    )
    assert not found.needs_original
    audit = discreet.audit(found.path)
    assert audit.passed
    assert not [
        warning
        for warning in audit.report.warnings
        if "the publisher's distribution is unknown" in str(warning).lower()
    ]
