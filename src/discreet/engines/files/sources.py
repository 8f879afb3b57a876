"""From a source in the spec to a reader of its rows: which format, which columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from discreet.engines import failures
from discreet.engines.files.database_file import attach
from discreet.engines.files.delimited_text import DelimitedText, read_header
from discreet.engines.files.json_lines import read_keys
from discreet.engines.files.logged_table import copy_name, is_logged_table, open_log
from discreet.engines.files.parquet_file import ParquetFile, read_schema
from discreet.engines.files.python_table import adapt
from discreet.engines.files.several_files import joined_lines, joined_text, one_of, with_plain_header
from discreet.engines.files.statistics_kinds import KINDS, Codebook
from discreet.engines.files.stream import Spool, is_stream, read_stream, spool_rows
from discreet.engines.files.text_file import (
    check_byte_order_mark,
    is_compressed,
    is_utf8,
    open_bytes,
    transcode,
)
from discreet.engines.files.unquoted_nulls import unquoted_nulls
from discreet.errors import InputError
from discreet.model.table_spec import SourceSpec
from discreet.places.file_pattern import files_of, is_pattern
from discreet.places.regular_file import check_regular

Fetch = Callable[[str], list[tuple[Any, ...]]]

FORMATS = {
    "csv": "csv",
    "tsv": "tsv",
    "parquet": "parquet",
    "json": "json",
    "jsonl": "json",
    "ndjson": "json",
    "xlsx": "xlsx",
    "sqlite": "sqlite",
} | {kind: kind for kind in KINDS}
"""The spec's ``format`` names, and the kind of file each means."""

_SQLITE = dict.fromkeys(("sqlite3", "db", "db3"), "sqlite")
_ENDINGS = FORMATS | {"txt": "csv", "tab": "tsv", "pq": "parquet"} | _SQLITE


class Reader(Protocol):
    """An opened source: its columns, and its rows in a FROM clause with columns ``c0``, ``c1``, …"""

    @property
    def label(self) -> str:
        """The source's name for messages."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The source's own column names, in order."""

    def relation(self, *, serial: bool = False) -> str:
        """The rows in a FROM clause; ``serial`` asks for one scanning thread."""


def open_reader(
    source: SourceSpec, name: str, scratch: Path, fetch: Fetch, label: str, spool: Spool
) -> Reader:
    """The reader of a source.

    ``name`` is free for registering a table in memory, ``scratch`` an owner-only folder for a copy in UTF-8,
    ``fetch`` runs a query, ``spool`` writes a stream to a file. ``InputError`` where the source cannot be
    read.
    """
    if is_stream(source.data):
        return read_stream(source.data, label, spool)
    if source.data is not None:
        return adapt(source.data, f"{name}_rows", label)
    if source.path is None:
        raise InputError("the spec names no source", advice="Give path in [source].")
    path = source.path.absolute()
    if source.table is None and source.format in (None, "parquet") and is_logged_table(path):
        return _at_version(path, source.version, name, scratch, label, spool)
    if source.version is not None:
        raise InputError(
            f"{label} has no versions",
            allowed="version of a table of Delta Lake or Apache Iceberg",
            advice="Remove version from [source].",
        )
    if path.is_dir() and source.table is None and source.format in (None, "parquet"):
        return read_schema(path, label, fetch)
    if is_pattern(path) and source.table is None:
        return _several(source, path, scratch / name, fetch, label)
    check_file(path, label)
    if _is_spreadsheet(source):
        from discreet.engines.files.spreadsheet import as_delimited_text

        copy = as_delimited_text(path, source.table, scratch / f"{name}.csv", label)
        return read_header(copy, label, ",", '"')
    if _is_sqlite(source):
        from discreet.engines.files.sqlite_file import as_parquet

        return as_parquet(path, source.table, scratch / f"{name}.parquet", label, fetch)
    if source.table is not None:
        return attach(fetch, path, source.table, f"{name}_database", label)
    kind = format_of(path, source.format)
    if kind in KINDS:
        from discreet.engines.files.statistics_file import as_rows

        return as_rows(source, kind, scratch / name, fetch)
    if kind == "parquet":
        return read_schema(path, label, fetch)
    if kind == "json":
        return read_keys(_in_utf8(path, source.encoding, scratch / f"{name}.jsonl"), label, fetch)
    delimiter = source.delimiter or ("\t" if kind == "tsv" else None)
    text = _in_utf8(path, source.encoding, scratch / f"{name}.csv")
    found = _with_nulls(read_header(text, label, delimiter, source.quote), source)
    return with_plain_header(found, scratch / f"{name}.plain.csv")


def _with_nulls(file: DelimitedText, source: SourceSpec) -> DelimitedText:
    """The file with the words that are NULL without quotes: as the source says, else as the file tells."""
    words = source.unquoted_nulls
    if words is None:
        words = unquoted_nulls(file.path, file.delimiter, file.quote)
    return replace(file, unquoted_nulls=words)


def unquoted_nulls_of(source: SourceSpec) -> tuple[str, ...]:
    """Return the words that are NULL in a source where they are bare; none where it is no text in UTF-8."""
    path = source.path
    if source.unquoted_nulls is not None or path is None or source.table is not None or path.is_dir():
        return source.unquoted_nulls or ()
    if is_pattern(path) or _is_sqlite(source) or not is_utf8(source.encoding):
        return ()
    kind = format_of(path, source.format)
    if kind not in ("csv", "tsv"):
        return ()
    delimiter = source.delimiter or ("\t" if kind == "tsv" else None)
    return _with_nulls(read_header(path, source.label, delimiter, source.quote), source).unquoted_nulls


def _at_version(
    path: Path, version: int | None, name: str, scratch: Path, label: str, spool: Spool
) -> Reader:
    """The reader of a table with a log, of its newest version where none is named.

    Rows that do not stand in its files as they are (some are deleted, say) are copied once in an engine.
    """
    log = open_log(path, label)
    known = log.version if version is None else version
    rows, copy = log.rows(known), scratch / copy_name(path, known)
    if not is_stream(rows):
        return adapt(rows, f"{name}_rows", label)
    if copy.exists():
        return ParquetFile((copy,), label, tuple(rows.schema.names))
    return spool_rows(rows, copy, label, spool)


def _several(source: SourceSpec, path: Path, copy: Path, fetch: Fetch, label: str) -> Reader:
    """The reader of the files that a pattern names, as one table."""
    files = files_of(path)
    for file in files:
        check_file(file, str(file))
    kind = one_of([(file, format_of(file, source.format)) for file in files])
    if kind in ("xlsx", "sqlite", *KINDS):
        raise InputError(
            f"{label}: files of the kind {kind}",
            allowed="CSV, TSV, Parquet or JSON-lines files in a pattern",
        )
    if kind == "parquet":
        return read_schema(path, label, fetch)
    if kind == "json":
        target = copy.with_suffix(".jsonl")
        joined_lines(files, target, source.encoding)
        return read_keys(target, label, fetch)
    delimiter = source.delimiter or ("\t" if kind == "tsv" else None)
    target = copy.with_suffix(".csv")
    delimiter = joined_text(files, target, source.encoding, delimiter, source.quote)
    found = _with_nulls(read_header(target, label, delimiter, source.quote), source)
    return with_plain_header(found, copy.with_suffix(".plain.csv"))


def sheets_in(source: SourceSpec) -> tuple[str, ...]:
    """The sheets of a spreadsheet that hold anything, the tables of a SQLite file; else nothing.

    ``InputError`` where the file cannot be read.
    """
    if source.path is None or is_pattern(source.path):
        return ()
    if _is_sqlite(source):
        from discreet.engines.files.sqlite_file import tables_of

        return tables_of(source.path, source.label)
    if not _is_spreadsheet(source):
        return ()
    from discreet.engines.files.spreadsheet import sheets_of

    check_file(source.path, source.label)
    return sheets_of(source.path, source.label)


def told_of_cells(source: SourceSpec) -> tuple[str, ...]:
    """What the publisher should know of how cells are read: values of several kinds, labels of codes."""
    path = source.path
    if path is None or is_pattern(path) or path.is_dir():
        return ()
    if _is_sqlite(source):
        from discreet.engines.files.sqlite_file import told_of

        return told_of(path, source.table, source.label)
    kind = _program_file(source)
    if kind is None:
        return ()
    from discreet.engines.files.statistics_file import told_of_labels

    return told_of_labels(path, kind, source.label, coded=source.coded)


def codebook(source: SourceSpec) -> Codebook:
    """What a file of a statistics program says of its columns; nothing, of any other source."""
    kind = _program_file(source)
    if kind is None or source.path is None:
        return Codebook()
    from discreet.engines.files.statistics_file import codebook_of

    return codebook_of(source.path, kind, source.label, coded=source.coded)


def _program_file(source: SourceSpec) -> str | None:
    """Which kind of statistics program's file a source is; None where it is none."""
    path = source.path
    if path is None or source.table is not None or is_pattern(path) or path.is_dir():
        return None
    kind = _ENDINGS.get((source.format or path.suffix.removeprefix(".")).lower())
    return kind if kind in KINDS else None


def _is_sqlite(source: SourceSpec) -> bool:
    """Whether a source is a SQLite file: by its format, else its ending, or its bytes beside a table."""
    path = source.path
    if path is None:
        return False
    if source.format is not None:
        return source.format.lower() == "sqlite"
    ending = _ENDINGS.get(path.suffix.lower().removeprefix("."))
    if ending == "sqlite" and source.table is None:
        return True
    if ending != "sqlite" and source.table is None:
        return False
    from discreet.engines.files.sqlite_file import is_sqlite

    return is_sqlite(path)


def _is_spreadsheet(source: SourceSpec) -> bool:
    return source.path is not None and (source.format or source.path.suffix.lower()) in ("xlsx", ".xlsx")


_OTHERS = {
    **dict.fromkeys(("xls", "xlsb", "xlsm", "ods", "numbers"), "Save the sheet as .xlsx or as CSV in UTF-8."),
    **dict.fromkeys(("zip", "7z", "rar", "tar", "tgz", "bz2", "xz", "zst"), "Unpack it first."),
    **dict.fromkeys(("rds", "rdata", "rda"), "Write it from R as Parquet or CSV."),
    **dict.fromkeys(("mdb", "accdb", "dbf"), "Export the table as CSV in UTF-8."),
    **dict.fromkeys(("feather", "arrow", "ipc", "orc", "avro", "h5", "pkl"), "Convert it to Parquet."),
    **dict.fromkeys(("xml", "html", "htm", "pdf", "docx"), "Write its table as CSV or JSON lines."),
}
"""What becomes of files of other kinds, by their endings."""


def format_of(path: Path, format_name: str | None) -> str:
    """The kind of a file (a value of ``FORMATS``): as the spec says, else by the path's ending."""
    if format_name is not None:
        if format_name.lower() not in FORMATS:
            raise InputError(f"format '{format_name}'", allowed=", ".join(FORMATS))
        return FORMATS[format_name.lower()]
    ending = (path.with_suffix("") if is_compressed(path) else path).suffix.lower().removeprefix(".")
    if ending not in _ENDINGS:
        raise InputError(
            f"{path}: the ending '{path.suffix}' says no format",
            allowed=", ".join(f".{e}" for e in _ENDINGS),
            advice=_OTHERS.get(
                ending,
                "Say the file's format, such as csv: in the spec's [source], or where the file is named, "
                "as in --format csv.",
            ),
        )
    return _ENDINGS[ending]


def check_file(path: Path, label: str) -> None:
    """Raise ``InputError`` unless the path is a file that can be opened."""
    check_regular(path, label)
    try:
        if path.is_dir():
            raise InputError(f"{label} is a folder", allowed="a file")
        found = path.exists()
    except OSError:
        found = False
    if not found:
        raise InputError(
            f"{label} is missing", advice="Check the path; in a spec it is relative to the spec's folder."
        )
    with open_bytes(path) as handle:
        handle.read(1)


def _in_utf8(path: Path, encoding: str, copy: Path) -> Path:
    check_byte_order_mark(path, encoding)
    if is_utf8(encoding):
        return path
    try:
        transcode(path, encoding, copy)
    except OSError as error:
        raise failures.from_os(error, copy) from None
    return copy
