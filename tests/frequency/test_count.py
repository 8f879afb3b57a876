"""Frequency sets, checked against a plain count in every format."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas
import polars
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from discreet.engines.base import Engine
from discreet.frequency.table_scan import count_frequency_set
from discreet.model.frequency_set import FrequencySet
from discreet.model.table_spec import NullPolicy, SourceSpec
from discreet.settings import Settings
from tests.drawing import some_of
from tests.frequency.conftest import (
    FirstLetter,
    Row,
    arrow_table,
    counted,
    csv_rows,
    set_of,
    table_spec,
    types_of,
    write_table,
)


@pytest.fixture(params=["by types", "by joins"], autouse=True)
def numbered(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run with groups numbered by enumerated types and by joins."""
    if request.param == "by joins":
        monkeypatch.setattr("discreet.frequency.table_scan._MANY_TEXTS", 2)


ODD = [
    "",
    " ",
    "NULL",
    "null",
    "nan",
    "01",
    "1",
    "1.0",
    "?",
    "é",
    "e\u0301",
    '"',
    '""',
    ",",
    ";",
    "\n",
    "\r\n",
]
ODD += ["a\nb", "'", "\\", "\\N", "#", "x" * 5000, "😀", "\x00", "\t", "a,b", " a", "a "]
CELLS = st.none() | st.sampled_from(ODD) | st.text(st.characters(exclude_categories=("Cs",)), max_size=3)
NAMES = ["q 1", "Q 1", "s", "w"]
TABLES = st.lists(
    st.tuples(CELLS, st.sampled_from([None, "a", "A", "", "0"]), CELLS, st.sampled_from(["x", "y", None])),
    min_size=1,
    max_size=25,
)
FORMATS: dict[str, Callable[[Path, list[Row]], dict[str, Any]]] = {
    "csv": lambda folder, rows: {"path": write_table(folder, "t.csv", NAMES, rows)},
    "parquet": lambda folder, rows: {"path": write_table(folder, "t.parquet", NAMES, rows)},
    "jsonl": lambda folder, rows: {"path": write_table(folder, "t.jsonl", NAMES, rows)},
    "arrow": lambda _, rows: {"data": arrow_table(NAMES, rows)},
    "pandas": lambda _, rows: {"data": arrow_table(NAMES, rows).to_pandas()},
    "polars": lambda _, rows: {"data": polars.from_arrow(arrow_table(NAMES, rows))},
}

many = examples(
    max_examples=some_of(90), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)


def read_as_null(rows: list[Row], nulls: tuple[str, ...]) -> list[Row]:
    return [tuple(None if cell in nulls else cell for cell in row) for row in rows]


def check(found: FrequencySet, rows: list[Row]) -> None:
    """Compare with a plain count of rows with two quasi-identifiers and two sensitive attributes."""
    assert counted(found) == Counter(row[:2] for row in rows)
    assert found.rows == len(rows)
    assert found.attributes == ("q 1", "Q 1")
    for j, sets in enumerate(found.sensitive, start=2):
        texts = sorted({row[j] for row in rows} - {None})  # type: ignore[type-var]
        assert sets.attribute == NAMES[j]
        assert sets.size == len(texts)
        expected = defaultdict(set)
        for row in rows:
            expected[row[:2]] |= {texts.index(row[j])} if row[j] is not None else set()
        for i, row_type in enumerate(types_of(found)):
            assert set_of(sets, i) == sorted(expected[row_type])


@many
@given(
    TABLES,
    st.lists(st.sampled_from(["?", "", "a", "\n"]), max_size=2).map(tuple),
    st.sampled_from(NullPolicy),
    st.sampled_from(sorted(FORMATS)),
)
def test_count_of_every_format_equals_a_plain_count(
    engine: Engine,
    shared_settings: Settings,
    tmp_path: Path,
    rows: list[Row],
    nulls: tuple[str, ...],
    policy: NullPolicy,
    form: str,
) -> None:
    nothing = {"*", None, *nulls}
    shown = [row for row in rows if "*" not in row[:2] or not nothing.issuperset(row[:2])]
    cells = [
        (*row[:2], *(None if cell == "*" else cell for cell in row[2:])) for row in read_as_null(shown, nulls)
    ]
    kept = [row for row in cells if None not in row] if policy is NullPolicy.DROP else cells
    if not kept:
        return
    source = FORMATS[form](tmp_path, rows)
    spec = table_spec(SourceSpec(**source, null_values=nulls, null_policy=policy), NAMES[:2], NAMES[2:])
    found = count_frequency_set(engine, spec, shared_settings)
    check(found, kept)
    assert (found.dropped, found.set_apart) == (len(shown) - len(kept), len(rows) - len(shown))


def signatures(found: FrequencySet, attribute: int) -> Counter[frozenset[tuple[Row, int]]]:
    """Count, for each subject, the set of its row types and sensitive codes."""
    sets = found.sensitive[attribute]
    assert sets.subjects is not None
    by_subject = defaultdict(set)
    for i, row_type in enumerate(types_of(found)):
        span = slice(sets.offsets[i], sets.offsets[i + 1])
        entries = list(zip(sets.codes[span].tolist(), sets.subjects[span].tolist(), strict=True))
        assert len(set(entries)) == len(entries)
        for code, subject in entries:
            by_subject[subject].add((row_type, code))
    return Counter(frozenset(entries) for entries in by_subject.values())


@many
@given(
    st.lists(
        st.tuples(st.sampled_from("pq"), st.sampled_from([None, "a", "b"]), CELLS.filter(bool)),
        min_size=1,
        max_size=30,
    )
)
def test_count_of_subjects_equals_a_plain_count(
    engine: Engine, shared_settings: Settings, rows: list[tuple[str, str | None, str]]
) -> None:
    source = SourceSpec(data=arrow_table(["q", "s", "who"], rows), subject="who")
    found = count_frequency_set(engine, table_spec(source, ["q"], ["s"]), shared_settings)
    assert counted(found) == Counter((q,) for q, _, _ in rows)
    assert found.subjects is not None
    assert found.subjects.attribute == "who"
    assert found.subjects.size == len({person for _, _, person in rows})
    expected = Counter((q,) for q, _ in {(q, person) for q, _, person in rows})
    for i, row_type in enumerate(types_of(found)):
        subjects = set_of(found.subjects, i)
        assert len(set(subjects)) == len(subjects) == expected[row_type]
    texts = sorted({s for _, s, _ in rows if s is not None})
    plain = defaultdict(set)
    for q, s, person in rows:
        if s is not None:
            plain[person].add(((q,), texts.index(s)))
    assert signatures(found, 0) == Counter(map(frozenset, plain.values()))


def test_count_of_many_leaves_and_wide_keys_equals_a_plain_count(
    engine: Engine, shared_settings: Settings
) -> None:
    """Counts are correct with over 65,536 leaves, over 64 sensitive values, and keys of more than 64 bits."""
    number = 70_000
    columns = {f"q{j}": [str(i * j % number) for i in range(number)] for j in (1, 3, 9, 11, 13)}
    rows = polars.DataFrame({**columns, "s": [str(i % 100) for i in range(number)]})
    rows = polars.concat([rows, rows.head(10)])
    found = count_frequency_set(
        engine, table_spec(SourceSpec(data=rows), list(columns), ["s"]), shared_settings
    )
    assert found.row_types == number
    assert sorted(found.counts.tolist()) == [1] * (number - 10) + [2] * 10
    assert all(len(h.leaves) == number for h in found.hierarchies)
    assert found.sensitive[0].size == 100
    assert counted(found) == Counter(rows.select(list(columns)).rows())


def test_count_of_typed_values_groups_by_text(engine: Engine, shared_settings: Settings) -> None:
    frame = pandas.DataFrame(
        {"x": [0.0, -0.0, 1.0, None], "t": pandas.to_timedelta(["30D", "30D", "1D", None])}
    )
    found = count_frequency_set(engine, table_spec(SourceSpec(data=frame), ["x"], ["t"]), shared_settings)
    assert counted(found) == Counter({("0.0",): 1, ("-0.0",): 1, ("1.0",): 1, (None,): 1})
    assert found.sensitive[0].size == 2


def test_count_of_adult_equals_a_plain_count(
    engine: Engine, shared_settings: Settings, data_dir: Path
) -> None:
    path = data_dir / "adult" / "adult_32561.csv"
    names = ["age", "work_class", "education", "native_country"]
    spec = table_spec(SourceSpec(path=path, null_values=("?",)), names, ["occupation"])
    found = count_frequency_set(engine, spec, shared_settings)
    rows = csv_rows(path)
    expected = Counter(tuple(None if r[n] == "?" else r[n] for n in names) for r in rows)
    assert counted(found) == expected
    dropped = table_spec(
        SourceSpec(path=path, null_values=("?",), null_policy=NullPolicy.DROP), names, ["occupation"]
    )
    kept = count_frequency_set(engine, dropped, shared_settings)
    assert (kept.rows, kept.dropped) == (30162, 2399)


def test_count_leaves_nothing_in_the_engine(
    engine: Engine, shared_settings: Settings, tmp_path: Path
) -> None:
    path = write_table(tmp_path, "t.csv", ["q", "who"], [("a", "1"), ("b", "2")])
    spec = table_spec(SourceSpec(path=path, subject="who"), ["q"])
    count_frequency_set(engine, spec, shared_settings)
    assert engine.fetch_rows("SELECT table_name FROM duckdb_tables()") == []
    assert engine.fetch_rows("SELECT view_name FROM duckdb_views() WHERE NOT internal") == []
    assert engine.fetch_rows("SELECT type_name FROM duckdb_types() WHERE type_name LIKE 'values%'") == []


def test_hierarchy_is_built_from_values_with_their_rows(engine: Engine, shared_settings: Settings) -> None:
    seen: list[dict[str, int]] = []

    class Watching(FirstLetter):
        def build(self, attribute: str, values: Any, counts: Any = None) -> Any:
            seen.append(dict(zip(values, counts, strict=True)))
            return super().build(attribute, values, counts)

    rows: list[Row] = [("b", "1"), ("a", None), ("b", "2"), ("c", None), (None, "1"), ("c", "1"), ("-", "1")]
    source = SourceSpec(data=arrow_table(["q", "s"], rows), null_policy=NullPolicy.DROP, null_values=("-",))
    count_frequency_set(engine, table_spec(source, ["q"], ["s"], Watching()), shared_settings)
    assert seen == [{"b": 2, "c": 1}]
    assert list(seen[0]) == ["b", "c"]
