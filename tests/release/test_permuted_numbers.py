"""Permuted values of every type of number, and their help tables."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest

import discreet
from discreet.settings import Settings

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
def test_permuted_release_keeps_rows_and_values_with_their_help_table(
    tmp_path: Path, settings: Settings, kind: str
) -> None:
    pay = KINDS[kind].format("i % 9")
    duckdb.sql(
        f"COPY (SELECT i AS row, CAST({pay} AS {kind}) AS pay FROM range(300) AS r(i)) "
        f"TO '{tmp_path / 'people.parquet'}'"
    )
    (tmp_path / "spec.toml").write_text(SPEC, encoding="utf-8")
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
