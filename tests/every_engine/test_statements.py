"""The statements that a stranger runs agree with the audit, in every place, each by itself."""

from __future__ import annotations

from random import Random
from typing import Any

import duckdb
import pytest

from discreet.audit.statements import check_statements
from discreet.audit.verify import audit_source
from discreet.engines.base import Engine
from discreet.model.check_statement import CheckStatement
from discreet.model.criteria.base import Criterion
from discreet.model.release_address import ReleaseAddress
from discreet.model.requirement import Requirement
from discreet.model.table_spec import SourceSpec
from discreet.sql import own_check
from discreet.sql.dialect import DUCKDB, SPARK, Dialect
from tests.audit.test_strictest import stricter_than
from tests.every_engine.places import Place, once_on_spark

KEYS, VALUES = ["town", 'the "age"'], ["ill", "wage"]


def table(seed: int) -> dict[str, tuple[str, list[Any]]]:
    """A few classes, some cells NULL, a starred row, names that must be quoted."""
    random = Random(seed)
    rows = [("*", "*", "*", "*")]
    for town, age in [("a", "1"), ("a", None), (None, "2"), ("é", "")][: random.randint(2, 4)]:
        for place in range(random.randint(2, 6)):
            ill = random.choice(["flu", "gout", "o'clock"]) if place == 0 or random.random() < 0.9 else None
            rows.append((town, age, ill, random.choice(["9", "10", "12.5", "40"])))
    return {name: ("VARCHAR", [row[i] for row in rows]) for i, name in enumerate([*KEYS, *VALUES])}


def address(source: SourceSpec) -> ReleaseAddress:
    return ReleaseAddress(path=source.path, table=source.table, url=source.url, engine=source.engine)


def told(
    engine: Engine, source: SourceSpec, reader: Dialect, *asked: Criterion
) -> tuple[CheckStatement, ...]:
    return check_statements(
        engine,
        address(source),
        reader,
        quasi_identifiers=KEYS,
        sensitive=VALUES,
        requirement=Requirement(criteria=asked),
    )


def holds(engine: Engine, reader: Dialect, statement: str) -> bool:
    """Whether a statement finds nothing failing, run by a program that knows no more than it."""
    if reader is DUCKDB:
        with duckdb.connect() as connection:
            return bool(connection.execute(statement).fetchall()[0][-1] == 0)
    return bool(engine.fetch_rows(statement)[0][-1] == 0)


@once_on_spark("seed", range(3), 0)
def test_they_agree_with_the_audit(place: Place, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    source = place.put(table(seed))
    with place.connect(source) as engine:
        reader = DUCKDB if source.path is not None else engine.dialect
        if source.engine == "spark":
            reader = SPARK
            monkeypatch.setattr(own_check, "relation", lambda of, _, **_how: f"parquet.`{of.path}`")
        strictest = audit_source(
            engine,
            source,
            quasi_identifiers=KEYS,
            sensitive=VALUES,
            requirement=Requirement(),
            strictest=True,
        ).strictest
        met = [
            one.criterion(one.value, one.attribute, **one.parts) for one in strictest if one.reason is None
        ]
        stricter = [each for each in map(stricter_than, met) if each is not None]
        assert len(stricter) > 10
        for asked, passes in [(met, True), (stricter, False)]:
            for each in asked:
                found = told(engine, source, reader, each)
                if all(one.sql is not None for one in found):
                    failing = [one.sql for one in found if not holds(engine, reader, str(one.sql))]
                    assert bool(failing) is not passes, (each, failing)
