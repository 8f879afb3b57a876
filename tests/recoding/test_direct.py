"""Two ways to apply a recoding agree: classes decided from arrays, and classes counted in the engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from discreet.engines.base import Engine, SourceTable
from discreet.engines.connection import connect
from discreet.errors import InternalError
from discreet.frequency.table_scan import count_frequency_set
from discreet.model.requirement import Requirement
from discreet.model.search_result import FullDomainRecoding, SuppressionPolicy
from discreet.recoding.coded_rows import native_key
from discreet.recoding.recoded_table import ClassedRows
from discreet.recoding.recoding_application import apply_classes, apply_full_domain, apply_recoding
from discreet.release.publication_job import load_sort_keys
from discreet.settings import Settings
from tests.drawing import some_of
from tests.oracle.patients import patients
from tests.oracle.plain_release import PlainTable, write_csv
from tests.recoding.random_classes import random_classes
from tests.release.test_published_rows import tables

NUMBER = count()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, Settings, Path]]:
    folder = tmp_path_factory.mktemp("direct")
    found = Settings(memory_limit=10**9, threads=2, private_log=folder / "private" / "log.jsonl")
    with connect(found) as engine:
        yield engine, found, folder


@given(table=tables(), data=st.data(), star=st.booleans(), k=st.integers(1, 4), l=st.integers(1, 3))
@hypothesis_settings(max_examples=some_of(25), deadline=None, suppress_health_check=list(HealthCheck))
def test_both_methods_publish_the_same_rows(
    table: PlainTable, data: st.DataObject, star: bool, k: int, l: int, place: tuple[Engine, Settings, Path]
) -> None:
    if not table.kept or table.subject is not None:
        return
    engine, settings, folder = place
    source = folder / f"in{next(NUMBER)}.csv"
    write_csv(source, table.rows, table.columns)
    spec = table.spec(source)
    counted = count_frequency_set(engine, spec, settings)
    suppression = SuppressionPolicy.STAR if star else SuppressionPolicy.DROP
    requirement = Requirement(k=k, l=l if table.sensitive else None)
    node = tuple(data.draw(st.integers(0, h.height)) for h in counted.hierarchies)
    full_domain = FullDomainRecoding(counted.attributes, node, requirement, suppression)
    seed = data.draw(st.integers(0, 2**32))
    classes = random_classes(
        np.random.default_rng(seed),
        counted,
        Requirement(k=1),
        split=False,
        suppress=True,
        suppression=suppression,
    )
    options: dict[str, Any] = {"native": False, "draw_keys": load_sort_keys}
    pairs = [
        (
            apply_full_domain(engine, spec, counted, full_domain, **options),
            apply_recoding(engine, spec, counted, full_domain, **options),
        ),
        (
            apply_classes(engine, spec, counted, classes, **options),
            apply_recoding(engine, spec, counted, classes, **options),
        ),
    ]
    for counting, direct in pairs:
        with counting as first:
            expected = Counter(engine.fetch_rows(first.query()))
        with direct as second:
            assert isinstance(second, ClassedRows)
            assert Counter(engine.fetch_rows(second.query())) == expected
            assert (second.rows, second.suppressed) == (first.rows, first.suppressed)
            assert [c.name for c in second.columns] == [c.name for c in first.columns]


def test_another_number_of_suppressed_rows_is_an_error(
    engine: Engine, settings: Settings, tmp_path: Path
) -> None:
    spec = patients(tmp_path)
    counted = count_frequency_set(engine, spec, settings)
    recoding = FullDomainRecoding(counted.attributes, (0, 0), Requirement(k=2))
    with pytest.raises(InternalError, match="but the lattice says 999"):
        apply_recoding(
            engine, spec, counted, recoding, native=False, draw_keys=load_sort_keys, expected_suppressed=999
        )


def test_file_lists_no_label_of_a_suppressed_class(
    engine: Engine, settings: Settings, tmp_path: Path
) -> None:
    """A file lists no label of a suppressed class, neither in a Parquet dictionary nor in its statistics."""
    text = "name,age,town,diagnosis\n" + "A,30,Kiel,flu\n" * 3 + "B,45,Elsewhere,cold\n"
    spec = patients(tmp_path, text)
    counted = count_frequency_set(engine, spec, settings)
    recoding = FullDomainRecoding(counted.attributes, (0, 0), Requirement(k=2))
    out = tmp_path / "out.parquet"
    with apply_recoding(engine, spec, counted, recoding, native=True, draw_keys=load_sort_keys) as found:
        assert (found.published_rows, found.suppressed) == (3, 1)
        engine.write_file(found.query(), out, "parquet", [column.name for column in found.columns])
    assert b"Elsewhere" not in out.read_bytes()
    assert b"cold" not in out.read_bytes()
    assert pq.read_table(out, read_dictionary=["town"]).column("town").chunk(0).dictionary.to_pylist() == [
        "Kiel"
    ]


@pytest.mark.parametrize(
    ("type_name", "leaf", "held"),
    [
        ("INTEGER", "7", True),
        ("INTEGER", "-12", True),
        ("INTEGER", "07", False),
        ("INTEGER", "-0", False),
        ("BIGINT", "9223372036854775807", True),
        ("BIGINT", "9223372036854775808", False),
        ("BIGINT", "-9223372036854775808", True),
        ("BIGINT", "٣", False),
        ("BOOLEAN", "true", True),
        ("BOOLEAN", "True", False),
        ("DATE", "2024-02-29", True),
        ("DECIMAL(6,2)", "1.50", True),
        ("DECIMAL(6,2)", "-0.05", True),
        ("DECIMAL(6,2)", "-0.00", False),
        ("DECIMAL(6,2)", "1.5", False),
        ("DECIMAL(6,2)", "01.50", False),
        ("DECIMAL(6,2)", ".50", False),
        ("DECIMAL(6,2)", "12345.00", False),
        ("DECIMAL(4,0)", "12", True),
        ("DECIMAL(4,0)", "12.", False),
        ("DECIMAL(2,2)", ".25", True),
        ("DECIMAL(2,2)", "0.25", False),
    ],
)
def test_leaf_is_native_only_as_canonical_text(type_name: str, leaf: str, held: bool) -> None:
    table = SourceTable("t", ("x",), {"x": type_name})
    found = native_key(table, "x", [leaf])
    assert found is not None
    assert found[2].tolist() == [held]


@pytest.mark.parametrize("type_name", ["VARCHAR", "DOUBLE", "TIMESTAMP", "UBIGINT", "HUGEINT", "DECIMAL"])
def test_other_types_are_compared_by_their_texts(type_name: str) -> None:
    assert native_key(SourceTable("t", ("x",), {"x": type_name}), "x", ["1"]) is None
    dates = SourceTable("t", ("x",), {"x": "DATE"})
    for leaf in ("2023-02-29", "20240229", "infinity", "0044-03-15 (BC)", "12024-01-01"):
        assert native_key(dates, "x", ["2024-02-29", leaf]) is None
    assert native_key(SourceTable("t", ("x",), {"x": "INTEGER"}, null_values=("1",)), "x", ["1"]) is None
