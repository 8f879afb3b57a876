"""Published files, checked against plain Python: random tables, hierarchies, nodes, requirements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.audit.release_audit import audit_release
from discreet.engines.base import Engine
from discreet.engines.connection import connect
from discreet.errors import NoSolution, RequirementNotMet
from discreet.frequency.table_scan import count_frequency_set
from discreet.model.requirement import Requirement
from discreet.model.search_result import FullDomainRecoding, SuppressionPolicy
from discreet.release.publication import publish_release
from discreet.settings import Settings
from tests.drawing import some_of
from tests.oracle.plain_release import PlainTable, read_csv, write_csv

LEAVES = ["a", "b", "*", "é", "e\u0301", 'q"x', "x,y", "l\nm", " s ", "NULL", "02174", "'", "🙂"]
CELLS = [None, "", "u", "v", "*", " ** ", 'q"', ",", "\n", " ", "NULL", "ü"]


@st.composite
def hierarchies(draw: st.DrawFn) -> dict[str, list[str]]:
    """Draw nested levels for each leaf, with a single top."""
    leaves = draw(st.lists(st.sampled_from(LEAVES), min_size=1, max_size=5, unique=True))
    levels = [leaves]
    for level in range(draw(st.integers(0, 2))):
        groups = draw(st.integers(1, 3))
        named = {label: f'{level}:{i % groups} ,"' for i, label in enumerate(dict.fromkeys(levels[-1]))}
        levels.append([named[label] for label in levels[-1]])
    return {leaf: [*(level[i] for level in levels[1:]), "*"] for i, leaf in enumerate(leaves)}


@st.composite
def tables(draw: st.DrawFn, *, subject: bool = False) -> PlainTable:
    """Draw a few quasi-identifiers, sensitive and insensitive columns, with NULLs among the cells."""
    found = {f"q {i}": draw(hierarchies()) for i in range(draw(st.integers(1, 3)))}
    sensitive = [f"s,{i}" for i in range(draw(st.integers(0, 2)))]
    insensitive = ['in"s'] * draw(st.integers(0, 1))
    cells = {name: st.sampled_from([None, *levels]) for name, levels in found.items()}
    cells |= {name: st.sampled_from(CELLS) for name in (*sensitive, *insensitive)}
    cells["unlisted"] = st.sampled_from(["x", "y"])
    if subject:
        cells["person"] = st.sampled_from(["p", "q", "r", "s", "t"])
    names = draw(st.permutations(list(cells)))
    number = draw(st.sampled_from([1, 6, 12, 20]))
    row = st.fixed_dictionaries({n: cells[n] for n in names})
    rows = draw(st.lists(row, min_size=number, max_size=number))
    return PlainTable(
        rows=rows,
        hierarchies=found,
        sensitive=sensitive,
        insensitive=insensitive,
        subject="person" if subject else None,
        drop_nulls=draw(st.booleans()),
        columns=names,
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, Settings, Path]]:
    folder = tmp_path_factory.mktemp("published")
    found = Settings(memory_limit=10**9, threads=2, private_log=folder / "private" / "log.jsonl")
    with connect(found) as engine:
        yield engine, found, folder


NUMBER = count()


def check(
    table: PlainTable,
    data: st.DataObject,
    place: tuple[Engine, Settings, Path],
    ending: str,
) -> None:
    engine, found, folder = place
    if not table.kept:
        return
    source = folder / f"in{next(NUMBER)}.csv"
    write_csv(source, table.rows, table.columns)
    spec = table.spec(source)
    node = tuple(
        data.draw(st.integers(0, len(next(iter(levels.values()))))) for levels in table.hierarchies.values()
    )
    sizes = sorted({table.size(members) for members in table.classes(node).values()})
    k = data.draw(st.sampled_from([sizes[-1], *sizes, sizes[-1] + 1]))
    l = data.draw(st.none() | st.integers(1, 3)) if table.sensitive else None
    star = data.draw(st.booleans())
    expected, suppressed = table.published(node, k, l, star=star)
    counted = table.audited(expected, suppressed=suppressed if star else 0)

    frequency_set = count_frequency_set(engine, spec, found)
    recoding = FullDomainRecoding(
        tuple(table.hierarchies),
        node,
        Requirement(k, l),
        SuppressionPolicy.STAR if star else SuppressionPolicy.DROP,
    )
    output = source.with_name(source.stem + ".out" + ending)
    arguments = engine, spec, frequency_set, recoding, output
    if suppressed == len(table.kept) or not counted.meets(k, l):
        with pytest.raises((NoSolution, RequirementNotMet)):
            publish_release(*arguments, overwrite=False, settings=found)
        assert not [path for path in folder.iterdir() if output.name in path.name]
        return
    release = publish_release(*arguments, overwrite=False, settings=found, expected_suppressed=suppressed)

    header, rows = read_csv(output) if ending == ".csv" else read_parquet(output)
    assert header == table.shown
    assert Counter(rows) == Counter(cells for cells, _ in expected)
    assert (release.rows, release.suppressed) == (len(table.kept), suppressed)
    audit = release.audit
    assert (audit.passed, audit.failing, audit.failing_classes) == (True, (), 0)
    assert (audit.rows, audit.classes, audit.starred) == (counted.rows, counted.classes, counted.starred)
    assert audit.class_sizes == counted.sizes
    assert audit.k == min(counted.sizes, default=0)
    assert audit.l == counted.l
    again = audit_release(engine, output)
    assert again.passed
    if table.subject is None:
        assert again.as_json() == audit.as_json()


def read_parquet(path: Path) -> tuple[list[str | None], list[tuple[str | None, ...]]]:
    table = pq.read_table(path)
    return list(table.column_names), list(zip(*(c.to_pylist() for c in table.columns), strict=True))


RELAXED = settings(max_examples=some_of(30), deadline=None, suppress_health_check=list(HealthCheck))


@RELAXED
@given(table=tables(), data=st.data())
def test_csv_file_contains_the_rows_of_the_oracle(
    table: PlainTable, data: st.DataObject, place: tuple[Engine, Settings, Path]
) -> None:
    check(table, data, place, ".csv")


@RELAXED
@given(table=tables(), data=st.data())
def test_parquet_file_contains_the_rows_of_the_oracle(
    table: PlainTable, data: st.DataObject, place: tuple[Engine, Settings, Path]
) -> None:
    check(table, data, place, ".parquet")


@RELAXED
@given(table=tables(subject=True), data=st.data(), ending=st.sampled_from([".csv", ".parquet"]))
def test_subjects_are_counted_and_never_published(
    table: PlainTable, data: st.DataObject, ending: str, place: tuple[Engine, Settings, Path]
) -> None:
    check(table, data, place, ending)
