"""Tests of publishing to the source's place on every engine: audited there, complete or not at all."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import discreet
from discreet.audit.class_audit import audit_source
from discreet.engines.base import Engine, SourceTable
from discreet.engines.connection import connect
from discreet.engines.source_tables import open_source_table, opened_table_digest
from discreet.errors import InputError, RequirementNotMet
from discreet.model.release_address import ReleaseAddress
from discreet.model.table_spec import Attribute, AttributeRole, SourceSpec, TableSpec
from discreet.models import Permutation
from discreet.release import publication as room
from discreet.release.manifest import read_manifest
from discreet.report.report import report
from discreet.sql.quoting import identifier
from discreet.verbs.audits import audit
from discreet.verbs.release_query import query
from discreet.verbs.table import Table
from tests.engines.rows import rows_of
from tests.every_engine.places import (
    DATABASE,
    SLOW_ON_SPARK,
    DuckdbPlace,
    Place,
    PostgresPlace,
    SparkPlace,
)
from tests.every_engine.plain_digest import plain_digest

AGE, TOWN, PAY = "the age's", 'Ort "x"', "pay €"
AGES = [31, 32, None, 31, 41, 42, 43, 44, 51, None, 53, 54]
TOWNS = ["Kiel", "Kiel", "O'Hara", "O'Hara", None, None, "Ål", "Ål", "Bonn", "Bonn", "a\\b", "a\\b"]
PAYS = [Decimal(f"{(n * 7919) % 4000 + 0.25:.2f}") for n in range(11)]
COLUMNS: dict[str, tuple[str, list[Any]]] = {
    AGE: ("INTEGER", AGES),
    TOWN: ("VARCHAR", TOWNS),
    PAY: ("DECIMAL(8,2)", [*PAYS, None]),
    "born": ("DATE", [date(2000, 1, 1 + n) for n in range(12)]),
    "big": ("BIGINT", [(1 << 62) + n // 3 for n in range(12)]),
    "name": ("VARCHAR", [f"n{n}" for n in range(12)]),
}


def spec_of(source: SourceSpec) -> TableSpec:
    roles = {
        AGE: AttributeRole.QUASI_IDENTIFIER,
        TOWN: AttributeRole.QUASI_IDENTIFIER,
        PAY: AttributeRole.SENSITIVE,
        "born": AttributeRole.INSENSITIVE,
        "big": AttributeRole.INSENSITIVE,
        "name": AttributeRole.IDENTIFIER,
    }
    return TableSpec(source, tuple(Attribute(name, role) for name, role in roles.items()))


def put(place: Place) -> Table:
    return Table(spec_of(place.put(COLUMNS)), place.settings)


@pytest.fixture
def target(place: Place) -> dict[str, Any]:
    """The target of a release in each place, as ``Table.publish`` takes it; the role may create there."""
    if isinstance(place, PostgresPlace):
        place.allow_releases()
        return {"table": f'{place.schema}."the release"'}
    return {"output": place.new_release().path}


@contextmanager
def opened(place: Place, address: ReleaseAddress) -> Iterator[tuple[Engine, SourceTable]]:
    """Open a release by the engine of its place."""
    source = address.source()
    with connect(place.settings, source) as engine, open_source_table(engine, source) as table:
        yield engine, table


def rows_at(place: Place, address: ReleaseAddress) -> Counter[tuple[Any, ...]]:
    """Return the rows of a release as texts."""
    return Counter(rows_of(place.settings, address.source()))


def order_at(place: Place, address: ReleaseAddress) -> list[Any]:
    with opened(place, address) as (engine, table):
        return [row[0] for row in engine.fetch_rows(f"SELECT {table.text('born')} FROM {table.relation}")]


def duckdb_rows(place: Place, options: dict[str, Any]) -> Counter[tuple[Any, ...]]:
    """Return the rows of the same release by the embedded engine."""
    folder = place.folder / "embedded"
    folder.mkdir(exist_ok=True)
    there = DuckdbPlace(place.settings, folder)
    found = put(there).publish(**options, output=folder / "release.parquet")
    return rows_at(there, found.address)


def digest_at(place: Place, address: ReleaseAddress) -> str:
    with opened(place, address) as (engine, table):
        return opened_table_digest(engine, table)


def test_published_release_is_audited_and_reported(place: Place, target: dict[str, Any]) -> None:
    table = put(place)
    options: dict[str, Any] = {"answer": {AGE: 1}, "k": 2}
    found = table.publish(**options, **target)
    assert found.audit.passed
    assert (found.address.engine == "spark") == (place.name == "spark" and found.address.in_database)
    again = audit(found.address, settings=place.settings)
    assert again.passed, again.report.warnings
    assert again.as_json() == found.audit.as_json()
    rows = rows_at(place, found.address)
    assert rows == duckdb_rows(place, options)
    assert digest_at(place, found.address) == plain_digest(rows)
    document = found.as_json()
    assert "postgresql://" not in json.dumps(document)
    written = report(
        found.address, output=place.folder / "r.html", table=table, settings=place.settings
    ).as_json()
    assert written["audit"]["passed"]
    assert written["comparison"]["rows"] == 12
    assert "postgresql://" not in json.dumps(written)


@SLOW_ON_SPARK
def test_second_publication_needs_overwrite(place: Place, target: dict[str, Any]) -> None:
    table = put(place)
    options: dict[str, Any] = {"answer": {AGE: 1}, "k": 2}
    first = table.publish(**options, **target)
    before = rows_at(place, first.address)
    order = order_at(place, first.address)
    with pytest.raises(InputError, match="exists"):
        table.publish(**options, **target)
    assert rows_at(place, first.address) == before
    second = table.publish({AGE: 1, TOWN: 1}, **target, k=3, overwrite=True)
    assert audit(second.address, settings=place.settings).passed
    assert rows_at(place, second.address) != before
    assert order_at(place, second.address) != order or order != sorted(order)


@SLOW_ON_SPARK
def test_failure_leaves_the_previous_tables(
    place: Place, target: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = put(place)
    publication: dict[str, Any] = {"answer": {AGE: 1}, "k": 2}
    empty = place.contents()

    def failing(*args: Any, **options: Any) -> Any:
        return replace(audit_source(*args, **options), passed=False)

    with monkeypatch.context() as patch:
        patch.setattr(room, "audit_source", failing)
        with pytest.raises(RequirementNotMet):
            table.publish(**publication, **target)
    assert place.contents() == empty
    first = table.publish(**publication, **target)
    there, before = place.contents(), rows_at(place, first.address)
    with monkeypatch.context() as patch:
        patch.setattr(room, "audit_source", failing)
        with pytest.raises(RequirementNotMet):
            table.publish({AGE: 1, TOWN: 1}, **target, k=3, overwrite=True)
    assert place.contents() == there
    assert rows_at(place, first.address) == before
    assert audit(first.address, settings=place.settings).passed


def test_changed_release_fails_its_audit(released: tuple[PostgresPlace, Table]) -> None:
    """Changed files are tested in tests/audit."""
    place, table = released
    found = table.publish({AGE: 1}, table=f"{place.schema}.people", k=2)
    change = f"UPDATE {place.schema}.people SET big = big + 1 WHERE ctid = '(0,1)'"
    place.server.run(change, database=DATABASE)
    again = audit(found.address, settings=place.settings)
    assert not again.passed
    assert "differs from its manifest" in again.report.warnings[0]


@SLOW_ON_SPARK
def test_permuted_release_is_queried_in_its_place(place: Place, target: dict[str, Any]) -> None:
    table = put(place)
    found = table.publish(Permutation(form="one-table"), **target, k=2)
    assert found.audit.passed
    address = replace(found.address, engine="spark" if place.name == "spark" else None)
    again = audit(address, settings=place.settings)
    assert again.passed, again.report.warnings
    with connect(place.settings, address.source()) as engine:
        manifest = read_manifest(address, engine)
    assert manifest.permutation is not None
    assert manifest.permutation.files["help"].sha256
    text = f"SELECT COUNT(*), SUM({identifier(PAY)}), MIN({identifier(PAY)}) FROM x"
    if place.name == "spark":
        text = text.replace('"', "`")
    answer = query(address, text, settings=place.settings)
    bounds = {row.aggregate: (row.lower, row.upper) for row in answer.rows}
    count, total, least = list(bounds.values())
    assert count == (12, 12)
    assert total == (float(sum(PAYS)), float(sum(PAYS)))
    assert least[0] == float(min(PAYS))
    assert answer.sql is not None


@SLOW_ON_SPARK
def test_subjects_and_stars_are_published(place: Place, target: dict[str, Any]) -> None:
    columns = {**COLUMNS, "name": ("VARCHAR", ["a", "a", "b", "c"] * 3)}
    spec = spec_of(place.put(columns, subject="name"))
    spec = replace(spec, attributes=tuple(a for a in spec.attributes if a.name != "name"))
    table = Table(spec, place.settings)
    found = table.publish({AGE: 1}, **target, k=2, l=2, max_suppressed="100%", suppressed_rows="star")
    assert found.audit.passed
    again = audit(found.address, settings=place.settings)
    assert again.report.starred == found.suppressed


@pytest.fixture
def released(postgres_place: PostgresPlace) -> tuple[PostgresPlace, Table]:
    """A place in PostgreSQL whose role may create in its schema, and a table there."""
    postgres_place.allow_releases()
    return postgres_place, put(postgres_place)


def run_query(place: PostgresPlace, text: str) -> Sequence[tuple[Any, ...]]:
    """Query as a client without discreet."""
    import psycopg

    with psycopg.connect(place.url) as connection:
        return connection.execute(text.encode()).fetchall()


def test_views_are_readable_by_other_roles(released: tuple[PostgresPlace, Table]) -> None:
    place, table = released
    found = table.publish("permutation", table=f"{place.schema}.people", k=2)
    names = {"people", "people_manifest", "people_help", "people_groups", "people_with_bounds"}
    assert names <= place.contents()
    pay = identifier(PAY)[1:-1]
    lower, upper, rows = run_query(
        place,
        f'SELECT sum("{pay}_lower"), sum("{pay}_upper"), count(*) FROM {place.schema}.people_with_bounds '
        'WHERE "Ort ""x""" = \'Kiel\'',
    )[0]
    answer = query(
        found.address,
        f'SELECT SUM("{pay}") FROM people WHERE "Ort ""x""" = \'Kiel\'',
        settings=place.settings,
    )
    assert rows == 2
    assert float(lower) <= answer.rows[0].lower <= answer.rows[0].upper <= float(upper)  # type: ignore[operator]
    assert answer.sql is not None
    by_hand = run_query(place, answer.sql)[0]
    assert (float(by_hand[0]), float(by_hand[1])) == (answer.rows[0].lower, answer.rows[0].upper)
    groups = run_query(place, f"SELECT sum(group_rows) FROM {place.schema}.people_groups")
    assert groups[0][0] == 12


def test_two_tables_are_published_with_their_companions(released: tuple[PostgresPlace, Table]) -> None:
    place, table = released
    before = place.contents()
    name = f"{place.schema}.people"
    table.publish(Permutation(form="two-tables"), table=name, k=2)
    companions = {"manifest", "help", "sensitive", "groups", "with_bounds"}
    assert place.contents() - before == {"people", *(f"people_{each}" for each in companions)}
    address = ReleaseAddress(table=name, url=place.url)
    assert audit(address, settings=place.settings).passed
    attacked = discreet.attack(address, settings=place.settings)
    assert attacked.by_group
    table.publish({AGE: 1}, table=name, k=2, overwrite=True)
    assert place.contents() - before == {"people", "people_manifest"}


def test_table_of_another_owner_is_not_replaced(released: tuple[PostgresPlace, Table]) -> None:
    """Other refusals are tested in release/test_schema_faults."""
    place, table = released
    place.server.run(f"CREATE TABLE {place.schema}.people_manifest (x int)", database=DATABASE)
    with pytest.raises(InputError, match="does not belong to a release"):
        table.publish({AGE: 1}, table=f"{place.schema}.people", k=2)


def test_table_as_target_requires_a_database(settings: Any, tmp_path: Path) -> None:
    table = put(DuckdbPlace(settings, tmp_path))
    with pytest.raises(InputError, match="as the target"):
        table.publish({AGE: 1}, table="out.people", k=2)


@pytest.mark.spark
@pytest.mark.slow
def test_table_of_sparks_catalog_is_published(spark_place: SparkPlace) -> None:
    table, name = put(spark_place), f"release_{uuid4().hex[:8]}"
    found = table.publish("permutation", table=name, k=2)
    assert found.address == ReleaseAddress(table=name, engine="spark")
    assert audit("spark:", table=name, settings=spark_place.settings).passed
    with pytest.raises(InputError, match="exists"):
        table.publish({AGE: 1}, table=name, k=2)
    table.publish({AGE: 1}, table=name, k=2, overwrite=True)
    assert audit("spark:", table=name, settings=spark_place.settings).passed
    with spark_place.connect() as engine:
        tables = {row[1] for row in engine.fetch_rows("SHOW TABLES")}
    assert {each for each in tables if each.startswith(name)} == {name, f"{name}_manifest"}


def test_release_in_memory_is_published(place: Place) -> None:
    table = put(place)
    release = table.publish({AGE: 1}, k=2, max_suppressed=2)
    rows = release.to_arrow().to_pylist()
    assert len(rows) == release.manifest["data"]["rows"] == 12 - release.suppressed
    assert {row[AGE] for row in rows} == {"*"}
    given = dict(zip(COLUMNS["born"][1], zip(TOWNS, COLUMNS["big"][1], strict=True), strict=True))
    assert all((row[TOWN], row["big"]) == given[row["born"]] for row in rows)
    assert "name" not in rows[0]
