"""Open table formats: Delta Lake and Apache Iceberg tables at a version, read by their own libraries.

Only for tables whose files are on this machine. Loaded on demand (deltalake, pyiceberg, pyarrow).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from discreet.engines.files.parquet_files import DELTA, ICEBERG, METADATA
from discreet.errors import DiscreetError, InputError


def check_local_files(places: Iterable[str], label: str, version: int) -> None:
    """Raise ``InputError`` if a file is on another machine, or no longer exists."""
    for address in places:
        path = local_path(address)
        if path is None:
            raise InputError(
                f"{label}: a file of it is not on this machine",
                allowed="tables whose files are on this machine's disks",
                advice="Read it through Spark's catalog, or copy it here.",
            )
        if not path.is_file():
            raise InputError(
                f"{label}: a file of version {version} no longer exists",
                advice="Cleaning up a table (VACUUM, expire_snapshots) removes old versions: name a later "
                "version, or none for the newest.",
            )


def local_path(address: str) -> Path | None:
    """Return the path of a file on this machine; None for an address elsewhere.

    Some libraries percent-encode paths, others do not, and folder names may contain such codes themselves.
    """
    if "://" in address and not address.startswith("file:///"):
        return None
    exact = Path(address.removeprefix("file://").removeprefix("file:"))
    return exact if exact.exists() else Path(unquote(str(exact)))


def missing_version_error(label: str, version: int, allowed: str) -> InputError:
    """Return the error for a version that a table does not have, or no longer has."""
    return InputError(
        f"{label} has no version {version}",
        allowed=allowed,
        advice="Omit version for the newest one.",
    )


@contextmanager
def require_library(label: str, kind: str, package: str, extra: str) -> Iterator[None]:
    """Raise ``InputError`` with the package to install if an import fails."""
    try:
        yield
    except ImportError:
        raise InputError(
            f"{label} is a table of {kind}: its log lists its current files, and reading it needs the "
            f"package {package}, which is not installed",
            advice=f"Install it: pip install 'discreet[{extra}]'. Or read the table through Spark's catalog "
            '(engine = "spark" and table = "…" in [source]), or export it to plain Parquet.',
        ) from None


@contextmanager
def translate_library_errors(label: str, kind: str, package: str) -> Iterator[None]:
    """Translate a library's errors; their messages may quote the table's statistics, so they are dropped."""
    try:
        yield
    except (DiscreetError, MemoryError):
        raise
    except Exception as error:
        raise InputError(
            f"{label} is a table of {kind}, and cannot be read by {package} ({type(error).__name__})",
            allowed="a whole table, of features that this version of the package knows",
            advice="Read it through Spark's catalog, export it to plain Parquet, or let its owner rewrite "
            "its files without deletion files (compaction).",
        ) from None


_READ_IN_PLACE = {"timestampNtz"}
"""Reader features with which a table's files are its rows: no deletion vectors, no renamed columns."""


@dataclass(frozen=True)
class DeltaLog:
    """Log of a Delta Lake table, by ``deltalake``; methods raise ``InputError`` if it cannot be read."""

    path: Path
    label: str
    table: Any

    @property
    def version(self) -> int:
        """Newest version."""
        return int(self.table.version())

    @property
    def identity(self) -> str:
        """Identifier of the table in every location and version."""
        return f"delta {self.table.metadata().id}"

    def rows(self, version: int) -> Any:
        """Return the rows of a version: a dataset that is scanned in place, or a record-batch reader."""
        import deltalake
        import pyarrow

        try:
            table = deltalake.DeltaTable(self.path, version=version)
        except Exception:
            allowed = f"0 to {self.version}, where its log still has them"
            raise missing_version_error(self.label, version, allowed) from None
        with translate_library_errors(self.label, DELTA, "deltalake"):
            check_local_files(table.file_uris(), self.label, version)
            if _is_plain(table):
                return table.to_pyarrow_dataset()
            return pyarrow.RecordBatchReader.from_stream(table.scan())


def _is_plain(table: Any) -> bool:
    """Return True if the files of a version contain exactly its rows, under its column names."""
    protocol = table.protocol()
    features = set(protocol.reader_features or ())
    renamed = "delta.columnMapping.mode" in table.metadata().configuration
    return protocol.min_reader_version in (1, 3) and features <= _READ_IN_PLACE and not renamed


def open_delta(path: Path, label: str) -> DeltaLog:
    """Open the log of a folder; ``InputError`` if it cannot be read, or if the library is missing."""
    with require_library(label, DELTA, "deltalake", "delta"):
        import deltalake
        import pyarrow.dataset  # noqa: F401 - what its rows are handed over by
    with translate_library_errors(label, DELTA, "deltalake"):
        return DeltaLog(path, label, deltalake.DeltaTable(path))


_NUMBER = re.compile(r"v?(\d+)[.-]")


@dataclass(frozen=True)
class IcebergLog:
    """Metadata of an Iceberg table, by ``pyiceberg``; methods raise ``InputError`` if it cannot be read."""

    label: str
    table: Any

    @property
    def version(self) -> int:
        """Current snapshot."""
        found = self.table.current_snapshot()
        if found is None:
            raise InputError(f"{self.label} has no snapshot: no data was written to it yet")
        return int(found.snapshot_id)

    @property
    def identity(self) -> str:
        """Identifier of the table in every location and version."""
        return f"iceberg {self.table.metadata.table_uuid}"

    def rows(self, version: int) -> Any:
        """Return the rows of a version as a record-batch reader."""
        if self.table.snapshot_by_id(version) is None:
            known = [str(snapshot.snapshot_id) for snapshot in self.table.metadata.snapshots]
            raise missing_version_error(self.label, version, ", ".join(known[-10:]))
        with translate_library_errors(self.label, ICEBERG, "pyiceberg"):
            scan = self.table.scan(snapshot_id=version)
            check_local_files(_files_of(scan), self.label, version)
            return scan.to_arrow_batch_reader()


def open_iceberg(path: Path, label: str) -> IcebergLog:
    """Open the table of a folder or a metadata file; ``InputError`` if unreadable, or if it is a copy."""
    with require_library(label, ICEBERG, "pyiceberg", "iceberg"):
        import pyarrow  # noqa: F401 - what it reads files by
        import pyiceberg.table
    metadata = path if path.name.endswith(METADATA) else _newest_metadata(path, label)
    with translate_library_errors(label, ICEBERG, "pyiceberg"):
        table = pyiceberg.table.StaticTable.from_metadata(str(metadata))
    home, location = metadata.parent.parent, local_path(table.metadata.location)
    if location is None or location.resolve() != home.resolve():
        raise InputError(
            f"{label} is in {home}, but its metadata names another location",
            allowed="a table where it was written",
            advice="A copy names the files of the table that it was copied from: name that one, or export it "
            "to plain Parquet.",
        )
    return IcebergLog(label, table)


def _newest_metadata(folder: Path, label: str) -> Path:
    numbered = [
        (int(found.group(1)), path)
        for path in sorted((folder / "metadata").glob(f"*{METADATA}"))
        if (found := _NUMBER.match(path.name)) is not None
    ]
    highest = max((number for number, _ in numbered), default=None)
    newest = [path for number, path in numbered if number == highest]
    if len(newest) != 1:
        raise InputError(
            f"{label}: {'several files of' if newest else 'no file of'} its metadata "
            f"{'have' if newest else 'has'} the highest number, so the newest version is unknown",
            allowed="a path that ends in .metadata.json",
            advice="Name the metadata file that the table's catalog names as its location.",
        )
    return newest[0]


def _files_of(scan: Any) -> Iterator[str]:
    for task in scan.plan_files():
        yield task.file.file_path
        yield from (deleted.file_path for deleted in task.delete_files)
