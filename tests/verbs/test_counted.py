"""What is counted for a question: sensitive values only where an l is asked, and then the rows once more."""

from __future__ import annotations

from pathlib import Path

import pandas
import pytest

import discreet
from discreet.model.requirement import Requirement
from discreet.settings import Settings
from discreet.verbs.table import Table
from tests.verbs.test_table import PEOPLE, SPEC


@pytest.fixture
def table(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Table:
    monkeypatch.setenv("DISCREET_COMPILE", "never")
    return discreet.open(pandas.DataFrame(PEOPLE), SPEC, settings=settings)


def test_k_alone_counts_no_sensitive_values(table: Table, tmp_path: Path) -> None:
    answer = table.negotiate(k=2, max_suppressed="50%").exact
    assert not table.is_counted
    assert table.counted_for(Requirement.of(k=2)).sensitive == ()
    table.publish(answer, tmp_path / "release.csv")
    assert not table.is_counted


def test_nor_does_the_full_domain_model(table: Table, tmp_path: Path) -> None:
    release = table.publish("full-domain", tmp_path / "release.csv", k=2, max_suppressed="50%")
    assert release.audit.passed
    assert not table.is_counted


def test_an_l_counts_them_all(table: Table) -> None:
    assert table.counted_for(Requirement.of(l=2)) is table.frequency_set
    assert table.counted_for(Requirement.of(k=2)) is table.frequency_set


def test_both_counts_have_the_same_row_types(table: Table) -> None:
    alone = table.counted_for(Requirement.of(k=2))
    assert alone.counts.tolist() == table.frequency_set.counts.tolist()
    assert alone.codes.tolist() == table.frequency_set.codes.tolist()


def test_nor_does_permuting_values_that_are_read_with_the_rows(table: Table, tmp_path: Path) -> None:
    release = table.publish("permutation", tmp_path / "release.csv", k=2)
    assert release.audit.passed
    assert not table.is_counted
