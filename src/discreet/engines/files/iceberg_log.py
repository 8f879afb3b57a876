"""Tables of Apache Iceberg, by their metadata.

A table is named by its folder, of which the metadata file of the highest number is read, or by that file:
where a catalog keeps the table, the one that the catalog names is sure, as a commit that failed may leave a
later file behind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.engines.files.folder import ICEBERG, METADATA
from discreet.engines.files.table_log import as_input_error, check_files, library, local_path, no_version
from discreet.errors import InputError

_NUMBER = re.compile(r"v?(\d+)[.-]")


@dataclass(frozen=True)
class IcebergLog:
    """A table of ``pyiceberg``'s (see ``TableLog``)."""

    label: str
    table: Any

    @property
    def version(self) -> int:
        """The current snapshot."""
        found = self.table.current_snapshot()
        if found is None:
            raise InputError(f"{self.label} has no snapshot: nothing was written to it yet")
        return int(found.snapshot_id)

    @property
    def identity(self) -> str:
        """What the table is known by."""
        return f"iceberg {self.table.metadata.table_uuid}"

    def rows(self, version: int) -> Any:
        """The rows of a version (see ``TableLog``)."""
        if self.table.snapshot_by_id(version) is None:
            known = [str(snapshot.snapshot_id) for snapshot in self.table.metadata.snapshots]
            raise no_version(self, version, ", ".join(known[-10:]))
        with as_input_error(self.label, ICEBERG, "pyiceberg"):
            scan = self.table.scan(snapshot_id=version)
            check_files(_files_of(scan), self.label, version)
            return scan.to_arrow_batch_reader()


def open_iceberg(path: Path, label: str) -> IcebergLog:
    """The table of a folder or a metadata file; ``InputError`` where it cannot be read, or is a copy."""
    with library(label, ICEBERG, "pyiceberg", "iceberg"):
        import pyarrow  # noqa: F401 - what it reads files by
        import pyiceberg.table
    metadata = path if path.name.endswith(METADATA) else _newest_metadata(path, label)
    with as_input_error(label, ICEBERG, "pyiceberg"):
        table = pyiceberg.table.StaticTable.from_metadata(str(metadata))
    home, told = metadata.parent.parent, local_path(table.metadata.location)
    if told is None or told.resolve() != home.resolve():
        raise InputError(
            f"{label} lies in {home}, and its metadata says elsewhere",
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
            f"{'have' if newest else 'has'} the highest number, so none is surely the newest version",
            allowed="a path that ends in .metadata.json",
            advice="Name the metadata file that the table's catalog names as its location.",
        )
    return newest[0]


def _files_of(scan: Any) -> Iterator[str]:
    for task in scan.plan_files():
        yield task.file.file_path
        yield from (deleted.file_path for deleted in task.delete_files)
