"""In-memory tables: the same cells as from a file, and an unchanged table of the caller."""

import datetime
import subprocess
import sys
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest

from discreet.engines.duckdb.engine import DuckdbEngine
from discreet.errors import InputError
from discreet.model.table_spec import SourceSpec
from discreet.sql.cell_expressions import is_nested
from tests.engines.conftest import Read

PEOPLE = {"zip": ["02174", None, "", "NULL"], "n": [1, 2, 3, 4]}
ROWS = [("02174", "1"), (None, "2"), ("", "3"), ("NULL", "4")]


@pytest.mark.parametrize(
    "table",
    [
        pyarrow.table(PEOPLE),
        pyarrow.record_batch(PEOPLE),
        pyarrow.RecordBatchReader.from_batches(
            pyarrow.record_batch(PEOPLE).schema, [pyarrow.record_batch(PEOPLE)]
        ),
        pyarrow.table({"zip": pyarrow.array(PEOPLE["zip"]).dictionary_encode(), "n": PEOPLE["n"]}),
        pandas.DataFrame(PEOPLE),
        pandas.DataFrame({"zip": np.array(PEOPLE["zip"], dtype=object), "n": PEOPLE["n"]}),
        pandas.DataFrame({"zip": pandas.Categorical(PEOPLE["zip"]), "n": PEOPLE["n"]}),
        pandas.DataFrame(PEOPLE, index=["x", "y", "z", "zip"]),
        polars.DataFrame(PEOPLE),
        polars.DataFrame(PEOPLE).lazy(),
        polars.DataFrame(PEOPLE).with_columns(polars.col("zip").cast(polars.Categorical)),
    ],
    ids=lambda table: f"{type(table).__module__.split('.')[0]}-{type(table).__name__}",
)
def test_every_kind_of_table_is_read(read: Read, table: Any) -> None:
    assert read(table) == ROWS
    assert read(table, null_values=("NULL", "1"))[3] == (None, "4")


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([1.5, float("nan"), 34.0, -0.0], ["1.5", None, "34.0", "-0.0"]),
        (pandas.array([1, None], dtype="Int64"), ["1", None]),
        (pandas.array([True, None], dtype="boolean"), ["true", None]),
        (pandas.Categorical([1, None, 2]), ["1", None, "2"]),
        (pandas.Categorical([1, "1", None]), ["1", "1", None]),
        (
            pandas.Series([1, "a", None, 2.5, datetime.date(2020, 1, 2)], dtype=object),
            ["1", "a", None, "2.5", "2020-01-02"],
        ),
        (pandas.Series([None] * 3000 + ["late"], dtype=object), [None] * 3000 + ["late"]),
        (pandas.to_datetime(["2020-01-02", None]), ["2020-01-02 00:00:00", None]),
        (pandas.to_datetime(["2020-01-02"]).tz_localize("Asia/Tokyo"), ["2020-01-01 15:00:00+00"]),
    ],
)
def test_pandas_columns_are_read_as_text_and_not_changed(
    read: Read, values: Any, texts: list[str | None]
) -> None:
    frame = pandas.DataFrame({"a": values})
    before = frame.copy(deep=True)
    assert [row[0] for row in read(frame)] == texts
    pandas.testing.assert_frame_equal(frame, before)


def test_names_in_pandas_need_not_be_text(engine: DuckdbEngine) -> None:
    table = engine.open_source(SourceSpec(data=pandas.DataFrame({0: [1], "A": [2], "a": [3]})))
    assert table.columns == ("0", "A", "a")
    assert engine.fetch_rows(f"SELECT {table.text('a')} FROM {table.relation}") == [("3",)]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pyarrow.table([pyarrow.array([1]), pyarrow.array([2])], names=["a", "a"]), "positions 1 and 2"),
        (pandas.DataFrame([[1, 2]], columns=["a", "a"]), "positions 1 and 2"),
        (pandas.DataFrame([[1, 2]], columns=[1, "1"]), "two columns '1'"),
        (pandas.DataFrame(), "no columns"),
        (
            pandas.DataFrame({"a": pandas.period_range("2020-01", periods=2, freq="M")}),
            "type that cannot be read",
        ),
        ({"a": [1]}, "a source of type builtins.dict"),
        ([1, 2], "a source of type builtins.list"),
        (pandas.Series([1]), "a source of type pandas.Series"),
    ],
)
def test_bad_tables_are_refused(engine: DuckdbEngine, table: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        engine.open_source(SourceSpec(data=table))


def test_nested_cells_make_nested_columns(engine: DuckdbEngine) -> None:
    cells = {
        "a": [None, [1]],
        "b": [(1,), ""],
        "c": [{"x": 1}, None],
        "d": [np.array([1]), 2],
        "e": ["[1]", 3],
    }
    frame = pandas.DataFrame({name: pandas.Series(values, dtype=object) for name, values in cells.items()})
    table = engine.open_source(SourceSpec(data=frame))
    assert {name for name in cells if is_nested(table.types[name])} == {"a", "b", "c", "d"}
    arrow = engine.open_source(SourceSpec(data=pyarrow.table({"a": [[1]], "b": [b"x"]})))
    assert arrow.types == {"a": "BIGINT[]", "b": "BLOB"}


def test_missing_library_is_named(engine: DuckdbEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(frame: object) -> object:
        raise ModuleNotFoundError("No module named 'pyarrow'", name="pyarrow")

    monkeypatch.setattr(polars.DataFrame, "to_arrow", missing)
    with pytest.raises(InputError, match="needs the package pyarrow, which is not installed"):
        engine.open_source(SourceSpec(data=polars.DataFrame(PEOPLE)))


def test_files_need_neither_pandas_nor_pyarrow_nor_polars(tmp_path: Any) -> None:
    (tmp_path / "people.csv").write_text("a,b\n1,x\n2,y\n")
    program = f"""
import sys
for name in ("pandas", "pyarrow", "polars", "scipy"):
    sys.modules[name] = None
from pathlib import Path
from discreet.engines.connection import connect
from discreet.frequency.table_scan import count_frequency_set
from discreet.model.table_spec import Attribute, AttributeRole, SourceSpec, TableSpec
from discreet.settings import Settings
settings = Settings(10**9, 1, Path("log"))
folder = Path({str(tmp_path)!r})
with connect(settings) as engine:
    for name in ("people.csv", "people.parquet"):
        spec = TableSpec(SourceSpec(path=folder / name), (Attribute("a", AttributeRole.QUASI_IDENTIFIER),))
        assert count_frequency_set(engine, spec, settings).rows == 2
        engine.load_table("t", {{"a": ["p", None], "b": ["q", "r"]}})
        if name == "people.csv":
            engine.write_file("SELECT a, b FROM t", folder / "people.parquet", "parquet", ["a", "b"])
"""
    subprocess.run([sys.executable, "-c", program], check=True)
