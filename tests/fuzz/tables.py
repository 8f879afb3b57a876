"""The fuzz's own files of a trial: the source in every format, its spec, and releases read back as texts."""

from __future__ import annotations

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
from tests.fuzz.cases import Column
from tests.fuzz.conditions import WEIGHT
from tests.fuzz.files import TABLE, Record, attribute_entries, read_release, source_entry, toml_value
from tests.fuzz.trial import Trial
from tests.oracle.plain_release import write_csv

FRAMES = ("arrow", "pandas", "polars")
"""Tables in memory."""
STATISTICS = ("sav", "zsav", "dta", "xpt")
"""Formats whose empty text is NULL, and which store numbers if every cell of a column reads as one."""
UNWRITTEN = ("sas7bdat",)
"""Formats of sources that no library here writes."""
WITHOUT_NULL = (*STATISTICS, "xlsx")
MEMORY = "memory"
"""A release that stays in memory."""


def source_formats() -> list[str]:
    """List every format of a source that the engine declares, databases and tables in memory."""
    return [*(name for name in FILE_FORMATS if name not in UNWRITTEN), "duckdb", *FRAMES]


def release_formats() -> list[str]:
    """List every format of a release that the program or a model declares, and the one in memory."""
    of_models = (ending for model in MODELS for ending in model.formats)
    return [*dict.fromkeys(ending.lstrip(".") for ending in (*RELEASES, *of_models)), MEMORY]


def write_table(trial: Trial, folder: Path) -> Path | Any:
    """Write the source; return its path, or the table in memory."""
    path = folder / f"source.{trial.source}"
    names = [column.name for column in trial.columns]
    arrow = pa.table({column.name: pa.array(list(column.cells), pa.string()) for column in trial.columns})
    rows = [
        dict(zip(names, cells, strict=True)) for cells in zip(*(c.cells for c in trial.columns), strict=True)
    ]
    if trial.source in FRAMES:
        return {
            "arrow": lambda: arrow,
            "pandas": arrow.to_pandas,
            "polars": lambda: polars.from_arrow(arrow),
        }[trial.source]()
    _WRITERS[trial.source](path, rows, names, arrow)
    return path


Writer = Callable[[Path, list[dict[str, Any]], list[str], pa.Table], object]


def _quoted(path: Path, rows: list[dict[str, Any]], names: list[str], arrow: pa.Table) -> None:
    write_csv(path, rows, names)


def _parquet(path: Path, rows: list[dict[str, Any]], names: list[str], arrow: pa.Table) -> None:
    pq.write_table(arrow, path)


def _sheet(path: Path, rows: list[dict[str, Any]], names: list[str], arrow: pa.Table) -> None:
    pandas.DataFrame(rows, columns=names).to_excel(path, index=False)


def _tabs(path: Path, rows: list[dict[str, Any]], names: list[str], arrow: pa.Table) -> None:
    lines = ["\t".join(names), *("\t".join(row[name] or "" for name in names) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")


def _lines(path: Path, rows: list[dict[str, Any]], names: list[str], arrow: pa.Table) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8", newline="")


def _sqlite(path: Path, rows: list[dict[str, Any]], names: list[str], arrow: pa.Table) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(
            f'CREATE TABLE "{TABLE}" ({", ".join(f"{chr(34)}{n}{chr(34)} TEXT" for n in names)})'
        )
        marks = ", ".join("?" * len(names))
        values = [[row[name] for name in names] for row in rows]
        connection.executemany(f'INSERT INTO "{TABLE}" VALUES ({marks})', values)
    connection.close()


def _duckdb(path: Path, rows: list[dict[str, Any]], names: list[str], arrow: pa.Table) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.register("given", arrow)
        connection.execute(f'CREATE TABLE "{TABLE}" AS SELECT * FROM given')


def _statistics(path: Path, rows: list[dict[str, Any]], names: list[str], arrow: pa.Table) -> None:
    frame = pandas.DataFrame(rows, columns=names)
    if path.suffix == ".dta":
        pyreadstat.write_dta(frame, str(path))
    elif path.suffix == ".xpt":
        pyreadstat.write_xport(frame, str(path), file_format_version=8)
    else:
        pyreadstat.write_sav(frame, str(path), compress=path.suffix == ".zsav")


_WRITERS: Mapping[str, Writer] = {
    "csv": _quoted,
    "tsv": _tabs,
    "parquet": _parquet,
    "json": _lines,
    "jsonl": _lines,
    "ndjson": _lines,
    "xlsx": _sheet,
    "sqlite": _sqlite,
    "duckdb": _duckdb,
    **dict.fromkeys(STATISTICS, _statistics),
}


def missing_formats() -> list[str]:
    """Name each declared format that this module does not write or read."""
    sources = [f"source {name}" for name in source_formats() if name not in (*_WRITERS, *FRAMES)]
    read = ("csv", "parquet", "sqlite", "duckdb", *STATISTICS, MEMORY)
    return sources + [f"release {name}" for name in release_formats() if name not in read]


def spec_document(trial: Trial, folder: Path) -> dict[str, Any]:
    """Return the spec without its source's path; hierarchy files and the population are written."""
    entries = attribute_entries(trial)
    for column in trial.columns:
        rule = column.hierarchy
        if rule is not None and rule["kind"] == "file":
            path = folder / f"{column.name}.hierarchy.csv"
            text = "".join(";".join(row) + "\n" for row in rule["rows"])
            path.write_text(text, encoding="utf-8", newline="")
            entries[column.name]["hierarchy"] = str(path)
    for entry in entries.values():
        for name in ("way", "shift"):
            if "key" in entry.get(name, {}):
                entry[name] = entry[name] | {"key": str(folder / entry[name]["key"])}
    source = source_entry(trial, folder)
    if trial.source == "sqlite":
        source["table"] = TABLE
    if trial.survey:
        source["survey_weight"] = WEIGHT
    document: dict[str, Any] = {"source": source, "attributes": entries, "request": {"order": trial.order}}
    if trial.people:
        document["population"] = {"path": str(_population(trial, folder))}
    return document | dict(trial.more.get("spec", {}))


def _population(trial: Trial, folder: Path) -> Path:
    """Return the people of the table and the others."""
    names = [column.name for column in trial.keys]
    own = [{c.name: c.cells[row] for c in trial.keys} for row in trial.kept]
    path = folder / "population.csv"
    write_csv(path, [*own, *trial.people], names)
    return path


def write_spec(trial: Trial, folder: Path, source: Path) -> Path:
    """Write the spec as TOML."""
    document = spec_document(trial, folder)
    document["source"] = {"path": str(source)} | document["source"]
    attributes = document.pop("attributes")
    lines = []
    for name, table in document.items():
        lines += [f"[{name}]", *(f"{toml_value(key)} = {toml_value(value)}" for key, value in table.items())]
    for name, entry in attributes.items():
        lines += [f"[attributes.{toml_value(name)}]"]
        lines += [f"{toml_value(key)} = {toml_value(value)}" for key, value in entry.items()]
    path = folder / "discreet.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")
    return path


def read_texts(path: Path) -> list[Record]:
    """Read a published file; every cell is a text or None, numbers and days in their plain form."""
    kind = path.suffix.lstrip(".")
    if kind == "sqlite":
        with sqlite3.connect(path) as connection:
            cursor = connection.execute("SELECT * FROM release")
            names = [entry[0] for entry in cursor.description]
            found = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        connection.close()
    elif kind in STATISTICS:
        found = _read_statistics(path)
    else:
        found = read_release(path)
    return [
        {name: plain_text(cell, empty_is_null=kind in STATISTICS) for name, cell in row.items()}
        for row in found
    ]


def _read_statistics(path: Path) -> list[Record]:
    read = {".dta": pyreadstat.read_dta, ".xpt": pyreadstat.read_xport}.get(path.suffix, pyreadstat.read_sav)
    frame, about = read(str(path))
    labels = dict(zip(about.column_names, about.column_labels, strict=True))
    names = [labels[name] or name for name in about.column_names]
    cells = frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
    return [dict(zip(names, row, strict=True)) for row in cells]


def plain_text(cell: Any, *, empty_is_null: bool = False) -> str | None:
    """Return a cell as text: whole floats without a point, days without a time."""
    if cell is None or (empty_is_null and cell == ""):
        return None
    if isinstance(cell, float):
        return str(int(cell)) if cell == int(cell) else repr(cell)
    text = cell.isoformat() if hasattr(cell, "isoformat") else str(cell)
    return text.removesuffix("T00:00:00")


def write_release(path: Path, rows: Sequence[Mapping[str, str | None]], names: Sequence[str]) -> None:
    """Write a changed release over the published one, in its format: CSV, Parquet or SQLite."""
    if path.suffix == ".csv":
        write_csv(path, rows, names)
    elif path.suffix == ".parquet":
        arrays = {name: pa.array([row[name] for row in rows], pa.string()) for name in names}
        pq.write_table(pa.table(arrays), path)
    else:
        raise ValueError(path.suffix)


def is_rewritable(path: Path) -> bool:
    """Test whether ``write_release`` supports the format."""
    return path.suffix in (".csv", ".parquet")


def published_columns(columns: Sequence[Column]) -> list[Column]:
    """Return the columns of a release, in order."""
    return [column for column in columns if column.is_published]
