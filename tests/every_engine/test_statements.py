"""Tests that the standalone statements for readers agree with the audit, in every place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import duckdb
import pytest

from discreet.audit.class_audit import audit_source
from discreet.audit.portable_statements import build_check_statements
from discreet.engines.base import Engine
from discreet.engines.connection import connect
from discreet.model.audit_report import CheckStatement
from discreet.model.criteria.base import Criterion
from discreet.model.release_address import ReleaseAddress
from discreet.model.requirement import Requirement
from discreet.model.table_spec import SourceSpec
from discreet.settings import Settings
from discreet.sql import portable_check
from discreet.sql.dialect import DUCKDB, SPARK, Dialect
from tests.audit.test_strictest import stricter_than
from tests.every_engine.places import Place, once_on_spark

KEYS, VALUES = ["town", 'the "age"'], ["ill", "wage"]


def table(seed: int) -> dict[str, tuple[str, list[Any]]]:
    """A few classes, some cells NULL, a starred row, names that must be quoted."""
    random = Random(seed)
    rows: list[tuple[str | None, ...]] = [("*", "*", "*", "*")]
    for town, age in [("a", "1"), ("a", None), (None, "2"), ("é", "")][: random.randint(2, 4)]:
        for place in range(random.randint(2, 6)):
            ill = random.choice(["flu", "gout", "o'clock"]) if place == 0 or random.random() < 0.9 else None
            rows.append((town, age, ill, random.choice(["9", "10", "12.5", "40"])))
    return {name: ("VARCHAR", [row[i] for row in rows]) for i, name in enumerate([*KEYS, *VALUES])}


def address(source: SourceSpec) -> ReleaseAddress:
    return ReleaseAddress(path=source.path, table=source.table, url=source.url, engine=source.engine)


def statements_for(
    engine: Engine, source: SourceSpec, reader: Dialect, *criteria: Criterion
) -> tuple[CheckStatement, ...]:
    return build_check_statements(
        engine,
        address(source),
        reader,
        quasi_identifiers=KEYS,
        sensitive=VALUES,
        requirement=Requirement(criteria=criteria),
    )


def counted(engine: Engine, reader: Dialect, statements: Sequence[str]) -> list[int]:
    """Return the failures that statements report, run by a program without further knowledge."""
    if reader is DUCKDB:
        with duckdb.connect() as connection:
            return [int(connection.execute(each).fetchall()[0][-1]) for each in statements]
    if reader is not SPARK:
        return [int(engine.fetch_rows(each)[0][-1]) for each in statements]
    # A Spark job takes a second, however small: one query runs all statements together.
    each_of = [f"SELECT {i} AS place, failing FROM ({each})" for i, each in enumerate(statements)]
    return [int(failing) for _, failing in sorted(engine.fetch_rows(" UNION ALL ".join(each_of)))]


@once_on_spark("seed", range(2), 0)
def test_check_statements_agree_with_the_audit(
    place: Place, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = place.put(table(seed))
    on_spark = source.engine == "spark"
    met = strictest(place.settings, replace(source, engine=None))
    stricter = [each for each in map(stricter_than, met) if each is not None]
    assert len(stricter) > 10
    with place.connect(source) as engine:
        reader = DUCKDB if source.path is not None else engine.dialect
        if on_spark:
            reader = SPARK
            monkeypatch.setattr(
                portable_check, "release_relation", lambda of, _, **_options: f"parquet.`{of.path}`"
            )
            # Each statement takes Spark most of a second: a few criteria run there, different ones per seed.
            met, stricter = met[seed::8], stricter[seed + 3 :: 8]
        for criteria, passes in [(met, True), (stricter, False)]:
            found = [one for one in statements_for(engine, source, reader, *criteria) if one.sql is not None]
            failing = counted(engine, reader, [str(one.sql) for one in found])
            for each in criteria:
                of_it = [many for one, many in zip(found, failing, strict=True) if is_of(one, each)]
                assert not of_it or any(of_it) is not passes, (each, of_it)
            assert sum(any(is_of(one, each) for one in found) for each in criteria) > len(criteria) // 2


def strictest(settings: Settings, source: SourceSpec) -> list[Criterion]:
    """Return the strictest value of every criterion that a table meets; of a file by the embedded engine."""
    with connect(settings, source) as engine:
        found = audit_source(
            engine,
            source,
            quasi_identifiers=KEYS,
            sensitive=VALUES,
            requirement=Requirement(),
            strictest=True,
        ).strictest
    return [one.criterion(one.value, one.attribute, **one.parts) for one in found if one.reason is None]


def is_of(statement: CheckStatement, criterion: Criterion) -> bool:
    """Test whether a statement belongs to a criterion, which it names first."""
    return statement.guarantee.startswith((f"{criterion}, ", f"{criterion}: "))
