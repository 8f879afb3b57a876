"""A table that stays in the engine gives the same classes as a table in memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from discreet.engines.base import Engine
from discreet.errors import InputError, LimitReached, NoSolution
from discreet.frequency.table_scan import count_frequency_set
from discreet.model.requirement import Requirement
from discreet.model.table_spec import TableSpec
from discreet.mondrian.external import partition_in_engine
from discreet.mondrian.mondrian_options import Categorical, Cut, MondrianOptions, Summary
from discreet.mondrian.partition import partition_table
from discreet.search.star_schema_loader import star_schema
from discreet.settings import Settings
from discreet.spec.spec_reader import spec_from_mapping
from tests.every_engine.test_search import labelled

COLUMNS = ("age", "town", "income")
TOWNS = ("Bonn", "Kiel", "Linz", "Wien", "")


def written(folder: Path, seed: int, rows: int = 150) -> TableSpec:
    """Write a random table.

    It contains ages out of text order, towns with NULL, a decimal, and a diagnosis with NULL.
    """
    random = np.random.default_rng(seed)
    lines = ["age,town,income,diagnosis"]
    for _ in range(rows):
        age, town = int(5 + 15 * random.random() ** 2), TOWNS[int(random.integers(0, len(TOWNS)))]
        income = f"{random.integers(0, 12) / 4:g}"
        lines.append(f"{age},{town},{income},{'abcd'[int(random.integers(0, 4))] * (random.random() < 0.9)}")
    (folder / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "town.csv").write_text("Bonn;north;*\nLinz;south;*\nKiel;north;*\nWien;south;*\n")
    attributes: dict[str, dict[str, str]] = {name: {"role": "quasi-identifier"} for name in COLUMNS}
    attributes["town"]["hierarchy"] = "town.csv"
    attributes["diagnosis"] = {"role": "sensitive"}
    document = {"source": {"path": "people.csv"}, "attributes": attributes}
    return spec_from_mapping(document, base=folder, label="the people")


@pytest.mark.parametrize("seed", range(6))
def test_fragments_give_the_classes_of_the_whole_table(
    seed: int, engine: Engine, settings: Settings, tmp_path: Path
) -> None:
    random = np.random.default_rng(seed)
    spec = written(tmp_path, seed)
    requirement = Requirement(int(random.integers(2, 5)), 2 if seed % 2 else None)
    options = MondrianOptions(
        cut=list(Cut)[seed % 2], categorical=list(Categorical)[seed // 2 % 2], summary=list(Summary)[seed % 4]
    )
    counted = count_frequency_set(engine, spec, settings)
    expected = partition_table(counted, requirement, settings, options)
    small = replace(settings, memory_limit=20 * (40 * len(COLUMNS) + 200))
    with (
        star_schema(engine, spec, settings) as facts,
        partition_in_engine(facts, requirement, small, options) as stored,
    ):
        assert (stored.rows, stored.classes) == (counted.rows, expected.class_count)
        assert stored.fragments > 4
        assert stored.scans > 2
        shown = labelled(engine, stored)
        numbers = dict(engine.fetch_rows(f'SELECT class, n FROM "{stored.tables.class_cells}"'))
        assert [numbers[c] for c in range(stored.classes)] == expected.class_rows().tolist()
    for row_type, number in zip(expected.row_types, expected.classes, strict=True):
        key = tuple(counted.codes[row_type].tolist())
        assert shown[key] == tuple(
            cells.labels[cell] for cells, cell in zip(expected.cells, expected.shown[number], strict=True)
        )


def test_impossible_partition_in_the_engine_is_refused(
    engine: Engine, settings: Settings, tmp_path: Path
) -> None:
    spec = written(tmp_path, 1)
    tiny = replace(settings, memory_limit=1)
    with star_schema(engine, spec, settings) as facts:
        for requirement, options, limits, error in (
            (Requirement(151), MondrianOptions(), settings, NoSolution),
            (Requirement(1, 5), MondrianOptions(), settings, NoSolution),
            (Requirement(76), MondrianOptions(), tiny, LimitReached),
            (Requirement(), MondrianOptions(), settings, InputError),
            (Requirement(2), MondrianOptions(relaxed=True), settings, InputError),
            (Requirement(2), MondrianOptions(), settings, None),
        ):
            if error is None:
                with partition_in_engine(facts, requirement, limits, options) as stored:
                    assert stored.fragments == 1
                continue
            with pytest.raises(error), partition_in_engine(facts, requirement, limits, options):
                pass
    tables = engine.fetch_rows("SELECT count(*) FROM duckdb_tables() WHERE table_name LIKE 'scratch_%'")
    assert tables[0][0] == 0
