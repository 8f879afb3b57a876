"""Tests of the digest of a table, by each engine, against plain Python."""

from __future__ import annotations

from collections import Counter

import pytest

from discreet.audit.class_audit import audit_source
from discreet.engines import source_tables
from discreet.engines.source_tables import open_source_table, opened_table_digest
from discreet.model.criteria.entropy_diversity import EntropyDiversity
from discreet.model.requirement import Requirement
from discreet.sql import row_hashes
from tests.every_engine.places import Columns, Place, once_on_spark
from tests.every_engine.plain_digest import plain_digest


@once_on_spark("many", [(m, n) for m in (1, 2, 5) for n in (False, True)], (2, True))
def test_digest_equals_that_of_lines(
    place: Place, many: tuple[int, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Columns with few cells, with too many in the first rows, and with too many only later.

    On Spark each run has two of three columns with too many, one of them detected late.
    """
    most, numbers = many
    monkeypatch.setattr(row_hashes, "MOST_LINE_CELLS", most)
    monkeypatch.setattr(source_tables, "_SAMPLED_ROWS", 4)
    texts = ["a", None, "a", "a:1", "é,", "", "a", None, "Ω", "a;", "1:a"]
    whole: Columns = {"y": ("INTEGER", [1, None, 1, 2, 2, 1, 3, None, 4, 4, 1])}
    others: Columns = {"z": ("INTEGER", [7] * 8 + [-8, 7, 7]), "w": whole["y"]}
    columns = {**whole, **others} if numbers else {"x": ("VARCHAR", texts), **whole}
    source = place.put(columns)
    with place.connect(source) as engine, open_source_table(engine, source) as table:
        cells = ", ".join(table.text(name) for name in table.columns)
        rows = Counter(tuple(row) for row in engine.fetch_rows(f"SELECT {cells} FROM {table.relation}"))
        assert opened_table_digest(engine, table) == plain_digest(rows)


@once_on_spark("first", [(), ("g",), ("v", "g"), ("n", "no column")], ("n", "no column"))
def test_digest_of_sorted_numbers_equals_that_of_lines(place: Place, first: tuple[str, ...]) -> None:
    """Cells of a line sort by their texts with length prefixes: those of 10 digits before 9."""
    values = [None, -1, 0, 7, 7, 10, 99, 123456789, 1234567890, -1234567890, 12345678901, None]
    columns: Columns = {
        "n": ("INTEGER", [None] * len(values) + [3] * len(values)),
        "g": ("BIGINT", [i % 2 for i in range(len(values))] + [0] * len(values)),
        "v": ("BIGINT", values + values[::-1]),
    }
    rows = Counter(
        tuple(None if cell is None else str(cell) for cell in row)
        for row in zip(*(cells for _, cells in columns.values()), strict=True)
    )
    source = place.put(columns)
    with place.connect(source) as engine, open_source_table(engine, source) as table:
        assert opened_table_digest(engine, table, first) == plain_digest(rows)


REQUIREMENT = Requirement(k=2, criteria=(EntropyDiversity(1.01, "s"),))
ORDERED = {
    "of one length": ["aa", "bb", "bb", "cc", "bb", "aa"],
    "of several lengths": ["b", "aaa", "cc", "", "é,", "cc"],
    "with NULL": ["aa", None, "bb", None, "bb", "aa"],
    "with too many cells": ["b", "a", "d", "c", "e", "f"],
}


@once_on_spark("cells", [*ORDERED], "of several lengths")
def test_audit_of_rows_in_order_has_the_same_digest_and_counts(
    place: Place, cells: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows may be in that order or not, and the sensitive column may be at any index.

    On Spark one audit takes most of a minute with the strictest value of every criterion.
    """
    monkeypatch.setattr(row_hashes, "MOST_LINE_CELLS", 5)
    on_spark = place.name == "spark"
    values = ORDERED[cells]
    columns: Columns = {
        "b": ("INTEGER", [2, 10, None, 2] * 6),
        "a": ("VARCHAR", ["x", None, "Y", "x", "é", "x"] * 4),
        "s": ("VARCHAR", [value for value in values for _ in range(4)]),
    }
    for names in (["b", "a", "s"], ["s", "a", "b"])[on_spark:]:
        source = place.put({name: columns[name] for name in names})
        options = {"quasi_identifiers": ["a", "b"], "sensitive": ["s"], "requirement": REQUIREMENT}
        with place.connect(source) as engine:
            found, other = (
                audit_source(
                    engine,
                    source,
                    **options,
                    starred_apart=False,
                    digest=True,
                    strictest=not on_spark,
                    in_order=in_order,
                )
                for in_order in (True, False)
            )
            rows = Counter(
                tuple(None if cell is None else str(cell) for cell in row)
                for row in zip(*(columns[name][1] for name in names), strict=True)
            )
            assert found == other
            assert found.sha256 == plain_digest(rows)
            classes = Counter(zip(columns["a"][1], columns["b"][1], strict=True))
            assert (found.k, found.classes, found.rows) == (min(classes.values()), len(classes), 24)
