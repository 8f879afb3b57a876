"""The fuzz's own files: sources in every format, specs, and releases read back."""

from __future__ import annotations

import datetime
import decimal
import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat

from discreet.engines.files.sources import FILE_FORMATS
from discreet.release.release_target import RELEASE_FORMATS as RELEASES
from discreet.verbs.models.model_registry import MODELS
from tests.fuzz.cases import HOSTILE, Trial
from tests.fuzz.conditions import WEIGHT
from tests.oracle.plain_release import read_csv, write_csv

Record = dict[str, Any]
"""A published row: cells by column."""

TABLE = "the people"
FRAMES = ("arrow", "pandas", "polars")
"""Tables in memory."""
STATISTICS = ("sav", "zsav", "dta", "xpt")
"""Formats whose empty text is NULL, and which store numbers if every cell of a column reads as one."""
UNWRITTEN = ("sas7bdat",)
"""Formats of sources that no library here writes."""
WITHOUT_NULL = (*STATISTICS, "xlsx")
MEMORY = "memory"
"""A release that stays in memory."""
_TYPES = {"text": pa.string(), "int": pa.int64(), "double": pa.float64()}


def source_formats() -> list[str]:
    """List every format of a source that the engine declares, databases and tables in memory."""
    return [*(name for name in FILE_FORMATS if name not in UNWRITTEN), "duckdb", *FRAMES]


def release_formats() -> list[str]:
    """List every format of a release that the program or a model declares, and the one in memory."""
    of_models = (ending for model in MODELS for ending in model.formats)
    return [*dict.fromkeys(ending.lstrip(".") for ending in (*RELEASES, *of_models)), MEMORY]


def missing_formats() -> list[str]:
    """Name each declared format that this module does not write or read."""
    sources = [f"source {name}" for name in source_formats() if name not in (*_WRITERS, *FRAMES)]
    read = ("csv", "parquet", "sqlite", "duckdb", *STATISTICS, MEMORY)
    return sources + [f"release {name}" for name in release_formats() if name not in read]


def write_table(trial: Trial, folder: Path) -> Path | Any:
    """Write the source; return its path, or the table in memory."""
    arrays = [pa.array(list(column.cells), _TYPES[column.kind]) for column in trial.columns]
    table = pa.Table.from_arrays(arrays, names=[column.name for column in trial.columns])
    match trial.source:
        case "arrow":
            return table
        case "pandas":
            return table.to_pandas()
        case "polars":
            return polars.from_arrow(table)
    path = folder / f"source.{trial.source}"
    _WRITERS[trial.source](path, table)
    return path


def _rows(table: pa.Table) -> list[Record]:
    return list(table.to_pylist())


def _write_tabs(path: Path, table: pa.Table) -> None:
    lines = ["\t".join(table.column_names)]
    lines += ["\t".join(cell or "" for cell in row.values()) for row in _rows(table)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")


def _write_json_lines(path: Path, table: pa.Table) -> None:
    lines = [json.dumps(row, ensure_ascii=number % 2 == 0) for number, row in enumerate(_rows(table))]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="")


def _write_sqlite(path: Path, table: pa.Table) -> None:
    names = ", ".join(f'"{name}" TEXT' for name in table.column_names)
    with sqlite3.connect(path) as connection:
        connection.execute(f'CREATE TABLE "{TABLE}" ({names})')
        marks = ", ".join("?" * table.num_columns)
        values = [tuple(row.values()) for row in _rows(table)]
        connection.executemany(f'INSERT INTO "{TABLE}" VALUES ({marks})', values)
    connection.close()


def _write_duckdb(path: Path, table: pa.Table) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.register("given", table)
        connection.execute(f'CREATE TABLE "{TABLE}" AS SELECT * FROM given')


def _write_statistics(path: Path, table: pa.Table) -> None:
    frame = pandas.DataFrame(_rows(table), columns=table.column_names)
    if path.suffix == ".dta":
        pyreadstat.write_dta(frame, str(path))
    elif path.suffix == ".xpt":
        pyreadstat.write_xport(frame, str(path), file_format_version=8)
    else:
        pyreadstat.write_sav(frame, str(path), compress=path.suffix == ".zsav")


_WRITERS: Mapping[str, Callable[[Path, pa.Table], object]] = {
    "csv": lambda path, table: write_csv(path, _rows(table), table.column_names),
    "tsv": _write_tabs,
    "parquet": lambda path, table: pq.write_table(table, path),
    **dict.fromkeys(("json", "jsonl", "ndjson"), _write_json_lines),
    "xlsx": lambda path, table: pandas.DataFrame(_rows(table), columns=table.column_names).to_excel(
        path, index=False
    ),
    "sqlite": _write_sqlite,
    "duckdb": _write_duckdb,
    **dict.fromkeys(STATISTICS, _write_statistics),
}


def attribute_entries(trial: Trial) -> dict[str, Any]:
    """Return ``[attributes]`` of the spec."""
    return {
        column.name: {"role": "identifier" if column.role == "subject" else column.role}
        | ({"hierarchy": column.hierarchy} if column.hierarchy else {})
        | dict(column.more)
        for column in trial.columns
        if column.role != "subject" or column.more
    }


def spec_document(trial: Trial, folder: Path) -> dict[str, Any]:
    """Return the spec without its source's path; hierarchy files and the population are written."""
    entries = attribute_entries(trial)
    for name, entry in entries.items():
        if entry.get("hierarchy", {}).get("kind") == "file":
            path = folder / f"{name}.hierarchy.csv"
            text = "".join(";".join(row) + "\n" for row in entry["hierarchy"]["rows"])
            path.write_text(text, encoding="utf-8", newline="")
            entry["hierarchy"] = str(path)
        for key in ("pseudonymization", "date_shift"):
            if "key" in entry.get(key, {}):
                entry[key] = entry[key] | {"key": str(folder / entry[key]["key"])}
    source: dict[str, Any] = {"null_policy": "drop"} if trial.drop_nulls else {}
    if trial.subject is not None:
        source["subject"] = trial.subject.name
    if trial.source in ("duckdb", "sqlite"):
        source["table"] = TABLE
    if trial.survey:
        source["survey_weight"] = WEIGHT
    document: dict[str, Any] = {"source": source, "attributes": entries}
    if trial.journey != HOSTILE:
        document["request"] = {"row_order": trial.order}
    if trial.people:
        document["population"] = {"path": str(_population(trial, folder))}
    return document | dict(trial.more.get("spec", {}))


def _population(trial: Trial, folder: Path) -> Path:
    """Write the people of the table and the others."""
    own = [{c.name: c.cells[row] for c in trial.keys} for row in trial.kept]
    path = folder / "population.csv"
    write_csv(path, [*own, *trial.people], [column.name for column in trial.keys])
    return path


def write_spec(trial: Trial, folder: Path, source: Path) -> Path:
    """Write the spec as TOML."""
    document = spec_document(trial, folder)
    document["source"] = {"path": str(source)} | document["source"]
    attributes = document.pop("attributes")
    tables = document | {f"attributes.{toml_value(name)}": entry for name, entry in attributes.items()}
    lines = []
    for name, table in tables.items():
        lines += [f"[{name}]", *(f"{toml_value(key)} = {toml_value(value)}" for key, value in table.items())]
    path = folder / "discreet.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")
    return path


def toml_value(value: Any) -> str:
    """Return a value as TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml_value(k)} = {toml_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def read_release(path: Path, table: str = "release") -> list[Record]:
    """Read the rows of a published file, or of a table of a published database."""
    kind = path.suffix.lstrip(".")
    if kind == "csv":
        header, rows = read_csv(path)
        return _records([str(name) for name in header], rows)
    if kind == "parquet":
        return _rows(pq.read_table(path))
    if kind in STATISTICS:
        read = {"dta": pyreadstat.read_dta, "xpt": pyreadstat.read_xport}.get(kind, pyreadstat.read_sav)
        frame, about = read(str(path))
        labels = dict(zip(about.column_names, about.column_labels, strict=True))
        names = [labels[name] or name for name in about.column_names]
        return _records(names, frame.astype(object).where(frame.notna(), None).to_numpy().tolist())
    connection: Any = sqlite3.connect(path) if kind == "sqlite" else duckdb.connect(str(path), read_only=True)
    try:
        cursor = connection.execute(f'SELECT * FROM "{table}"')
        return _records([entry[0] for entry in cursor.description], cursor.fetchall())
    finally:
        connection.close()


def _records(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[Record]:
    return [dict(zip(names, row, strict=True)) for row in rows]


def read_texts(path: Path) -> list[Record]:
    """Read a published file; every cell is a text or None, numbers and days in their plain form."""
    empty_is_null = path.suffix.lstrip(".") in STATISTICS
    return [
        {name: plain_text(cell, empty_is_null=empty_is_null) for name, cell in row.items()}
        for row in read_release(path)
    ]


def plain_text(cell: Any, *, empty_is_null: bool = False) -> str | None:
    """Return a cell as text: whole floats without a point, days without a time."""
    if cell is None or (empty_is_null and cell == ""):
        return None
    if isinstance(cell, float):
        return str(int(cell)) if cell == int(cell) else repr(cell)
    text = cell.isoformat() if hasattr(cell, "isoformat") else str(cell)
    return text.removesuffix("T00:00:00")


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


def is_rewritable(path: Path) -> bool:
    """Test whether ``write_release`` supports the format."""
    return path.suffix in (".csv", ".parquet")


def write_release(path: Path, rows: Sequence[Mapping[str, str | None]], names: Sequence[str]) -> None:
    """Write a changed release over the published one, in its format: CSV or Parquet."""
    if path.suffix == ".csv":
        write_csv(path, rows, names)
    else:
        arrays = {name: pa.array([row[name] for row in rows], pa.string()) for name in names}
        pq.write_table(pa.table(arrays), path)
