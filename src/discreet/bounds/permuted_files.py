"""The tables of a permuted release: in the engine, in their files, and by the names of a database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from discreet.bounds.held_groups import HeldGroups
from discreet.engines.base import SourceTable
from discreet.model.permuted_release import (
    HELP,
    HELP_NAME,
    ONE_TABLE_NAME,
    QUASI_IDENTIFIERS_NAME,
    PermutationFacts,
    ReleaseForm,
)
from discreet.model.release_address import ReleaseAddress
from discreet.model.table_spec import SourceSpec
from discreet.queries.rewriting import PermutedTables
from discreet.sql.dialect import Dialect
from discreet.sql.names import identifier, literal, table_parts

BY_GROUP = "help by group"
_WHOLE = ("hits", "values_lower", "values_upper", "group_rows", "group_values")


@dataclass(frozen=True, eq=False)
class PermutedFiles:
    """The opened tables of a permuted release, whose data lies at ``address``.

    ``values`` is where the sensitive values are, None where they stand beside the data. ``held`` are names of
    tables in the engine that hold the same rows, by ``data`` and ``help``; and the latter's by group.
    ``groups`` holds the values of each group in arrays, by which queries are answered without the help table.
    """

    address: ReleaseAddress
    file_format: str
    facts: PermutationFacts
    data: SourceTable
    help: SourceTable
    values: SourceSpec | None = None
    held: Mapping[str, str] = field(default_factory=dict)
    groups: HeldGroups | None = None

    @property
    def in_engine(self) -> PermutedTables:
        """The tables in the engine, by their columns' own names."""
        return self._tables(
            self.held.get("data") or _renamed(self.data, self._data_types),
            self.held.get(HELP) or _renamed(self.help, self._help_types),
            self.held.get(BY_GROUP),
        )

    def stored(self, dialect: Dialect) -> PermutedTables:
        """The tables as a reader finds them without discreet, in files or in their database, by his SQL."""
        listed, place = self.facts.files[HELP], self.address
        helped = place.part(HELP, listed.file)
        return self._tables(
            stored_relation(place, self.file_format, self.facts.table, self.data, self._data_types, dialect),
            stored_relation(helped, self.file_format, listed.table, self.help, self._help_types, dialect),
        )

    def named(self, release: str | None = None, help_table: str | None = None) -> PermutedTables:
        """The tables by the names that a database has for them (None: those of a database file)."""
        two = self.facts.form is ReleaseForm.TWO_TABLES
        return self._tables(
            release or (QUASI_IDENTIFIERS_NAME if two else ONE_TABLE_NAME), help_table or HELP_NAME
        )

    @property
    def _data_types(self) -> dict[str, str]:
        return {self.facts.group_column: "BIGINT"} if self._is_text else {}

    @property
    def _help_types(self) -> dict[str, str]:
        """The types of the help table's columns where the file has none."""
        if not self._is_text:
            return {}
        exact = "DOUBLE" if self.facts.scale is None else f"DECIMAL(38, {self.facts.scale})"
        whole = (self.facts.group_column, *_WHOLE)
        return {name: "BIGINT" if name in whole else exact for name in self.help.columns}

    @property
    def _is_text(self) -> bool:
        return self.file_format in ("csv", "tsv")

    def _tables(self, release: str, help_table: str, by_group: str | None = None) -> PermutedTables:
        return PermutedTables(
            release=release,
            help=help_table,
            group_column=self.facts.group_column,
            numeric=self.facts.numeric,
            scale=self.facts.scale,
            has_null=self.facts.rows_without_value > 0,
            by_group=by_group,
        )


def _renamed(table: SourceTable, casts: Mapping[str, str]) -> str:
    """A source as a relation whose columns have their own names, and types where they are given."""
    columns = [
        f"{table.dialect.cast(table.column(name), casts[name])} AS {identifier(name)}"
        if name in casts
        else f"{table.column(name)} AS {identifier(name)}"
        for name in table.columns
    ]
    return f"(SELECT {', '.join(columns)} FROM {table.relation})"


def stored_relation(
    address: ReleaseAddress,
    file_format: str,
    table: str | None,
    opened: SourceTable,
    types: Mapping[str, str],
    reader: Dialect,
) -> str:
    """A table of a database by its name; a file or a folder by what reads it.

    ``table`` is one of a DuckDB file, ``opened`` the release in the engine, ``reader`` the SQL of
    who reads it there. Cells of CSV are texts but for the columns in ``types``; an empty one without quotes
    is NULL.
    """
    if address.path is None:
        return ".".join(reader.identifier(part) for part in table_parts(str(address.table)))
    if table is not None:
        return identifier(table)
    if reader.parquet_folder is not None:
        return reader.parquet_folder.format(reader.identifier(str(address.path.absolute())))
    pattern = "/*.parquet" if address.path.is_dir() else ""
    place = literal("".join(f"[{c}]" if c in "*?[" else c for c in str(address.path.absolute())) + pattern)
    if file_format == "parquet":
        return f"read_parquet({place})"
    if file_format == "sqlite":
        return f"sqlite_scan({literal(str(address.path.absolute()))}, 'release')"
    listed = ", ".join(f"{literal(name)}: {literal(types.get(name, 'VARCHAR'))}" for name in opened.columns)
    options = (
        "header = true, delim = ',', quote = '\"', escape = '\"', nullstr = '', allow_quoted_nulls = false, "
        "auto_detect = false"
    )
    return f"read_csv({place}, columns = {{{listed}}}, {options})"
