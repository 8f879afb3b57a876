"""Delivery of a release: to files under temporary names, or to tables of the source's database.

The engine's declaration defines whether it writes folders or tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import cast

from discreet.engines.base import Engine
from discreet.engines.connection import connect
from discreet.engines.declaration import TableTarget
from discreet.engines.delivery import DATA, TABLE_FORMAT, Delivery, FolderWriter, Listed, Part
from discreet.engines.files.output_files import (
    WRITABLE_STATISTICS_FORMATS,
    Codebook,
    NewTable,
    check_database_columns,
)
from discreet.engines.files.parquet_files import folder_digest
from discreet.engines.files.sources import read_codebook
from discreet.engines.registry import ENGINES, known_engines
from discreet.errors import InputError
from discreet.model.release_address import ReleaseAddress
from discreet.model.table_spec import SourceSpec, TableSpec
from discreet.places.protected_files import ProtectedFile
from discreet.release.private_log import compute_file_digest
from discreet.release.release_target import (
    DATABASE_FORMAT,
    FOLDER_FORMATS,
    RELEASE_FORMATS,
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
from discreet.sql.dialect import Dialect


@dataclass(frozen=True, eq=False)
class FileDelivery:
    """Temporary files for ``target`` (see ``Delivery``); ``engine`` contains the rows.

    ``in_memory`` marks files of a release in memory, which exist only briefly; ``placed`` is the path to
    which the data will be moved with other tables. ``labels`` reads the labels of the source's
    file; ``types`` are those of the written parts, by purpose.
    """

    engine: Engine
    target: ReleaseTarget
    files: StagingFiles
    settings: Settings
    overwrite: bool
    in_memory: bool = False
    placed: Path | None = None
    labels: Callable[[], Codebook] = Codebook
    types: dict[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def address(self) -> ReleaseAddress:
        """Path of the data."""
        return ReleaseAddress(path=self.target.path, in_memory=self.in_memory, placed=self.placed)

    @property
    def manifest(self) -> ReleaseAddress:
        """Path of the manifest."""
        return ReleaseAddress(path=self.target.manifest_path, in_memory=self.in_memory)

    @property
    def file_format(self) -> str:
        """Format: ``csv``, ``parquet``, ``duckdb``, or that of another suffix."""
        return self.target.file_format

    @property
    def typed(self) -> bool:
        """True if the format stores types; CSV stores only texts."""
        return self.file_format != "csv"

    def listed(self, purpose: str, name: str) -> Listed:
        """Return the file of a part; in a database file its table."""
        file = dict(self.target.companions).get(purpose, self.target.path).name
        return Listed(file, name if self.file_format == DATABASE_FORMAT else None)

    def write(self, parts: Mapping[str, Part], views: Callable[[], tuple[str, ...]] | None = None) -> None:
        """Write each part into its own file, or all into a database, and sync to disk."""
        if self.file_format == DATABASE_FORMAT:
            tables = {part.name: part.table for part in parts.values()}
            check_database_columns({name: table.columns for name, table in tables.items()})
            self.engine.write_database(self.files.path(DATA), tables, () if views is None else views())
        else:
            for purpose, part in parts.items():
                self._write_part(purpose, part.table)
        with translate_write_errors(self.target.folder):
            for purpose in (DATA, *(purpose for purpose, _ in self.target.companions)):
                sync_file(self.files.path(purpose))

    def write_views(self, queries: Callable[[Dialect, str, str], Mapping[str, str]]) -> None:
        """Do nothing: files have no views, and those of a database file are created as it is written."""

    def write_witness(self, query: str) -> SourceSpec:
        """Write another temporary file next to the data."""
        path = self.files.path("subjects")
        if self.target.is_folder:
            self._write(query, path, None)
        else:
            self.engine.write_file(query, path, "parquet")
        return self._source(path, "parquet")

    def auditor(self) -> AbstractContextManager[Engine]:
        """Return the rows' engine if it reads files itself, else the embedded one."""
        if self.target.is_folder or ENGINES.named(self.engine.name).embedded:
            return nullcontext(self.engine)
        return connect(self.settings)

    def source(self, purpose: str, table: str | None = None) -> SourceSpec:
        """Return the temporary file of a part, or its table in the temporary database file."""
        if self.file_format == DATABASE_FORMAT:
            return SourceSpec(path=self.files.path(DATA), table=table)
        found = self._source(self.files.path(purpose), self.file_format)
        return replace(found, types=self.types.get(purpose, {}))

    def digest(self, purpose: str) -> str | None:
        """Return the SHA-256 of a part's file or folder; None for tables of a database file."""
        if purpose != DATA and purpose not in dict(self.target.companions):
            return None
        path = self.files.path(purpose)
        return folder_digest(path) if self.target.is_folder else compute_file_digest(path)

    def write_manifest(self, text: str) -> None:
        """Write the manifest under a temporary name, like the data."""
        self.files.write_text("manifest", text)

    def put_in_place(self) -> None:
        """Rename manifest, companions and data."""
        self.files.put_in_place(overwrite=self.overwrite)

    def _write_part(self, purpose: str, table: NewTable) -> None:
        path = self.files.path(purpose)
        if self.file_format not in WRITABLE_STATISTICS_FORMATS:
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
def deliver_files(
    engine: Engine,
    output: Path,
    settings: Settings,
    *,
    overwrite: bool,
    protected: Sequence[ProtectedFile],
    formats: Mapping[str, str],
    purposes: Callable[[str], Sequence[str]],
    in_memory: bool = False,
    placed: Path | None = None,
    labels: Callable[[], Codebook] = Codebook,
) -> Iterator[FileDelivery]:
    """Deliver files to a path, after removing leftovers of killed runs.

    ``protected`` are files that a release must not replace, ``formats`` the allowed suffixes, ``purposes``
    those of the data's companions, by format. ``in_memory`` is true for a release in memory; ``placed`` is
    the path to which the data will be moved with other tables. ``labels`` reads the labels of the source's
    file, for formats with labels.
    """
    target = check_release_target(
        output, overwrite=overwrite, protected=protected, formats=formats, purposes=purposes
    )
    remove_leftovers(target)
    check_unoccupied(target, overwrite=overwrite)
    with StagingFiles(target) as files:
        yield FileDelivery(engine, target, files, settings, overwrite, in_memory, placed, labels)


_FILE_ADVICE = "Publish to a file: --output PATH."


def open_delivery(
    engine: Engine,
    spec: TableSpec,
    output: Path | ReleaseAddress,
    settings: Settings,
    *,
    overwrite: bool,
    formats: Mapping[str, str] = RELEASE_FORMATS,
    purposes: Callable[[str], Sequence[str]] = lambda _: (),
) -> AbstractContextManager[Delivery]:
    """Open the delivery of a release to a path, or to a table of the source's database.

    ``formats`` are the allowed suffixes of files, ``purposes`` the companions of the data by its format.
    Raise ``InputError`` on entry to the context where the target may not be written; in a database rights are
    checked too.
    """
    address = ReleaseAddress.of(output)
    if address.path is not None:
        return deliver_files(
            engine,
            address.path,
            settings,
            overwrite=overwrite,
            protected=list_protected_files(spec, settings),
            formats={**formats, **(FOLDER_FORMATS if ENGINES.named(engine.name).folders else {})},
            purposes=purposes,
            in_memory=address.in_memory,
            placed=address.placed,
            labels=partial(read_codebook, spec.source),
        )
    target = _find_table_target(engine, spec, address)
    return target.deliver(engine, spec, address, overwrite=overwrite, purposes=purposes(TABLE_FORMAT))


def check_table_target(engine: Engine, spec: TableSpec, address: ReleaseAddress, *, overwrite: bool) -> None:
    """Raise ``InputError`` where a release could not be created as a table, by rights and names only.

    ``open_delivery`` makes the same check; this one allows it before counting begins.
    """
    _find_table_target(engine, spec, address).check(engine, spec, address, overwrite=overwrite)


def _find_table_target(engine: Engine, spec: TableSpec, address: ReleaseAddress) -> TableTarget:
    tables = ENGINES.named(engine.name).tables
    if tables is None:
        where = ", or ".join(engine.tables_where for engine in known_engines() if engine.tables is not None)
        raise InputError(
            f"{address.label} as the target, while the source is {spec.source.label}",
            allowed=f"tables where the source {where}",
            advice=_FILE_ADVICE,
        )
    return tables()
