"""Exact numbers are permuted by arrays, next to the staged rows; other values by a join."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pytest

import discreet
from discreet.engines.base import Engine
from discreet.engines.source_tables import TemporaryTables
from discreet.release.staged_rows import StagedRows
from discreet.settings import Settings
from discreet.sql import value_permutation as sql
from discreet.sql.value_permutation import compare_values, zip_columns

SPEC = """[source]
path = "people.parquet"

[attributes.row]
role = "quasi-identifier"

[attributes.pay]
role = "sensitive"
"""
KINDS = {
    "TINYINT": "{} - 3",
    "BIGINT": "({} - 4) * 1000000007",
    "DECIMAL(7,2)": "{} * 0.75 - 2",
    "HUGEINT": "{}",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("beside", [True, False])
def test_a_release_has_its_rows_and_values_and_their_help_table(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch, kind: str, beside: bool
) -> None:
    pay = KINDS[kind].format("i % 9")
    duckdb.sql(
        f"COPY (SELECT i AS row, CAST({pay} AS {kind}) AS pay FROM range(300) AS r(i)) "
        f"TO '{tmp_path / 'people.parquet'}'"
    )
    (tmp_path / "spec.toml").write_text(SPEC, encoding="utf-8")
    if not beside:
        monkeypatch.setattr(StagedRows, "determined_by_codes", False)
    out = tmp_path / "out.parquet"
    discreet.open(tmp_path / "spec.toml", settings=settings).publish("permutation", out, k=3)
    given = duckdb.sql(f"SELECT row, pay FROM '{tmp_path / 'people.parquet'}'").fetchall()
    found = duckdb.sql(f"SELECT row, group_id, pay FROM '{out}'").fetchall()
    assert sorted(row for row, _, _ in found) == sorted(row for row, _ in given)
    assert Counter(v for _, _, v in found) == Counter(v for _, v in given)
    before, now = dict(given), dict[int, list[list[Decimal]]]()
    for row, group, value in found:
        of_group = now.setdefault(group, [[], []])
        of_group[0].append(before[row])
        of_group[1].append(value)
    assert all(sorted(held) == sorted(shown) for held, shown in now.values())
    columns = "group_id, hits, group_sum, sum_lower, sum_upper, min_lower, min_upper, max_lower, max_upper"
    helped = duckdb.sql(f"SELECT {columns} FROM '{tmp_path / 'out.help.parquet'}'").fetchall()
    due = []
    for group, (_, shown) in sorted(now.items()):
        ends = sorted(shown)
        for hits in range(1, len(ends) + 1):
            low, high = ends[:hits], ends[-hits:]
            due.append((group, hits, sum(ends), sum(low), sum(high), ends[0], high[0], low[-1], ends[-1]))
    assert [tuple(map(Decimal, line)) for line in helped] == [tuple(map(Decimal, line)) for line in due]


def test_rows_that_would_stand_beside_others_are_left_out(engine: Engine) -> None:
    with TemporaryTables(engine) as tables:
        held = tables.load({"q0": np.array([5, 6, 7])})
        for rows, found in (([0, 1, 2], [5, 6, 7]), ([0, 2, 1], [5])):
            move = tables.load(
                {
                    sql.ROW_NUMBER: np.array(rows),
                    sql.GROUP_NUMBER: np.ones(3, int),
                    sql.MOVED_VALUE: np.arange(3),
                }
            )
            moved = tables.create(zip_columns(held, move, ["q0"], f"m.{sql.MOVED_VALUE}"))
            assert sorted(row[0] for row in engine.fetch_rows(f"SELECT q0 FROM {moved}")) == found


@pytest.mark.parametrize(
    ("values", "found"), [([4, 4, 9], (3, True)), ([4, 9, 9], (3, False)), ([4, 9], (2, False))]
)
def test_values_are_compared_as_a_whole(engine: Engine, values: list[int], found: tuple[int, bool]) -> None:
    with TemporaryTables(engine) as tables:
        held, moved = tables.load({"o0": np.array([9, 4, 4])}), tables.load({"v": np.array(values)})
        query = compare_values(engine.dialect, held, "o0", moved, "v", "BIGINT")
        assert engine.fetch_rows(query) == [found]
