"""The address of a release, and explicit file-reading options.

A release is a file, a folder of Parquet files or a database table. What the options leave out is detected
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
    """A file's format and how its text is cut into cells; None is told from the file.

    ``delimiter`` is a character or its name (comma, semicolon, tab, bar), ``quote`` a character or empty for
    none. ``null_values`` are cell texts that are read as NULL.
    """

    format: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    quote: str | None = None
    null_values: tuple[str, ...] = ()

    def apply_to(self, source: SourceSpec) -> SourceSpec:
        """A source read so; ``InputError`` where what is said concerns files, and the source is none."""
        given = {
            "format": self.format,
            "encoding": self.encoding,
            "delimiter": _DELIMITERS.get(str(self.delimiter), self.delimiter),
            "quote": self.quote,
        }
        changed = {key: value for key, value in given.items() if value is not None}
        if changed and source.path is None:
            key = next(iter(changed))
            raise InputError(f"the {key} of {source.label}, which is no file", advice=f"Leave out the {key}.")
        known = {str(key): value for key, value in changed.items()}
        return replace(
            source,
            null_values=tuple(dict.fromkeys((*source.null_values, *self.null_values))),
            **known,  # type: ignore[arg-type]
        )


MANIFEST_TABLE = "manifest"
"""The companion of a release in a database that holds its manifest."""

MEMORY_LABEL = "a table in memory"


@dataclass(frozen=True)
class ReleaseAddress:
    """Where a release lies.

    Either a ``path`` (a file, or a folder of Parquet files), or a ``table`` by its name (``schema.name``; a
    part with other characters stands in double quotes): of the database at ``url``, or of an engine's
    catalog where there is none. ``engine`` is the name of the engine that reads it, where the address alone
    does not tell. ``url`` may hold a password: it is never shown. A release that is ``held`` is for memory:
    its files are at ``path`` while it is made, and no longer. ``placed`` is where the file at ``path`` will
    be put once other files are made, too. ``form`` is how a file is read that another program wrote.
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
        """An address as it is, a path as one."""
        return address if isinstance(address, ReleaseAddress) else cls(path=address)

    @property
    def in_database(self) -> bool:
        """Whether it is a table, of a database or of an engine's catalog."""
        return self.path is None

    @property
    def label(self) -> str:
        """The release's name for messages."""
        if self.in_memory:
            return MEMORY_LABEL
        return f"the table {self.table}" if self.path is None else str(self.placed or self.path)

    @property
    def name(self) -> str:
        """The release's short name: of the file, or of the table."""
        return str(self.table) if self.path is None else self.path.name

    @property
    def display_path(self) -> Path:
        """The path; of a table its name in the form of one, for documents alone."""
        return Path(self.name) if self.path is None else self.path

    def source(
        self,
        *,
        file_format: str | None = None,
        delimiter: str | None = None,
        null_values: Sequence[str] = (),
        table: str | None = None,
    ) -> SourceSpec:
        """The release as a source; ``table`` is one of a DuckDB database file.

        ``file_format`` and ``delimiter`` are a file's, where they are known.
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
        """A further table of a release in a database: ``schema.people_help`` of ``schema.people``."""
        return replace(self, table=companion_table_name(str(self.table), purpose))

    def sibling(self, name: str) -> ReleaseAddress:
        """A further file of a release, by its name."""
        assert self.path is not None
        return replace(self, path=self.path.with_name(name))

    def part(self, purpose: str, file: str | None) -> ReleaseAddress:
        """A part beside the data, as a manifest lists it: a companion table, or a file."""
        return self.companion(purpose) if self.path is None or file is None else self.sibling(file)


def companion_table_name(table: str, purpose: str) -> str:
    """The name of a table that belongs to another.

    >>> companion_table_name("out.people", "help"), companion_table_name('out."the people"', "help")
    ('out.people_help', 'out."the people_help"')
    """
    return f'{table[:-1]}_{purpose}"' if table.endswith('"') else f"{table}_{purpose}"
