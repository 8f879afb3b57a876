"""The bytes of a release: no trace of removed values, no source order, and RFC 4180."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.engines.base import Engine
from discreet.model.table_spec import Attribute, AttributeRole, SourceSpec, TableSpec, UnlistedPolicy
from discreet.release.publication_job import load_sort_keys
from discreet.settings import Settings
from tests.drawing import in_turn
from tests.oracle.patients import patients, publish_patients

ROLES = {
    "age": AttributeRole.QUASI_IDENTIFIER,
    "town": AttributeRole.QUASI_IDENTIFIER,
    "diagnosis": AttributeRole.SENSITIVE,
}


def in_memory(
    data: object, unlisted: UnlistedPolicy = UnlistedPolicy.DROP, **roles: AttributeRole
) -> TableSpec:
    attributes = tuple(Attribute(name, role) for name, role in {**ROLES, **roles}.items())
    return TableSpec(SourceSpec(data=data, unlisted_columns=unlisted), attributes)


def many(rows: int = 3000) -> pa.Table:
    """Return a table with classes of 300 rows, and one person from Zwickau with a rare disease."""
    columns = {
        "age": [20 + i % 5 for i in range(rows)] + [99],
        "town": [("Kiel", "Bonn")[i % 2] for i in range(rows)] + ["Zwickau"],
        "diagnosis": [("flu", "cold", "gout")[i % 3] for i in range(rows)] + ["kuru-disease"],
        "seen": [*range(rows), 777_777_777],
        "name": [f"person-{i}" for i in range(rows)] + ["Zacharias"],
    }
    return pa.table(columns).replace_schema_metadata({"secret": "metadata-of-the-source"})


REMOVED = [b"Zwickau", b"kuru", b"Zacharias", b"person-", b"metadata-of-the-source", b"secret", b"pandas"]


@pytest.mark.parametrize(
    ("kind", "star"), in_turn(["arrow", "dictionary", "pandas", "parquet"], [False, True])
)
def test_parquet_contains_no_removed_values(
    kind: str, star: bool, engine: Engine, settings: Settings, tmp_path: Path, out: Path
) -> None:
    table = many()
    data: object = table
    if kind == "dictionary":
        data = pa.table(
            {
                name: column.dictionary_encode()
                for name, column in zip(table.column_names, table.columns, strict=True)
            }
        )
    if kind == "pandas":
        frame = table.to_pandas()
        data = frame.astype(dict.fromkeys(("town", "diagnosis", "name"), "category"))
        assert isinstance(frame, pd.DataFrame)
    spec = in_memory(data, seen=AttributeRole.INSENSITIVE)
    if kind == "parquet":
        pq.write_table(table, tmp_path / "in.parquet")
        spec = TableSpec(SourceSpec(path=tmp_path / "in.parquet"), spec.attributes)
    release = publish_patients(engine, settings, spec, out / "r.parquet", node=(0, 0), star=star)
    assert release.suppressed == 1

    content = (out / "r.parquet").read_bytes()
    manifest = (out / "r.parquet.manifest.json").read_bytes()
    for text in REMOVED:
        assert text not in content
        assert text not in manifest
    found = pq.ParquetFile(out / "r.parquet")
    assert not found.metadata.metadata
    assert found.schema_arrow.metadata is None
    assert all(
        field.metadata is None or set(field.metadata) <= {b"PARQUET:field_id"} for field in found.schema_arrow
    )
    for group in range(found.metadata.num_row_groups):
        for column in range(found.metadata.num_columns):
            statistics = found.metadata.row_group(group).column(column).statistics
            if statistics is not None and statistics.has_min_max:
                assert statistics.max not in (99, "99", "Zwickau", "kuru-disease", 777_777_777)
    if not star:
        assert (777_777_777).to_bytes(8, "little") not in content


def test_values_survive_in_their_types(engine: Engine, settings: Settings, out: Path) -> None:
    import datetime as dt
    import decimal

    columns = {
        "age": pa.array([1.5, 1.5, None, None], pa.float64()),
        "town": pa.array([dt.date(2020, 2, 29)] * 2 + [None] * 2),
        "diagnosis": pa.array([decimal.Decimal("1.50"), None] * 2, pa.decimal128(9, 2)),
        "when": pa.array([dt.datetime(2020, 1, 1, 12, tzinfo=dt.UTC)] * 4, pa.timestamp("us", "UTC")),
        "flag": pa.array([True, False, None, True]),
        "bytes": pa.array([b"\x00\xff", b"", None, b"x"]),
        "small": pa.array([1, -1, None, 127], pa.int8()),
        "clock": pa.array([dt.time(1, 2, 3)] * 4, pa.time64("us")),
    }
    table = pa.table(columns)
    spec = in_memory(table, UnlistedPolicy.INSENSITIVE)
    publish_patients(engine, settings, spec, out / "r.parquet", node=(0, 0), k=2)
    found = pq.read_table(out / "r.parquet")
    assert found.schema.names == table.schema.names
    assert [str(f.type) for f in found.schema][:4] == [
        "double",
        "date32[day]",
        "decimal128(9, 2)",
        "timestamp[us, tz=UTC]",
    ]

    def rows(of: pa.Table) -> Counter[tuple[object, ...]]:
        return Counter(zip(*(column.to_pylist() for column in of.columns), strict=True))

    assert rows(found) == rows(table)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_random_order_does_not_show_the_order_of_the_source(
    ending: str, engine: Engine, settings: Settings, out: Path
) -> None:
    """With a random order, neither row sequence nor storage shows the source's order; two releases differ."""
    spec = in_memory(many(), seen=AttributeRole.INSENSITIVE).with_order("random")
    orders = []
    for name in ("r", "s"):
        publish_patients(engine, settings, spec, out / f"{name}{ending}", node=(0, 0))
        read = pd.read_csv if ending == ".csv" else pd.read_parquet
        orders.append(read(out / f"{name}{ending}")["seen"].tolist())
    assert sorted(orders[0]) == sorted(orders[1]) == list(range(3000))
    assert orders[0] != orders[1]
    for order in orders:
        followers = sum(b == a + 1 for a, b in pairwise(order))
        assert followers < 15
        assert sum(i == value for i, value in enumerate(order)) < 15
        first = [value for value in order if value < 1500][:300]
        assert first != sorted(first)


def test_each_order_is_equally_likely(engine: Engine) -> None:
    """Each order is equally likely: χ² over the 6 orders of three rows, 600 draws.

    With 5 degrees of freedom, p = 0.00001 at 30.
    """
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(600):
        load_sort_keys(engine, "drawn", 3)
        rows = engine.fetch_rows("SELECT row_number() OVER () FROM drawn ORDER BY a, b")
        seen[tuple(row[0] for row in rows)] += 1
    assert sum((seen[order] - 100) ** 2 / 100 for order in seen) < 30
    assert len(seen) == 6


def test_keys_are_drawn_in_parts_and_differ(engine: Engine) -> None:
    load_sort_keys(engine, "drawn", 2500, keys_at_once=1000)
    counted = engine.fetch_rows("SELECT count(*), count(DISTINCT a), count(DISTINCT b) FROM drawn")
    assert counted == [(2500, 2500, 2500)]
    load_sort_keys(engine, "drawn", 0)
    assert engine.fetch_rows("SELECT count(*) FROM drawn") == [(0,)]


def test_csv_cells_are_quoted_by_rfc_4180(
    engine: Engine, settings: Settings, tmp_path: Path, out: Path
) -> None:
    """CSV follows RFC 4180: quotes only where needed, doubled inside; NULL is empty, empty text quoted."""
    text = 'name,age,town,diagnosis\nA,30,K,"a ""b"", c"\nB,30,K,""\nC,30,K,\nD,30,K,"x\ny"\nE,30,K,é\n'
    publish_patients(engine, settings, patients(tmp_path, text), out / "r.csv", node=(2, 1))
    content = (out / "r.csv").read_bytes().decode()
    assert content.startswith("age,town,diagnosis\n")
    assert content.endswith("\n")
    cells = content.removesuffix("\n").split("\n*,*,")[1:]
    assert sorted(cells) == ["", '""', '"a ""b"", c"', '"x\ny"', "é"]
