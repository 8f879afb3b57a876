"""Parquet files, and folders of them: their columns, and how the engine reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.engines.files.delimited_text import check_names
from discreet.engines.files.folder import ParquetFolder, check_no_log, parquet_folder
from discreet.errors import InputError
from discreet.places.file_pattern import files_of
from discreet.sql.names import glob_literal
from discreet.sql.source import column_name

_Node = tuple[str, int]
"""A node's name and the number of its children."""


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
        files = files_of(path)
        for file in files:
            check_no_log(file)
        folder = ParquetFolder(files, ())
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
    """The top-level columns that all the files have, in the order of the first, which is the engine's too."""
    told = "file_name, num_children, COLUMNS('^(name|column_id)$')"
    try:
        nodes = fetch(f"SELECT {told} FROM parquet_schema({_listed(files)})")
    except InputError:
        raise InputError(
            f"{label} is no whole Parquet file",
            advice="Check that its ending, or format in [source], says what it is; or copy it again.",
        ) from None
    (first, columns), *rest = ((path, _top_level(of_file)) for path, of_file in _by_file(files, nodes))
    for path, other in rest:
        different = sorted(set(columns) ^ set(other))
        if different:
            raise InputError(
                f"{label}: '{different[0]}' is not a column of both {first.name} and {path.name}",
                allowed="files of the same columns",
                advice="Write the table again as one, or put files of other columns elsewhere.",
            )
    return columns


def _by_file(files: Sequence[Path], nodes: Sequence[tuple[Any, ...]]) -> Iterator[tuple[Path, list[_Node]]]:
    """The nodes of each file, depth first.

    From DuckDB 1.5 on threads read a file each, and their rows come mixed; ``column_id`` numbers the nodes of
    a file. Before, there is no such column, and the rows come in order.
    """
    found: dict[str, list[tuple[Any, ...]]] = {str(path): [] for path in files}
    for name, children, node, *number in nodes:
        found[name].append((*number, node, children))
    for path in files:
        of_file = sorted(found[str(path)], key=lambda node: node[:-2])
        yield path, [(name, children or 0) for *_, name, children in of_file]


def _top_level(nodes: list[_Node]) -> tuple[str, ...]:
    columns: list[str] = []
    place = 1
    for _ in range(nodes[0][1]):
        columns.append(nodes[place][0])
        place = _after(nodes, place)
    return tuple(columns)


def _listed(files: Sequence[Path]) -> str:
    """The files as a list in which no character stands for others."""
    return f"[{', '.join(glob_literal(path) for path in files)}]"


def _after(nodes: list[_Node], place: int) -> int:
    """The place behind a node and everything below it (the list is depth first)."""
    children = nodes[place][1]
    place += 1
    for _ in range(children):
        place = _after(nodes, place)
    return place
