"""Releases as an attacker reads them: starred rows, permuted values, two-table releases, foreign files."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.errors import InputError
from discreet.models import Permutation
from discreet.verbs.release_attack import attack
from discreet.verbs.table import Table
from tests.attacks.test_linkage import PATIENTS, table_of, write


@pytest.fixture
def table(tmp_path: Path) -> Table:
    odd = [{"name": "odd", "age": "27", "city": "Trier", "disease": "b"}]
    return table_of(tmp_path, [*PATIENTS, *odd])


def test_starred_rows_are_in_no_class(table: Table, tmp_path: Path) -> None:
    table.publish({"age": 1}, tmp_path / "out.csv", k=2, max_suppressed=1, suppressed_rows="star")
    found = attack(tmp_path / "out.csv", table=table)
    assert (found.starred, found.after.rows, found.after.classes) == (1, 8, 2)
    assert found.before is not None
    assert found.before.uniques.rows == 1
    assert found.after.uniques.rows == 0
    assert [(d.fewest_values, d.homogeneous_rows) for d in found.disclosure] == [(1, 4)]
    assert "starred" in str(found)


def test_permuted_release_discloses_membership(table: Table, tmp_path: Path) -> None:
    table.publish("permutation", tmp_path / "out.csv", k=2)
    found = attack(tmp_path / "out.csv", table=table, outside=tmp_path / "people.csv", key="name")
    assert found.by_group
    assert found.before is not None
    assert found.linkage is not None
    assert found.after.prosecutor == found.before.prosecutor
    assert found.linkage.after.correct == found.linkage.before.correct  # type: ignore[union-attr]
    assert [d.fewest_values for d in found.disclosure] == [2]  # in each group, as k required
    assert any("membership" in warning for warning in found.warnings)
    assert found.as_json()["disclosure"]["units"] == "groups"


def test_permuted_release_in_two_tables_is_attacked(table: Table, tmp_path: Path) -> None:
    table.publish(Permutation(form="two-tables"), tmp_path / "out.csv", k=2)
    found = attack(tmp_path / "out.csv")
    assert [(d.fewest_values, d.rows) for d in found.disclosure] == [(2, 9)]


def test_permuted_release_in_a_database_is_attacked(table: Table, tmp_path: Path) -> None:
    table.publish("permutation", tmp_path / "out.duckdb", k=2)
    found = attack(tmp_path / "out.duckdb", outside=tmp_path / "people.csv", match={"city": "city"})
    assert [d.fewest_values for d in found.disclosure] == [2]
    assert found.linkage is not None
    assert found.linkage.after.matched == 9


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("households", {}, "no column of households"),
        ("households", {"household": "house"}, "house"),
        ("survey-weights", {}, "no column of survey weights"),
        ("survey-weights", {"survey_weight": "city"}, "are not weights"),
        ("control-set", {}, "no control set"),
        ("intersection", {}, "no earlier release"),
        ("linkage-with-errors", {}, "no attacker's file"),
        ("minimality", {}, "not one by levels"),
    ],
)
def test_attack_without_its_input_is_refused(
    table: Table, tmp_path: Path, name: str, options: dict[str, str], message: str
) -> None:
    table.publish("mondrian", tmp_path / "out.csv", k=2)
    with pytest.raises(InputError, match=message):
        attack(tmp_path / "out.csv", table=table, by=name, options=options)


def test_foreign_file_requires_names_of_its_columns(tmp_path: Path) -> None:
    rows = [{"age": "[20, 30[", "zip": "53***", "ill": "flu"}] * 3
    path = write(tmp_path / "foreign.csv", rows)
    with pytest.raises(InputError, match="no manifest"):
        attack(path)
    found = attack(path, quasi_identifiers=["age", "zip"], sensitive=["ill"])
    assert (found.after.classes, found.after.prosecutor.highest) == (1, pytest.approx(1 / 3))
    assert found.disclosure[0].homogeneous == 1
    assert found.outlier_classes[0].distance is None


def test_printed_result_contains_only_values_of_classes(table: Table, tmp_path: Path) -> None:
    table.publish({"age": 1}, tmp_path / "out.csv", k=2, max_suppressed=1)
    found = attack(tmp_path / "out.csv", table=table, outside=tmp_path / "people.csv", key="name")
    text = str(found)
    for words in (
        "prosecutor risk, highest",
        "sample uniques",
        "Disclosure by class",
        "right links expected",
    ):
        assert words in text
    assert "Trier" not in text  # the suppressed row
    assert "odd" not in text
    assert {c.values["city"] for c in found.outlier_classes} == {"Berlin", "Bonn"}
