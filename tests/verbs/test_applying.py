"""A release's recoding applied to other rows of the same structure."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import discreet
from discreet.errors import InputError, NoSolution
from discreet.models import Mondrian
from discreet.verbs.table import Table
from tests.attacks.test_intersection import opened, released
from tests.attacks.test_linkage import write

NEW = [("22", "Berlin", "a"), ("22", "Bonn", "b"), ("24", "Berlin", "c"), ("24", "Bonn", "d")]


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return opened(tmp_path)


def new_rows(folder: Path, *rows: tuple[str, str, str]) -> Path:
    path = folder / "new.csv"
    keys = ("age", "city", "disease")
    write(path, [{"name": f"n{i}", **dict(zip(keys, row, strict=True))} for i, row in enumerate(rows)])
    return path


def shown(path: Path) -> list[tuple[str, str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return sorted((row["age"], row["city"], row["disease"]) for row in csv.DictReader(file))


def applied(table: Table, release: Path, data: Path, **more: object) -> Path:
    output = release.with_name("applied.csv")
    found = discreet.apply(release, data, output, spec=table.spec.path, settings=table.settings, **more)
    assert found.audit.passed
    return output


@pytest.mark.parametrize("levels", [{"age": 0, "city": 2}, {"age": 3, "city": 1}, {"age": 1, "city": 2}])
def test_new_rows_show_labels_of_the_hierarchies(
    table: Table, tmp_path: Path, levels: dict[str, int]
) -> None:
    release = released(table, tmp_path, "first", **levels)
    found = shown(applied(table, release, new_rows(tmp_path, *NEW)))
    fresh = table_of_new(tmp_path)
    paths = {h.attribute: h for h in fresh.frequency_set.hierarchies}
    expected = []
    for age, city, disease in NEW:
        cells = [
            paths[name].path(paths[name].code_of_leaf[value])[levels[name]]
            for name, value in (("age", age), ("city", city))
        ]
        expected.append((*cells, disease))
    assert found == sorted(expected)


def table_of_new(folder: Path) -> Table:
    (folder / "fresh").mkdir()
    return opened(folder / "fresh", NEW)


def test_requirement_applies_to_the_new_rows(table: Table, tmp_path: Path) -> None:
    release = released(table, tmp_path, "first", age=0, city=2)
    data = new_rows(tmp_path, *NEW, ("26", "Bonn", "e"))
    with pytest.raises(NoSolution):
        applied(table, release, data)
    assert not (tmp_path / "applied.csv").exists()
    assert len(shown(applied(table, release, data, max_suppressed=1))) == 4


def test_value_without_a_leaf_is_named_in_the_error(table: Table, tmp_path: Path) -> None:
    release = released(table, tmp_path, "first", age=0, city=2)
    with pytest.raises(InputError, match=r"line 6.* no leaf .*'Atlantis'"):
        applied(table, release, new_rows(tmp_path, *NEW, ("22", "Atlantis", "e")))


def test_another_hierarchy_is_refused(table: Table, tmp_path: Path) -> None:
    release = released(table, tmp_path, "first", age=3, city=1)
    file = tmp_path / "city.csv"
    file.write_text(file.read_text(encoding="utf-8").replace("Bonn;", "Bonn;X", 1), encoding="utf-8")
    with pytest.raises(InputError, match="the hierarchy of 'city' is not the hierarchy of the release"):
        applied(table, release, new_rows(tmp_path, *NEW))


def test_unrecorded_recodings_are_refused(table: Table, tmp_path: Path) -> None:
    data = new_rows(tmp_path, *NEW)
    for model, why in ((Mondrian(), "recoding of .* is not recorded"), ("permutation", "permutes values")):
        table.publish(model, tmp_path / "other.csv", k=2, overwrite=True)
        with pytest.raises(InputError, match=why):
            applied(table, tmp_path / "other.csv", data)
    with pytest.raises(InputError, match="no manifest"):
        applied(table, data, data)


def test_values_made_from_the_data_are_refused(tmp_path: Path) -> None:
    table = opened(tmp_path)
    spec = tmp_path / "discreet.toml"
    text = spec.read_text(encoding="utf-8").replace('hierarchy = "city.csv"', 'hierarchy = {kind = "auto"}')
    spec.write_text(text, encoding="utf-8")
    auto = discreet.open(spec, settings=table.settings)
    auto.publish({"city": 1, "age": 3}, tmp_path / "auto.csv", k=2)
    with pytest.raises(InputError, match="'city' were derived from its data"):
        applied(auto, tmp_path / "auto.csv", new_rows(tmp_path, *NEW))
