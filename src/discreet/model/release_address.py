"""The address of a release, and explicit file-reading options.

A release is a file, a folder of Parquet files or a database table. Options that are not given are detected
from the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from discreet.errors import InputError
from discreet.model.table_spec import SourceSpec

_DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|", "\\t": "\t"}


@dataclass(frozen=True)
class FileOptions:
    """Format of a file and division of its text into cells; None is detected from the file.

    ``delimiter`` is a character or its name (comma, semicolon, tab, bar), ``quote`` a character or empty for
    none. ``null_values`` are cell texts that are read as NULL.
    """

    format: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    quote: str | None = None
    null_values: tuple[str, ...] = ()

    def apply_to(self, source: SourceSpec) -> SourceSpec:
        """Return a source with these options; raise ``InputError`` for file options of another source."""
        settings = {
            "format": self.format,
            "encoding": self.encoding,
            "delimiter": _DELIMITERS.get(str(self.delimiter), self.delimiter),
            "quote": self.quote,
        }
        changed = {key: value for key, value in settings.items() if value is not None}
        if changed and source.path is None:
            key = next(iter(changed))
            raise InputError(
                f"the {key} of {source.label}, which is not a file", advice=f"Leave out the {key}."
            )
        known = {str(key): value for key, value in changed.items()}
        return replace(
            source,
            null_values=tuple(dict.fromkeys((*source.null_values, *self.null_values))),
            **known,  # type: ignore[arg-type]
        )


MANIFEST_TABLE = "manifest"
"""Companion table of a release in a database that contains its manifest."""

MEMORY_LABEL = "a table in memory"


@dataclass(frozen=True)
class ReleaseAddress:
    """Location of a release: a file, a folder, or a table.

    Either a ``path`` (a file, or a folder of Parquet files), or a ``table`` by its name (``schema.name``; a
    part with other characters is in double quotes): of the database at ``url``, or of an engine's catalog
    without ``url``. ``engine`` is the name of the engine that reads it, if the address does not determine it.
    ``url`` may contain a password: it is never shown. A release with ``in_memory`` is for memory: its files
    are at ``path`` only while it is made. ``placed`` is the final path of the file at ``path``, to which it
    is moved once the other files are made. ``form`` contains the options for reading a file of another
    program.
    """

    path: Path | None = None
    table: str | None = None
    url: str | None = field(default=None, repr=False)
    engine: str | None = None
    in_memory: bool = False
    placed: Path | None = None
    form: FileOptions = field(default_factory=FileOptions)

    @classmethod
    def of(cls, address: Path | ReleaseAddress) -> ReleaseAddress:
        """Convert a path to an address; return an address unchanged."""
        return address if isinstance(address, ReleaseAddress) else cls(path=address)

    @property
    def in_database(self) -> bool:
        """True if it is a table, of a database or of an engine's catalog."""
        return self.path is None

    @property
    def label(self) -> str:
        """Name of the release for messages."""
        if self.in_memory:
            return MEMORY_LABEL
        return f"the table {self.table}" if self.path is None else str(self.placed or self.path)

    @property
    def name(self) -> str:
        """Short name of the release: of the file, or of the table."""
        return str(self.table) if self.path is None else self.path.name

    @property
    def display_path(self) -> Path:
        """Path; for a table, its name as a path, only for documents."""
        return Path(self.name) if self.path is None else self.path

    def source(
        self,
        *,
        file_format: str | None = None,
        delimiter: str | None = None,
        null_values: Sequence[str] = (),
        table: str | None = None,
    ) -> SourceSpec:
        """Return the release as a source; ``table`` is one of a DuckDB database file.

        ``file_format`` and ``delimiter`` are those of a file, if they are known.
        """
        texts = tuple(null_values)
        if self.path is None:
            return SourceSpec(url=self.url, table=self.table, engine=self.engine, null_values=texts)
        if table is not None:
            return SourceSpec(path=self.path, table=table, engine=self.engine, null_values=texts)
        return self.form.apply_to(
            SourceSpec(
                path=self.path, format=file_format, delimiter=delimiter, engine=self.engine, null_values=texts
            )
        )

    def companion(self, purpose: str) -> ReleaseAddress:
        """Return a companion table of a release: ``schema.people_help`` of ``schema.people``."""
        return replace(self, table=companion_table_name(str(self.table), purpose))

    def sibling(self, name: str) -> ReleaseAddress:
        """Return an additional file of a release, by its name."""
        assert self.path is not None
        return replace(self, path=self.path.with_name(name))

    def part(self, purpose: str, file: str | None) -> ReleaseAddress:
        """Return an additional part, as a manifest lists it: a companion table, or a file."""
        return self.companion(purpose) if self.path is None or file is None else self.sibling(file)


def companion_table_name(table: str, purpose: str) -> str:
    """Return the name of a table that belongs to another.

    >>> companion_table_name("out.people", "help"), companion_table_name('out."the people"', "help")
    ('out.people_help', 'out."the people_help"')
    """
    return f'{table[:-1]}_{purpose}"' if table.endswith('"') else f"{table}_{purpose}"
