"""Delivering files: under owner-only temporary names, audited there, and renamed at last."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from discreet.engines.base import Engine
from discreet.engines.connect import connect
from discreet.engines.delivery import DATA, Listed, Part
from discreet.engines.files.database_file import NewTable, check_columns
from discreet.engines.files.folder import folder_digest
from discreet.engines.files.statistics_kinds import WRITTEN, Codebook
from discreet.engines.registry import ENGINES
from discreet.engines.table_writer import FolderWriter
from discreet.model.release_address import ReleaseAddress
from discreet.model.table_spec import SourceSpec
from discreet.places.kept_files import KeptFile
from discreet.release.private_log import file_digest
from discreet.release.target import DATABASE, Target, check_free, check_target, writing
from discreet.release.temporary import TemporaryFiles, remove_leftovers, sync_file
from discreet.settings import Settings
from discreet.sql.dialect import Dialect


@dataclass(frozen=True, eq=False)
class FileDelivery:
    """Files on their way to ``target`` (see ``Delivery``); ``engine`` has the rows.

    Those of a release in memory are ``held`` there for a moment; ``placed`` is where the data will be put
    with others. ``labels`` finds the labels of the source's file; ``types`` are those of the parts that were
    written, by their purpose.
    """

    engine: Engine
    target: Target
    files: TemporaryFiles
    settings: Settings
    overwrite: bool
    held: bool = False
    placed: Path | None = None
    labels: Callable[[], Codebook] = Codebook
    types: dict[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def address(self) -> ReleaseAddress:
        """The data's path."""
        return ReleaseAddress(path=self.target.path, held=self.held, placed=self.placed)

    @property
    def manifest(self) -> ReleaseAddress:
        """The manifest's path."""
        return ReleaseAddress(path=self.target.manifest_path, held=self.held)

    @property
    def file_format(self) -> str:
        """``csv``, ``parquet``, ``duckdb``, or another ending of a file that is written."""
        return self.target.file_format

    @property
    def typed(self) -> bool:
        """CSV holds texts alone."""
        return self.file_format != "csv"

    def listed(self, purpose: str, name: str) -> Listed:
        """The file of a part; in a database file its table."""
        file = dict(self.target.companions).get(purpose, self.target.path).name
        return Listed(file, name if self.file_format == DATABASE else None)

    def write(self, parts: Mapping[str, Part], views: Callable[[], tuple[str, ...]] | None = None) -> None:
        """Write each part into a file of its own, or all into a database, and wait for the disk."""
        if self.file_format == DATABASE:
            tables = {part.name: part.table for part in parts.values()}
            check_columns({name: table.columns for name, table in tables.items()})
            self.engine.write_database(self.files.path(DATA), tables, () if views is None else views())
        else:
            for purpose, part in parts.items():
                self._write_part(purpose, part.table)
        with writing(self.target.folder):
            for purpose in (DATA, *(purpose for purpose, _ in self.target.companions)):
                sync_file(self.files.path(purpose))

    def write_views(self, queries: Callable[[Dialect, str, str], Mapping[str, str]]) -> None:
        """Do nothing: files have no views, and those of a database file are made as it is written."""

    def write_witness(self, query: str) -> SourceSpec:
        """Another temporary file, beside the data."""
        path = self.files.path("subjects")
        if self.target.is_folder:
            self._write(query, path, None)
        else:
            self.engine.write_file(query, path, "parquet")
        return self._source(path, "parquet")

    def auditor(self) -> AbstractContextManager[Engine]:
        """The engine of the rows where it reads files itself, else the embedded one."""
        if self.target.is_folder or ENGINES.named(self.engine.name).embedded:
            return nullcontext(self.engine)
        return connect(self.settings)

    def source(self, purpose: str, table: str | None = None) -> SourceSpec:
        """The temporary file of a part, or its table in the temporary database file."""
        if self.file_format == DATABASE:
            return SourceSpec(path=self.files.path(DATA), table=table)
        found = self._source(self.files.path(purpose), self.file_format)
        return replace(found, types=self.types.get(purpose, {}))

    def digest(self, purpose: str) -> str | None:
        """SHA-256 of a part's file, of the files of a folder; None for tables of a database file."""
        if purpose != DATA and purpose not in dict(self.target.companions):
            return None
        path = self.files.path(purpose)
        return folder_digest(path) if self.target.is_folder else file_digest(path)

    def write_manifest(self, text: str) -> None:
        """Write the manifest under a temporary name, like the data."""
        self.files.write_text("manifest", text)

    def put_in_place(self) -> None:
        """Rename manifest, companions and data."""
        self.files.put_in_place(overwrite=self.overwrite)

    def _write_part(self, purpose: str, table: NewTable) -> None:
        path = self.files.path(purpose)
        if self.file_format not in WRITTEN:
            self._write(table.query, path, table.columns, table.types)
            return
        types = table.types or self.engine.column_types(table.unordered or table.query)
        self.types[purpose] = dict(zip(table.columns, types, strict=True))
        codebook = self.labels().of_values_in(table.unchanged)
        self.engine.write_file(table.query, path, self.file_format, table.columns, codebook)

    def _write(
        self,
        query: str,
        path: Path,
        columns: Sequence[str] | None,
        types: Sequence[str] | None = None,
    ) -> None:
        if self.target.is_folder:
            cast(FolderWriter, self.engine).write_folder(query, path, columns)
        else:
            self.engine.write_file(query, path, self.file_format, columns, types=types)

    def _source(self, path: Path, file_format: str) -> SourceSpec:
        if self.target.is_folder:
            return SourceSpec(path=path, format="parquet", engine=self.engine.name)
        source = SourceSpec(path=path, format=file_format, delimiter="," if file_format == "csv" else None)
        return replace(source, unquoted_nulls=())


@contextmanager
def file_delivery(
    engine: Engine,
    output: Path,
    settings: Settings,
    *,
    overwrite: bool,
    protected: Sequence[KeptFile],
    formats: Mapping[str, str],
    purposes: Callable[[str], Sequence[str]],
    held: bool = False,
    placed: Path | None = None,
    labels: Callable[[], Codebook] = Codebook,
) -> Iterator[FileDelivery]:
    """Deliver files to a path; what killed runs left there is removed first.

    ``protected`` are files that a release must not replace, ``formats`` the endings that may be written,
    ``purposes`` those of the files beside the data, by the format; ``held`` says that the release is for
    memory, ``placed`` where the data will be put with others; ``labels`` finds the labels of the source's
    file, where one is to be written that has such.
    """
    target = check_target(
        output, overwrite=overwrite, protected=protected, formats=formats, purposes=purposes
    )
    remove_leftovers(target)
    check_free(target, overwrite=overwrite)
    with TemporaryFiles(target) as files:
        yield FileDelivery(engine, target, files, settings, overwrite, held, placed, labels)
