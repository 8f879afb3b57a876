"""Faults during work on PostgreSQL: a clear error, no leftovers, and a second attempt that succeeds."""

from __future__ import annotations

import resource
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from discreet.engines.postgres.engine import PostgresEngine
from discreet.engines.source_tables import open_source_table
from discreet.errors import DiscreetError, InputError, LimitReached
from tests.engines.clinic import Clinic
from tests.waiting import ctrl_c_arrives, wait_for

SLOW = "SELECT pg_sleep(30)"
TARGET = ("out", "people")


def publish(clinic: Clinic, meanwhile: Callable[[PostgresEngine], None] = lambda _: None) -> None:
    """Count and write a table; ``meanwhile`` runs after a write and before the commit."""
    with clinic.engine() as engine, open_source_table(engine, clinic.source) as table:
        engine.check_target(*TARGET)
        engine.create_table("wards", f"SELECT c1 AS ward, count(*) AS n FROM {table.relation} GROUP BY c1")
        engine.write_table("SELECT ward, n FROM wards ORDER BY ward", *TARGET, ["ward", "n"], [["ward"]])
        meanwhile(engine)
        engine.commit()


def fails(clinic: Clinic, meanwhile: Callable[[PostgresEngine], None], *parts: str) -> DiscreetError:
    """Check that a publication fails with the given words, leaves nothing, and succeeds on retry."""
    with pytest.raises(DiscreetError) as caught:
        publish(clinic, meanwhile)
    for part in parts:
        assert part in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert clinic.published() == []
    publish(clinic)
    assert clinic.published() == ["people", "people_ward_idx"]
    return caught.value


@contextmanager
def later(action: Callable[[], None], clinic: Clinic) -> Iterator[None]:
    """Run an action once a statement sleeps in the database."""

    def wait() -> None:
        ours = f"usename = '{clinic.role}' AND state = 'active'"
        asleep = f"SELECT 1 FROM pg_stat_activity WHERE query LIKE '%pg_sleep%' AND {ours}"
        try:
            wait_for(lambda: clinic.server.fetch(asleep), "a statement that sleeps")
        finally:
            action()

    thread = threading.Thread(target=wait)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def end_sessions(clinic: Clinic, function: str = "pg_terminate_backend") -> None:
    """End the publisher's session, or its statement, from another session."""
    clinic.server.fetch(f"SELECT {function}(pid) FROM pg_stat_activity WHERE usename = '{clinic.role}'")


def test_session_ended_between_two_statements_is_reported(clinic: Clinic) -> None:
    def meanwhile(engine: PostgresEngine) -> None:
        end_sessions(clinic)
        wait_for(lambda: clinic.sessions() == 0, "no session")

    assert isinstance(fails(clinic, meanwhile, "lost", "committed"), LimitReached)


@pytest.mark.parametrize(
    ("function", "words"),
    [("pg_terminate_backend", "ended the session"), ("pg_cancel_backend", "was cancelled")],
)
def test_statement_stopped_by_another_session_is_a_limit(clinic: Clinic, function: str, words: str) -> None:
    def meanwhile(engine: PostgresEngine) -> None:
        with later(lambda: end_sessions(clinic, function), clinic):
            engine.fetch_rows(SLOW)

    assert isinstance(fails(clinic, meanwhile, words), LimitReached)


def test_interrupt_stops_only_the_statement(clinic: Clinic) -> None:
    with clinic.engine() as engine:
        engine.create_table("kept", "SELECT 7 AS n")
        with later(engine.interrupt, clinic), pytest.raises(LimitReached, match="cancelled"):
            engine.create_table("slow", "SELECT CAST(pg_sleep(30) AS TEXT) AS s")
        assert engine.fetch_rows("SELECT n FROM kept") == [(7,)]


def test_ctrl_c_stops_the_statement(clinic: Clinic) -> None:
    def press() -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    with ctrl_c_arrives(), clinic.engine() as engine:
        engine.write_table("SELECT 1 AS a", *TARGET, ["a"])
        with later(press, clinic), pytest.raises(KeyboardInterrupt):
            engine.fetch_rows(SLOW)
    assert clinic.published() == []


def test_statement_beyond_the_time_limit_is_stopped(clinic: Clinic, monkeypatch: pytest.MonkeyPatch) -> None:
    def meanwhile(engine: PostgresEngine) -> None:
        monkeypatch.delenv("DISCREET_STATEMENT_TIMEOUT")
        engine.fetch_rows(SLOW)

    monkeypatch.setenv("DISCREET_STATEMENT_TIMEOUT", "2s")  # long enough for the earlier statements
    assert isinstance(fails(clinic, meanwhile, "2 seconds of DISCREET_STATEMENT_TIMEOUT"), LimitReached)


@pytest.mark.parametrize("text", ["soon", "0", "-1", "1 day"])
def test_invalid_time_limit_is_refused(clinic: Clinic, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_STATEMENT_TIMEOUT", text)
    with pytest.raises(InputError, match="DISCREET_STATEMENT_TIMEOUT"):
        clinic.engine()


def test_full_disk_for_temporary_files_is_a_limit(clinic: Clinic) -> None:
    """A limit of the server simulates a full disk, which would need a mounted one."""
    clinic.run(f"GRANT SET ON PARAMETER temp_file_limit TO {clinic.role}")

    def meanwhile(engine: PostgresEngine) -> None:
        engine.execute("SET temp_file_limit = '64kB'")
        engine.execute("SET work_mem = '64kB'")
        engine.create_table(
            "sorted", "SELECT md5(CAST(i AS TEXT)) AS t FROM generate_series(1, 99999) AS i ORDER BY t"
        )

    fails(clinic, meanwhile, "temp_file_limit")
    clinic.run(f"REVOKE SET ON PARAMETER temp_file_limit FROM {clinic.role}")


def test_full_local_disk_is_a_limit(clinic: Clinic, out: Path) -> None:
    rows = "SELECT md5(CAST(i AS TEXT)) AS t FROM generate_series(1, 99999) AS i"
    least, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    with clinic.engine() as engine:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, most))
        try:
            with pytest.raises(LimitReached, match="no space is left"):
                engine.write_file(rows, out / "a.csv", "csv")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (least, most))
        assert list(out.iterdir()) == []
        engine.write_file(rows, out / "a.csv", "csv")
        assert engine.fetch_rows("SELECT 1") == [(1,)]


RAISED = {
    "53100": "no space is left on the database server's disk",
    "53200": "out of memory",
    "40001": "changed during the transaction",
    "55P03": "locked by another session",
    "57P03": "starting up or shutting down",
    "22021": "NUL character",
    "XX000": "SQLSTATE XX000",
}


@pytest.mark.parametrize("code", RAISED)
def test_errors_raised_by_the_server_are_reported(clinic: Clinic, code: str) -> None:
    """The server raises the code, with a message and a detail that quote a row (simulated)."""
    body = f"RAISE EXCEPTION 'row of Ann' USING ERRCODE = '{code}', DETAIL = 'Ann, 41'"
    clinic.run(f"CREATE FUNCTION clinic.fail() RETURNS integer LANGUAGE plpgsql AS $$BEGIN {body}; END$$")
    error = fails(clinic, lambda engine: engine.execute("SELECT clinic.fail()"), RAISED[code])
    assert "Ann" not in f"{error} {error.advice} {error.allowed}"


def test_right_to_read_revoked_during_a_run_is_reported(clinic: Clinic) -> None:
    def meanwhile(engine: PostgresEngine) -> None:
        with open_source_table(engine, clinic.source) as table:
            clinic.run(f"REVOKE SELECT ON clinic.patients FROM {clinic.role}")
            try:
                engine.fetch_rows(f"SELECT count(*) FROM {table.relation}")
            finally:
                clinic.run(f"GRANT SELECT ON clinic.patients TO {clinic.role}")

    assert isinstance(fails(clinic, meanwhile, "the table clinic.patients", "no right"), InputError)
