"""The verbs publish, audit, query, attack and report on a release in PostgreSQL, given by its address."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Finished, Run
from tests.servers.postgres import PostgresServer

PASSWORD = "never-to-be-shown"
NAME = 'out."the people"'
SPEC = """
[source]
url = {url}
table = "public.people"

[attributes.age]
role = "quasi-identifier"
hierarchy = {{kind = "intervals", widths = [5, 10]}}
[attributes.town]
role = "quasi-identifier"
[attributes.pay]
role = "sensitive"
"""
PEOPLE = (
    "INSERT INTO people SELECT CAST(30 + i % 3 AS text), CASE WHEN i % 2 = 0 THEN 'Kiel' ELSE 'Bonn' END, "
    "100 * i FROM generate_series(1, 24) AS i"
)


@pytest.fixture
def address(postgres_server: PostgresServer) -> str:
    """Create a database with a table of people and a schema for releases; its address has a password."""
    import psycopg

    url = postgres_server.url(postgres_server.create_database())
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA out")
        connection.execute("CREATE TABLE people (age text, town text, pay integer)")
        connection.execute(PEOPLE)
    return url


@pytest.fixture
def spec(address: str, tmp_path: Path) -> Path:
    """Write a spec of the table."""
    path = tmp_path / "work" / "people.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(SPEC.format(url=json.dumps(address)), encoding="utf-8")
    return path


def with_password(address: str) -> str:
    return f"{address}{'&' if '?' in address else '?'}password={PASSWORD}"


def silent(finished: Finished) -> Finished:
    """Check that the output contains neither an address nor a password."""
    printed = (finished.out + finished.err).replace("postgresql://…", "")
    printed = printed.replace("postgresql://USER@HOST:PORT/DATABASE", "")
    assert PASSWORD not in printed
    assert "postgresql://" not in printed
    return finished


def test_database_release_is_published_and_audited(
    run: Run, spec: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    published = silent(run("publish", spec, "--k", 3, "--max-suppressed", 0, "--table", NAME, "--json"))
    assert published.status == 0, published.out
    document = published.json
    assert (document["table"], document["manifest"]) == (NAME, 'out."the people_manifest"')
    assert document["audit"]["passed"]
    audited = silent(run("audit", with_password(address), "--table", NAME, "--json"))
    assert audited.status == 0, audited.out
    assert audited.json["rows"] == 24
    monkeypatch.setenv("PEOPLE_DATABASE", with_password(address))
    there = ("env:PEOPLE_DATABASE", "--table", NAME)
    text = "SELECT town, COUNT(*), SUM(pay) FROM people GROUP BY town"
    queried = silent(run("query", *there, "--spec", spec, text, "--json"))
    assert queried.status == 0, queried.out
    assert {row["group"]["town"] for row in queried.json["rows"]} == {"Kiel", "Bonn"}
    attacked = silent(run("attack", *there, "--spec", spec, "--json"))
    assert attacked.status == 0, attacked.out
    inspected = silent(run("inspect", spec, "--release", "env:PEOPLE_DATABASE", "--table", NAME, "--json"))
    assert inspected.status == 0, inspected.out
    reported = silent(run("report", *there, "--spec", spec, "--output", "r.html", "--json"))
    assert reported.status == 0, reported.out
    page = Path("r.html").read_text(encoding="utf-8")
    assert PASSWORD not in page
    assert "postgresql://" not in page


def test_permuted_release_is_published_and_queried_in_a_database(run: Run, spec: Path, address: str) -> None:
    wanted = ("publish", spec, "--model", "permutation", "--k", 3, "--table", "out.p", "--json")
    published = silent(run(*wanted))
    assert published.status == 0, published.out
    assert published.json["permutation"]["files"]["help"]["table"] == "p_help"
    again = silent(run(*wanted))
    assert again.status == 2
    assert run(*wanted, "--overwrite").status == 0
    text = "SELECT SUM(pay) FROM p WHERE town = 'Kiel'"
    queried = silent(run("query", address, "--table", "out.p", text, "--json"))
    assert queried.status == 0, queried.out
    assert '"out"."p_help"' in queried.json["sql"]
    views = run("query", address, "--table", "out.p", "--views", "--json")
    assert len(views.json["statements"]) == 2


def test_unfit_targets_of_a_database_are_refused(
    run: Run, spec: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert silent(run("publish", spec, "--k", 3)).status == 2
    assert silent(run("publish", spec, "--k", 3, "--table", "out.p", "--output", "x.csv")).status == 2
    assert (
        "the schema 'nowhere' does not" in silent(run("publish", spec, "--k", 3, "--table", "nowhere.p")).err
    )
    assert silent(run("audit", with_password(address))).status == 2
    assert silent(run("audit", with_password(address), "--table", "out.none")).status == 2
    assert silent(run("audit", "people.csv", "--table", "out.p")).status == 2
    monkeypatch.setenv("PEOPLE_DATABASE", f"mysql://me:{PASSWORD}@x/y")
    assert silent(run("audit", "env:PEOPLE_DATABASE", "--table", "out.p")).status == 2
    assert "PEOPLE" in silent(run("audit", "env:PEOPLE", "--table", "out.p")).err


def test_local_database_file_is_published(run: Run, spec: Path) -> None:
    published = silent(run("publish", spec, "--k", 3, "--max-suppressed", 0, "--output", "r.csv", "--json"))
    assert published.status == 0, published.out
    assert silent(run("audit", "r.csv", "--json")).json["rows"] == 24
