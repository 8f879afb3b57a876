"""PostgreSQL publications: row types, statistics, lost connections (see release/test_schema_faults)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet
from discreet.audit.manifest_claims import compute_digest
from discreet.engines.postgres.engine import PostgresEngine
from discreet.engines.postgres.session import PostgresSession
from discreet.errors import InputError, LimitReached
from discreet.sql.dialect import POSTGRES
from discreet.verbs.table import Table
from tests.engines.clinic import RELEASED, Clinic


@pytest.fixture
def table(clinic: Clinic) -> Table:
    return clinic.table()


def before(step: str, fault: Callable[[], Any], patch: pytest.MonkeyPatch) -> None:
    """Trigger a fault just before the engine's first call of a step."""
    found = getattr(PostgresEngine, step)
    happened: list[bool] = []

    def broken(self: PostgresEngine, *values: Any, **named: Any) -> Any:
        if not happened:
            happened.append(True)
            fault()
        return found(self, *values, **named)

    patch.setattr(PostgresEngine, step, broken)


@pytest.fixture
def ended(clinic: Clinic) -> Callable[[], None]:
    """Return a function that ends the publisher's sessions from another one."""

    def end() -> None:
        ours = f"FROM pg_stat_activity WHERE usename = '{clinic.role}'"
        clinic.server.fetch(f"SELECT pg_terminate_backend(pid, 10000) {ours}")

    return end


def test_row_types_are_an_unlogged_table_hidden_from_other_sessions(
    table: Table, clinic: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row types are an unlogged table that no other session sees.

    Parallel workers cannot read temporary tables, so a table joined with the whole source is in the target
    schema.
    """
    seen: list[list[str]] = []
    found = PostgresEngine.write_table

    def looked_at(self: PostgresEngine, *values: Any, **named: Any) -> None:
        query = "SELECT relpersistence::text FROM pg_class WHERE relnamespace = 'out'::regnamespace"
        seen.append([row[0] for row in self.fetch_rows(query)])
        assert clinic.published() == []
        found(self, *values, **named)

    monkeypatch.setattr(PostgresEngine, "write_table", looked_at)
    table.publish({"age": 1}, table="out.people", k=10)
    assert seen[0] == ["u"]
    assert clinic.published() == RELEASED


def test_release_has_the_statistics_of_the_server(clinic: Clinic) -> None:
    """A release has the server's statistics target; a lower one applies only to intermediate tables."""
    with PostgresEngine(clinic.settings, clinic.url) as engine:
        engine.create_table("numbers", "SELECT generate_series(1, 100) AS n")
        engine.load_table("loaded", {"n": np.arange(1000)})
        query = "SELECT setting = reset_val FROM pg_settings WHERE name = 'default_statistics_target'"
        assert engine.fetch_rows(query) == [(True,)]


@pytest.mark.parametrize(("order", "sorts"), [("sorted", True), ("random", False)])
def test_only_rows_in_order_are_grouped_by_sorting(
    order: str, sorts: bool, clinic: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements: list[str] = []
    found = PostgresEngine.execute
    monkeypatch.setattr(
        PostgresEngine, "execute", lambda self, sql: (statements.append(sql), found(self, sql))[1]
    )
    opened = clinic.table(request={"row_order": order})
    release = opened.publish({"age": 1}, table="out.people", k=10).release
    assert statements == (list(POSTGRES.sorted_groups or ()) if sorts else [])
    with clinic.engine() as engine:
        assert compute_digest(engine, release.address) == release.audit.sha256


@pytest.mark.parametrize("failures", [1, 99])
def test_row_types_that_cannot_be_dropped_are_not_committed(
    failures: int, table: Table, clinic: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If row types cannot be dropped, nothing is committed, because they contain values of the source."""
    left = [failures]
    found = PostgresSession.run

    def failing(self: PostgresSession, statement: str) -> None:
        if "DROP TABLE IF EXISTS" in statement and left[0]:
            left[0] -= 1
            raise LimitReached("the lock could not be had")
        found(self, statement)

    monkeypatch.setattr(PostgresSession, "run", failing)
    if failures == 1:
        table.publish({"age": 1}, table="out.people", k=10)
        assert clinic.published() == RELEASED
    else:
        with pytest.raises(LimitReached, match="lock"):
            table.publish({"age": 1}, table="out.people", k=10)
        assert clinic.published() == []
    assert left[0] < failures


@pytest.mark.parametrize("step", ["check_target", "create_table"])
def test_lost_connection_leaves_no_release(
    step: str, table: Table, clinic: Clinic, ended: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        before(step, ended, patch)
        with pytest.raises(LimitReached, match=r"lost|ended the session"):
            table.publish({"age": 1}, table="out.people", k=10)
    assert clinic.published() == []
    table.publish({"age": 1}, table="out.people", k=10)
    assert clinic.published() == RELEASED


def test_connection_lost_while_a_file_is_written_leaves_no_file(
    table: Table, out: Path, ended: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        before("write_file", ended, patch)
        with pytest.raises(LimitReached):
            table.publish({"age": 1}, out / "people.csv", k=10)
    assert list(out.iterdir()) == []
    table.publish({"age": 1}, out / "people.csv", k=10)
    assert sorted(path.name for path in out.iterdir()) == ["people.csv", "people.csv.manifest.json"]


# --- init --------------------------------------------------------------------------------------------------


def test_init_writes_a_spec_without_the_password(
    clinic: Clinic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = tmp_path / "spec.toml"
    address = clinic.url.replace(f"{clinic.role}@", f"{clinic.role}:secret@")
    found = discreet.init(address, spec, table="clinic.patients", settings=clinic.settings)
    text = spec.read_text(encoding="utf-8")
    assert "secret@" not in text
    assert any("PGPASSWORD" in warning for warning in found.warnings)
    assert found.mapping["source"] == {"url": clinic.url, "table": "clinic.patients"}
    assert discreet.open(spec, settings=clinic.settings).spec.source.table == "clinic.patients"
    monkeypatch.setenv("CLINIC", clinic.url)
    named = tmp_path / "named.toml"
    again = discreet.init("env:CLINIC", named, table="clinic.patients", settings=clinic.settings)
    assert again.mapping == {**found.mapping, "source": {"url": "env:CLINIC", "table": "clinic.patients"}}
    assert clinic.url not in named.read_text(encoding="utf-8")
    assert discreet.open(named, settings=clinic.settings).spec.source.table == "clinic.patients"
    with pytest.raises(InputError, match="without a table"):
        discreet.init(address)
