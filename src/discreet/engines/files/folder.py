"""A folder of Parquet files: which files it holds, the same for every engine, and its digest.

Read is each file that ends in ``.parquet``, in the folder itself or in subfolders named ``column=value``,
which are columns. Names that begin with ``_`` or ``.`` are a writer's own marks (``_SUCCESS``, ``.crc``), and
are left out, as is what is no table (a note, a checksum). Rows are never left out without a word: a Parquet
file of such a name or in another subfolder, or another kind of table beside the files, is refused. So is a
folder of which a log says which files count, for many of its files are old versions of the same rows;
``files.logged_table`` reads some of these.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG

from discreet.errors import InputError

DELTA, ICEBERG = "Delta Lake", "Apache Iceberg"
"""What a folder with a log is, where the log can be read."""
METADATA = ".metadata.json"
"""The end of the names of Iceberg's files that describe a table."""

_ENDING = ".parquet"
_TABLE_ENDINGS = (".csv", ".tsv", ".tab", ".json", ".jsonl", ".ndjson", ".pq", ".orc", ".avro", ".gz")
_MARKS = ("_", ".")
_MAGIC = b"PAR1"


@dataclass(frozen=True)
class ParquetFolder:
    """The files of a folder by their paths, and the columns that its subfolders are, from the outside in."""

    files: tuple[Path, ...]
    partitions: tuple[str, ...]


def parquet_folder(folder: Path) -> ParquetFolder:
    """What a folder holds; ``InputError`` where there is none, or where rows would be left out or stale."""
    check_no_log(folder)
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
    """SHA-256 of a folder: of its files' names and digests, in the order of their names."""
    whole = hashlib.sha256()
    for path in parquet_folder(folder).files:
        try:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}") from None
        whole.update(f"{digest}  {path.relative_to(folder).as_posix()}\n".encode())
    return whole.hexdigest()


def kind_of_folder(folder: Path) -> str | None:
    """What a folder is as one table: ``Parquet`` or the kind of its log; None where it is none.

    It is looked at, and nothing of it is read.
    """
    kind = kind_of_log(folder)
    if kind is not None:
        return kind
    try:
        return "Parquet" if next(_first_files(folder), None) is not None else None
    except OSError:
        return None


def _first_files(folder: Path) -> Iterator[Path]:
    """Parquet files of a folder, then of the first of its subfolders that are columns."""
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


def check_no_log(path: Path) -> None:
    """Raise ``InputError`` for a table of Delta, Iceberg or Hudi, and for a path within one.

    Its folder keeps the files of older versions, deleted rows among them; which files are the table only its
    log says.
    """
    place = path.absolute()
    for folder in (place, *place.parents):
        kind = kind_of_log(folder)
        if kind is not None:
            within = "is" if folder == place else f"lies in {folder}, which is"
            raise InputError(
                f"{path} {within} a table of {kind}: its log says which of its files count, the others are "
                "old versions of the same rows",
                allowed="a Parquet file, a folder of plain Parquet files, or the folder of a whole table of "
                "Delta Lake or Apache Iceberg as a source",
                advice='Read it through Spark\'s catalog (engine = "spark" and table = "…" in [source]), '
                "hand its rows to Python as an Arrow table or a DataFrame, or export it to plain Parquet.",
            )


def kind_of_log(folder: Path) -> str | None:
    """What a folder is a table of, where a log says which of its files count."""
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
    folder: Path, keys: tuple[str, ...], found: dict[Path, tuple[str, ...]], others: list[Path]
) -> None:
    """Collect the files of a folder with the columns that lead there, and its other subfolders."""
    for path in sorted(folder.iterdir()):
        mark = path.name.startswith(_MARKS)
        if path.is_dir():
            key = path.name.partition("=")[0] if "=" in path.name else ""
            if mark:
                continue
            check_no_log(path)
            if not key:
                others.append(path)
            elif key in keys or "%" in key:
                raise InputError(f"{path}: the folder names no column of its own", allowed="column=value")
            else:
                _walk(path, (*keys, key), found, others)
        elif path.name.lower().endswith(_ENDING):
            if mark:
                raise InputError(
                    f"{path} begins with '{path.name[0]}' as a writer's marks do, and would be left out",
                    advice="Rename it, or move it out of the folder.",
                )
            _check_file(path)
            found[path] = keys
        elif not mark and (path.name.lower().endswith(_TABLE_ENDINGS) or _is_parquet(path)):
            raise InputError(
                f"{path} stands beside Parquet files and would be left out",
                allowed="a folder whose tables are files that end in .parquet",
                advice="Rename it, or move it out of the folder.",
            )


def _check_file(path: Path) -> None:
    """Raise ``InputError`` for a pipe, a device, or a link that leads nowhere."""
    if not path.exists() or not S_ISREG(path.stat().st_mode):
        raise InputError(f"{path} is no regular file", allowed="Parquet files")


def _is_parquet(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def _check_no_files(folder: Path, other: Path) -> None:
    """Raise ``InputError`` where a further subfolder has Parquet files, which would be left out."""
    for path in _files_below(other):
        if path.name.lower().endswith(_ENDING):
            raise InputError(
                f"{path} lies in a subfolder, and would be left out of {folder}",
                allowed="Parquet files in one folder, or in subfolders named column=value",
                advice="Move the files into one folder, or the subfolder out of it.",
            )


def _files_below(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(_MARKS)]
        yield from (Path(place, name) for name in sorted(names))
        yield from (Path(place, name) for name in folders if name.lower().endswith(_ENDING))


def _check_partitions(folder: Path, found: dict[Path, tuple[str, ...]]) -> None:
    """Raise ``InputError`` unless the same columns lead to each file, all of them below the folder."""
    (first, keys), *rest = found.items()
    for path, other in rest:
        if other != keys:
            raise InputError(
                f"{folder}: {first} and {path} do not lie in folders of the same columns",
                allowed="each file in the folder itself, or each below the same columns (column=value)",
            )
    outer = [part for part in folder.absolute().parts if "=" in part]
    if keys and outer:
        raise InputError(
            f"{folder} lies in {outer[-1]}, a column of a larger table, and has columns of its own",
            advice="Name the outermost folder of the table, or move this one.",
        )
