"""Small tables to permute, and plain readers of their published files."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import discreet
from discreet.settings import Settings
from discreet.verbs.table import Table

STAFF = """name,age,town,pay,desk
Anna,31,Kiel,1800,a
Bert,32,Kiel,2500,b
Carl,33,Kiel,,c
Dora,34,Bonn,2500,d
Emil,41,Bonn,4000,e
Fred,42,Bonn,5200,f
Gina,43,Bonn,5200,g
Hugo,,Kiel,6100,h
Ines,51,Kiel,7000,i
Jens,52,Bonn,-300,j
"""
"""Ten rows; one has no pay, one no age."""

SPEC: dict[str, Any] = {
    "source": {},
    "attributes": {
        "name": {"role": "identifier"},
        "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [10]}},
        "town": {"role": "quasi-identifier"},
        "pay": {"role": "sensitive"},
        "desk": {"role": "insensitive"},
    },
}


def staff(folder: Path, settings: Settings, text: str = STAFF, **source: object) -> Table:
    """Return the table under its spec, with entries of ``[source]``."""
    (folder / "staff.csv").write_text(text, encoding="utf-8")
    document = {**SPEC, "source": {**SPEC["source"], **source}}
    return discreet.open(folder / "staff.csv", document, settings=settings)


def table_of(
    folder: Path, settings: Settings, rows: Sequence[tuple[object, ...]], names: str = "age,pay"
) -> Table:
    """Build a table of quasi-identifiers and, last, the sensitive attribute; None is NULL."""
    lines = [",".join("" if cell is None else str(cell) for cell in row) for row in rows]
    (folder / "rows.csv").write_text("\n".join([names, *lines]) + "\n", encoding="utf-8")
    *keys, last = names.split(",")
    attributes = {name: {"role": "quasi-identifier"} for name in keys} | {last: {"role": "sensitive"}}
    return discreet.open(folder / "rows.csv", {"attributes": attributes}, settings=settings)


def numbers_of(folder: Path, settings: Settings, pay: pa.Array) -> Table:
    """Build a Parquet table of ages, a quasi-identifier, and pay, sensitive, with a type of its own."""
    ages = pa.array([20 + i % 7 for i in range(len(pay))])
    pq.write_table(pa.table({"age": ages, "pay": pay}), folder / "rows.parquet")
    spec = {"attributes": {"age": {"role": "quasi-identifier"}, "pay": {"role": "sensitive"}}}
    return discreet.open(folder / "rows.parquet", spec, settings=settings)


def rows_of(path: Path) -> list[dict[str, str]]:
    """Read the rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def values_by_group(rows: Sequence[dict[str, str]], value: str = "pay") -> dict[str, Counter[str]]:
    """Count the values of each group."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        found[row["group_id"]][row[value]] += 1
    return dict(found)


def no_group_fails(groups: dict[str, Counter[str]], k: int, e: float) -> bool:
    """Test whether every group has k distinct numbers and a range of e."""
    for counted in groups.values():
        numbers = {float(value) for value in counted if value}
        if len(numbers) < k or max(numbers) - min(numbers) < e:
            return False
    return True
