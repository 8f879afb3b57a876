"""Tests of the examples for Dagster, Airflow and dbt, each if its tool is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import discreet
from discreet.errors import NoSolution
from discreet.results.request_defaults import build_request
from discreet.sample.census import write_census
from discreet.verbs.locations import PublishTarget
from discreet.verbs.recorded_decisions import publish_and_lock
from docs.orchestration.monthly import publish_month

HOME = Path(__file__).resolve().parent.parent / "docs" / "orchestration"
REQUEST = '\n[request]\nk = 3\nmax_suppressed = "20%"\n'


@pytest.fixture
def month(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a spec, an earlier month's lock, and new rows; environment variables name them."""
    people, spec = tmp_path / "people.csv", tmp_path / "discreet.toml"
    write_census(people, rows=600, seed=1)
    discreet.init(people, spec)
    text = spec.read_text(encoding="utf-8").split("\n[request]")[0]
    spec.write_text(text.replace('{kind = "auto", by = "frequency"}', '{kind = "auto"}') + REQUEST, "utf-8")
    table = discreet.open(spec)
    request = build_request(table.spec, max_level={"occupation": 0})
    publish_and_lock(table, request, PublishTarget(tmp_path / "before.csv"), tmp_path / "discreet.lock")
    people.unlink()
    write_census(people, rows=900, seed=2)
    places = {"SPEC": spec, "LOCK": tmp_path / "discreet.lock", "OUTPUT": tmp_path / "release.csv"}
    places |= {"PEOPLE": people, "DATABASE": tmp_path / "monthly.duckdb"}
    for name, place in places.items():
        monkeypatch.setenv(f"RELEASE_{name}", str(place))
    return tmp_path


def test_shared_step_publishes_or_leaves_the_release(month: Path) -> None:
    result = publish_month(month / "discreet.toml", month / "discreet.lock", month / "release.csv")
    assert result["k"] >= 3  # type: ignore[operator]
    assert result["rows"] + result["suppressed"] == 900  # type: ignore[operator]
    (month / "people.csv").unlink()
    write_census(month / "people.csv", rows=40, seed=3)
    before = (month / "release.csv").read_bytes()
    with pytest.raises(NoSolution):
        publish_month(month / "discreet.toml", month / "discreet.lock", month / "release.csv")
    assert (month / "release.csv").read_bytes() == before


def test_dagster_makes_the_asset(month: Path) -> None:
    dagster = pytest.importorskip("dagster", reason="Dagster is not installed here")
    from docs.orchestration.dagster_release import release

    with dagster.DagsterInstance.ephemeral() as instance:
        made = dagster.materialize([release], instance=instance)
    assert made.success
    assert (month / "release.csv").is_file()


def test_airflow_runs_the_task(month: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW_HOME", str(month / "airflow"))
    pytest.importorskip("airflow.sdk", reason="Airflow is not installed here")
    from docs.orchestration.airflow_release import made

    (task,) = made.tasks
    assert task.python_callable()["k"] >= 3
    assert (month / "release.csv").is_file()


def test_dbt_runs_the_models(month: Path) -> None:
    program = shutil.which("dbt", path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip("dbt is not installed here")
    project = month / "dbt"
    shutil.copytree(HOME / "dbt", project)
    command = [program, "run", "--project-dir", str(project), "--profiles-dir", str(project)]
    quiet = {**os.environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
    done = subprocess.run(command, cwd=project, env=quiet, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(month / "monthly.duckdb"), read_only=True) as database:
        database.execute("COPY release TO ? (FORMAT csv)", [str(month / "dbt.csv")])
    known = [a.name for a in discreet.open(month / "discreet.toml").spec.quasi_identifiers]
    assert discreet.check([month / "dbt.csv"], k=3, quasi_identifiers=known).passed
