"""Parquet files and folders of them: the files and partition columns, their schema, and a folder's digest.

All engines read the same files. A folder with a table log (Delta Lake, Iceberg, Hudi) is refused, because it
keeps the rows of old versions; so is any file that a reader would ignore silently.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import Any

from discreet.engines.files.delimited_text import check_unique_names
from discreet.errors import InputError
from discreet.places.file_access import matching_files
from discreet.sql.cell_expressions import column_name
from discreet.sql.quoting import glob_literal

DELTA, ICEBERG = "Delta Lake", "Apache Iceberg"
"""Kinds of tables whose log can be read."""
METADATA = ".metadata.json"
"""Suffix of Iceberg's metadata files."""

_ENDING = ".parquet"
_TABLE_ENDINGS = (".csv", ".tsv", ".tab", ".json", ".jsonl", ".ndjson", ".pq", ".orc", ".avro", ".gz")
_MARKS = ("_", ".")
_MAGIC = b"PAR1"


@dataclass(frozen=True)
class ParquetFolder:
    """Files of a folder, and the partition columns of its subfolders from the outermost to the innermost."""

    files: tuple[Path, ...]
    partitions: tuple[str, ...]


def parquet_folder(folder: Path) -> ParquetFolder:
    """List the files and partition columns of a folder.

    Raises ``InputError`` if there are no Parquet files, or if rows would be omitted or outdated.
    """
    check_no_table_log(folder)
    found: dict[Path, tuple[str, ...]] = {}
    others: list[Path] = []
    try:
        _walk(folder, (), found, others)
        if not found:
            raise InputError(
                f"{folder} is a folder without Parquet files",
                allowed="a file, or a folder of files that end in .parquet",
                advice=f"Name one of its folders, such as {others[0]}." if others else None,
            )
        for other in others:
            _check_no_files(folder, other)
    except OSError as error:
        raise InputError(f"{error.filename or folder} cannot be read: {error.strerror}") from None
    _check_partitions(folder, found)
    return ParquetFolder(tuple(sorted(found)), next(iter(found.values())))


def folder_digest(folder: Path) -> str:
    """Return the SHA-256 of a folder, computed from its files' names and digests in the order of names."""
    total = hashlib.sha256()
    for path in parquet_folder(folder).files:
        try:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}") from None
        total.update(f"{digest}  {path.relative_to(folder).as_posix()}\n".encode())
    return total.hexdigest()


def folder_kind(folder: Path) -> str | None:
    """Return the kind of table that a folder is: ``Parquet`` or the kind of its log; None if it is none.

    Only lists the folder; reads no file.
    """
    kind = table_log_kind(folder)
    if kind is not None:
        return kind
    try:
        return "Parquet" if next(_first_files(folder), None) is not None else None
    except OSError:
        return None


def _first_files(folder: Path) -> Iterator[Path]:
    """Yield the Parquet files of a folder, then those of its first partition subfolder."""
    keys = []
    for path in sorted(folder.iterdir()):
        if path.name.startswith(_MARKS):
            continue
        if path.name.lower().endswith(_ENDING) and path.is_file():
            yield path
        elif "=" in path.name and path.is_dir():
            keys.append(path)
    for path in keys[:1]:
        yield from _first_files(path)


def check_no_table_log(path: Path) -> None:
    """Raise ``InputError`` for a table of Delta Lake, Iceberg or Hudi, and for a path inside one.

    Its folder keeps the files of older versions, including deleted rows; only its log lists the current
    files.
    """
    absolute = path.absolute()
    for folder in (absolute, *absolute.parents):
        kind = table_log_kind(folder)
        if kind is not None:
            within = "is" if folder == absolute else f"is in {folder}, which is"
            raise InputError(
                f"{path} {within} a table of {kind}: its log lists its current files; the others are "
                "old versions of the same rows",
                allowed="a Parquet file, a folder of plain Parquet files, or the folder of a whole table of "
                "Delta Lake or Apache Iceberg as a source",
                advice='Read it through Spark\'s catalog (engine = "spark" and table = "…" in [source]), '
                "hand its rows to Python as an Arrow table or a DataFrame, or export it to plain Parquet.",
            )


def table_log_kind(folder: Path) -> str | None:
    """Return the kind of table whose log a folder contains, None without a log."""
    try:
        if (folder / "_delta_log").is_dir():
            return DELTA
        if (folder / ".hoodie").is_dir():
            return "Apache Hudi"
        if any((folder / "metadata").glob(f"*{METADATA}")):
            return ICEBERG
    except OSError:
        return None
    return None


def _walk(
    folder: Path, keys: tuple[str, ...], names_of_folders: dict[Path, tuple[str, ...]], others: list[Path]
) -> None:
    """Collect a folder's files with the partition columns of their paths, and its other subfolders."""
    for path in sorted(folder.iterdir()):
        mark = path.name.startswith(_MARKS)
        if path.is_dir():
            key = path.name.partition("=")[0] if "=" in path.name else ""
            if mark:
                continue
            check_no_table_log(path)
            if not key:
                others.append(path)
            elif key in keys or "%" in key:
                raise InputError(f"{path}: the name of the folder contains no column", allowed="column=value")
            else:
                _walk(path, (*keys, key), names_of_folders, others)
        elif path.name.lower().endswith(_ENDING):
            if mark:
                raise InputError(
                    f"{path} begins with '{path.name[0]}' like a writer's marker files, and would be ignored",
                    advice="Rename it, or move it out of the folder.",
                )
            _check_file(path)
            names_of_folders[path] = keys
        elif not mark and (path.name.lower().endswith(_TABLE_ENDINGS) or _is_parquet(path)):
            raise InputError(
                f"{path} is not a Parquet file and would be ignored",
                allowed="a folder whose tables are files that end in .parquet",
                advice="Rename it, or move it out of the folder.",
            )


def _check_file(path: Path) -> None:
    """Raise ``InputError`` for a pipe, a device, or a broken link."""
    if not path.exists() or not S_ISREG(path.stat().st_mode):
        raise InputError(f"{path} is not a regular file", allowed="Parquet files")


def _is_parquet(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def _check_no_files(folder: Path, other: Path) -> None:
    """Raise ``InputError`` if another subfolder contains Parquet files, which would be omitted."""
    for path in _files_below(other):
        if path.name.lower().endswith(_ENDING):
            raise InputError(
                f"{path} is in a subfolder and would be ignored in {folder}",
                allowed="Parquet files in one folder, or in subfolders named column=value",
                advice="Move the files into one folder, or the subfolder out of it.",
            )


def _files_below(folder: Path) -> Iterator[Path]:
    for folder_path, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(_MARKS)]
        yield from (Path(folder_path, name) for name in sorted(names))
        yield from (Path(folder_path, name) for name in folders if name.lower().endswith(_ENDING))


def _check_partitions(folder: Path, names_of_folders: dict[Path, tuple[str, ...]]) -> None:
    """Raise ``InputError`` unless all files have the same partition columns, all below the folder."""
    (first, keys), *rest = names_of_folders.items()
    for path, other in rest:
        if other != keys:
            raise InputError(
                f"{folder}: {first} and {path} have different partition columns",
                allowed="each file in the folder itself, or each below the same columns (column=value)",
            )
    outer = [part for part in folder.absolute().parts if "=" in part]
    if keys and outer:
        raise InputError(
            f"{folder} is in {outer[-1]}, a column of a larger table, and has partition columns itself",
            advice="Name the outermost folder of the table, or move this one.",
        )


_Node = tuple[str, int]
"""Name of a node and the number of its children."""


@dataclass(frozen=True)
class ParquetFile:
    """Parquet file, or the files of a folder, with the original column names.

    ``partitions`` are the last of the columns, from the names of subfolders, in DuckDB's order.
    """

    files: tuple[Path, ...]
    label: str
    columns: tuple[str, ...]
    partitions: tuple[str, ...] = ()

    def relation(self, *, serial: bool = False) -> str:
        """Return the rows for a FROM clause, with columns ``c0``, ``c1``, …; always read in parallel."""
        del serial
        names = [column_name(i) for i in range(len(self.columns))]
        if not self.partitions:
            return f"read_parquet({_path_list(self.files)}, hive_partitioning=false) AS t({', '.join(names)})"
        own = names[: -len(self.partitions)]
        named = [*own, *(column_name(self.columns.index(key, len(own))) for key in self.partitions)]
        read = f"read_parquet({_path_list(self.files)}, hive_partitioning=true, hive_types_autocast=false)"
        return f"(SELECT {', '.join(names)} FROM {read} AS t({', '.join(named)}))"


def read_parquet_schema(path: Path, label: str, fetch: Callable[[str], list[tuple[Any, ...]]]) -> ParquetFile:
    """Read the columns of a file or a folder; DuckDB's own list renames those that differ only in case.

    Raises ``InputError`` if the files of a folder have different columns, or if a file is part of a table
    with a log (``check_no_table_log``).
    """
    if path.is_dir():
        folder = parquet_folder(path)
    else:
        files = matching_files(path)
        for file in files:
            check_no_table_log(file)
        folder = ParquetFolder(files, ())
    columns = _columns(folder.files, label, fetch)
    check_unique_names((*columns, *folder.partitions), label)
    if not folder.partitions:
        return ParquetFile(folder.files, label, columns)
    known = {name.casefold() for name in columns}
    for key in folder.partitions:
        if key.casefold() in known:
            raise InputError(f"{label}: '{key}' is a column of the files and the name of their folders")
    read = f"read_parquet({_path_list(folder.files)}, hive_partitioning=true, hive_types_autocast=false)"
    engine = [str(row[0]) for row in fetch(f"DESCRIBE SELECT * FROM {read}")][len(columns) :]
    if sorted(engine) != sorted(folder.partitions):
        raise InputError(f"{label}: the folders' names cannot be read as columns", allowed="column=value")
    return ParquetFile(folder.files, label, (*columns, *folder.partitions), tuple(engine))


def _columns(
    files: Sequence[Path], label: str, fetch: Callable[[str], list[tuple[Any, ...]]]
) -> tuple[str, ...]:
    """Return the top-level columns that all files have, in the order of the first file, as in DuckDB."""
    fields = "file_name, num_children, COLUMNS('^(name|column_id)$')"
    try:
        nodes = fetch(f"SELECT {fields} FROM parquet_schema({_path_list(files)})")
    except InputError:
        raise InputError(
            f"{label} is not a complete Parquet file",
            advice="Check that its extension, or format in [source], is right; or copy it again.",
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
    """Yield the schema nodes of each file, depth first.

    From DuckDB 1.5 on, each thread reads a file and their rows are interleaved; ``column_id`` numbers the
    nodes of a file. Older versions lack this column and return the rows in order.
    """
    found: dict[str, list[tuple[Any, ...]]] = {str(path): [] for path in files}
    for name, children, node, *number in nodes:
        found[name].append((*number, node, children))
    for path in files:
        of_file = sorted(found[str(path)], key=lambda node: node[:-2])
        yield path, [(name, children or 0) for *_, name, children in of_file]


def _top_level(nodes: list[_Node]) -> tuple[str, ...]:
    columns: list[str] = []
    index = 1
    for _ in range(nodes[0][1]):
        columns.append(nodes[index][0])
        index = _next_sibling(nodes, index)
    return tuple(columns)


def _path_list(files: Sequence[Path]) -> str:
    """Return the files as an SQL list of paths without active wildcards."""
    return f"[{', '.join(glob_literal(path) for path in files)}]"


def _next_sibling(nodes: list[_Node], index: int) -> int:
    """Return the position after a node and its descendants (the list is depth first)."""
    children = nodes[index][1]
    index += 1
    for _ in range(children):
        index = _next_sibling(nodes, index)
    return index
