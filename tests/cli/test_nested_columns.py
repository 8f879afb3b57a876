"""Parquet files with columns of lists, structures and maps, through every verb."""

from __future__ import annotations

import tomllib
from pathlib import Path

import duckdb
import pyarrow.parquet
import pytest

from tests.cli.conftest import Run

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


@pytest.fixture
def people(run: Run) -> str:
    """Sixty people whose nested columns have few different cells, in the working folder."""
    columns = ", ".join(f"{cell} AS {name}" for name, cell in TYPES.items())
    query = f"SELECT 20 + i % 5 AS age, 'b' || i % 3 AS city, {columns} FROM range(60) AS t(i)"
    duckdb.sql(f"COPY ({query}) TO 'people.parquet'")
    return "people.parquet"


def test_init_proposes_what_the_other_verbs_take(run: Run, people: str) -> None:
    done = run("init", people)
    assert done.status == 0, done.err
    document = tomllib.loads(Path("discreet.toml").read_text(encoding="utf-8"))
    assert {name for name, a in document["attributes"].items() if a["role"] == "identifier"} >= {*TYPES}
    assert "neither generalized nor tested" in done.out
    assert run("publish", "discreet.toml", "--k", "2", "--output", "out.parquet").status == 0


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_as_insensitive_they_are_published_as_text(ending: str, run: Run, people: str) -> None:
    roles = "".join(f'[attributes.{name}]\nrole = "insensitive"\n' for name in TYPES if name != "raw")
    spec = f'[source]\npath = "{people}"\n[attributes.age]\nrole = "quasi-identifier"\n{roles}'
    Path("own.toml").write_text(spec, encoding="utf-8")
    done = run("publish", "own.toml", "--k", "2", "--output", f"out.{ending}")
    assert done.status == 0, done.err
    assert run("audit", f"out.{ending}").status == 0
    if ending == "parquet":
        schema = pyarrow.parquet.read_schema("out.parquet")
        assert {str(schema.field(name).type) for name in TYPES if name != "raw"} == {"string"}


@pytest.mark.parametrize("name", TYPES)
def test_a_foreign_release_with_them_is_audited(name: str, run: Run) -> None:
    duckdb.sql(f"COPY (SELECT '*' AS age, {TYPES[name]} AS {name} FROM range(8) AS t(i)) TO 'r.parquet'")
    duckdb.sql(f"COPY (SELECT {TYPES[name]} AS {name} FROM range(8) AS t(i)) TO 'alone.parquet'")
    Path("r.parquet.manifest.json").unlink(missing_ok=True)
    for command in (
        ("audit", "r.parquet", "--quasi-identifier", "age"),
        ("audit", "r.parquet", "--quasi-identifier", "age", "--sensitive", name),
        ("audit", "alone.parquet", "--quasi-identifier", name),
        ("attack", "r.parquet", "--quasi-identifier", "age"),
    ):
        done = run(*command)
        assert done.status == 0, (command, done.err)
