"""Two concurrent publications, and a table that changes between counting and publishing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest

import discreet
from discreet.engines.postgres.engine import PostgresEngine
from discreet.errors import DiscreetError, InputError, RequirementNotMet
from discreet.verbs.table import Table
from tests.engines.clinic import RELEASED, Clinic

WAIT = 60.0


def publish(table: Table, **options: Any) -> None:
    table.publish({"age": 1}, table="out.people", k=10, **options)


@pytest.mark.parametrize("overwrite", [False, True])
def test_one_of_two_publications_wins_and_the_other_gets_an_error(
    overwrite: bool, clinic: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One publication wins and the other gets an error; the first waits until the second has ended."""
    first, second = clinic.table(), clinic.table()
    if overwrite:
        publish(first)
    writes, ended = Event(), Event()
    found = PostgresEngine.write_table

    def waiting(self: PostgresEngine, *values: Any, **named: Any) -> None:
        if not writes.is_set():
            writes.set()
            assert ended.wait(WAIT)
        found(self, *values, **named)

    monkeypatch.setattr(PostgresEngine, "write_table", waiting)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(publish, first, overwrite=overwrite)
        try:
            assert writes.wait(WAIT)
            with pytest.raises(InputError, match=r"another publication to out\.people is under way"):
                publish(second, overwrite=overwrite)
        finally:
            ended.set()
        running.result(WAIT)
    assert clinic.published() == RELEASED
    with pytest.raises(InputError, match="already exists"):
        publish(second)
    publish(second, overwrite=True)
    assert discreet.audit(clinic.url, table="out.people", settings=clinic.settings).passed


def test_publication_that_starts_as_another_ends_sees_its_tables(
    clinic: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A publication that starts as another ends sees the other's tables.

    The second opened its session and looked before the first ended.
    """
    first, second = clinic.table(), clinic.table()
    publish(first)
    found = PostgresEngine.reserved
    calls: list[bool] = []

    def late(self: PostgresEngine, schema: str, name: str) -> Any:
        if not calls:
            calls.append(True)
            self.fetch_rows("SELECT count(*) FROM clinic.patients")
            publish(first, overwrite=True)
        return found(self, schema, name)

    monkeypatch.setattr(PostgresEngine, "reserved", late)
    publish(second, overwrite=True)
    assert calls == [True]
    assert discreet.audit(clinic.url, table="out.people", settings=clinic.settings).passed


def test_table_of_the_same_name_from_another_session_is_refused(
    clinic: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = PostgresEngine.write_table

    def taken(self: PostgresEngine, *values: Any, **named: Any) -> None:
        if "people" not in clinic.published():
            clinic.run("CREATE TABLE out.people (a int)")
        found(self, *values, **named)

    monkeypatch.setattr(PostgresEngine, "write_table", taken)
    with pytest.raises(InputError, match="already exists"):
        publish(clinic.table())


@pytest.mark.parametrize(
    ("column", "options"), [("age", {"table": "out.people"}), ("ward", {"output": "people.csv"})]
)
def test_column_dropped_after_counting_is_named(
    column: str, options: dict[str, str], clinic: Clinic, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = clinic.table()
    assert table.frequency_set.rows == 1000
    clinic.run(f"ALTER TABLE clinic.patients DROP COLUMN {column}")
    with pytest.raises(InputError, match=f"changed after it was counted.*'{column}'") as error:
        table.publish({"age": 1}, k=10, **options)
    assert "Negotiate again" in str(error.value)
    assert clinic.published() == []


def test_sensitive_values_changed_after_counting_are_refused(clinic: Clinic) -> None:
    table = clinic.table()
    assert table.negotiate(k=10, l=3).exact is not None
    clinic.run("UPDATE clinic.patients SET ward = 'one'")
    with pytest.raises(DiscreetError) as error:
        table.publish({"age": 1}, table="out.people", k=10, l=3)
    assert isinstance(error.value, InputError | RequirementNotMet)
    assert "negotiate again" in str(error.value).lower()
    assert clinic.published() == []
