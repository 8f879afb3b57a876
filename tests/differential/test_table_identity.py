"""One table under two names has one budget, and another table has its own."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pandas
import pytest

from discreet.differential.ledger import Ledger
from discreet.engines.connection import connect
from discreet.engines.identity import table_identities
from discreet.engines.spark.engine import SparkEngine
from discreet.errors import LimitReached
from discreet.model.privacy_loss import PrivacyLoss
from discreet.model.table_spec import SourceSpec
from discreet.settings import Settings
from discreet.verbs.table import Table
from discreet.verbs.table import open as open_table
from tests.drawing import in_turn
from tests.servers.mariadb import MariadbServer
from tests.servers.postgres import PostgresServer

ROWS = [("23", "F"), ("27", "M"), ("41", "F"), (None, "M")]
OTHERS = [("30", "F"), ("31", "M")]
LOSS = PrivacyLoss(Fraction(3, 5))


@pytest.fixture(autouse=True)
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the ledger of all tables of a test in one folder."""
    monkeypatch.setenv("DISCREET_LOG", str(tmp_path / "private" / "log.jsonl"))
    monkeypatch.setenv("DISCREET_THREADS", "1")


def table_of(source: Any, table: str | None = None, name: str | None = None, **more: Any) -> Table:
    """Return a table with a budget of 1, in which ``LOSS`` fits once."""
    named = {} if table is None else {"table": table}
    budget = {"epsilon": 1, **({} if name is None else {"table": name})}
    given = {
        "source": {**named, **more},
        "attributes": {"age": {"role": "sensitive"}},
        "privacy_budget": budget,
    }
    return open_table(source if not isinstance(source, Path) else str(source), given)


def spend(table: Table) -> None:
    Ledger.of(table.spec, table.settings).spend(LOSS, "test")


def assert_one(one: Table, other: Table) -> None:
    """Assert that two tables share one budget."""
    spend(one)
    assert other.budget().spent == LOSS
    with pytest.raises(LimitReached):
        spend(other)


def assert_two(one: Table, other: Table) -> None:
    spend(one)
    assert other.budget().spent == PrivacyLoss(Fraction(0))
    spend(other)


def csv_file(path: Path, rows: list[tuple[str | None, str]] = ROWS) -> Path:
    lines = [",".join(cell or "" for cell in row) for row in rows]
    path.write_text("\n".join(["age,sex", *lines, ""]), "utf-8")
    return path


def sqlite_file(path: Path, *statements: str, tables: tuple[str, ...] = ("people",)) -> Path:
    with sqlite3.connect(path) as database:
        for place, name in enumerate(tables):
            database.execute(f'CREATE TABLE "{name}" (age, sex)')
            database.executemany(f'INSERT INTO "{name}" VALUES (?, ?)', ROWS if place == 0 else OTHERS)
        for statement in statements:
            database.execute(statement)
    database.close()
    return path


def duckdb_file(path: Path, *statements: str, tables: tuple[str, ...] = ("people",)) -> Path:
    with duckdb.connect(str(path)) as database:
        for place, name in enumerate(tables):
            database.execute(f'CREATE TABLE "{name}" (age VARCHAR, sex VARCHAR)')
            database.executemany(f'INSERT INTO "{name}" VALUES (?, ?)', ROWS if place == 0 else OTHERS)
        for statement in statements:
            database.execute(statement)
    return path


VIEWS = (
    "CREATE VIEW women AS SELECT age FROM people WHERE sex = 'F'",
    'CREATE VIEW further AS SELECT * FROM "women"',
    "CREATE VIEW strangers AS SELECT age FROM other",
)


def test_single_table_of_a_file_is_recognized_without_its_name(tmp_path: Path) -> None:
    path = tmp_path / "d.xlsx"
    pandas.DataFrame(ROWS, columns=["age", "sex"]).to_excel(path, sheet_name="people", index=False)
    assert_one(table_of(path, "people"), table_of(path))
    path = sqlite_file(tmp_path / "d.sqlite")
    assert table_of(path, "people").budget().spent == table_of(path).budget().spent == LOSS


def test_command_refuses_a_changed_copy(tmp_path: Path) -> None:
    path = sqlite_file(tmp_path / "d.sqlite")
    spend(table_of(path))
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE more AS SELECT 1 AS age, 2 AS sex")
        database.execute("INSERT INTO people VALUES (99, 'F')")
    database.close()
    assert table_of(path, "people").budget().spent == LOSS
    assert table_of(path, "more").budget().spent == PrivacyLoss(Fraction(0))


@pytest.mark.parametrize(("make", "view"), [(sqlite_file, "women"), (duckdb_file, "further")])
def test_view_shares_the_budget_of_its_table(make: Callable[..., Path], view: str, tmp_path: Path) -> None:
    path = make(tmp_path / "d.db", *VIEWS, tables=("people", "other"))
    assert_one(table_of(path, view), table_of(path, "people"))


@pytest.mark.parametrize(
    ("make", "names"),
    in_turn(
        [sqlite_file, duckdb_file],
        [("people", "other"), ("women", "strangers"), ("people", "strangers")],
        rounds=2,
    ),
)
def test_two_tables_of_a_file_have_two_budgets(
    make: Callable[..., Path], names: tuple[str, str], tmp_path: Path
) -> None:
    path = make(tmp_path / "d.db", *VIEWS, tables=("people", "other"))
    assert_two(table_of(path, names[0]), table_of(path, names[1]))


@pytest.mark.parametrize("link", ["symbolic", "hard", "dotted"])
def test_file_under_another_path_is_recognized(link: str, tmp_path: Path) -> None:
    path, other = csv_file(tmp_path / "people.csv"), tmp_path / "other.csv"
    (tmp_path / "folder").mkdir()
    if link == "symbolic":
        other.symlink_to(path)
    elif link == "hard":
        os.link(path, other)
    else:
        other = tmp_path / "folder" / ".." / "people.csv"
    first = table_of(path)
    spend(first)
    with path.open("a", encoding="utf-8") as file:  # so that equal content does not identify the table
        file.write("33,F\n")
    assert table_of(other).budget().spent == LOSS


def forms(folder: Path) -> dict[str, tuple[Any, str | None, str | None]]:
    """Return the same rows in other forms: the source, its table, and the name of the budget."""
    frame = pandas.DataFrame(ROWS, columns=["age", "sex"])
    frame[["sex", "age"]].to_parquet(folder / "turned.parquet")
    frame.sample(frac=1, random_state=1).to_parquet(folder / "people.parquet", index=False)
    frame.to_json(folder / "people.jsonl", orient="records", lines=True)
    frame.rename(columns={"age": "Age "}).to_csv(folder / "headed.tsv", sep="\t", index=False)
    return {
        "parquet": (folder / "people.parquet", None, None),
        "turned": (folder / "turned.parquet", None, None),
        "json": (folder / "people.jsonl", None, None),
        "sqlite": (sqlite_file(folder / "d.sqlite"), None, None),
        "duckdb": (duckdb_file(folder / "d.duckdb"), "people", None),
        "frame": (frame, None, "a frame"),
    }


@pytest.mark.parametrize("form", ["parquet", "turned", "json", "sqlite", "duckdb", "frame"])
def test_copy_in_another_format_is_recognized_by_rows(form: str, tmp_path: Path) -> None:
    source, table, name = forms(tmp_path)[form]
    assert_one(table_of(csv_file(tmp_path / "people.csv")), table_of(source, table, name))


def test_null_values_of_the_spec_do_not_change_the_identity(tmp_path: Path) -> None:
    one, other = csv_file(tmp_path / "one.csv"), csv_file(tmp_path / "other.csv")
    with other.open("a", encoding="utf-8") as file:
        file.write("\n")  # other bytes, equal rows
    assert_one(table_of(one, null_values=["23"], strip=True), table_of(other))


@pytest.mark.parametrize("look", ["refused", "budget"])
def test_changed_copy_is_still_recognized(look: str, tmp_path: Path) -> None:
    spend(table_of(csv_file(tmp_path / "people.csv")))
    path = csv_file(tmp_path / "copy.csv")
    if look == "refused":
        with pytest.raises(LimitReached):
            spend(table_of(path))
    else:
        assert table_of(path).budget().spent == LOSS
    with path.open("a", encoding="utf-8") as file:
        file.write("99,F\n")
    table = table_of(path)
    assert table.budget().spent == LOSS
    with pytest.raises(LimitReached):
        spend(table)
    # A copy of the changed copy is recognized as well.
    further = tmp_path / "further.csv"
    further.write_bytes(path.read_bytes())
    assert table_of(further).budget().spent == LOSS


def test_table_name_is_recognized_after_a_second_table_appears(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Regression: spend the budget, copy the file, add a row to the copy, and query it again."""
    from discreet.cli.main import main

    csv_file(tmp_path / "t.csv")
    spec = '[source]\npath = "{}"\n\n[attributes.sex]\nrole = "quasi-identifier"\ndomain = ["F", "M"]\n'
    spec += "\n[privacy_budget]\nepsilon = 1\n"
    for name in ("t", "u"):
        (tmp_path / f"{name}.toml").write_text(spec.format(f"{name}.csv"), "utf-8")

    def tabulate(name: str) -> int:
        options = ("--marginal", "sex", "--epsilon", "1", "--output", str(tmp_path / f"{name}-counts.csv"))
        return main(["dp", "histogram", str(tmp_path / f"{name}.toml"), *options, "--overwrite"])

    assert tabulate("t") == 0
    csv_file(tmp_path / "u.csv")
    assert tabulate("u") == 4
    with (tmp_path / "u.csv").open("a", encoding="utf-8") as file:
        file.write("99,F\n")
    assert tabulate("u") == 4
    assert "privacy budget" in capsys.readouterr().err


@pytest.fixture
def people(postgres_server: PostgresServer) -> str:
    """Create a database with people, views of them, a partitioned table, and other tables."""
    database = postgres_server.create_database()
    postgres_server.run(
        "CREATE TABLE people (age text, sex text)",
        *(f"INSERT INTO people VALUES ({'NULL' if a is None else repr(a)}, '{s}')" for a, s in ROWS),
        "CREATE VIEW women AS SELECT age FROM people WHERE sex = 'F'",
        "CREATE SCHEMA far",
        "CREATE VIEW far.further AS SELECT * FROM women",
        "CREATE MATERIALIZED VIEW stored AS SELECT age AS a FROM people",
        "CREATE TABLE other AS SELECT '1' AS age",
        "CREATE TABLE parts (age text, year int) PARTITION BY LIST (year)",
        "CREATE TABLE part PARTITION OF parts FOR VALUES IN (1)",
        "INSERT INTO parts VALUES ('3', 1)",
        database=database,
    )
    return database


ADDRESSES = {
    "127.0.0.1": "postgresql://postgres@127.0.0.1:{port}/{database}",
    "localhost": "postgresql://postgres@localhost:{port}/{database}",
    "capitals": "postgresql://postgres@LOCALHOST:{port}/{database}",
    "socket": "postgresql://postgres@/{database}?host={folder}&port={port}",
    "options": "postgresql://postgres@127.0.0.1/{database}?port={port}&connect_timeout=9",
}


@pytest.mark.parametrize(
    ("address", "name"), in_turn(ADDRESSES, ["public.people", "women", "far.further", '"people"'], rounds=1)
)
def test_postgresql_table_under_another_name_is_recognized(
    name: str, address: str, people: str, postgres_server: PostgresServer
) -> None:
    parts = {"port": postgres_server.port, "database": people, "folder": str(postgres_server.folder)}
    user = postgres_server.network_url(people).split("//")[1].split("@")[0]
    url = ADDRESSES[address].format(**parts).replace("//postgres@", f"//{user}@")
    assert_one(table_of(postgres_server.url(people), "people"), table_of(url, name))


@pytest.mark.parametrize(("one", "other"), [("people", "stored"), ("parts", "part")])
def test_table_with_copied_or_partial_rows_is_recognized(
    one: str, other: str, people: str, postgres_server: PostgresServer
) -> None:
    url = postgres_server.url(people)
    given = {"attributes": {"a" if other == "stored" else "age": {"role": "sensitive"}}}
    second = open_table(url, {"source": {"table": other}, "privacy_budget": {"epsilon": 1}, **given})
    assert_one(table_of(url, one), second)


def test_renamed_table_and_its_successor_share_the_budget(
    people: str, postgres_server: PostgresServer
) -> None:
    url = postgres_server.url(people)
    spend(table_of(url, "people"))
    postgres_server.run(
        "ALTER TABLE people RENAME TO persons",
        "INSERT INTO persons VALUES ('1', 'x')",
        "CREATE TABLE people AS SELECT '5' AS age",
        database=people,
    )
    assert table_of(url, "persons").budget().spent == LOSS
    assert table_of(url, "people").budget().spent == LOSS
    assert table_of(url, "other").budget().spent == PrivacyLoss(Fraction(0))


def test_server_without_readable_identifier_is_one_machine(
    people: str, postgres_server: PostgresServer
) -> None:
    """Without access to the server's identifier, all addresses of one machine count as one server."""
    role = f"reader_{people}"
    postgres_server.run(
        f"CREATE ROLE {role} LOGIN",
        f"GRANT SELECT ON people TO {role}",
        "REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC",
        database=people,
    )
    assert_one(
        table_of(postgres_server.url(people, role), "people"),
        table_of(f"postgresql://{role}@localhost:{postgres_server.port}/{people}", "public.people"),
    )


def test_mariadb_table_under_another_name_is_recognized(mariadb_server: MariadbServer) -> None:
    name = mariadb_server.create_database()
    mariadb_server.run(
        "CREATE TABLE people (age TEXT, sex TEXT)",
        *(f"INSERT INTO people VALUES ({'NULL' if a is None else repr(a)}, '{s}')" for a, s in ROWS),
        "CREATE VIEW women AS SELECT age FROM people WHERE sex = 'F'",
        "CREATE TABLE other AS SELECT '1' AS age",
        f"CREATE USER IF NOT EXISTS 'reader_{name}'@'127.0.0.1'",
        f"GRANT SELECT, SHOW VIEW, CREATE TEMPORARY TABLES ON {name}.* TO 'reader_{name}'@'127.0.0.1'",
        database=name,
    )
    url = mariadb_server.url(name)
    spend(table_of(url, "people"))
    for place, table in (
        (url, f"{name}.people"),
        (url, "women"),
        (mariadb_server.network_url(name, f"reader_{name}"), "people"),
        (mariadb_server.network_url(name, f"reader_{name}"), f"{name}.women"),
    ):
        assert table_of(place, table).budget().spent == LOSS, (place, table)
    assert table_of(url, "other").budget().spent == PrivacyLoss(Fraction(0))


@pytest.mark.spark
@pytest.mark.usefixtures("spark_process")
def test_spark_table_under_another_name_is_recognized(settings: Settings) -> None:
    source = SourceSpec(engine="spark", table="people")
    with connect(settings, source) as engine:
        assert isinstance(engine, SparkEngine)
        given = engine._sessions.user_session
        given.sql("CREATE DATABASE IF NOT EXISTS ledger")
        given.sql("CREATE TABLE people USING parquet AS SELECT '1' AS age, 'F' AS sex")
        given.sql("CREATE VIEW ledger.women AS SELECT age FROM default.people WHERE sex = 'F'")
        given.sql("CREATE TABLE other USING parquet AS SELECT '2' AS age")
        try:
            known = {
                name: set(table_identities(engine, replace(source, table=name)))
                for name in (
                    "people",
                    "default.people",
                    "spark_catalog.default.people",
                    "ledger.women",
                    "other",
                )
            }
        finally:
            given.sql("DROP VIEW ledger.women")
            given.sql("DROP DATABASE ledger")
            given.sql("DROP TABLE people")
            given.sql("DROP TABLE other")
    assert known["people"]
    assert known["people"] == known["default.people"] == known["spark_catalog.default.people"]
    assert known["people"] < known["ledger.women"]
    assert known["other"].isdisjoint(known["ledger.women"])
