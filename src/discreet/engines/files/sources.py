"""Readers of file sources: format, columns, version, and several files as one table.

The format comes from the spec, else from the file's extension. Files of a pattern are joined into one copy in
UTF-8; tables of open table formats are read at one version. Spreadsheets, SQLite and statistics files are
imported when first needed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from discreet.engines import failures
from discreet.engines.files.dataframes import Spool, adapt_table, is_stream, read_stream, spool_rows
from discreet.engines.files.delimited_text import (
    DelimitedText,
    count_records_quickly,
    detect_unquoted_nulls,
    header_size,
    read_delimited_header,
)
from discreet.engines.files.json_lines import read_json_keys
from discreet.engines.files.output_files import STATISTICS_PROGRAMS, Codebook, attach_table
from discreet.engines.files.parquet_files import (
    DELTA,
    ICEBERG,
    METADATA,
    ParquetFile,
    read_parquet_schema,
    table_log_kind,
)
from discreet.engines.files.text_file import (
    check_byte_order_mark,
    is_compressed,
    is_utf8,
    open_bytes,
    read_chunks,
    transcode,
)
from discreet.errors import InputError
from discreet.model.table_spec import SourceSpec, TableSpec
from discreet.places.file_access import check_regular, is_pattern, matching_files
from discreet.sql.cell_expressions import column_name

if TYPE_CHECKING:
    from discreet.engines.files.open_table_formats import DeltaLog, IcebergLog


def is_versioned_table(path: Path) -> bool:
    """Return True if a path is a table that is read by its log: its folder, or an Iceberg metadata file."""
    if path.name.endswith(METADATA):
        return path.is_file()
    return table_log_kind(path) in (DELTA, ICEBERG)


def open_table_log(path: Path, label: str) -> DeltaLog | IcebergLog:
    """Open the log of such a table; ``InputError`` if it cannot be read, or if its library is missing."""
    if not path.name.endswith(METADATA) and table_log_kind(path) == DELTA:
        from discreet.engines.files.open_table_formats import open_delta

        return open_delta(path, label)
    from discreet.engines.files.open_table_formats import open_iceberg

    return open_iceberg(path, label)


def version_copy_name(path: Path, version: int) -> str:
    """Return the deterministic file name for a copy of a version's rows."""
    return f"{hashlib.sha256(str(path).encode()).hexdigest()[:16]}-{version}.parquet"


def pin_versions(spec: TableSpec) -> TableSpec:
    """Return a spec whose tables with logs have a version, the newest if it names none.

    All parts of a run then read the same rows, even if the table is written meanwhile. Raises ``InputError``
    if a log cannot be read, or if its library is not installed.
    """
    source, population = _pin_source_version(spec.source), spec.population
    if population is not None:
        same = population.path == source.path and population.version is None
        population = _pin_source_version(replace(population, version=source.version) if same else population)
    if source is spec.source and population is spec.population:
        return spec
    return replace(spec, source=source, population=population)


def _pin_source_version(source: SourceSpec) -> SourceSpec:
    path = source.path
    if path is None or source.version is not None or not is_versioned_table(path.absolute()):
        return source
    return replace(source, version=open_table_log(path.absolute(), source.label).version)


def common_file_kind(kinds: Sequence[tuple[Path, str]]) -> str:
    """Return the common kind of several files; raises ``InputError`` for a file of another kind."""
    (first, kind), *rest = kinds
    for path, other in rest:
        if other != kind:
            raise InputError(
                f"{path} is {other}, and {first} is {kind}",
                allowed="files of one kind in a pattern",
                advice="Write a narrower pattern, such as 'data/*.csv'.",
            )
    return kind


def join_text_files(
    files: Sequence[Path],
    target: Path,
    encoding: str,
    delimiter: str | None,
    quote: str,
) -> str:
    """Join files of delimited text as UTF-8 in ``target`` (owner-only) with one header; return the delimiter.

    Raises ``InputError`` for a file whose columns differ from the first one's, and for a file that ends
    inside quotes, because its last cell would continue in the next file.
    """
    first: DelimitedText | None = None
    for number, file in enumerate(files):
        part = target.with_name(f"{target.stem}.{number}.part")
        check_byte_order_mark(file, encoding)
        try:
            transcode(file, encoding, part)
            known = read_delimited_header(
                part, str(file), delimiter if first is None else first.delimiter, quote
            )
            _check_columns(known, first)
            if count_records_quickly(read_chunks(part), quote, len(known.columns)) is None:
                raise InputError(
                    f"{file} ends within quotes", advice="Check its last lines for a missing quote."
                )
            first = first or known
            _append(part, target, header_size(known) if number else 0, _line_end(known))
        finally:
            part.unlink(missing_ok=True)
    assert first is not None
    return first.delimiter


def rewrite_multiline_header(file: DelimitedText, target: Path) -> DelimitedText:
    """Return the file, or a copy in ``target`` (owner-only) if a column name contains a line end.

    DuckDB takes such a line end for that of all records: from spreadsheet exports, whose records end with
    CRLF and whose line ends in cells are LF, it silently returns no rows. The copy has other column names.
    """
    if not any(end in name for name in file.columns for end in "\r\n"):
        return file
    names = file.delimiter.join(column_name(index) for index in range(len(file.columns)))
    size = header_size(file)
    with open_bytes(file.path) as handle:
        header = handle.read(size)
    target.touch(mode=0o600, exist_ok=False)
    target.write_bytes(names.encode() + header[len(header.rstrip(b"\r\n")) :])
    _append(file.path, target, size)
    return replace(file, path=target)


def join_json_files(files: Sequence[Path], target: Path, encoding: str) -> None:
    """Join files of JSON lines as UTF-8 in ``target`` (owner-only)."""
    for number, file in enumerate(files):
        part = target.with_name(f"{target.stem}.{number}.part")
        check_byte_order_mark(file, encoding)
        try:
            transcode(file, encoding, part)
            _append(part, target, 0)
        finally:
            part.unlink(missing_ok=True)


def _check_columns(known: DelimitedText, first: DelimitedText | None) -> None:
    if first is None or known.columns == first.columns:
        return
    different = sorted(set(known.columns) ^ set(first.columns))
    fact = f"'{different[0]}' is not a column of both" if different else "the columns come in another order"
    raise InputError(
        f"{first.label} and {known.label}: {fact}",
        allowed="files of the same columns, in the same order",
        advice="Write them with the same columns, or write a narrower pattern.",
    )


def _line_end(file: DelimitedText) -> bytes:
    """Return the header's line end; DuckDB rejects files with mixed line ends."""
    with open_bytes(file.path) as handle:
        return b"\r\n" if handle.read(header_size(file)).endswith(b"\r\n") else b"\n"


def _append(part: Path, target: Path, start: int, end: bytes = b"\n") -> None:
    """Append a file's bytes from ``start`` on, and a final line end if it is missing."""
    last = b"\n"
    with target.open("ab") as handle:
        target.chmod(0o600)
        for chunk in read_chunks(part):
            written, start = chunk[start:], max(0, start - len(chunk))
            handle.write(written)
            last = written[-1:] or last
        if last != b"\n":
            handle.write(end)


Fetch = Callable[[str], list[tuple[Any, ...]]]

FILE_FORMATS = {
    "csv": "csv",
    "tsv": "tsv",
    "parquet": "parquet",
    "json": "json",
    "jsonl": "json",
    "ndjson": "json",
    "xlsx": "xlsx",
    "sqlite": "sqlite",
} | {kind: kind for kind in STATISTICS_PROGRAMS}
"""File kinds by the spec's ``format`` names."""

_SQLITE = dict.fromkeys(("sqlite3", "db", "db3"), "sqlite")
_ENDINGS = FILE_FORMATS | {"txt": "csv", "tab": "tsv", "pq": "parquet"} | _SQLITE


class Reader(Protocol):
    """Reader of an opened source: its columns, and its rows for a FROM clause."""

    @property
    def label(self) -> str:
        """Name of the source for messages."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Original column names, in order."""

    def relation(self, *, serial: bool = False) -> str:
        """Return the rows for a FROM clause, with columns ``c0``, ``c1``, …

        ``serial`` requests one scanning thread.
        """


def open_reader(
    source: SourceSpec, name: str, scratch: Path, fetch: Fetch, label: str, spool: Spool
) -> Reader:
    """Open the reader of a source.

    ``name`` is an unused name for registering an in-memory table, ``scratch`` an owner-only folder for a copy
    in UTF-8, ``fetch`` runs a query, ``spool`` writes a stream to a file. Raises ``InputError`` if the source
    cannot be read.
    """
    if is_stream(source.data):
        return read_stream(source.data, label, spool)
    if source.data is not None:
        return adapt_table(source.data, f"{name}_rows", label)
    if source.path is None:
        raise InputError("the spec names no source", advice="Give path in [source].")
    path = source.path.absolute()
    if source.table is None and source.format in (None, "parquet") and is_versioned_table(path):
        return _versioned_reader(path, source.version, name, scratch, label, spool)
    if source.version is not None:
        raise InputError(
            f"{label} has no versions",
            allowed="version of a table of Delta Lake or Apache Iceberg",
            advice="Remove version from [source].",
        )
    if path.is_dir() and source.table is None and source.format in (None, "parquet"):
        return read_parquet_schema(path, label, fetch)
    if is_pattern(path) and source.table is None:
        return _pattern_reader(source, path, scratch / name, fetch, label)
    check_file(path, label)
    if _is_spreadsheet(source):
        from discreet.engines.files.spreadsheet import as_delimited_text

        copy = as_delimited_text(path, source.table, scratch / f"{name}.csv", label)
        return read_delimited_header(copy, label, ",", '"')
    if _is_sqlite(source):
        from discreet.engines.files.sqlite_file import as_parquet

        return as_parquet(path, source.table, scratch / f"{name}.parquet", label, fetch)
    if source.table is not None:
        return attach_table(fetch, path, source.table, f"{name}_database", label)
    kind = file_kind(path, source.format)
    if kind in STATISTICS_PROGRAMS:
        from discreet.engines.files.statistics_files import read_statistics_rows

        return read_statistics_rows(source, kind, scratch / name, fetch)
    if kind == "parquet":
        return read_parquet_schema(path, label, fetch)
    if kind == "json":
        return read_json_keys(_in_utf8(path, source.encoding, scratch / f"{name}.jsonl"), label, fetch)
    delimiter = source.delimiter or ("\t" if kind == "tsv" else None)
    text = _in_utf8(path, source.encoding, scratch / f"{name}.csv")
    found = _with_nulls(read_delimited_header(text, label, delimiter, source.quote), source)
    return rewrite_multiline_header(found, scratch / f"{name}.plain.csv")


def _with_nulls(file: DelimitedText, source: SourceSpec) -> DelimitedText:
    """Return the file with the unquoted NULL words of the source, else with those detected in the file."""
    words = source.unquoted_nulls
    if words is None:
        words = detect_unquoted_nulls(file.path, file.delimiter, file.quote)
    return replace(file, unquoted_nulls=words)


def source_unquoted_nulls(source: SourceSpec) -> tuple[str, ...]:
    """Return the words that are NULL if unquoted in a source; empty unless it is text in UTF-8."""
    path = source.path
    if source.unquoted_nulls is not None or path is None or source.table is not None or path.is_dir():
        return source.unquoted_nulls or ()
    if is_pattern(path) or _is_sqlite(source) or not is_utf8(source.encoding):
        return ()
    kind = file_kind(path, source.format)
    if kind not in ("csv", "tsv"):
        return ()
    delimiter = source.delimiter or ("\t" if kind == "tsv" else None)
    return _with_nulls(
        read_delimited_header(path, source.label, delimiter, source.quote), source
    ).unquoted_nulls


def _versioned_reader(
    path: Path, version: int | None, name: str, scratch: Path, label: str, spool: Spool
) -> Reader:
    """Return the reader of a table with a log, at its newest version by default.

    If the files do not contain exactly the rows (because rows are deleted, for example), the rows are copied
    once per engine.
    """
    log = open_table_log(path, label)
    known = log.version if version is None else version
    rows, copy = log.rows(known), scratch / version_copy_name(path, known)
    if not is_stream(rows):
        return adapt_table(rows, f"{name}_rows", label)
    if copy.exists():
        return ParquetFile((copy,), label, tuple(rows.schema.names))
    return spool_rows(rows, copy, label, spool)


def _pattern_reader(source: SourceSpec, path: Path, copy: Path, fetch: Fetch, label: str) -> Reader:
    """Return the reader of the files that match a pattern, as one table."""
    files = matching_files(path)
    for file in files:
        check_file(file, str(file))
    kind = common_file_kind([(file, file_kind(file, source.format)) for file in files])
    if kind in ("xlsx", "sqlite", *STATISTICS_PROGRAMS):
        raise InputError(
            f"{label}: files of the kind {kind}",
            allowed="CSV, TSV, Parquet or JSON-lines files in a pattern",
        )
    if kind == "parquet":
        return read_parquet_schema(path, label, fetch)
    if kind == "json":
        target = copy.with_suffix(".jsonl")
        join_json_files(files, target, source.encoding)
        return read_json_keys(target, label, fetch)
    delimiter = source.delimiter or ("\t" if kind == "tsv" else None)
    target = copy.with_suffix(".csv")
    delimiter = join_text_files(files, target, source.encoding, delimiter, source.quote)
    found = _with_nulls(read_delimited_header(target, label, delimiter, source.quote), source)
    return rewrite_multiline_header(found, copy.with_suffix(".plain.csv"))


def list_sheets(source: SourceSpec) -> tuple[str, ...]:
    """List the non-empty sheets of a spreadsheet or the tables of a SQLite file; else return nothing.

    Raises ``InputError`` if the file cannot be read.
    """
    if source.path is None or is_pattern(source.path):
        return ()
    if _is_sqlite(source):
        from discreet.engines.files.sqlite_file import list_sqlite_tables

        return list_sqlite_tables(source.path, source.label)
    if not _is_spreadsheet(source):
        return ()
    from discreet.engines.files.spreadsheet import sheets_of

    check_file(source.path, source.label)
    return sheets_of(source.path, source.label)


def describe_cell_reading(source: SourceSpec) -> tuple[str, ...]:
    """Describe for the publisher how cells are read: columns of several types, and labels of codes."""
    path = source.path
    if path is None or is_pattern(path) or path.is_dir():
        return ()
    if _is_sqlite(source):
        from discreet.engines.files.sqlite_file import describe_mixed_columns

        return describe_mixed_columns(path, source.table, source.label)
    kind = _statistics_kind(source)
    if kind is None:
        return ()
    from discreet.engines.files.statistics_files import describe_labels

    return describe_labels(path, kind, source.label, coded=source.keep_codes)


def read_codebook(source: SourceSpec) -> Codebook:
    """Read the codebook of a statistics program's file; empty for any other source."""
    kind = _statistics_kind(source)
    if kind is None or source.path is None:
        return Codebook()
    from discreet.engines.files.statistics_files import read_statistics_codebook

    return read_statistics_codebook(source.path, kind, source.label, coded=source.keep_codes)


def _statistics_kind(source: SourceSpec) -> str | None:
    """Return the statistics format of a source, None if it has another format."""
    path = source.path
    if path is None or source.table is not None or is_pattern(path) or path.is_dir():
        return None
    kind = _ENDINGS.get((source.format or path.suffix.removeprefix(".")).lower())
    return kind if kind in STATISTICS_PROGRAMS else None


def _is_sqlite(source: SourceSpec) -> bool:
    """Return True for a SQLite file: by its format, its extension, or, if a table is named, its signature."""
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


_UNREADABLE_FORMATS = {
    **dict.fromkeys(("xls", "xlsb", "xlsm", "ods", "numbers"), "Save the sheet as .xlsx or as CSV in UTF-8."),
    **dict.fromkeys(("zip", "7z", "rar", "tar", "tgz", "bz2", "xz", "zst"), "Unpack it first."),
    **dict.fromkeys(("rds", "rdata", "rda"), "Write it from R as Parquet or CSV."),
    **dict.fromkeys(("mdb", "accdb", "dbf"), "Export the table as CSV in UTF-8."),
    **dict.fromkeys(("feather", "arrow", "ipc", "orc", "avro", "h5", "pkl"), "Convert it to Parquet."),
    **dict.fromkeys(("xml", "html", "htm", "pdf", "docx"), "Write its table as CSV or JSON lines."),
}
"""Advice for files of unsupported formats, by extension."""


def file_kind(path: Path, format_name: str | None) -> str:
    """Return the kind of a file (a value of ``FILE_FORMATS``): as the spec says, else by the extension."""
    if format_name is not None:
        if format_name.lower() not in FILE_FORMATS:
            raise InputError(f"format '{format_name}'", allowed=", ".join(FILE_FORMATS))
        return FILE_FORMATS[format_name.lower()]
    ending = (path.with_suffix("") if is_compressed(path) else path).suffix.lower().removeprefix(".")
    if ending not in _ENDINGS:
        raise InputError(
            f"{path}: the extension '{path.suffix}' has no known format",
            allowed=", ".join(f".{e}" for e in _ENDINGS),
            advice=_UNREADABLE_FORMATS.get(
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
        raise failures.from_os_error(error, copy) from None
    return copy
