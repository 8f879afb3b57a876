"""Searches in the database give the same nodes and counts as in memory, also with little memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow
import pytest

from discreet.engines.base import Engine
from discreet.engines.connection import connect
from discreet.errors import InputError, LimitReached
from discreet.frequency.table_scan import count_frequency_set
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.model.search_result import SearchResult
from discreet.model.table_spec import NullPolicy, TableSpec
from discreet.search.algorithms import EVERY_SOLUTION, IN_DATABASE, load_algorithm
from discreet.search.frequency_sets import FrequencySetsTooLarge, MemoryFrequencySets
from discreet.search.search_problem import FactTable, Marking, SearchProblem
from discreet.search.star_schema_loader import star_schema
from discreet.settings import Settings
from discreet.spec.spec_reader import spec_from_mapping
from tests.oracle import brute_search

TEXTS = {"q0": ["1", "2", "4", "7", "9"], "q1": ["a", "ab", "b", "x"], "q2": ["u", "v"]}


def random_spec(seed: int, *, subjects: bool) -> TableSpec:
    """Return a table with NULLs, two or three quasi-identifiers and two sensitive attributes."""
    random = np.random.default_rng(seed)
    rows = int(random.integers(1, 30))
    names = list(TEXTS)[: int(random.integers(2, 4))]

    def column(values: list[str]) -> list[str | None]:
        drawn = random.integers(0, len(values), rows)
        return [None if random.random() < 0.1 else values[i] for i in drawn]

    columns = {name: column(TEXTS[name]) for name in names}
    columns |= {name: column(["s", "t", "r"]) for name in ("s0", "s1")}
    attributes: dict[str, object] = {name: {"role": "quasi-identifier"} for name in names}
    attributes["q0"] = {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [2, 4]}}
    attributes |= {name: {"role": "sensitive"} for name in ("s0", "s1")}
    source: dict[str, object] = {"nulls": "drop" if random.random() < 0.3 else "value"}
    if subjects:
        columns["person"] = [str(i) for i in random.integers(0, 12, rows)]
        attributes["person"] = {"role": "identifier"}
        source["subject"] = "person"
    data = pyarrow.table({name: pyarrow.array(c, pyarrow.string()) for name, c in columns.items()})
    return spec_from_mapping(
        {"source": source, "attributes": attributes}, base=Path(), label="the test", data=data
    )


def task_of(table: FrequencySet | FactTable, seed: int, settings: Settings) -> SearchProblem:
    random = np.random.default_rng(seed + 1)
    k, l = int(random.integers(2, 5)), int(random.integers(1, 4))
    kind = int(random.integers(0, 4))
    requirement = [Requirement(k), Requirement(None, l), Requirement(k, l), Requirement(k, (("s1", l),))][
        kind
    ]
    top = tuple(h.height for h in table.hierarchies)
    return SearchProblem(
        table=table,
        requirement=requirement,
        limit=int(random.integers(0, table.rows + 1)) if random.random() < 0.5 else 0,
        low=tuple(int(random.random() < 0.1 and h > 0) for h in top),
        high=top,
        settings=settings,
        marking=Marking.TRANSITIVE if random.random() < 0.3 else Marking.DIRECT,
        cube_budget=1_000 if random.random() < 0.5 else 0,
    )


def without_times(result: SearchResult) -> SearchResult:
    """Return the result without its times."""
    return replace(result, seconds=0.0, build_seconds=None)


def check(seed: int, names: Sequence[str], engine: Engine, settings: Settings, *, subjects: bool) -> None:
    """Compare searches in the database with those in memory, and their solutions with enumeration."""
    spec = random_spec(seed, subjects=subjects)
    try:
        counted = count_frequency_set(engine, spec, settings)
    except InputError:
        assert spec.source.nulls is NullPolicy.DROP
        with pytest.raises(InputError, match="no rows remain"), star_schema(engine, spec, settings):
            pass
        return
    with star_schema(engine, spec, settings) as facts:
        assert (facts.rows, facts.dropped) == (counted.rows, counted.dropped)
        memory, database = (task_of(table, seed, settings) for table in (counted, facts))
        box = (memory.low, memory.high)
        expected = brute_search.every_solution(counted, memory.requirement, memory.limit, box)
        for name in names:
            found = load_algorithm(name)(database)
            assert without_times(found) == without_times(load_algorithm(name)(memory)), (seed, name)
            if name != "samarati":
                assert {s.node: s.suppressed for s in found.solutions} == expected


@pytest.mark.parametrize("subjects", [False, True], ids=["rows", "subjects"])
def test_database_search_equals_memory_search(subjects: bool, settings: Settings) -> None:
    with connect(settings) as engine:
        for seed in range(len(IN_DATABASE)):
            check(seed, [IN_DATABASE[seed % len(IN_DATABASE)]], engine, settings, subjects=subjects)
        assert engine.fetch_rows("SELECT count(*) FROM duckdb_tables()") == [(0,)]


@pytest.mark.slow
@pytest.mark.parametrize("subjects", [False, True], ids=["rows", "subjects"])
def test_every_database_search_equals_memory_search(subjects: bool, settings: Settings) -> None:
    with connect(settings) as engine:
        for seed in range(100, 125):
            check(seed, IN_DATABASE, engine, settings, subjects=subjects)


def test_star_schema_refuses_what_counting_refuses(settings: Settings) -> None:
    data = pyarrow.table({"q0": ["1", "x"], "person": ["a", None]})
    intervals = {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [2]}}
    bad_value = {"attributes": {"q0": intervals}}
    nameless = {
        "source": {"subject": "person"},
        "attributes": {"q0": {"role": "quasi-identifier"}, "person": {"role": "identifier"}},
    }
    missing = {"attributes": {"q1": {"role": "quasi-identifier"}}}
    with connect(settings) as engine:
        for document in (bad_value, nameless, missing):
            spec = spec_from_mapping(document, base=Path(), label="the test", data=data)
            with pytest.raises(InputError) as counting:
                count_frequency_set(engine, spec, settings)
            with pytest.raises(InputError) as loading, star_schema(engine, spec, settings):
                pass
            assert str(loading.value) == str(counting.value)


def thousand_values() -> TableSpec:
    data = pyarrow.table({"q0": [str(i) for i in range(1000)]})
    document = {"attributes": {"q0": {"role": "quasi-identifier"}}}
    return spec_from_mapping(document, base=Path(), label="the test", data=data)


def test_star_schema_column_of_too_many_values_is_refused(settings: Settings) -> None:
    small = replace(settings, memory_limit=100_000)
    with (
        connect(settings) as engine,
        pytest.raises(LimitReached, match="1,000 distinct values of 'q0'"),
        star_schema(engine, thousand_values(), small),
    ):
        pass


def test_memory_search_beyond_the_limit_advises_the_database(settings: Settings) -> None:
    with connect(settings) as engine:
        counted = count_frequency_set(engine, thousand_values(), settings)
    task = SearchProblem(counted, Requirement(2), 0, (0,), (1,), replace(settings, memory_limit=10_000))
    for name in EVERY_SOLUTION:
        with pytest.raises(FrequencySetsTooLarge) as caught:
            load_algorithm(name)(task)
        assert "--in-database" in str(caught.value.advice)


def test_released_frequency_sets_use_no_memory(settings: Settings) -> None:
    spec = random_spec(3, subjects=False)
    with connect(settings) as engine:
        counted = count_frequency_set(engine, spec, settings)
    frequencies = MemoryFrequencySets(counted, Requirement(2, 2), settings.memory_limit)
    first = frequencies.count((0, 1), (0, 0))
    second = first.roll_up((1, 0))
    assert frequencies.used_bytes == first.nbytes + second.nbytes > 0
    second.release()
    second.release()
    assert frequencies.used_bytes == first.nbytes
    first.release()
    assert frequencies.used_bytes == 0
