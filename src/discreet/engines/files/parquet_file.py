"""Parquet files, and folders of them: their columns, and how the engine reads them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from discreet.engines.files.delimited_text import check_names, glob_literal
from discreet.engines.files.folder import ParquetFolder, check_no_log, parquet_folder
from discreet.errors import InputError
from discreet.sql.source import column_name


@dataclass(frozen=True)
class ParquetFile:
    """A Parquet file, or those of a folder, and their columns by their own names.

    ``partitions`` are the last of the columns: those that subfolders are, in the order in which the engine
    has them.
    """

    files: tuple[Path, ...]
    label: str
    columns: tuple[str, ...]
    partitions: tuple[str, ...] = ()

    def relation(self, *, serial: bool = False) -> str:
        """The rows in a FROM clause, columns ``c0``, ``c1``, …; they are always read in parallel."""
        del serial
        names = [column_name(i) for i in range(len(self.columns))]
        if not self.partitions:
            return f"read_parquet({_listed(self.files)}, hive_partitioning=false) AS t({', '.join(names)})"
        own = names[: -len(self.partitions)]
        named = [*own, *(column_name(self.columns.index(key, len(own))) for key in self.partitions)]
        read = f"read_parquet({_listed(self.files)}, hive_partitioning=true, hive_types_autocast=false)"
        return f"(SELECT {', '.join(names)} FROM {read} AS t({', '.join(named)}))"


def read_schema(path: Path, label: str, fetch: Callable[[str], list[tuple[Any, ...]]]) -> ParquetFile:
    """A file or a folder with its columns; the engine's own list renames those that differ in case alone.

    ``InputError`` where the files of a folder have different columns, or a file is no table by itself
    (``folder.check_no_log``).
    """
    if path.is_dir():
        folder = parquet_folder(path)
    else:
        check_no_log(path)
        folder = ParquetFolder((path,), ())
    columns = _columns(folder.files, label, fetch)
    check_names((*columns, *folder.partitions), label)
    if not folder.partitions:
        return ParquetFile(folder.files, label, columns)
    known = {name.casefold() for name in columns}
    for key in folder.partitions:
        if key.casefold() in known:
            raise InputError(f"{label}: '{key}' is a column of the files and the name of their folders")
    read = f"read_parquet({_listed(folder.files)}, hive_partitioning=true, hive_types_autocast=false)"
    engine = [str(row[0]) for row in fetch(f"DESCRIBE SELECT * FROM {read}")][len(columns) :]
    if sorted(engine) != sorted(folder.partitions):
        raise InputError(f"{label}: the folders' names cannot be read as columns", allowed="column=value")
    return ParquetFile(folder.files, label, (*columns, *folder.partitions), tuple(engine))


def _columns(
    files: Sequence[Path], label: str, fetch: Callable[[str], list[tuple[Any, ...]]]
) -> tuple[str, ...]:
    """The top-level columns that all the files have, in the order of the first."""
    try:
        nodes = fetch(f"SELECT file_name, name, num_children FROM parquet_schema({_listed(files)})")
    except InputError:
        raise InputError(
            f"{label} is no whole Parquet file",
            advice="Check that its ending, or format in [source], says what it is; or copy it again.",
        ) from None
    by_file = {name: [(n, c) for _, n, c in group] for name, group in groupby(nodes, key=itemgetter(0))}
    (first, columns), *rest = ((name, _top_level(group)) for name, group in by_file.items())
    for name, other in rest:
        different = sorted(set(columns) ^ set(other))
        if different:
            raise InputError(
                f"{label}: '{different[0]}' is not a column of both {Path(first).name} and {Path(name).name}",
                allowed="files of the same columns",
                advice="Write the table again as one, or put files of other columns elsewhere.",
            )
    return columns


def _top_level(nodes: list[tuple[Any, ...]]) -> tuple[str, ...]:
    columns: list[str] = []
    place = 1
    for _ in range(nodes[0][1] or 0):
        columns.append(nodes[place][0])
        place = _after(nodes, place)
    return tuple(columns)


def _listed(files: Sequence[Path]) -> str:
    """The files as a list in which no character stands for others."""
    return f"[{', '.join(glob_literal(path) for path in files)}]"


def _after(nodes: list[tuple[Any, ...]], place: int) -> int:
    """The place behind a node and everything below it (the list is depth first)."""
    children = nodes[place][1] or 0
    place += 1
    for _ in range(children):
        place = _after(nodes, place)
    return place
