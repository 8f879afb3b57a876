"""Faults while a release becomes PostgreSQL tables and views: a clear error, and all of it or nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import discreet
from discreet.engines.postgres.engine import PostgresEngine
from discreet.errors import DiscreetError, InputError, LimitReached
from discreet.settings import Settings
from discreet.verbs.table import Table
from tests.engines.clinic import Clinic
from tests.servers.postgres import PostgresServer, running_server

TARGET = "out.people"
ROLES = {
    "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [10, 30]}},
    "ward": {"role": "sensitive"},
}
RELATIONS = ["people", "people_groups", "people_help", "people_manifest", "people_with_bounds"]
STEPS = [("write_table", 1), ("write_table", 2), ("write_table", 3), ("create_view", 1), ("create_view", 2)]
"""Steps of a permuted publication, with the number of the call before which the fault occurs."""


@pytest.fixture
def table(clinic: Clinic) -> Table:
    spec = {"source": {"table": "clinic.patients"}, "attributes": ROLES}
    return discreet.open(clinic.url, spec, settings=clinic.settings)


def publish(table: Table, k: int = 3, *, overwrite: bool = False) -> None:
    """Publish a permuted release: the table, its help table, its manifest, and two views."""
    table.publish("permutation", table=TARGET, k=k, overwrite=overwrite)


def relations(server: PostgresServer, database: str | None = None) -> list[str]:
    """Return the tables and views in the target's schema."""
    query = (
        "SELECT relname FROM pg_class WHERE relnamespace = 'out'::regnamespace AND relkind IN ('r', 'v') "
        "ORDER BY 1"
    )
    return [name for (name,) in (server.fetch(query, database) if database else server.fetch(query))]


def before(step: str, number: int, fault: Callable[[], Any], patch: pytest.MonkeyPatch) -> None:
    """Trigger a fault just before one of the engine's calls of a step."""
    found = getattr(PostgresEngine, step)
    calls: list[bool] = []

    def broken(self: PostgresEngine, *values: Any, **named: Any) -> Any:
        calls.append(True)
        if len(calls) == number:
            fault()
        return found(self, *values, **named)

    patch.setattr(PostgresEngine, step, broken)


def end_sessions(clinic: Clinic) -> None:
    """End the publisher's session from another one."""
    ours = f"FROM pg_stat_activity WHERE usename = '{clinic.role}'"
    clinic.server.fetch(f"SELECT pg_terminate_backend(pid, 10000) {ours}")


def content(clinic: Clinic) -> list[tuple[Any, ...]]:
    """Return the release as any reader sees it."""
    queries = (f"SELECT * FROM out.{name} ORDER BY 1, 2" for name in ("people", "people_help"))
    found = [row for query in queries for row in clinic.server.fetch(query, clinic.database)]
    return [*found, *clinic.server.fetch("SELECT manifest FROM out.people_manifest", clinic.database)]


def fails(table: Table, kind: type[DiscreetError], words: str, **options: Any) -> None:
    """Check that publishing fails with a message of discreet and without the database's text."""
    with pytest.raises(kind, match=words) as caught:
        publish(table, **options)
    assert caught.value.__cause__ is None
    assert "a 1" not in f"{caught.value} {caught.value.advice} {caught.value.allowed}"


@pytest.mark.parametrize(("step", "number"), [*STEPS, ("commit", 1)])
def test_ended_session_leaves_nothing(
    step: str, number: int, table: Table, clinic: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        before(step, number, lambda: end_sessions(clinic), patch)
        fails(table, LimitReached, r"lost|ended the session")
    assert relations(clinic.server, clinic.database) == []
    publish(table)
    assert relations(clinic.server, clinic.database) == RELATIONS
    assert discreet.audit(clinic.url, table=TARGET, settings=clinic.settings).passed


@pytest.mark.parametrize(("step", "number"), [("write_table", 1), ("create_view", 2), ("commit", 1)])
def test_old_release_survives_an_ended_session(
    step: str, number: int, table: Table, clinic: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(table)
    old = content(clinic)
    with monkeypatch.context() as patch:
        before(step, number, lambda: end_sessions(clinic), patch)
        fails(table, LimitReached, r"lost|ended the session", k=4, overwrite=True)
    assert relations(clinic.server, clinic.database) == RELATIONS
    assert content(clinic) == old
    publish(table, 4, overwrite=True)
    assert content(clinic) != old


@pytest.mark.parametrize(("step", "number"), STEPS)
def test_right_to_create_revoked_after_the_check_leaves_nothing(
    step: str, number: int, table: Table, clinic: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    revoke = f"REVOKE CREATE ON SCHEMA out FROM {clinic.role}"
    with monkeypatch.context() as patch:
        before(step, number, lambda: clinic.run(revoke), patch)
        fails(table, InputError, "no right to do this")
    assert relations(clinic.server, clinic.database) == []
    clinic.run(f"GRANT CREATE ON SCHEMA out TO {clinic.role}")
    publish(table)
    assert relations(clinic.server, clinic.database) == RELATIONS


def test_old_release_survives_a_revoked_right(
    table: Table, clinic: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(table)
    old = content(clinic)
    revoke = f"REVOKE CREATE ON SCHEMA out FROM {clinic.role}"
    with monkeypatch.context() as patch:
        before("create_view", 1, lambda: clinic.run(revoke), patch)
        fails(table, InputError, "no right to do this", overwrite=True)
    assert content(clinic) == old
    clinic.run(f"GRANT CREATE ON SCHEMA out TO {clinic.role}")
    publish(table, overwrite=True)
    assert relations(clinic.server, clinic.database) == RELATIONS


def test_stopped_server_leaves_the_old_release_or_nothing(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_server() as server:
        server.run(
            "CREATE SCHEMA out",
            "CREATE TABLE people AS SELECT i % 90 AS age, 'a ' || i % 7 AS ward FROM "
            "generate_series(1, 1000) AS i",
        )
        spec = {"source": {"table": "public.people"}, "attributes": ROLES}
        for overwrite, left in ((False, []), (True, RELATIONS)):
            table = discreet.open(server.url(), spec, settings=settings)
            with monkeypatch.context() as patch:
                before("create_view", 1, server.stop_immediately, patch)
                fails(table, LimitReached, r"lost|ended the session or shut down", overwrite=overwrite)
            server.start()
            assert relations(server) == left
            table = discreet.open(server.url(), spec, settings=settings)  # it now listens on another port
            publish(table, overwrite=overwrite)
            assert relations(server) == RELATIONS
            assert discreet.audit(server.url(), table=TARGET, settings=settings).passed


# --- before anything is counted ---


def never(*_values: Any, **_named: Any) -> None:
    """Fail the test if it is called."""
    raise AssertionError("the table was counted")


@pytest.fixture
def uncounted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forbid temporary tables, which counting needs."""
    monkeypatch.setattr(PostgresEngine, "create_table", never)


WAYS: dict[str, Callable[[Table], Any]] = {
    "levels": lambda table: table.publish({"age": 1}, table=TARGET, k=3),
    "a model": lambda table: table.publish("mondrian", table=TARGET, k=3),
    "permutation": publish,
}


@pytest.mark.usefixtures("uncounted")
@pytest.mark.parametrize("way", WAYS)
def test_missing_right_is_reported_before_counting(way: str, table: Table, clinic: Clinic) -> None:
    clinic.run(f"REVOKE CREATE ON SCHEMA out FROM {clinic.role}")
    with pytest.raises(InputError, match="may not create tables in the schema 'out'") as caught:
        WAYS[way](table)
    assert "GRANT USAGE, CREATE ON SCHEMA" in str(caught.value.advice)


@pytest.mark.usefixtures("uncounted")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nowhere.people", "the schema 'nowhere' does not exist"),
        ("people", "has no schema"),
        ("clinic.patients", "is the input"),
        ("out.taken", "already exists"),
    ],
)
def test_invalid_table_name_is_reported_before_counting(
    name: str, words: str, table: Table, clinic: Clinic
) -> None:
    clinic.run("CREATE TABLE out.taken AS SELECT 1 AS a", f"GRANT SELECT ON out.taken TO {clinic.role}")
    with pytest.raises(InputError, match=words):
        table.publish({"age": 1}, table=name, k=3)
