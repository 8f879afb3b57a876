"""Queryable release: its manifest, its opened tables, and the columns that a query may name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from discreet.bounds.permuted_tables import HELP_BY_GROUP, PermutedReleaseTables, load_group_values
from discreet.engines.base import Engine, SourceTable
from discreet.engines.source_tables import TemporaryTables, open_source_table, session_setting
from discreet.errors import InputError
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.release_address import ReleaseAddress
from discreet.model.release_kind import HELP_FILE, SENSITIVE_FILE, PermutedRelease
from discreet.model.table_spec import AttributeRole, SourceSpec
from discreet.queries.select_query import ReleaseQuery
from discreet.queries.select_query_parser import QueryableColumns
from discreet.queries.sql_expression import ColumnKind
from discreet.queries.syntax import label_column
from discreet.release.manifest import Manifest, read_manifest
from discreet.settings import Settings
from discreet.sql.help_table import by_group_query
from discreet.sql.quoting import identifier

_T = TypeVar("_T")

FEWEST_ARRAY_ROWS = 100_000
"""Rows from which a release is loaded into arrays; for fewer rows the engine's statements are faster."""


@dataclass(frozen=True, eq=False)
class OpenRelease:
    """Release with open files, created by ``open_release``.

    ``hierarchies`` define the labels of generalized columns; some may be missing.
    """

    engine: Engine
    manifest: Manifest
    data: SourceTable
    hierarchies: Mapping[str, GeneralizationHierarchy]
    settings: Settings

    @property
    def missing(self) -> int:
        """Number of suppressed rows, left out or starred."""
        return self.manifest.suppressed

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """Published quasi-identifiers."""
        return tuple(a.name for a in self.manifest.attributes if _is_quasi_identifier(a.role) and a.published)

    def generalized(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the columns among ``names`` whose labels may represent several values."""
        levels = {a.name: a.level for a in self.manifest.attributes if _is_quasi_identifier(a.role)}
        return tuple(name for name in names if name in levels and levels[name] != 0)

    @cached_property
    def readable(self) -> QueryableColumns:
        """Columns that a query may name, by their stored types."""
        return self._published_columns()

    def _published_columns(self) -> QueryableColumns:
        names = [a.name for a in self.manifest.attributes]
        kinds = {name: ColumnKind.of_type(type_) for name, type_ in self.data.types.items()}
        return QueryableColumns(
            kinds,
            dict.fromkeys((name for name in names if name in kinds), True),
            {name: f"'{name}' is not published" for name in names if name not in kinds},
            self.data.types,
        )

    def rewritable_tables(self, release_query: ReleaseQuery) -> PermutedReleaseTables | None:
        """Return the tables of SQL that answers a query; None if only the cells' meanings answer it."""
        del release_query
        return None

    def null_warnings(self, release_query: ReleaseQuery) -> tuple[str, ...]:
        """Return the warnings of rows without a value of an aggregated column."""
        del release_query
        return ()


@dataclass(frozen=True, eq=False)
class OpenPermutedRelease(OpenRelease):
    """Permuted release with open files; ``permuted`` contains its tables."""

    permuted: PermutedReleaseTables

    @cached_property
    def readable(self) -> QueryableColumns:
        """Columns that a query may name: the permuted attribute as text, and not the group numbers."""
        facts, shown = self.permuted.facts, self._published_columns()
        name, group = facts.sensitive, facts.group_column
        refused = {
            **shown.refused,
            group: f"'{group}' contains only group numbers",
            label_column(name): f"'{name}' has values, not labels: use it without label()",
        }
        refused.pop(name, None)
        return QueryableColumns(
            {**_without(shown.kinds, group), name: ColumnKind.TEXT},
            {**_without(shown.measures, name), name: facts.numeric},
            refused,
            _without(shown.types, group),
        )

    def rewritable_tables(self, release_query: ReleaseQuery) -> PermutedReleaseTables | None:
        """Return the tables if a query names columns with values, and aggregates only the permuted one."""
        labels = {label_column(name) for name in self.data.columns}
        named = release_query.attributes
        rewritable = (
            not self.generalized(named)
            and not labels.intersection(named)
            and self.permuted.facts.sensitive not in named
            and set(release_query.measures) <= {self.permuted.facts.sensitive}
        )
        return self.permuted if rewritable else None

    def null_warnings(self, release_query: ReleaseQuery) -> tuple[str, ...]:
        """Return the warning of rows without a value of the permuted attribute, if it is aggregated."""
        facts = self.permuted.facts
        if not facts.rows_without_value or not release_query.measures:
            return ()
        return (
            f"{facts.rows_without_value:,} rows have no value of '{facts.sensitive}': bounds assume that "
            "they may be any rows of their groups.",
        )


def _without(entries: Mapping[str, _T], name: str) -> dict[str, _T]:
    return {key: value for key, value in entries.items() if key != name}


@contextmanager
def open_release(
    engine: Engine,
    address: Path | ReleaseAddress,
    settings: Settings,
    hierarchies: Mapping[str, GeneralizationHierarchy] | None = None,
    *,
    hold: bool = False,
) -> Iterator[OpenRelease]:
    """Open a release for queries while the context lasts; the engine is the one of its address.

    With ``hold``, a permuted release's tables are loaded into the engine once, which pays off for many
    queries. Raises ``InputError`` if the release has no manifest, a file is missing or has another number
    of rows than the manifest states, or a hierarchy does not match its digest in the manifest.
    """
    release_address = ReleaseAddress.of(address)
    manifest = read_manifest(release_address, engine)
    with ExitStack() as stack:
        source = _release_source(release_address, manifest, manifest.kind.data_table)
        data = stack.enter_context(open_source_table(engine, source))
        _check_names(data)
        _check_rows(engine, data, manifest.rows)
        release = OpenRelease(engine, manifest, data, dict(hierarchies or {}), settings)
        if manifest.permutation is not None:
            release = _open_permuted(stack, release, release_address, manifest.permutation, hold=hold)
        _check_hierarchies(manifest, release.hierarchies)
        yield release


def _open_permuted(
    stack: ExitStack, release: OpenRelease, address: ReleaseAddress, facts: PermutedRelease, *, hold: bool
) -> OpenPermutedRelease:
    """Open the help table of a release; ``stack`` closes it."""
    engine, manifest, listed = release.engine, release.manifest, facts.files[HELP_FILE]
    source = _release_source(address.part(HELP_FILE, listed.file), manifest, listed.table)
    help_table = stack.enter_context(open_source_table(engine, source))
    _check_rows(engine, help_table, listed.rows)
    values = _sensitive_source(address, manifest, facts)
    tables = PermutedReleaseTables(address, manifest.file_format, facts, release.data, help_table, values)
    stack.enter_context(session_setting(engine, engine.dialect.dense_groups))
    if hold:
        tables = _load_into_engine(tables, engine, stack.enter_context(TemporaryTables(engine)))
    return OpenPermutedRelease(engine, manifest, release.data, release.hierarchies, release.settings, tables)


def read_permutation_facts(address: Path | ReleaseAddress, engine: Engine | None = None) -> PermutedRelease:
    """Read the manifest entry of a permuted release; raise ``InputError`` for another release.

    ``engine`` is required if the release is a table of a database.
    """
    facts = read_manifest(address, engine).permutation
    if facts is None:
        raise InputError(
            f"{ReleaseAddress.of(address).label} is not a permuted release",
            allowed="a release of --model permutation",
        )
    return facts


def _load_into_engine(
    files: PermutedReleaseTables, engine: Engine, tables: TemporaryTables
) -> PermutedReleaseTables:
    """Load the tables into the engine; the help table as arrays, or by group if the engine has lists."""
    names = {
        purpose: tables.create(f"SELECT * FROM {relation} AS r")
        for purpose, relation in (("data", files.in_engine.release), (HELP_FILE, files.in_engine.help))
    }
    engine_tables = {purpose: identifier(name) for purpose, name in names.items()}
    all_files = replace(files, engine_tables=engine_tables)
    if not engine.dialect.lists:
        return all_files
    if files.facts.files[HELP_FILE].rows >= FEWEST_ARRAY_ROWS:
        groups = load_group_values(engine, all_files.in_engine)
        if groups is not None:
            tables.drop(names[HELP_FILE])
            return replace(files, engine_tables={"data": engine_tables["data"]}, groups=groups)
    by_group = _help_by_group(all_files, engine, tables)
    return (
        all_files
        if by_group is None
        else replace(all_files, engine_tables={**engine_tables, HELP_BY_GROUP: identifier(by_group)})
    )


def _help_by_group(files: PermutedReleaseTables, engine: Engine, tables: TemporaryTables) -> str | None:
    """Create the help table by group; return its name, or None if a group lacks a row for some hits."""
    lies = files.in_engine
    group = identifier(lies.group_column)
    name = tables.create(by_group_query(lies.help, group, numeric=lies.numeric, has_null=lies.has_null))
    found = engine.fetch_rows(f"SELECT sum(group_rows) FROM {identifier(name)}")[0][0]
    if found == files.facts.files[HELP_FILE].rows:
        return name
    tables.drop(name)
    return None


def _release_source(address: ReleaseAddress, manifest: Manifest, table: str | None) -> SourceSpec:
    file_format = manifest.file_format
    return address.source(
        file_format=file_format, delimiter="," if file_format == "csv" else None, table=table
    )


def _sensitive_source(
    address: ReleaseAddress, manifest: Manifest, facts: PermutedRelease
) -> SourceSpec | None:
    """Return the source of the sensitive values, or None if the data table contains them.

    Only some queries need it, so it is opened on demand.
    """
    listed = facts.files.get(SENSITIVE_FILE)
    if listed is None:
        return None
    return _release_source(address.part(SENSITIVE_FILE, listed.file), manifest, listed.table)


def _check_rows(engine: Engine, table: SourceTable, rows: int) -> None:
    found = int(engine.fetch_rows(f"SELECT count(*) FROM {table.relation} AS r")[0][0])
    if found != rows:
        raise InputError(
            f"{table.label} has {found:,} rows, but its manifest says {rows:,}",
            advice="The file was changed after it was published; run discreet audit for details.",
        )
    engine.confirm_rows(table, found)


def _check_hierarchies(manifest: Manifest, hierarchies: Mapping[str, GeneralizationHierarchy]) -> None:
    """Raise ``InputError`` for a hierarchy that is not the release's, because bounds would be wrong."""
    generalized = {a.name: a for a in manifest.attributes if _is_quasi_identifier(a.role) and a.level != 0}
    for name in generalized.keys() & hierarchies.keys():
        hierarchy = hierarchies[name]
        digest = generalized[name].hierarchy_sha256
        if digest is not None and digest != hierarchy.digest:
            raise InputError(
                f"{hierarchy.origin} is not the hierarchy that '{name}' was generalized by",
                allowed=f"the hierarchy with SHA-256 {digest[:12]}… (see the manifest)",
                advice="Ask the publisher for the hierarchy of this release.",
            )


def _check_names(table: SourceTable) -> None:
    """Raise ``InputError`` if column names differ only in case, which SQL does not distinguish."""
    if len({name.casefold() for name in table.columns}) < len(table.columns):
        raise InputError(
            f"{table.label} has columns whose names differ only in case",
            allowed="names that differ in more than case",
            advice="Publish the table again with other names.",
        )


def _is_quasi_identifier(role: str) -> bool:
    return role == AttributeRole.QUASI_IDENTIFIER
