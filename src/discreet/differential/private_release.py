"""Atomic publication of a differentially private release: checked, owner-only, all or nothing.

The data is written under a temporary name, read back and compared; then the manifest and the line of the
private log are written and the files renamed (``release.release_target``). The manifest contains only numbers
that were known before the data: no row count, no seed, no digest of the input.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from discreet.engines.connection import connect
from discreet.engines.source_tables import TemporaryTables, open_source_table
from discreet.errors import InputError, LimitReached
from discreet.model.json_documents import program_version
from discreet.model.release_address import ReleaseAddress
from discreet.model.table_spec import SourceSpec, TableSpec
from discreet.release import private_log
from discreet.release.manifest import MANIFEST_VERSION
from discreet.release.publication import open_private_log
from discreet.release.publication_evidence import describe_input, describe_output
from discreet.release.release_target import (
    ReleaseTarget,
    StagingFiles,
    check_release_target,
    check_unoccupied,
    list_protected_files,
    remove_leftovers,
    sync_file,
    translate_write_errors,
)
from discreet.settings import Settings
from discreet.sql.quoting import identifier

_POSITION = "position"


@dataclass(frozen=True)
class OutputTable:
    """Table to write: columns by name, of texts or of integers, in the order of its rows."""

    columns: Mapping[str, Sequence[str | None] | Sequence[int]]

    @property
    def rows(self) -> list[tuple[object, ...]]:
        """Rows of the table."""
        return list(zip(*self.columns.values(), strict=True))


@dataclass(frozen=True, eq=False)
class PrivateRelease:
    """Release before it is renamed to its target; ``log`` is the descriptor of the open private log."""

    spec: TableSpec
    settings: Settings
    target: ReleaseTarget
    files: StagingFiles
    log: int
    overwrite: bool

    def publish(self, content: OutputTable | str, facts: Mapping[str, Any]) -> Path:
        """Write a table or a text with its manifest, rename both to their targets; return the latter's path.

        ``facts`` are the manifest's facts in addition to those of the data.
        """
        if isinstance(content, str):
            self.files.write_text("data", content)
        else:
            self._write(content)
        with translate_write_errors(self.target.folder):
            sync_file(self.files.path("data"))
        sha256 = private_log.compute_file_digest(self.files.path("data"))
        data = {"file": self.target.path.name, "format": self.target.file_format, "sha256": sha256}
        now, discreet = datetime.now(UTC).date().isoformat(), program_version()
        manifest = {"manifest": MANIFEST_VERSION, "discreet": discreet, "date": now, "data": data, **facts}
        self.files.write_text("manifest", json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
        entry = {
            **describe_input(self.spec.source),
            "spec": None if self.spec.path is None else str(self.spec.path.absolute()),
            "privacy": facts["privacy"],
            "output": describe_output(ReleaseAddress(path=self.target.path)),
            "output_sha256": sha256,
            "discreet": discreet,
        }
        # Append to the log before the rename, so that no release exists without its log entry.
        private_log.append(self.log, entry)
        self.files.put_in_place(overwrite=self.overwrite)
        return self.target.manifest_path

    def _write(self, content: OutputTable) -> None:
        """Write a table with the embedded engine, read it back and compare it."""
        names = list(content.columns)
        columns: dict[str, Any] = {
            f"v{i}": np.array(cells, dtype=np.int64)
            if isinstance(next(iter(cells), None), int)
            else list(cells)
            for i, cells in enumerate(content.columns.values())
        }
        rows = content.rows
        # An explicit position column keeps the order of rows, which SQL tables do not have.
        columns[_POSITION] = np.arange(len(rows), dtype=np.int64)
        selected = ", ".join(f"v{i}" for i in range(len(names)))
        path, file_format = self.files.path("data"), self.target.file_format
        with connect(self.settings) as engine, TemporaryTables(engine) as tables:
            table = identifier(tables.load(columns))
            query = f"SELECT {selected} FROM {table} ORDER BY {_POSITION}"
            engine.write_file(query, path, file_format, names)
            source = SourceSpec(
                path=path, format=file_format, delimiter="," if file_format == "csv" else None
            )
            with open_source_table(engine, source) as written:
                texts = ", ".join(written.text(name) for name in names)
                found = engine.fetch_rows(f"SELECT {texts} FROM {written.relation}")
        written_rows = [tuple(None if cell is None else str(cell) for cell in row) for row in rows]
        if sorted(map(str, found)) != sorted(map(str, written_rows)):
            raise LimitReached(
                "the engine wrote other rows than requested",
                advice="Nothing was released, and the budget is spent. Run it with fewer threads.",
            )


@contextmanager
def open_private_release(
    spec: TableSpec, output: Path, settings: Settings, formats: Mapping[str, str], *, overwrite: bool
) -> Iterator[PrivateRelease]:
    """Open a release to a file of one of ``formats``; on an error nothing is published.

    Raise ``InputError`` where the target is not allowed.
    """
    protected = list_protected_files(spec, settings)
    target = check_release_target(output, overwrite=overwrite, protected=protected, formats=formats)
    remove_leftovers(target)
    check_unoccupied(target, overwrite=overwrite)
    with open_private_log(settings.private_log) as log, StagingFiles(target) as files:
        yield PrivateRelease(spec, settings, target, files, log, overwrite)


def check_reserved_columns(names: Sequence[str], reserved: Sequence[str]) -> None:
    """Raise ``InputError`` for an attribute with the name of a column that the release adds."""
    taken = {name.casefold() for name in reserved}
    for name in names:
        if name.casefold() in taken:
            raise InputError(
                f"the attribute '{name}' has the name of a column of the release",
                allowed=f"other names than {', '.join(reserved)}",
                advice="Rename the column in the source.",
            )
