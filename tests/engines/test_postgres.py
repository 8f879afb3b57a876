"""The PostgreSQL engine: addresses, privileges, the transaction, and cleanup."""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.audit.class_audit import audit_source
from discreet.engines.postgres.engine import PostgresEngine
from discreet.engines.source_tables import open_source_table, opened_table_digest
from discreet.errors import DiscreetError, InputError, LimitReached
from discreet.model.requirement import Requirement
from discreet.model.table_spec import SourceSpec
from discreet.settings import Settings
from tests.engines.clinic import Clinic
from tests.every_engine.plain_digest import plain_digest
from tests.servers.postgres import PASSWORD, PASSWORD_USER, PostgresServer


def refused(action: Callable[[], Any], *parts: str) -> InputError:
    """Return the ``InputError`` of an action and check that its text contains the parts."""
    with pytest.raises(InputError) as caught:
        action()
    for part in parts:
        assert part in str(caught.value)
    assert PASSWORD not in str(caught.value)
    return caught.value


# --- addresses ---------------------------------------------------------------------------------------------


def test_wrong_address_is_refused(postgres_server: PostgresServer, settings: Settings) -> None:
    def at(url: str) -> Callable[[], PostgresEngine]:
        return lambda: PostgresEngine(settings, url)

    refused(at("postgresql://localhost:x/db?nonsense=1"), "address cannot be read", "postgresql://USER@HOST")
    refused(at("postgresql://127.0.0.1:1/db"), "the database db on 127.0.0.1:1", "refuses connections")
    refused(at(postgres_server.url("missing")), "the database does not exist")
    refused(at(postgres_server.network_url("postgres", "nobody_else")), "no connection", "PGPASSWORD")


def test_password_comes_from_the_environment_or_a_file(
    postgres_server: PostgresServer, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "none"))
    postgres_server.run(f"CREATE ROLE {PASSWORD_USER} LOGIN PASSWORD '{PASSWORD}'")
    try:
        address = postgres_server.network_url(user=PASSWORD_USER)
        refused(lambda: PostgresEngine(settings, address), "refuses the login", "PGPASSWORD", ".pgpass")
        wrong = postgres_server.network_url(user=PASSWORD_USER, password="wrong")
        assert "wrong" not in str(refused(lambda: PostgresEngine(settings, wrong), "refuses the login"))
        monkeypatch.setenv("PGPASSWORD", PASSWORD)
        with PostgresEngine(settings, address) as engine:
            assert engine.fetch_rows("SELECT current_user") == [(PASSWORD_USER,)]
    finally:
        postgres_server.run(f"DROP ROLE {PASSWORD_USER}")


def test_missing_package_is_named(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    found = builtins.__import__

    def missing(name: str, *rest: Any, **named: Any) -> Any:
        if name == "psycopg":
            raise ImportError(name)
        return found(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", missing)
    refused(lambda: PostgresEngine(settings, "postgresql://h/d"), "pip install 'discreet[postgres]'")


# --- sources and privileges --------------------------------------------------------------------------------


def columns(clinic: Clinic, table: str) -> tuple[str, ...]:
    source = SourceSpec(url=clinic.url, table=table)
    with clinic.engine() as engine, open_source_table(engine, source) as found:
        engine.fetch_rows(f"SELECT count(*) FROM {found.relation}")
        return found.columns


def test_table_is_found_by_its_name(clinic: Clinic) -> None:
    clinic.run(
        'CREATE TABLE clinic."The ""best"" people.x" (a INTEGER)',
        "CREATE VIEW clinic.adults AS SELECT * FROM clinic.patients WHERE age >= 18",
        "CREATE TABLE clinic.parts (a INTEGER) PARTITION BY RANGE (a)",
        "CREATE MATERIALIZED VIEW clinic.stored AS SELECT 1 AS b",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA clinic TO {clinic.role}",
        f"ALTER ROLE {clinic.role} SET search_path = nowhere, clinic",
    )
    people = ("age", "ward", "secret")
    for name, found in {
        'clinic."The ""best"" people.x"': ("a",),
        "clinic.adults": people,
        "patients": people,
        "clinic.parts": ("a",),
        "stored": ("b",),
    }.items():
        assert columns(clinic, name) == found
    refused(lambda: columns(clinic, "clinic.patient"), "no table 'clinic.patient'", "'patients'")
    refused(lambda: columns(clinic, '"clinic.patients"'), "no table")
    refused(lambda: columns(clinic, "a.b.c"), "SCHEMA.TABLE")


def test_missing_right_to_read_is_named(clinic: Clinic) -> None:
    clinic.run(f"REVOKE SELECT ON clinic.patients FROM {clinic.role}")
    refused(
        lambda: columns(clinic, "clinic.patients"),
        "may not read the table clinic.patients",
        f'GRANT SELECT ON "clinic"."patients" TO "{clinic.role}"',
    )
    clinic.run(f"GRANT SELECT (age, ward) ON clinic.patients TO {clinic.role}")
    assert columns(clinic, "clinic.patients") == ("age", "ward")
    clinic.run(f"REVOKE USAGE ON SCHEMA clinic FROM {clinic.role}")
    refused(lambda: columns(clinic, "clinic.patients"), "GRANT USAGE ON SCHEMA")


def test_rows_are_never_hidden(clinic: Clinic) -> None:
    clinic.run(
        "ALTER TABLE clinic.patients ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY few ON clinic.patients USING (age < 18)",
    )
    refused(lambda: columns(clinic, "clinic.patients"), "all of its rows")


def test_missing_right_to_temporary_tables_is_named(clinic: Clinic) -> None:
    clinic.run(f"REVOKE TEMPORARY ON DATABASE {clinic.database} FROM PUBLIC")
    refused(clinic.engine, f'GRANT TEMPORARY ON DATABASE "{clinic.database}" TO "{clinic.role}"')
    clinic.run(f"ALTER ROLE {clinic.role} SET search_path = out, clinic")
    with clinic.engine() as engine, open_source_table(engine, clinic.source) as table:
        engine.create_table("ages", f"SELECT c0 AS age, count(*) AS n FROM {table.relation} GROUP BY c0")
        engine.load_table("loaded", {"t": ["a", None]})
        engine.write_table("SELECT age FROM ages ORDER BY age", "out", "ages_of_all", ["age"])
        assert engine.fetch_rows("SELECT count(*) FROM loaded") == [(2,)]
        assert clinic.published() == []
        engine.commit()
    assert clinic.published() == ["ages_of_all"]


def test_missing_right_to_create_is_named(clinic: Clinic) -> None:
    with clinic.engine() as engine:
        engine.check_target("out", "people")
        refused(
            lambda: engine.check_target("nowhere", "people"),
            "the schema 'nowhere' does not exist",
            "CREATE SCHEMA",
        )
        refused(
            lambda: engine.check_target("clinic", "people"),
            "may not create tables in the schema 'clinic'",
            f'GRANT USAGE, CREATE ON SCHEMA "clinic" TO "{clinic.role}"',
        )
        refused(lambda: engine.check_target("out", "x" * 64), "63 bytes")
        refused(lambda: engine.write_table("SELECT 1", "out", "t", ["ctid"]), "cannot be named 'ctid'")
        refused(lambda: engine.write_table("SELECT 1, 2", "out", "t", ["a", "a"]), "one name")


def test_existing_name_is_refused(clinic: Clinic) -> None:
    clinic.run("CREATE TABLE out.theirs (a INTEGER)", "CREATE SEQUENCE out.numbers")
    with clinic.engine() as engine:
        engine.write_table("SELECT 1 AS a", "out", "ours", ["a"])
        engine.create_view("out", "seen", "SELECT a FROM out.ours", ["b"])
        engine.commit()
        refused(lambda: engine.check_target("out", "ours"), "already exists", "overwrite=")
        engine.check_target("out", "ours", overwrite=True)
        refused(lambda: engine.check_target("out", "theirs", overwrite=True), "another role")
        refused(lambda: engine.check_target("out", "numbers", overwrite=True), "already exists")
        refused(lambda: engine.drop_relation("out", "ours"), "depend on")
        engine.drop_relation("out", "seen")
        engine.drop_relation("out", "ours")
        engine.drop_relation("out", "ours")
        assert not engine.table_exists("out", "ours")
        assert clinic.published() == ["numbers", "ours", "seen", "theirs"]
        engine.commit()
    assert clinic.published() == ["numbers", "theirs"]


def test_table_is_written_in_order_with_indexes_and_statistics(clinic: Clinic) -> None:
    with clinic.engine() as engine, open_source_table(engine, clinic.source) as table:
        long = "(SELECT string_agg(md5(CAST(c2 + i AS TEXT)), '') FROM generate_series(1, 300) AS i)"
        query = f"SELECT c0, {long} FROM {table.relation} ORDER BY c2 DESC LIMIT 100"
        indexes = [["Age"], ["odd \"name'"]]
        engine.write_table(query, "out", "people", ["Age", "odd \"name'"], indexes)
        engine.commit()
    first = clinic.server.fetch('SELECT "Age" FROM out.people LIMIT 3', clinic.database)
    assert first == [(1000 % 90,), (999 % 90,), (998 % 90,)]
    assert clinic.server.fetch(
        "SELECT count(*) FROM pg_indexes WHERE schemaname = 'out'", clinic.database
    ) == [(1,)]
    assert clinic.server.fetch("SELECT count(*) FROM pg_stats WHERE schemaname = 'out'", clinic.database) == [
        (2,)
    ]


# --- the transaction ---------------------------------------------------------------------------------------


def test_session_reads_one_snapshot_and_writes_only_on_commit(clinic: Clinic) -> None:
    with clinic.engine() as engine, open_source_table(engine, clinic.source) as table:
        count = f"SELECT count(*) FROM {table.relation}"
        assert engine.fetch_rows(count) == [(1000,)]
        clinic.run("INSERT INTO clinic.patients VALUES (1, 'new', 1)")
        assert engine.fetch_rows(count) == [(1000,)]
        engine.write_table("SELECT 1", "out", "t", ["a"])
        with pytest.raises(InputError, match="already exists"):
            engine.write_table("SELECT 1", "out", "t", ["a"])
        assert engine.fetch_rows(count) == [(1000,)]
    assert clinic.published() == []


def test_replica_is_named(clinic: Clinic) -> None:
    clinic.run(f"ALTER ROLE {clinic.role} SET default_transaction_read_only = on")
    with clinic.engine() as engine:
        refused(lambda: engine.check_target("out", "t"), "is read-only: it is a replica")
        refused(lambda: engine.create_table("t", "SELECT 1 AS a"), "read-only", "primary")


def test_failed_local_file_leaves_nothing(clinic: Clinic, out: Path) -> None:
    with clinic.engine() as engine, open_source_table(engine, clinic.source) as table:
        with pytest.raises(LimitReached):
            engine.write_file("SELECT pg_cancel_backend(pg_backend_pid())", out / "b.csv", "csv")
        assert engine.locate(table, "ward", "a 3") == "143 rows"
    assert list(out.iterdir()) == []


# --- the transaction ---------------------------------------------------------------------------------------


def test_failed_statement_undoes_only_itself(postgres_server: PostgresServer, settings: Settings) -> None:
    with PostgresEngine(settings, postgres_server.url("postgres")) as engine:
        engine.load_table("kept", {"n": np.arange(3)})
        for fails in ("SELECT 1 / 0", "INSERT INTO kept VALUES (7); SELECT 1 / 0", "nonsense"):
            with pytest.raises(DiscreetError):
                engine.execute(fails)
            assert engine.fetch_rows("SELECT count(*) FROM kept") == [(3,)]
        engine.commit()
        with pytest.raises(DiscreetError):
            engine.fetch_rows("SELECT 1 / 0")
        assert engine.fetch_rows("SELECT count(*) FROM kept") == [(3,)]


def test_statement_and_its_savepoint_are_sent_in_one_message(
    postgres_server: PostgresServer, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    sent: list[bytes] = []
    execute = psycopg.Cursor.execute

    def counted(cursor: Any, query: bytes, *further: Any, **options: Any) -> Any:
        sent.append(query)
        return execute(cursor, query, *further, **options)

    with PostgresEngine(settings, postgres_server.url("postgres")) as engine:
        monkeypatch.setattr(psycopg.Cursor, "execute", counted)
        engine.load_table("small", {"n": np.array([0.5, np.inf, -1e300]), "text": ["it's", None, "\\\n"]})
        engine.create_table("copy", "SELECT * FROM small")
        assert engine.fetch_rows("SELECT * FROM copy ORDER BY n") == [
            (-1e300, "\\\n"),
            (0.5, "it's"),
            (float("inf"), None),
        ]
        assert len(sent) == 3


def test_texts_equal_in_a_collation_have_different_digests(clinic: Clinic) -> None:
    """Texts that a collation considers equal are digested separately, by code point as in a file."""
    clinic.run(
        "CREATE COLLATION clinic.loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
        "CREATE TABLE clinic.notes "
        "(ward TEXT COLLATE clinic.loose, age INTEGER, note TEXT COLLATE clinic.loose)",
        "INSERT INTO clinic.notes SELECT CASE WHEN i % 2 = 0 THEN 'a' ELSE 'A' END, i % 3, "
        "CASE WHEN i % 5 = 0 THEN 'x' ELSE 'X' END FROM generate_series(1, 60) AS i",
        f"GRANT SELECT ON clinic.notes TO {clinic.role}",
    )
    source = SourceSpec(url=clinic.url, table="clinic.notes")
    with clinic.engine() as engine:
        with open_source_table(engine, source) as table:
            rows = Counter(engine.fetch_rows("SELECT c0::text, c1::text, c2::text FROM " + table.relation))
            assert len(rows) == 12
            assert opened_table_digest(engine, table) == plain_digest(rows)
        options = {
            "quasi_identifiers": ["ward", "age"],
            "sensitive": ["note"],
            "requirement": Requirement(k=2),
        }
        for more in ({"digest": True, "in_order": True}, {"digest": True}, {}):
            found = audit_source(engine, source, **options, starred_apart=False, **more)  # type: ignore[arg-type]
            assert found.sha256 == (plain_digest(rows) if more else None)
            assert (found.classes, found.k, found.l) == (6, 10, {"note": 2})
