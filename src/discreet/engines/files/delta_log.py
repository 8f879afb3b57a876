"""Tables of Delta Lake, by their log."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.engines.files.folder import DELTA
from discreet.engines.files.table_log import as_input_error, check_files, library, no_version

_READ_IN_PLACE = {"timestampNtz"}
"""What a table may ask of its readers while its files are its rows: no vectors of deleted rows, and no other
names of columns in the files."""


@dataclass(frozen=True)
class DeltaLog:
    """A log of ``deltalake``'s (see ``TableLog``)."""

    path: Path
    label: str
    table: Any

    @property
    def version(self) -> int:
        """The newest version."""
        return int(self.table.version())

    @property
    def identity(self) -> str:
        """What the table is known by."""
        return f"delta {self.table.metadata().id}"

    def rows(self, version: int) -> Any:
        """The rows of a version (see ``TableLog``)."""
        import deltalake
        import pyarrow

        try:
            table = deltalake.DeltaTable(self.path, version=version)
        except Exception:
            raise no_version(self, version, f"0 to {self.version}, where its log still has them") from None
        with as_input_error(self.label, DELTA, "deltalake"):
            check_files(table.file_uris(), self.label, version)
            if _plain(table):
                return table.to_pyarrow_dataset()
            return pyarrow.RecordBatchReader.from_stream(table.scan())


def _plain(table: Any) -> bool:
    """Whether the files of a version are its rows, by the names of its columns."""
    protocol = table.protocol()
    asked = set(protocol.reader_features or ())
    renamed = "delta.columnMapping.mode" in table.metadata().configuration
    return protocol.min_reader_version in (1, 3) and asked <= _READ_IN_PLACE and not renamed


def open_delta(path: Path, label: str) -> DeltaLog:
    """The log of a folder; ``InputError`` where it cannot be read, or the library is not installed."""
    with library(label, DELTA, "deltalake", "delta"):
        import deltalake
        import pyarrow.dataset  # noqa: F401 - what its rows are handed over by
    with as_input_error(label, DELTA, "deltalake"):
        return DeltaLog(path, label, deltalake.DeltaTable(path))
