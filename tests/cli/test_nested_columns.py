"""Parquet files with columns of lists, structures and maps, through every verb."""

from __future__ import annotations

import tomllib
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow.parquet
import pytest

import discreet
from tests.cli.conftest import Run
from tests.drawing import in_turn

TYPES = {
    "tags": "['x', NULL, (i % 3)::VARCHAR]",
    "deep": "[[1, 2], [i % 2]]",
    "amounts": "[(i % 2)::DECIMAL(6, 1)]",
    "days": "[DATE '2020-01-01']",
    "device": "{'a': i % 2, 'b': ['q']}",
    "m": "MAP {'k': i % 2}",
    "fixed": "[i % 2, 1]::INTEGER[2]",
    "raw": "'ab'::BLOB",
}
NESTED = [name for name in TYPES if name != "raw"]


@pytest.fixture
def people(run: Run) -> str:
    """Write 60 people whose nested columns have few distinct cells to the working folder."""
    columns = ", ".join(f"{cell} AS {name}" for name, cell in TYPES.items())
    query = f"SELECT 20 + i % 5 AS age, 'b' || i % 3 AS city, {columns} FROM range(60) AS t(i)"
    duckdb.sql(f"COPY ({query}) TO 'people.parquet'")
    return "people.parquet"


def test_init_proposal_is_accepted_by_other_verbs(run: Run, people: str) -> None:
    done = run("init", people)
    assert done.status == 0, done.err
    document = tomllib.loads(Path("discreet.toml").read_text(encoding="utf-8"))
    assert {name for name, a in document["attributes"].items() if a["role"] == "identifier"} >= {*TYPES}
    assert "tags" in done.out
    assert "nested values: left out" in done.out
    assert run("publish", "discreet.toml", "--k", "2", "--output", "out.parquet").status == 0


ROLES = [
    '[attributes.{name}]\nrole = "quasi-identifier"\n',
    '[attributes.{name}]\nrole = "sensitive"\n',
    '[attributes.{name}]\nrole = "insensitive"\n',
    'unlisted_columns = "insensitive"\n',
]


@pytest.mark.parametrize(("role", "name"), in_turn(ROLES, ["tags", "device"]))
def test_nested_columns_are_never_published(name: str, role: str, run: Run) -> None:
    duckdb.sql(
        f"COPY (SELECT 20 + i % 5 AS age, {TYPES[name]} AS {name} FROM range(60) AS t(i)) TO 'p.parquet'"
    )
    source, age = '[source]\npath = "p.parquet"\n', '[attributes.age]\nrole = "quasi-identifier"\n'
    attribute = role.format(name=name)
    spec = source + (attribute + age if attribute.startswith("unlisted") else age + attribute)
    Path("own.toml").write_text(spec, encoding="utf-8")
    output = ("--output", "out.csv")
    for verb, *more in (("negotiate",), ("publish", *output), ("publish", *output, "--model", "mondrian")):
        done = run(verb, "own.toml", "--k", "2", *more)
        assert done.status == 2
        assert f"p.parquet: column '{name}' contains nested values, which are not published" in done.err
        assert 'role = "identifier"' in done.err
    assert not Path("out.csv").exists()


def _frames() -> dict[str, object]:
    arrow = pyarrow.parquet.read_table("people.parquet").drop_columns("raw")
    return {
        "Arrow": arrow,
        "pandas": arrow.to_pandas(),
        "pandas of Arrow": arrow.to_pandas(types_mapper=pandas.ArrowDtype),
        "polars": polars.from_arrow(arrow.drop_columns("m")),
        "folder": "folder",
        "JSON lines": "people.jsonl",
    }


def test_every_kind_of_table_is_published_without_nested_columns(run: Run, people: str) -> None:
    Path("folder").mkdir()
    duckdb.sql(f"COPY (FROM '{people}') TO 'folder/a.parquet'")
    duckdb.sql(f"COPY (SELECT * EXCLUDE (raw) FROM '{people}') TO 'people.jsonl' (FORMAT json)")
    for kind, data in _frames().items():
        proposal = discreet.init(data)
        roles = {name: entry["role"] for name, entry in proposal.mapping["attributes"].items()}
        nested = roles.keys() & {*NESTED}
        assert {name for name, role in roles.items() if role == "identifier"} >= nested, kind
        assert str(proposal).count("nested values: left out") == len(nested), kind
        assert "If it names the person" not in str(proposal), kind
        answer = discreet.open(data, proposal.mapping).negotiate(k=2)
        release = discreet.open(data, proposal.mapping).publish(answer.exact, "out.parquet", overwrite=True)
        assert release.audit.passed
        assert pyarrow.parquet.read_schema("out.parquet").names == ["age", "city"], kind
        spec = {
            **proposal.mapping,
            "attributes": {**proposal.mapping["attributes"], "tags": {"role": "insensitive"}},
        }
        with pytest.raises(discreet.InputError, match="column 'tags' contains nested values"):
            discreet.open(data, spec).publish({}, "never.parquet", k=2)


@pytest.mark.parametrize("name", TYPES)
def test_foreign_release_with_nested_columns_is_audited(name: str, run: Run) -> None:
    duckdb.sql(f"COPY (SELECT '*' AS age, {TYPES[name]} AS {name} FROM range(8) AS t(i)) TO 'r.parquet'")
    duckdb.sql(f"COPY (SELECT {TYPES[name]} AS {name} FROM range(8) AS t(i)) TO 'alone.parquet'")
    Path("r.parquet.manifest.json").unlink(missing_ok=True)
    for command in (
        ("audit", "r.parquet", "--quasi-identifier", "age", "--sensitive", name, "--k", 1),
        ("audit", "alone.parquet", "--quasi-identifier", name, "--k", 1),
        ("attack", "r.parquet", "--quasi-identifier", "age"),
    ):
        done = run(*command)
        assert done.status == 0, (command, done.err)
