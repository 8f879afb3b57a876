"""Tables that counting refuses, and the error messages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow
import pytest

from discreet.engines.base import Engine
from discreet.errors import InputError, LimitReached
from discreet.frequency.table_scan import count_frequency_set
from discreet.model.table_spec import NullPolicy, SourceSpec
from discreet.settings import Settings
from tests.frequency.conftest import FirstLetter, Row, table_spec, write_table


@pytest.mark.parametrize(("ending", "place"), [("csv", "line 5"), ("jsonl", "row 3")])
def test_value_without_a_leaf_is_refused_with_its_place(
    engine: Engine, shared_settings: Settings, tmp_path: Path, ending: str, place: str
) -> None:
    rows: list[Row] = [("x", "a\nb"), ("x", "c"), ("y", "?z"), ("y", "?a"), ("y", "?z")]
    path = write_table(tmp_path, f"people.{ending}", ["s", "q"], [*rows[:2], rows[3], *rows[2:]])
    with pytest.raises(InputError) as caught:
        count_frequency_set(
            engine, table_spec(SourceSpec(path=path), ["q"], ["s"], FirstLetter()), shared_settings
        )
    assert caught.value.message == (
        f"{path}, {place}, column 'q': '?a' has no leaf in first letters (2 values have none)"
    )
    assert "null_values" in str(caught.value.advice)


def test_value_that_a_builder_refuses_is_refused_with_its_place(
    engine: Engine, shared_settings: Settings, tmp_path: Path
) -> None:
    class Numbers(FirstLetter):
        def build(self, attribute: str, values: Any, counts: Any = None) -> Any:
            wrong = [v for v in values if not v.isdigit()]
            if wrong:
                raise InputError(f"'{wrong[0]}' is no number", allowed="numbers", advice="Use null_values.")
            return super().build(attribute, values, counts)

    rows: list[Row] = [(str(i), "s") for i in range(50)]
    path = write_table(tmp_path, "people.csv", ["q", "s"], [*rows, ("17½", "s"), ("twelve", "s")])
    with pytest.raises(InputError) as caught:
        count_frequency_set(engine, table_spec(SourceSpec(path=path), ["q"], [], Numbers()), shared_settings)
    assert caught.value.message == f"{path}, line 52, column 'q': '17½' is no number"
    assert (caught.value.allowed, caught.value.advice) == ("numbers", "Use null_values.")


def test_error_of_a_hierarchy_file_is_unchanged(
    engine: Engine, shared_settings: Settings, tmp_path: Path
) -> None:
    class Broken(FirstLetter):
        def build(self, *_: Any) -> Any:
            raise InputError("ages.csv, line 3: a second top value")

    path = write_table(tmp_path, "people.csv", ["q"], [("a",)])
    with pytest.raises(InputError, match=r"^ages\.csv, line 3: a second top value\.?$"):
        count_frequency_set(engine, table_spec(SourceSpec(path=path), ["q"], [], Broken()), shared_settings)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "has no rows"),
        ([("a", None), (None, "x"), ("?", "x")], r"each of the 3 rows .* NULL .* no rows remain"),
    ],
)
def test_count_without_rows_is_refused(
    engine: Engine, shared_settings: Settings, tmp_path: Path, rows: list[Row], message: str
) -> None:
    path = write_table(tmp_path, "people.csv", ["q", "s"], rows)
    source = SourceSpec(path=path, nulls=NullPolicy.DROP, null_values=("?",))
    with pytest.raises(InputError, match=message):
        count_frequency_set(engine, table_spec(source, ["q"], ["s"]), shared_settings)


@pytest.mark.parametrize(
    ("quasi_identifiers", "sensitive", "others", "subject", "missing"),
    [
        (["ages"], [], [], None, "ages"),
        (["age"], ["illnes"], [], None, "illnes"),
        (["age"], [], ["nmae"], None, "nmae"),
        (["age"], [], [], "person", "person"),
    ],
)
def test_missing_columns_are_refused(
    engine: Engine,
    shared_settings: Settings,
    tmp_path: Path,
    quasi_identifiers: list[str],
    sensitive: list[str],
    others: list[str],
    subject: str | None,
    missing: str,
) -> None:
    path = write_table(tmp_path, "people.csv", ["name", "age", "illness"], [("n", "1", "i")])
    spec = table_spec(SourceSpec(path=path, subject=subject), quasi_identifiers, sensitive, others=others)
    with pytest.raises(InputError, match=f"has no column '{missing}'") as caught:
        count_frequency_set(engine, spec, shared_settings)
    assert caught.value.allowed == "'name', 'age', 'illness'"


def test_spec_without_a_quasi_identifier_is_refused(
    engine: Engine, shared_settings: Settings, tmp_path: Path
) -> None:
    path = write_table(tmp_path, "people.csv", ["s"], [("x",)])
    with pytest.raises(InputError, match="names no quasi-identifier"):
        count_frequency_set(engine, table_spec(SourceSpec(path=path), [], ["s"]), shared_settings)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pyarrow.array([[1], [2]]), "contains nested values"),
        (pyarrow.array([{"a": 1}, None]), "contains nested values"),
        (pyarrow.array([b"x", b"y"]), "bytes without a declared text encoding"),
    ],
)
@pytest.mark.parametrize("role", ["quasi-identifier", "sensitive", "subject"])
def test_columns_of_nested_or_binary_values_are_refused(
    engine: Engine, shared_settings: Settings, column: Any, message: str, role: str
) -> None:
    table = pyarrow.table({"plain": ["a", "b"], "odd": column})
    spec = table_spec(
        SourceSpec(data=table, subject="odd" if role == "subject" else None),
        ["plain", "odd"] if role == "quasi-identifier" else ["plain"],
        ["odd"] if role == "sensitive" else [],
    )
    with pytest.raises(InputError, match=f"column 'odd' {message}|column 'odd' contains {message}"):
        count_frequency_set(engine, spec, shared_settings)
    ignored = table_spec(SourceSpec(data=table), ["plain"], others=["odd"])
    assert count_frequency_set(engine, ignored, shared_settings).rows == 2


def test_rows_without_a_subject_are_refused(
    engine: Engine, shared_settings: Settings, tmp_path: Path
) -> None:
    rows: list[Row] = [("a", "1", "x"), ("a", None, "x"), ("b", "?", "x"), (None, None, "x")]
    path = write_table(tmp_path, "people.csv", ["q", "who", "s"], rows)
    source = SourceSpec(path=path, subject="who", null_values=("?",))
    with pytest.raises(InputError, match="subject column 'who' is NULL in 3 rows"):
        count_frequency_set(engine, table_spec(source, ["q"], ["s"]), shared_settings)
    dropping = replace(source, nulls=NullPolicy.DROP)
    with pytest.raises(InputError, match="is NULL in 2 rows"):
        count_frequency_set(engine, table_spec(dropping, ["q"], ["s"]), shared_settings)


def test_groups_beyond_the_memory_limit_are_refused(
    engine: Engine, shared_settings: Settings, tmp_path: Path
) -> None:
    rows: list[Row] = [(str(i), str(i)) for i in range(2000)]
    path = write_table(tmp_path, "people.csv", ["q", "p"], rows)
    small = replace(shared_settings, memory_limit=100_000)
    with pytest.raises(LimitReached, match=r"more than 1,041 distinct combinations of 2 columns") as e:
        count_frequency_set(engine, table_spec(SourceSpec(path=path), ["q", "p"]), small)
    assert "memory limit is 100,000" in str(e.value)
    assert "DISCREET_MEMORY_LIMIT" in str(e.value)
    assert engine.fetch_rows("SELECT table_name FROM duckdb_tables()") == []


def test_values_beyond_the_memory_limit_are_refused(engine: Engine, shared_settings: Settings) -> None:
    numbers = pyarrow.array(range(200_000))
    rows = pyarrow.table({"q": [str(i % 7) for i in range(200_000)], "s": numbers})
    source = SourceSpec(data=rows)
    small = replace(shared_settings, memory_limit=90 * 10**6)
    with pytest.raises(LimitReached, match=r"sensitive attribute 's' has about \d\d\d,\d\d\d different") as e:
        count_frequency_set(engine, table_spec(source, ["q"], ["s"]), small)
    assert "permutation" in str(e.value)
    with pytest.raises(LimitReached, match="the quasi-identifier 's'"):
        count_frequency_set(engine, table_spec(source, ["q", "s"], []), small)
    # Without sensitive values, no table is staged.
    assert count_frequency_set(engine, table_spec(source, ["q"], ["s"]), small, ()).row_types == 7
    assert engine.fetch_rows("SELECT table_name FROM duckdb_tables()") == []
