"""Audit statements of releases on disk, run by plain DuckDB: unchanged releases pass, changed ones fail."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import duckdb
import pytest

import discreet
from discreet.cli.main import main
from discreet.errors import InputError
from discreet.model.criteria.k_map import KMap
from discreet.model.criteria.release_shares import AverageRisk
from discreet.model.criteria.t_closeness import TCloseness
from discreet.models import Permutation
from discreet.settings import Settings
from tests.oracle.patients import patients, publish_patients
from tests.oracle.permuted_tables import staff


def failing(script: str) -> list[int]:
    """Return the number of failures that each query of a script finds."""
    with duckdb.connect() as connection:
        found = [connection.execute(one.query).fetchall() for one in duckdb.extract_statements(script)]
    return [rows[0][-1] for rows in found]


@pytest.fixture
def release(engine: object, settings: Settings, tmp_path: Path, out: Path) -> Path:
    publish_patients(engine, settings, patients(tmp_path), out / "it's.csv", l=2)  # type: ignore[arg-type]
    return out / "it's.csv"


def test_statements_check_the_requirements_of_the_manifest(release: Path, settings: Settings) -> None:
    result = discreet.audit_sql(release, settings=settings)
    assert [one.guarantee.split(":")[0] for one in result.statements] == ["k = 3", "l = 2"]
    assert failing(result.script) == [0, 0]
    lines = release.read_text().splitlines()
    release.write_text("\n".join([*lines, "nowhere," + lines[-1].partition(",")[2], ""]))
    assert failing(result.script) == [1, 1]


def test_command_prints_statements_that_run(release: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(release), "--k", "6", "--sql"]) == 0
    assert failing(capfd.readouterr().out) == [2]
    assert main(["audit", str(release), "--k", "6", "--sql", "--json"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert document["for"] == "duckdb"
    assert [sorted(one) for one in document["statements"]] == [["guarantee", "sql"]]


def test_statements_name_the_facts_missing_in_the_release(release: Path, settings: Settings) -> None:
    criteria = [KMap(3), TCloseness(0.5, "diagnosis", distance="hierarchical")]
    result = discreet.audit_sql(release, criteria=criteria, settings=settings)
    assert [one.sql for one in result.statements] == [None, None]
    assert failing(result.script) == []
    assert "needs a population" in result.script


def test_statements_of_foreign_files_run_or_are_refused(tmp_path: Path, settings: Settings) -> None:
    (tmp_path / "f.tsv").write_text('a\tb\n1\t\n1\t""\n')
    keys = ["a", "b"]
    result = discreet.audit_sql(tmp_path / "f.tsv", quasi_identifiers=keys, k=2, settings=settings)
    assert failing(result.script) == [2]
    with pytest.raises(InputError, match="nothing is required"):
        discreet.audit_sql(tmp_path / "f.tsv", quasi_identifiers=keys, settings=settings)
    (tmp_path / "f.json").write_text('{"a": 1}\n')
    with pytest.raises(InputError, match="no SQL statement can read this file"):
        discreet.audit_sql(tmp_path / "f.json", quasi_identifiers=["a"], k=2, settings=settings)


def test_file_is_read_with_detected_or_given_options(
    tmp_path: Path, settings: Settings, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "f[1]*.csv"
    path.write_text("a;b\n1;x\n1;n/a\n1;\n1;x\n")
    named = ["--quasi-identifier", "a", "--quasi-identifier", "b", "--k", "2", "--sql"]
    assert main(["audit", str(path), *named]) == 0
    assert failing(capfd.readouterr().out) == [2]
    assert main(["audit", str(path), *named, "--null", "n/a"]) == 0
    assert failing(capfd.readouterr().out) == [0]
    assert main(["audit", str(path), *named, "--strictest"]) == 2
    assert "--strictest cannot be combined with --sql" in capfd.readouterr().err
    path.write_bytes("a;b\n1;Köln\n".encode("latin-1"))
    assert main(["audit", str(path), *named]) == 2
    assert "Convert it to Parquet" in capfd.readouterr().err


@pytest.mark.parametrize("rows", ["", "*\n*\n"])
def test_file_without_rows_to_check_does_not_pass(tmp_path: Path, settings: Settings, rows: str) -> None:
    path = tmp_path / "f.csv"
    path.write_text("a\n" + rows)
    options = {"quasi_identifiers": ["a"], "k": 2, "settings": settings}
    passed = discreet.audit(path, **options).passed
    assert failing(discreet.audit_sql(path, **options).script) == [int(not passed)]
    risk = {**options, "k": None, "criteria": [AverageRisk(0.5)]}
    assert failing(discreet.audit_sql(path, **risk).script) == [int(not discreet.audit(path, **risk).passed)]


@pytest.mark.parametrize("shown", [True, False])
def test_people_are_counted_if_the_release_identifies_them(
    tmp_path: Path, settings: Settings, out: Path, shown: bool
) -> None:
    (tmp_path / "t.csv").write_text("who,age\n" + "".join(f"p{i % 4},{i % 2}\n" for i in range(12)))
    attribute = {"role": "identifier"} | ({"pseudonymization": {"method": "per-release"}} if shown else {})
    spec = {
        "source": {"subject": "who"},
        "attributes": {"who": attribute, "age": {"role": "quasi-identifier"}},
    }
    discreet.open(tmp_path / "t.csv", spec, settings=settings).publish({"age": 0}, out / "r.csv", k=2)
    script = discreet.audit_sql(out / "r.csv", settings=settings).script
    assert failing(script) == [0]
    assert ("this statement counts rows" in script) is not shown
    # Each person has three rows: two people have six rows, so that only a count of rows satisfies k = 3.
    assert failing(discreet.audit_sql(out / "r.csv", k=3, settings=settings).script) == [2 if shown else 0]


@pytest.mark.parametrize("form", ["one-table", "two-tables"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_statements_of_permuted_groups_find_a_changed_sum(
    tmp_path: Path, settings: Settings, out: Path, form: str, ending: str
) -> None:
    path = out / f"p.{ending}"
    staff(tmp_path, settings).publish(Permutation(e=1000, form=form), path, k=2)
    result = discreet.audit_sql(path, settings=settings)
    assert len(result.statements) == 2
    assert failing(result.script) == [0, 0]
    if ending == "parquet":
        return
    help_file = out / "p.help.csv"
    with help_file.open(newline="") as file:
        rows = list(csv.reader(file))
    place = rows[0].index("sum_upper")
    rows[1][place] = str(float(rows[1][place]) + 1)
    with help_file.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    assert failing(result.script) == [0, 1]
