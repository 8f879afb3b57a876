"""A permuted release stores labels in their column's type, for any other levels of the hierarchy."""

from __future__ import annotations

from pathlib import Path

import duckdb

from discreet import open as open_table
from discreet.settings import Settings
from discreet.verbs.models.permutation_model import Permutation


def test_unused_label_need_not_be_of_the_column_type(tmp_path: Path, settings: Settings) -> None:
    path, out = tmp_path / "people.parquet", tmp_path / "out.parquet"
    cells = "(20 + i % 5)::INTEGER AS age, CASE WHEN i % 7 > 0 THEN i % 3 END AS sex, i AS pay"
    duckdb.sql(f"COPY (SELECT {cells} FROM range(60) AS r(i)) TO '{path}'")
    hierarchy = tmp_path / "age.csv"
    hierarchy.write_text("\n".join([*(f"{age};*" for age in range(20, 25)), "not told;*"]) + "\n")
    attributes = {
        "age": {"role": "quasi-identifier", "hierarchy": str(hierarchy)},
        "sex": {"role": "quasi-identifier"},
        "pay": {"role": "sensitive"},
    }
    table = open_table(path, {"attributes": attributes}, settings=settings)
    table.publish(Permutation(), out, k=5)
    counted = "SELECT age, sex, count(*) FROM '{}' GROUP BY ALL ORDER BY ALL"
    assert duckdb.sql(counted.format(out)).fetchall() == duckdb.sql(counted.format(path)).fetchall()
    types = duckdb.sql(f"SELECT typeof(age), typeof(sex) FROM '{out}' LIMIT 1").fetchall()
    assert types == [("INTEGER", "BIGINT")]
