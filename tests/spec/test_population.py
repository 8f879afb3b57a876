"""``subset`` of a source and ``[population]``: reading and refusals."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow
import pytest

import discreet
from discreet.errors import InputError
from discreet.model.table_spec import Subset, TableSpec
from discreet.spec.spec_reader import spec_from_mapping
from discreet.verbs.spec_editor import source_as_mapping

AGE = {"attributes": {"age": {"role": "quasi-identifier"}}}
CHOSEN = {"column": "study", "values": ["yes", "1", "yes"]}


def spec(source: dict[str, Any], **tables: Any) -> TableSpec:
    return spec_from_mapping({"source": source, **AGE, **tables}, base=Path("/base"), label="the spec")


def test_subset_has_its_table_for_a_population() -> None:
    found = spec({"path": "a.csv", "subset": CHOSEN, "null_values": ["?"]})
    assert found.source.subset == Subset("study", ("yes", "1"))
    assert found.population == replace(found.source, subset=None)
    assert source_as_mapping(found.source)["subset"] == {"column": "study", "values": ["yes", "1"]}
    population_spec = found.of_population
    assert population_spec is not None
    assert ([a.name for a in population_spec.attributes], population_spec.population) == (["age"], None)


def test_population_is_read_as_the_source_is() -> None:
    source = {"path": "a.csv", "null_values": ["?"], "decimal": ",", "delimiter": ";", "null_policy": "drop"}
    found = spec(source, population={"path": "b.parquet"})
    assert found.population == replace(found.source, path=Path("/base/b.parquet"), delimiter=None)
    other = spec(
        source, population={"path": "b.txt", "format": "csv", "delimiter": "\t", "encoding": "latin-1"}
    )
    assert other.population is not None
    assert (other.population.format, other.population.delimiter) == ("csv", "\t")
    assert (other.population.encoding, other.population.null_values) == ("latin-1", ("?",))
    database = {"url": "postgresql://ann@localhost/clinic", "table": "study"}
    there = spec(database, population={"table": "register"})
    assert there.population == replace(there.source, table="register")


def test_spec_without_subset_or_population_has_neither() -> None:
    assert spec({"path": "a.csv"}).population is None
    assert spec({"path": "a.csv"}).of_population is None
    assert "subset" not in source_as_mapping(spec({"path": "a.csv"}).source)


@pytest.mark.parametrize(
    ("source", "population", "message"),
    [
        ({"subset": {"column": "study"}}, None, "source.subset.values is missing"),
        ({"subset": {"column": "study", "values": []}}, None, "source.subset.values"),
        ({"subset": "study"}, None, "source.subset = "),
        ({"subset": {**CHOSEN, "rows": 3}}, None, "unknown key .rows."),
        ({"subset": CHOSEN}, {"path": "b.csv"}, "population together with source.subset"),
        ({"subset": CHOSEN, "subject": "who"}, None, "a population together with source.subject"),
        ({"subject": "who"}, {"path": "b.csv"}, "a population together with source.subject"),
        ({}, {}, "population names no table"),
        ({}, {"path": "b.csv", "url": "postgresql://ann@localhost/x"}, "unknown key .url."),
        ({}, {"path": ""}, "population.path"),
    ],
)
def test_invalid_populations_are_refused(
    source: dict[str, Any], population: dict[str, Any] | None, message: str
) -> None:
    tables = {} if population is None else {"population": population}
    with pytest.raises(InputError, match=message):
        spec({"path": "a.csv", **source}, **tables)


def test_population_file_with_a_database_source_is_refused() -> None:
    database = {"url": "postgresql://ann@localhost/clinic", "table": "study"}
    with pytest.raises(InputError, match=r"population\.path together with a source"):
        spec(database, population={"path": "b.csv"})


def test_subset_of_a_file_is_counted(tmp_path: Path) -> None:
    """All verbs see only the subset; unreadable lines are found even outside it."""
    path = tmp_path / "people.csv"
    path.write_text("age,study\n" + "30,yes\n31,no\n30,no\n32,yes\n" * 5, encoding="utf-8")
    table = discreet.open(path, {"source": {"subset": CHOSEN}, **AGE})
    assert table.frequency_set.rows == 10
    assert table.frequency_set.population is not None
    assert table.frequency_set.population.people == 20
    release = table.publish({"age": 0}, tmp_path / "out.csv", k=5)
    manifest = json.loads(release.manifest_path.read_text(encoding="utf-8"))
    assert (manifest["data"]["rows"], manifest["population"]) == (10, {"people": 20})
    logged = json.loads(table.settings.private_log.read_text(encoding="utf-8").splitlines()[-1])
    assert logged["population"] == {name: logged[name] for name in ("input", "input_sha256")}
    assert logged["population"]["input"] == str(path)
    assert "People in the population" in discreet.report(release.path).path.read_text(encoding="utf-8")
    assert sorted(release.path.read_text(encoding="utf-8").split()) == ["30"] * 5 + ["32"] * 5 + ["age"]
    path.write_text("age,study\n" + '30,yes\n"31,no\n30,no\n' + "32,yes\n" * 5, encoding="utf-8")
    with pytest.raises(InputError):
        discreet.open(path, {"source": {"subset": CHOSEN}, **AGE}).negotiate(k=2)


def test_release_never_replaces_its_population(tmp_path: Path) -> None:
    for name in ("people.csv", "register.csv"):
        (tmp_path / name).write_text("age\n" + "30\n" * 5, encoding="utf-8")
    document = {"population": {"path": tmp_path / "register.csv"}, **AGE}
    table = discreet.open(tmp_path / "people.csv", document)
    with pytest.raises(InputError, match="the population"):
        table.publish({"age": 0}, tmp_path / "register.csv", k=5, overwrite=True)


def test_table_in_memory_may_have_a_register_file(tmp_path: Path) -> None:
    register = tmp_path / "register.csv"
    register.write_text("age\n" + "30\n31\n" * 3, encoding="utf-8")
    table = discreet.open(pyarrow.table({"age": [30, 31, 30]}), {"population": {"path": register}, **AGE})
    assert table.frequency_set.population is not None
    assert table.frequency_set.population.counts.tolist() == [3, 3]
