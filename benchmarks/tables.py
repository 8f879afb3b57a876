"""Synthetic tables for the benchmarks, written by DuckDB as Parquet with hierarchies and a spec.

Every value is a function of the row's number, so a table is reproducible (with one version of DuckDB). Rows
repeat ``row_types`` skewed combinations; without ``row_types`` each row draws its own, and nearly all are
distinct. The tables contain no real person's data.

``python -m benchmarks.tables NAME`` creates one table below ``out/benchmarks``.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness import ROOT


@dataclass(frozen=True)
class Column:
    """A quasi-identifier of ``leaves`` values; level i groups ``widths[i - 1]`` neighbours, then the top.

    A value is a uniform number's ``power``, so that the first values are the frequent ones. If ``follows``
    names a column, the number is that column's, and its value determines this one.
    """

    name: str
    leaves: int
    widths: tuple[int, ...] = ()
    power: int = 2
    follows: str | None = None

    def hierarchy(self) -> str:
        """Return the hierarchy as text: one line per leaf, leaf first, top last."""
        lines = []
        for leaf in range(self.leaves):
            groups = [f"{self.name}{leaf // width * width:05d}+{width}" for width in self.widths]
            lines.append(";".join([f"{self.name}{leaf:05d}", *groups, "*"]))
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Table:
    """A synthetic table: its size, its columns, and the number of repeated combinations."""

    name: str
    rows: int
    columns: tuple[Column, ...]
    row_types: int | None = None
    sensitive: int | None = None

    def query(self) -> str:
        """Return the rows, as one SELECT."""
        source = "i"
        if self.row_types is not None:
            # Cube of a uniform number: a few combinations are very frequent, most are rare.
            source = f"CAST(floor({self.row_types} * pow({_uniform('i', 0)}, 3)) AS BIGINT)"
        drawn = {c.name: _uniform("t", n) for n, c in enumerate(self.columns, start=1)}
        cells = [
            f"printf('{c.name}%05d', CAST(floor({c.leaves} * pow({drawn[c.follows or c.name]}, {c.power}))"
            f" AS INTEGER)) AS {c.name}"
            for c in self.columns
        ]
        if self.sensitive is not None:
            # As hours per week in Adult: nearly half of the rows share one value, the others are spread.
            spread = f"CAST(floor({self.sensitive} * pow({_uniform('i', 98)}, 2)) AS INTEGER)"
            value = f"CASE WHEN {_uniform('i', 99)} < 0.47 THEN {self.sensitive // 2} ELSE {spread} END"
            cells.append(f"printf('s%03d', {value}) AS sensitive")
        inner = f"SELECT i, {source} AS t FROM range({self.rows}) AS rows(i)"
        return f"SELECT {', '.join(cells)} FROM ({inner})"

    def spec(self) -> str:
        """Return the spec as TOML."""
        lines = ["[source]", f'path = "{self.name}.parquet"']
        for c in self.columns:
            lines += [f"[attributes.{c.name}]", 'role = "quasi-identifier"', f'hierarchy = "{c.name}.csv"']
        if self.sensitive is not None:
            lines += ["[attributes.sensitive]", 'role = "sensitive"']
        return "\n".join(lines) + "\n"


def _uniform(number: str, salt: int) -> str:
    # One integer per draw: hash(a, b) of two columns mixes neighbouring b too little.
    return f"((hash({number} * 100 + {salt}) >> 11)::DOUBLE / 9007199254740992.0)"


CENSUS_600K = Table(
    "census_600k",
    rows=600_000,
    columns=(
        Column("age", 80, (5, 10, 20)),
        Column("occupation", 50, (10,)),
        Column("region", 10, (5,)),
        Column("work", 8, (2, 4)),
    ),
    row_types=40_000,
    sensitive=94,
)
WIDE_50M = Table(
    "wide_50m",
    rows=50_000_000,
    columns=(
        Column("age", 80, (5, 10, 20)),
        Column("sex", 2),
        Column("region", 50, (10,)),
        Column("work", 8, (4,)),
        Column("education", 16, (2, 8)),
        Column("marital", 7, (3,)),
        Column("occupation", 14, (7,)),
        Column("country", 40, (10,)),
    ),
    row_types=410_000,
)
DISTINCT_5M = Table(
    "distinct_5m",
    rows=5_000_000,
    columns=(
        Column("birth", 30_000, (30, 360, 3600)),
        Column("place", 9_000, (10, 100, 1000)),
        Column("sex", 2),
        Column("work", 8, (4,)),
    ),
)
POSTAL_63K = Table(
    "postal_63k",
    rows=63_441,
    columns=(
        Column("zip", 100_000, (10, 100, 1_000, 10_000), power=1),
        Column("age", 96, (5, 10, 20)),
        Column("gender", 5, power=3),
        Column("income", 8, (3,)),
        Column("state", 53, power=1, follows="zip"),
        Column("total", 814, (10, 50, 200), power=6),
        Column("gifts", 81, (5, 10, 40), power=4),
        Column("least", 128, (4, 16, 64), power=8),
    ),
)
TABLES = {table.name: table for table in (CENSUS_600K, WIDE_50M, DISTINCT_5M, POSTAL_63K)}


def folder() -> Path:
    """Return the folder of cached tables (``DISCREET_BENCH_TABLES``, default ``out/benchmarks``)."""
    return Path(os.environ.get("DISCREET_BENCH_TABLES", ROOT / "out" / "benchmarks"))


def make(table: Table, *, rows: int | None = None) -> Path:
    """Write a table, its hierarchies and its spec, and return the spec's path.

    Data from the same query is reused. ``rows`` creates a smaller table of the same kind.
    """
    import duckdb

    home = folder() / f"{table.name}-{rows or table.rows}"
    home.mkdir(parents=True, exist_ok=True)
    for column in table.columns:
        (home / f"{column.name}.csv").write_text(column.hierarchy(), encoding="utf-8")
    spec = home / "discreet.toml"
    spec.write_text(table.spec(), encoding="utf-8")
    data, made_by = home / f"{table.name}.parquet", home / "table.sql"
    query = Table(table.name, rows or table.rows, table.columns, table.row_types, table.sensitive).query()
    if not (data.exists() and made_by.exists() and made_by.read_text(encoding="utf-8") == query):
        partial = data.with_suffix(".partial")
        with duckdb.connect(config={"memory_limit": "2GB", "preserve_insertion_order": "false"}) as engine:
            engine.execute(f"COPY ({query}) TO '{partial}' (FORMAT parquet)")
        partial.rename(data)
        made_by.write_text(query, encoding="utf-8")
    return spec


def main() -> None:
    """Create the named tables, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*TABLES, []], default=[])
    for name in parser.parse_args().names or TABLES:
        print(make(TABLES[name]))


if __name__ == "__main__":
    main()
