"""``audit`` and ``check`` of in-memory tables, checked against the audit of the same rows in a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.dataset
import pyarrow.parquet
import pytest

import discreet
from discreet.criteria import TCloseness
from discreet.errors import InputError

ROWS = {
    "age": ["20-29"] * 4 + ["30-39"] * 3 + ["*"],
    "city": ["B"] * 4 + ["K"] * 3 + ["*"],
    "ill": ["flu", "cold", "flu", None, "flu", "flu", "cold", "*"],
}
NAMED: dict[str, Any] = {"quasi_identifiers": ["age", "city"], "sensitive": ["ill"]}


def tables() -> dict[str, object]:
    arrow = pyarrow.table(ROWS)
    return {
        "pandas": pandas.DataFrame(ROWS),
        "polars": polars.DataFrame(ROWS),
        "lazy": polars.DataFrame(ROWS).lazy(),
        "arrow": arrow,
        "batches": pyarrow.RecordBatchReader.from_batches(arrow.schema, arrow.to_batches()),
        "duckdb": duckdb.from_arrow(arrow),
    }


@pytest.mark.parametrize("library", ["pandas", "polars", "lazy", "arrow", "batches", "duckdb"])
@pytest.mark.parametrize(("k", "l"), [(3, 2), (4, 1), (3, 3)])
def test_table_in_memory_is_audited_like_its_file(library: str, k: int, l: int, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(pyarrow.table(ROWS), path)
    options: dict[str, Any] = {**NAMED, "k": k, "l": l, "criteria": [TCloseness(0.4, "ill")]}
    of_file = discreet.audit(path, **options)
    found = discreet.audit(tables()[library], **options)
    assert found.report == replace(of_file.report, sha256=found.report.sha256)
    assert (found.report.k, dict(found.l)) == (3, {"ill": 2})
    assert (found.passed, found.report.starred) == (k <= 3 and l <= 2, 1)


def test_dataset_is_audited(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pyarrow.table(ROWS), tmp_path / "rows.parquet")
    assert discreet.audit(pyarrow.dataset.dataset(tmp_path), **NAMED, k=3).passed


def test_null_values_apply_to_a_table_in_memory() -> None:
    rows = {**ROWS, "ill": ["flu", "?", "flu", "?", "flu", "flu", "?", "*"]}
    assert discreet.audit(pandas.DataFrame(rows), **NAMED, k=3, l=2).passed
    assert not discreet.audit(pandas.DataFrame(rows), **NAMED, k=3, l=2, null_values=["?"]).passed


def test_release_in_memory_includes_its_manifest() -> None:
    frame = pandas.DataFrame({"age": [20, 21, 22, 40, 41, 42] * 3, "ill": ["a", "b", "c"] * 6})
    spec = {
        "attributes": {
            "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [20]}},
            "ill": {"role": "sensitive"},
        }
    }
    table = discreet.open(frame, spec)
    release = table.publish(table.negotiate(k=5, l=2).answers[0])
    found = discreet.audit(release)
    assert found.passed
    assert (found.report.k, found.report.required_k) == (release.audit.k, 5)
    assert not discreet.audit(release, k=100).passed
    assert discreet.check(release).passed


@pytest.mark.parametrize(
    ("options", "fact"),
    [
        ({"k": 3}, "no quasi-identifier was given"),
        ({**NAMED, "table": "a.b"}, "a table in memory with a table name"),
        ({**NAMED, "delimiter": ";"}, "a table in memory with a form of a file"),
        ({"quasi_identifiers": ["agee"], "k": 3}, r"no column 'agee'.*Did you mean 'age'"),
    ],
)
def test_options_of_files_are_refused_for_a_table_in_memory(options: dict[str, Any], fact: str) -> None:
    with pytest.raises(InputError, match=fact):
        discreet.audit(pandas.DataFrame(ROWS), **options)


def test_value_that_is_not_a_table_is_refused() -> None:
    with pytest.raises(InputError, match="expected the path of a release, not a dict"):
        discreet.audit({"age": [1]}, **NAMED)


def test_check_accepts_tables_and_records_no_cell(tmp_path: Path) -> None:
    frame = pandas.DataFrame({**ROWS, "label": ["Secret"] * 7 + ["*"]})
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    records = {"junit_to": tmp_path / "j.xml", "sarif_to": tmp_path / "s.sarif"}
    found = discreet.check([frame, path, polars.DataFrame(ROWS)], **NAMED, k=4, **records)
    assert [file.file for file in found.files] == [
        "a table in memory (1)",
        str(path),
        "a table in memory (3)",
    ]
    assert [file.passed for file in found.files] == [False, False, False]
    assert all("Secret" not in record.read_text(encoding="utf-8") for record in records.values())
    assert discreet.check(frame, **NAMED, k=3).passed
    assert discreet.check(path, **NAMED, k=3).passed
