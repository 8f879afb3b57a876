"""Tests of searches and Mondrian inside the database: on every engine equal to enumeration, or to memory."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest

from discreet.engines.base import Engine
from discreet.engines.connection import connect
from discreet.errors import InputError, LimitReached, NoSolution
from discreet.frequency.table_scan import count_frequency_set
from discreet.model.frequency_set import FrequencySet
from discreet.model.published_cells import has_derived_label, has_only_leaves
from discreet.model.requirement import Requirement
from discreet.model.table_spec import NullPolicy, TableSpec
from discreet.mondrian.external import StoredPartition, partition_in_engine
from discreet.mondrian.mondrian_options import Categorical, Cut, MondrianOptions, Summary
from discreet.mondrian.partition import partition_table
from discreet.search.algorithms import IN_DATABASE, load_algorithm
from discreet.search.search_problem import SearchProblem
from discreet.search.star_schema_loader import star_schema
from discreet.settings import Settings
from discreet.spec.spec_reader import spec_from_mapping
from tests.drawing import NEW
from tests.every_engine.places import SLOW_ON_SPARK, Place, once_on_spark
from tests.oracle import brute_search

Columns = dict[str, tuple[str, list[Any]]]

ODD = 'the "id", §1'
VALUES: Columns = {
    ODD: ("VARCHAR", ["it's", 'say "x"', "a\\b", "naïve", "nai\u0308ve", "z\nz", "NULL"]),
    "born": ("DATE", [date(1970, 1, 1), date(2000, 2, 29), date(1899, 12, 31), date(1970, 1, 2)]),
    "paid": ("DECIMAL(6,1)", [Decimal("-0.5"), Decimal("10.0"), Decimal("9.5"), Decimal("1000.0")]),
    "number": ("BIGINT", [2**62, -(2**62), 0, 7, 10]),
    "Number": ("BOOLEAN", [True, False]),
    "flat": ("VARCHAR", ["", " ", "NULL"]),
}
SENSITIVE: Columns = {
    "diagnosis": ("VARCHAR", ["flu", "Flu", "x';--", "ü"]),
    "ward": ("BIGINT", [1, 2, 3]),
}
TABLES = [[ODD, "Number"], ["born", "number"], ["paid", "Number", "flat"]]


def drawn(seed: int, names: list[str], rows: int, *, subjects: bool) -> Columns:
    """Draw columns of values with NULLs; with subjects, a column of those too."""
    random = np.random.default_rng(seed)
    found: Columns = {}
    for name in names:
        house, values = (VALUES | SENSITIVE)[name]
        cells = [values[i] for i in random.integers(0, len(values), rows)]
        found[name] = (house, [None if random.random() < 0.1 else cell for cell in cells])
    if subjects:
        found["person"] = ("VARCHAR", [f"p{i}" for i in random.integers(0, rows // 2, rows)])
    return found


def text(value: Any) -> str | None:
    """Return the canonical text of a cell."""
    return value if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def spec_of(columns: Columns, sensitive: list[str], **source: Any) -> TableSpec:
    """Return a spec of the columns as texts in memory."""
    texts = {name: pyarrow.array(map(text, cells), pyarrow.string()) for name, (_, cells) in columns.items()}
    attributes: dict[str, Any] = {name: {"role": "quasi-identifier"} for name in columns}
    attributes |= {name: {"role": "sensitive"} for name in sensitive}
    if "person" in columns:
        attributes["person"] = {"role": "identifier"}
        source["subject"] = "person"
    if ODD in columns:
        halves = [[v, "few" if len(v) < 3 else "many", "*"] for v in VALUES[ODD][1]]
        attributes[ODD]["hierarchy"] = halves
    document = {"source": source, "attributes": attributes}
    return spec_from_mapping(document, base=Path(), label="the test", data=pyarrow.table(texts))


def spec_at(spec: TableSpec, place: Place, columns: Columns) -> TableSpec:
    """Return the same spec of the table in an engine's place."""
    options = {name: getattr(spec.source, name) for name in ("null_policy", "subject", "null_values")}
    return replace(spec, source=place.put(columns, **options))


def counted_in_memory(spec: TableSpec, settings: Settings) -> FrequencySet:
    with connect(settings) as engine:
        return count_frequency_set(engine, spec, settings)


def requirement_of(seed: int) -> Requirement:
    return [Requirement(2), Requirement(None, 2), Requirement(3, 2), Requirement(2, (("ward", 2),))][seed % 4]


@once_on_spark("subjects", [False, True], False)
def test_every_search_equals_enumeration(place: Place, subjects: bool, settings: Settings) -> None:
    tables, algorithms = TABLES, IN_DATABASE
    if place.name == "spark":  # where each frequency set takes the better part of a second
        samarati = ("samarati",) if NEW and not subjects else ()
        tables, algorithms = [["Number", "flat"]], ("bottom-up-rollup", *samarati)
    for seed, names in enumerate(tables):
        if subjects and seed < len(tables) - 1 and not NEW:
            continue  # rows of subjects are counted alike in every table: one has each algorithm count them
        columns = drawn(seed, [*names, *SENSITIVE], 24, subjects=subjects)
        null_policy = "drop" if seed == 2 else "value"
        spec = spec_of(columns, [*SENSITIVE], null_policy=null_policy, null_values=["7"])
        counted = counted_in_memory(spec, settings)
        requirement = requirement_of(seed + subjects)
        limit = int(np.random.default_rng(seed).integers(0, counted.rows // 2))
        top = tuple(h.height for h in counted.hierarchies)
        box = (tuple(0 for _ in top), top)
        expected = brute_search.every_solution(counted, requirement, limit, box)
        engine_spec = spec_at(spec, place, columns)
        with place.connect(engine_spec.source) as engine, star_schema(engine, engine_spec, settings) as facts:
            assert (facts.rows, facts.dropped) == (counted.rows, counted.dropped)
            assert [h.leaves for h in facts.hierarchies] == [h.leaves for h in counted.hierarchies]
            for name in algorithms:
                found = load_algorithm(name)(SearchProblem(facts, requirement, limit, *box, settings))
                solutions = {s.node: s.suppressed for s in found.solutions}
                if name == "samarati":
                    assert min(map(sum, expected), default=None) == min(map(sum, solutions), default=None)
                    assert solutions.items() <= expected.items()
                else:
                    assert solutions == expected, (seed, name)


def test_search_refuses_the_same_as_counting(place: Place, settings: Settings) -> None:
    columns: Columns = {"q": ("VARCHAR", ["a", "b"]), "person": ("VARCHAR", ["x", None])}
    spec = spec_of(columns, [])
    nothing: Columns = {"q": ("VARCHAR", [None, None])}
    none_left = spec_of(nothing, [], null_policy=NullPolicy.DROP)
    many: Columns = {"q": ("VARCHAR", [f"v{i}" for i in range(300)])}
    for table, held, error, message, limit in (
        (spec, columns, InputError, "NULL in 1 rows", settings.memory_limit),
        (none_left, nothing, InputError, "no rows remain", settings.memory_limit),
        (spec_of(many, []), many, LimitReached, "300 distinct values of 'q'", 100_000),
    ):
        given = spec_at(table, place, held)
        small = replace(settings, memory_limit=limit)
        with (
            place.connect(given.source) as engine,
            pytest.raises(error, match=message),
            star_schema(engine, given, small),
        ):
            pass


def labelled(engine: Engine, stored: StoredPartition) -> dict[tuple[int, ...], tuple[str | None, ...]]:
    """Return the published cells of each row type of a stored partition."""
    tables, width = stored.tables, len(stored.hierarchies)
    codes = ", ".join(f"t.c{i}" for i in range(width))
    labels = ", ".join(f"l{i}.label AS label{i}" for i in range(width))
    joins = " ".join(
        f'JOIN "{held}" AS l{i} ON s.q{i} = l{i}.position' for i, held in enumerate(tables.labels)
    )
    found = engine.fetch_rows(
        f'SELECT {codes}, {labels} FROM "{tables.row_types}" AS t '
        f'JOIN "{tables.class_cells}" AS s ON t.class = s.class {joins}'
    )
    return {tuple(map(int, row[:width])): row[width:] for row in found}


def test_mondrian_in_the_database_equals_mondrian_in_memory(place: Place, settings: Settings) -> None:
    for seed, summary in enumerate(Summary):
        if place.name != "spark" or summary is Summary.SETS:
            check_mondrian(place, seed, summary, settings)


def check_mondrian(place: Place, seed: int, summary: Summary, settings: Settings) -> None:
    names, rows = ["number", ODD, "born"], 90
    if place.name == "spark" and not NEW:  # which takes as long for each fragment as for each column
        names, rows = names[:2], 60
    columns = drawn(seed, [*names, "diagnosis"], rows, subjects=False)
    spec = spec_of(columns, ["diagnosis"])
    options = MondrianOptions(
        cut=[*Cut][seed % 2], categorical=[*Categorical][seed // 2 % 2], summary=summary
    )
    requirement = Requirement(2 + seed % 2, 2 if seed != 1 else None)
    counted = counted_in_memory(spec, settings)
    expected = partition_table(counted, requirement, settings, options)
    small = replace(settings, memory_limit=25 * (40 * 3 + 200))
    engine_spec = spec_at(spec, place, columns)
    with (
        place.connect(engine_spec.source) as engine,
        star_schema(engine, engine_spec, settings) as facts,
        partition_in_engine(facts, requirement, small, options) as stored,
    ):
        assert (stored.rows, stored.classes) == (counted.rows, expected.class_count)
        assert stored.fragments > 2
        shown = labelled(engine, stored)
        sizes = {
            int(c): int(n)
            for c, n in engine.fetch_rows(f'SELECT class, n FROM "{stored.tables.class_cells}"')
        }
    assert [sizes[number] for number in range(stored.classes)] == expected.class_rows().tolist()
    cells = expected.cells
    for row_type, number in zip(expected.row_types, expected.classes, strict=True):
        labels = (held.labels[cell] for held, cell in zip(cells, expected.shown[number], strict=True))
        assert shown[tuple(counted.codes[row_type].tolist())] == tuple(labels)
    pairs = list(zip(cells, counted.hierarchies, strict=True))
    assert stored.tables.leaves == tuple(has_only_leaves(*pair) for pair in pairs)
    assert stored.tables.derived == tuple(has_derived_label(*pair) for pair in pairs)


@SLOW_ON_SPARK
def test_impossible_mondrian_requirements_are_refused_everywhere(place: Place, settings: Settings) -> None:
    columns = drawn(1, ["number", "Number"], 30, subjects=False)
    spec = spec_at(spec_of(columns, []), place, columns)
    with place.connect(spec.source) as engine, star_schema(engine, spec, settings) as facts:
        for requirement, limit, error in (
            (Requirement(31), None, NoSolution),
            (Requirement(16), 1, LimitReached),
        ):
            small = settings if limit is None else replace(settings, memory_limit=limit)
            with pytest.raises(error), partition_in_engine(facts, requirement, small):
                pass
