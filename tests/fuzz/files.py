"""The fuzz's own writers of sources and readers of releases; none of them is the program's."""

from __future__ import annotations

import datetime
import decimal
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from tests.fuzz.cases import Case, Column
from tests.oracle.plain_release import read_csv, write_csv

Record = dict[str, Any]
"""A published row: cells by column."""

TABLE = "the people"
_TYPES = {"text": pa.string(), "int": pa.int64(), "double": pa.float64()}


def write_source(case: Case, folder: Path) -> Path:
    """Write the table in its format."""
    path = folder / f"source.{case.source}"
    if case.source == "csv":
        rows = [{c.name: c.cells[row] for c in case.columns} for row in range(case.rows)]
        write_csv(path, rows, [column.name for column in case.columns])
    elif case.source == "jsonl":
        lines = [
            json.dumps({c.name: c.cells[row] for c in case.columns}, ensure_ascii=row % 2 == 0) + "\n"
            for row in range(case.rows)
        ]
        path.write_text("".join(lines), encoding="utf-8", newline="")
    elif case.source == "parquet":
        pq.write_table(_arrow(case.columns), path)
    else:
        with duckdb.connect(str(path)) as connection:
            connection.register("given", _arrow(case.columns))
            connection.execute(f'CREATE TABLE "{TABLE}" AS SELECT * FROM given')
    return path


def _arrow(columns: Sequence[Column]) -> pa.Table:
    arrays = [pa.array(list(column.cells), _TYPES[column.kind]) for column in columns]
    return pa.Table.from_arrays(arrays, names=[column.name for column in columns])


def source_entry(case: Case, path: Path) -> dict[str, Any]:
    """Return ``[source]`` of the spec, except the path."""
    found: dict[str, Any] = {"nulls": "drop"} if case.drop_nulls else {}
    if case.subject is not None:
        found["subject"] = case.subject.name
    if case.source == "duckdb":
        found["table"] = TABLE
    return found


def attribute_entries(case: Case) -> dict[str, Any]:
    """Return ``[attributes]`` of the spec."""
    return {
        column.name: {"role": "identifier" if column.role == "subject" else column.role}
        | ({"hierarchy": column.hierarchy} if column.hierarchy else {})
        | dict(column.more)
        for column in case.columns
        if column.role != "subject" or column.more
    }


def spec_text(case: Case, path: Path) -> str:
    """Return the spec as TOML."""
    lines = ["[source]", f"path = {toml_value(str(path))}"]
    lines += [f"{name} = {toml_value(value)}" for name, value in source_entry(case, path).items()]
    for name, entry in attribute_entries(case).items():
        lines += [
            f"[attributes.{toml_value(name)}]",
            *(f"{key} = {toml_value(value)}" for key, value in entry.items()),
        ]
    return "\n".join(lines) + "\n"


def toml_value(value: Any) -> str:
    """Return a value as TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml_value(k)} = {toml_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def read_release(path: Path, table: str = "release") -> list[Record]:
    """Read the rows of a published file, or of a table of a published database."""
    if path.suffix == ".csv":
        header, rows = read_csv(path)
        return [dict(zip(map(str, header), row, strict=True)) for row in rows]
    if path.suffix == ".parquet":
        found = pq.read_table(path)
        return list(_records(found.column_names, [column.to_pylist() for column in found.columns]))
    with duckdb.connect(str(path), read_only=True) as connection:
        cursor = connection.execute(f'SELECT * FROM "{table}"')
        names = [entry[0] for entry in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _records(names: Sequence[str], columns: Sequence[Sequence[Any]]) -> list[Record]:
    return [dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)]


def text_of(cell: Any, kind: str) -> str | None:
    """Return the text that a cell of a file must have had in the source; doubles by their value."""
    if cell is None:
        return None
    if kind == "double":
        try:
            return repr(float(cell) + 0.0)
        except ValueError:
            return str(cell)
    if isinstance(cell, float):
        return repr(cell)
    if isinstance(cell, decimal.Decimal):
        return format(cell, "f")
    return cell.isoformat() if isinstance(cell, datetime.date) else str(cell)
