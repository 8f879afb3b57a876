"""Parquet files, and folders of them: their columns, and how the engine reads them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.engines.files.delimited_text import check_names, glob_literal
from discreet.errors import InputError
from discreet.sql.source import column_name


@dataclass(frozen=True)
class ParquetFile:
    """A Parquet file, or a folder of such, and its top-level columns, by the names in the file."""

    path: Path
    label: str
    columns: tuple[str, ...]

    def relation(self, *, serial: bool = False) -> str:
        """The file in a FROM clause, columns ``c0``, ``c1``, …; it is always read in parallel."""
        del serial
        names = ", ".join(column_name(i) for i in range(len(self.columns)))
        return f"read_parquet({_pattern(self.path)}, hive_partitioning=false) AS t({names})"


def read_schema(path: Path, label: str, fetch: Callable[[str], list[tuple[Any, ...]]]) -> ParquetFile:
    """A file with its top-level columns; the engine's own list renames those that differ in case alone."""
    try:
        nodes = fetch(f"SELECT name, num_children FROM parquet_schema({_pattern(path)})")
    except InputError:
        raise InputError(
            f"{label} is no whole Parquet file",
            advice="Check that its ending, or format in [source], says what it is; or copy it again.",
        ) from None
    columns: list[str] = []
    place = 1
    for _ in range(nodes[0][1] or 0):
        columns.append(nodes[place][0])
        place = _after(nodes, place)
    check_names(columns, label)
    return ParquetFile(path, label, tuple(columns))


def _pattern(path: Path) -> str:
    """The file, or the files of the folder, as a literal."""
    return f"{glob_literal(path)[:-1]}/*.parquet'" if path.is_dir() else glob_literal(path)


def _after(nodes: list[tuple[Any, ...]], place: int) -> int:
    """The place behind a node and everything below it (the list is depth first)."""
    children = nodes[place][1] or 0
    place += 1
    for _ in range(children):
        place = _after(nodes, place)
    return place
