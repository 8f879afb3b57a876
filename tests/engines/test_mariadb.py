"""The MariaDB engine on a real server: from a table to an audited table next to it, and its refusals."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.engines.connection import connect
from discreet.engines.mariadb.address import is_mariadb_address, normalize_address
from discreet.engines.mariadb.session import rewrite_statement
from discreet.engines.source_tables import table_digest
from discreet.errors import InputError, LimitReached
from discreet.model.table_spec import SourceSpec
from discreet.settings import Settings
from tests.engines.rows import rows_of, text_rows
from tests.servers.mariadb import PASSWORD, PASSWORD_USER, MariadbServer

SPEC = {"age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [10, 20]}}}
SPEC |= {"ward": {"role": "quasi-identifier"}, "ill": {"role": "sensitive"}}


@dataclass
class Clinic:
    """A database with patients, and a publisher who may read it and create tables in another database."""

    server: MariadbServer
    name: str
    user: str

    @property
    def url(self) -> str:
        return self.server.url(self.name, self.user)

    @property
    def source(self) -> SourceSpec:
        return SourceSpec(url=self.url, table=f"{self.name}.patients")

    def table(self) -> discreet.Table:
        return discreet.open(self.url, {"source": {"table": f"{self.name}.patients"}, "attributes": SPEC})

    def tables(self) -> list[str]:
        return sorted(
            row[0] for row in self.server.fetch(f"SHOW TABLES FROM {self.name}_out") if row[0] != "theirs"
        )


@pytest.fixture
def clinic(mariadb_server: MariadbServer) -> Iterator[Clinic]:
    name = mariadb_server.create_database()
    found = Clinic(mariadb_server, name, f"publisher_{name}")
    mariadb_server.run(
        f"CREATE DATABASE {name}_out CHARACTER SET utf8mb4",
        f"CREATE USER {found.user}",
        f"GRANT SELECT, CREATE TEMPORARY TABLES ON {name}.* TO {found.user}",
        f"GRANT SELECT, CREATE, INSERT, ALTER, DROP ON {name}_out.* TO {found.user}",
        "CREATE TABLE patients (age INT, ward VARCHAR(20), ill ENUM('flu', 'gout', 'cold'))"
        " CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
        # Wards that the table's collation considers equal although no two texts are.
        "INSERT INTO patients SELECT 20 + seq % 40, "
        "CASE seq % 5 WHEN 0 THEN 'a' WHEN 1 THEN 'A' WHEN 2 THEN 'a ' WHEN 3 THEN 'ä' END, "
        "ELT(1 + seq % 3, 'flu', 'gout', 'cold') FROM seq_1_to_600",
        database=name,
    )
    yield found
    mariadb_server.run(f"DROP USER {found.user}", f"DROP DATABASE {name}", f"DROP DATABASE {name}_out")


def test_texts_equal_under_the_servers_collation_are_counted_separately(
    clinic: Clinic, settings: Settings
) -> None:
    """The texts differ in case, accent, trailing blanks, or NULL."""
    wards = ["a", "A", "a ", "ä", None]
    plain = Counter((str(20 + number % 40), wards[number % 5]) for number in range(1, 601))
    found = clinic.table().frequency_set
    assert (found.rows, found.row_types) == (600, len(plain))
    with connect(settings, clinic.source) as engine:
        assert Counter(text_rows(engine, clinic.source, ("age", "ward"))) == plain


@pytest.mark.parametrize("suppressed", ["drop", "star"])
def test_published_table_has_the_digest_of_a_file_and_reveals_changes(
    suppressed: str, clinic: Clinic, settings: Settings, tmp_path: Path
) -> None:
    table, target = clinic.table(), f"{clinic.name}_out.released"
    options: dict[str, Any] = {"k": 20, "max_suppressed": "100%", "suppressed_rows": suppressed}
    table.publish({"age": 1, "ward": 0}, table=target, **options)
    assert clinic.tables() == ["released", "released_manifest"]
    assert discreet.audit(clinic.url, table=target).passed
    manifest = json.loads(clinic.server.fetch(f"SELECT * FROM {clinic.name}_out.released_manifest")[0][0])
    file = tmp_path / "released.parquet"
    table.publish({"age": 1, "ward": 0}, file, **options)
    for source in (SourceSpec(url=clinic.url, table=target), SourceSpec(path=file)):
        with connect(settings, source) as engine:
            assert table_digest(engine, source) == manifest["data"]["sha256"]
    with pytest.raises(InputError, match=r"query of a release in MariaDB.*Export"):
        discreet.query(clinic.url, "SELECT COUNT(*) FROM released", table=target)
    with pytest.raises(InputError, match="Allowed: duckdb"):
        discreet.query(clinic.url, "SELECT COUNT(*) FROM released", table=target, dialect="mariadb")
    clinic.server.run(f"DELETE FROM {target} LIMIT 1")
    assert not discreet.audit(clinic.url, table=target).passed


def test_existing_tables_are_replaced_only_on_request(clinic: Clinic) -> None:
    table, target = clinic.table(), f"{clinic.name}_out.released"
    for _ in range(2):
        table.publish({"age": 2, "ward": 1}, table=target, k=2, overwrite=True)
    with pytest.raises(InputError, match="exists"):
        table.publish({"age": 2, "ward": 1}, table=target, k=2)
    with pytest.raises(InputError, match="is the input"):
        table.publish({"age": 2, "ward": 1}, table=f"{clinic.name}.patients", k=2, overwrite=True)
    with pytest.raises(InputError, match="no right"):
        table.publish({"age": 2, "ward": 1}, table=f"{clinic.name}.released", k=2)
    clinic.server.run(f"CREATE TABLE {clinic.name}_out.theirs_manifest (a INT)")
    with pytest.raises(InputError, match=r"does not belong to a release|contains no manifest"):
        table.publish({"age": 2, "ward": 1}, table=f"{clinic.name}_out.theirs", k=2)
    clinic.server.run(f"DROP TABLE {clinic.name}_out.theirs_manifest")
    assert clinic.tables() == ["released", "released_manifest"]


def test_models_that_mariadb_cannot_express_are_refused_before_writing(clinic: Clinic) -> None:
    with pytest.raises(InputError, match="cannot express"):
        clinic.table().publish("permutation", table=f"{clinic.name}_out.permuted", k=2)
    assert clinic.tables() == []


def test_password_is_never_shown(
    clinic: Clinic, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MYSQL_PWD", PASSWORD)
    source = SourceSpec(url=clinic.server.network_url(clinic.name, PASSWORD_USER), table="patients")
    assert len(rows_of(settings, source)) == 600
    monkeypatch.delenv("MYSQL_PWD")
    wrong = clinic.server.network_url(clinic.name, PASSWORD_USER, "not it")
    with pytest.raises(InputError, match="refuses the login") as error:
        connect(settings, SourceSpec(url=wrong, table="patients"))
    assert "not it" not in str(error.value) + repr(SourceSpec(url=wrong))
    spec = tmp_path / "spec.toml"
    spec.write_text(f'[source]\nurl = "{wrong}"\ntable = "patients"\n[attributes.age]\nrole = "sensitive"\n')
    with pytest.raises(InputError, match=r"must not.*MYSQL_PWD|contains a password"):
        discreet.open(spec)


def test_missing_tables_and_databases_are_refused(clinic: Clinic, settings: Settings) -> None:
    for url, table, words in (
        (clinic.url, "patient", "no table 'patient'.*patients"),
        (clinic.server.url("nowhere", clinic.user), "patients", "the database does not exist"),
    ):
        source = SourceSpec(url=url, table=table)
        with pytest.raises(InputError, match=words), connect(settings, source) as engine:
            engine.open_source(source)


def test_statement_beyond_the_time_limit_is_stopped(
    clinic: Clinic, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISCREET_STATEMENT_TIMEOUT", "1")
    with connect(settings, clinic.source) as engine, pytest.raises(LimitReached, match="STATEMENT_TIMEOUT"):
        engine.fetch_rows("SELECT count(*) FROM patients AS a, patients AS b, patients AS c, patients AS d")


@pytest.mark.parametrize(
    ("common", "own"),
    [
        ("count(*) FILTER (WHERE a = ')' OR (b))", "count(CASE WHEN a = ')' OR (b) THEN 1 END)"),
        (
            "coalesce(min(f(x)) FILTER (WHERE NOT s), 0)",
            "coalesce(min(CASE WHEN NOT s THEN f(x) END), 0)",
        ),
        ("CAST(sum(rows) AS BIGINT) AS rows", 'CAST(sum("rows") AS SIGNED) AS "rows"'),
        ("'length(x) AS BIGINT)' || length(x)", "'length(x) AS BIGINT)' || char_length(x)"),
        ('"FILTER (WHERE" FROM t AS BIGINT', '"FILTER (WHERE" FROM t AS BIGINT'),
        (
            "c1 FROM (SELECT a, b FROM t) AS u(c0, c1) WHERE c0 IN (1)",
            "c1 FROM (WITH named (c0, c1) AS (SELECT a, b FROM t) SELECT * FROM named) AS u WHERE c0 IN (1)",
        ),
        ("ORDER BY a ASC NULLS FIRST, b", "ORDER BY a ASC , b"),
    ],
)
def test_statements_are_rewritten_for_mariadb(common: str, own: str) -> None:
    assert rewrite_statement(f"SELECT {common}") == f"SELECT {own}"


def test_addresses_are_normalized_or_refused() -> None:
    assert is_mariadb_address("MARIADB://h/d")
    assert not is_mariadb_address("mysql://h/d")
    assert normalize_address("mariadb+pymysql://ann@h:3306/d?ssl_ca=/x") == "mariadb://ann@h:3306/d?ssl_ca=/x"
    for text in ("mariadb://h", "mariadb://ann:a/b@h/d", "mariadb://h/d?local_infile=1", "mariadb://h/a/b"):
        with pytest.raises(InputError) as error:
            normalize_address(text)
        assert "a/b" not in str(error.value)
