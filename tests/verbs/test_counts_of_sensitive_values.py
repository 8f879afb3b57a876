"""Sensitive values are counted only for an l, and for warnings on answers."""

from __future__ import annotations

from pathlib import Path

import pandas
import pytest

import discreet
from discreet.model.requirement import Requirement
from discreet.models import Patterns
from discreet.settings import Settings
from discreet.verbs.models.model_registry import MODELS
from discreet.verbs.table import Table
from tests.oracle.class_tests import EntropyDiversity
from tests.verbs.test_table import PEOPLE, SPEC

OURS = [model.name for model in MODELS.all()]


@pytest.fixture
def table(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Table:
    monkeypatch.setenv("DISCREET_COMPILE", "never")
    return discreet.open(pandas.DataFrame(PEOPLE), SPEC, settings=settings)


def test_k_without_l_counts_no_sensitive_values(table: Table, tmp_path: Path) -> None:
    assert table.counted_for(Requirement.of(k=2)).sensitive == ()
    table.publish({"age": 1}, tmp_path / "release.csv", k=2, max_suppressed="100%")
    assert not table.is_counted


def test_answer_counts_the_table_by_one_scan(table: Table) -> None:
    table.negotiate(k=2, max_suppressed="50%")
    assert table.is_counted
    assert not vars(table).get("_row_types"), "by one scan"


def test_both_counts_have_the_same_row_types(table: Table) -> None:
    for_k = table.counted_for(Requirement.of(k=2))
    assert for_k.counts.tolist() == table.frequency_set.counts.tolist()
    assert for_k.codes.tolist() == table.frequency_set.codes.tolist()


@pytest.mark.parametrize("model", OURS)
def test_no_model_counts_sensitive_values_for_k(model: str, table: Table, tmp_path: Path) -> None:
    release = table.publish(model, tmp_path / "release.csv", k=2)
    assert release.audit.passed
    assert not table.is_counted


@pytest.mark.parametrize("model", [name for name in OURS if MODELS.named(name).recodes()])
def test_classes_equal_those_of_the_full_count(model: str, table: Table, settings: Settings) -> None:
    for_k = table.recode(model, k=2).recoding
    whole = discreet.open(pandas.DataFrame(PEOPLE), SPEC, settings=settings)
    assert whole.frequency_set.sensitive
    found = whole.recode(model, k=2).recoding
    assert for_k.classes.tolist() == found.classes.tolist()
    assert for_k.shown.tolist() == found.shown.tolist()


def test_class_test_of_a_model_counts_every_value(table: Table) -> None:
    model = Patterns(class_test=EntropyDiversity(1.5))
    assert table.recode(model, k=2).smallest >= 2
    assert table.is_counted


def test_earlier_release_with_l_counts_all_values(table: Table, tmp_path: Path) -> None:
    table.publish("mondrian", tmp_path / "first.csv", k=2)
    assert not table.is_counted
    second = table.publish("mondrian", tmp_path / "second.csv", k=2, previous_releases=tmp_path / "first.csv")
    assert second.audit.passed


def test_requirement_uses_counted_rows(table: Table) -> None:
    assert not table.is_counted_for(Requirement.of(k=2))
    table.counted_for(Requirement.of(k=2))
    assert table.is_counted_for(Requirement.of(k=2))
    assert not table.is_counted_for(Requirement.of(l=2))
    assert table.frequency_set
    assert table.is_counted_for(Requirement.of(l=2))
