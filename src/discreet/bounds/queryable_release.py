"""Queryable release: its manifest, its opened tables, and the columns that a query may name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from discreet.bounds.permuted_tables import HELP_BY_GROUP, PermutedReleaseTables, load_group_values
from discreet.engines.base import Engine, SourceTable
from discreet.engines.source_tables import TemporaryTables, open_source_table, session_setting
from discreet.errors import InputError
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.release_address import ReleaseAddress
from discreet.model.release_kind import HELP_FILE, SENSITIVE_FILE, PermutedRelease
from discreet.model.table_spec import AttributeRole, SourceSpec
from discreet.queries.select_query_parser import QueryableColumns
from discreet.queries.sql_expression import ColumnKind
from discreet.queries.syntax import label_column
from discreet.release.manifest import Manifest, read_manifest
from discreet.settings import Settings
from discreet.sql.help_table import by_group_query
from discreet.sql.quoting import identifier

FEWEST_ARRAY_ROWS = 100_000
"""Rows from which a release is loaded into arrays; for fewer rows the engine's statements are faster."""


@dataclass(frozen=True, eq=False)
class OpenRelease:
    """Release with open files, created by ``open_release``.

    ``permuted`` contains the tables of a permuted release, None for one of equivalence classes.
    ``hierarchies`` define the labels of generalized columns; some may be missing.
    """

    engine: Engine
    manifest: Manifest
    data: SourceTable
    permuted: PermutedReleaseTables | None
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
        facts = None if self.permuted is None else self.permuted.facts
        refused: dict[str, str] = {}
        measures: dict[str, bool] = {}
        for name in (a.name for a in self.manifest.attributes):
            if facts is not None and name == facts.sensitive:
                continue
            if name not in self.data.columns:
                refused[name] = f"'{name}' is not published"
            else:
                measures[name] = True
        if facts is not None:
            measures[facts.sensitive] = facts.numeric
            refused[facts.group_column] = f"'{facts.group_column}' contains only group numbers"
        kinds = {
            name: ColumnKind.of_type(self.data.types[name])
            for name in self.data.columns
            if name not in refused
        }
        if facts is not None:
            kinds[facts.sensitive] = ColumnKind.TEXT
            refused[label_column(facts.sensitive)] = (
                f"'{facts.sensitive}' has values, not labels: use it without label()"
            )
        types = {name: self.data.types[name] for name in kinds if name in self.data.types}
        return QueryableColumns(kinds, measures, refused, types)


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
        facts = manifest.permutation
        table = None if facts is None else facts.table
        data = stack.enter_context(
            open_source_table(engine, _release_source(release_address, manifest, table))
        )
        _check_names(data)
        _check_rows(engine, data, manifest.rows)
        permuted = None
        if facts is not None:
            listed = facts.files[HELP_FILE]
            lies = release_address.part(HELP_FILE, listed.file)
            help_table = stack.enter_context(
                open_source_table(engine, _release_source(lies, manifest, listed.table))
            )
            _check_rows(engine, help_table, listed.rows)
            permuted = PermutedReleaseTables(
                release_address,
                manifest.file_format,
                facts,
                data,
                help_table,
                _sensitive_source(release_address, manifest, facts),
            )
            stack.enter_context(session_setting(engine, engine.dialect.dense_groups))
            if hold:
                tables = stack.enter_context(TemporaryTables(engine))
                permuted = _load_into_engine(permuted, engine, tables)
        _check_hierarchies(manifest, hierarchies or {})
        yield OpenRelease(engine, manifest, data, permuted, dict(hierarchies or {}), settings)


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
