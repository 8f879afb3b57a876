"""Output of a permuted release: its tables as queries, its files, its manifest and log entry.

The tables are the data, the sensitive values if they have a separate table, and the help table, which is
computed only from the released groups and values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, count

from discreet.audit.permuted_audit import PermutedClaims, PermutedSources, audit_permuted
from discreet.engines.base import Engine
from discreet.engines.delivery import DATA, Delivery, Part, ReleaseViews
from discreet.engines.files.output_files import NewTable
from discreet.engines.source_tables import TemporaryTables
from discreet.errors import InternalError, RequirementNotMet
from discreet.model.audit_report import AuditReport
from discreet.model.coded_warnings import CodedWarning, public_warnings
from discreet.model.criteria.k_anonymity import LOW_K
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.release_kind import (
    DE_FINETTI,
    HELP_FILE,
    HELP_NAME,
    NOT_PROTECTED,
    ONE_TABLE_NAME,
    PERMUTATION,
    QUASI_IDENTIFIERS_NAME,
    SENSITIVE_FILE,
    SENSITIVE_NAME,
    GroupPartition,
    PermutedFile,
    PermutedRelease,
    ReleaseForm,
)
from discreet.model.requirement import Requirement
from discreet.model.search_result import SuppressionPolicy
from discreet.model.table_spec import AttributeRole, TableSpec
from discreet.permutation.help_table_lines import generate_help_lines
from discreet.permutation.sensitive_column import NumberForm
from discreet.recoding.coded_rows import add_sort_keys
from discreet.recoding.published_columns import PublishedColumn
from discreet.recoding.stored_classes import CountedTable
from discreet.release.manifest import Manifest
from discreet.release.permutation_staging import (
    LARGEST_BIGINT,
    ChosenGroups,
    StagedRows,
    exact_number_type,
    sensitive_number_type,
)
from discreet.release.publication import check_output
from discreet.release.publication_evidence import (
    build_manifest_attributes,
    build_manifest_frame,
    column_warnings,
    describe_release,
    describe_source,
    hierarchy_warnings,
    quote_names,
    row_warnings,
)
from discreet.release.publication_job import load_sort_keys
from discreet.release.release_target import DATABASE_FORMAT, PLAIN_FORMATS
from discreet.sql import help_table
from discreet.sql import value_permutation as sql
from discreet.sql.cell_expressions import column_name, sorted_by_cells
from discreet.sql.dialect import Dialect
from discreet.sql.quoting import identifier
from discreet.sql.recoded_rows import LABEL_TEXT, released_labels

_KEY_BYTES_PER_ROW = 24
"""Bytes per row for a key while the engine transfers it, and for the lines that are built at a time."""


@dataclass(frozen=True, eq=False)
class PermutedRows:
    """Released rows in the engine (``sql.value_permutation.moved_rows``), and their number.

    ``text`` is the SQL of a released sensitive value's text; ``form`` is the number form of such texts, None
    where they are no numbers. ``exact`` is true if values are stored as exact numbers.
    """

    moved: str
    rows: int
    text: str
    form: NumberForm | None
    exact: bool = False

    def number(self, dialect: Dialect, house: str | None = None) -> str | None:
        """Return the SQL of a released sensitive value's number; None where values are no numbers.

        With ``house``, the number is cast to this type, which stores all values exactly.
        """
        if self.form is None:
            return None
        if self.exact and self.form.scale is not None:
            return dialect.cast(sql.MOVED_VALUE, house or sql.number_type(self.form.scale))
        number = sql.number_of(dialect, self.text, self.form.scale)
        return number if house is None else dialect.cast(number, house)


def build_release_tables(
    staged: StagedRows,
    tables: PermutedRows,
    facts: PermutedRelease,
    temporary_tables: TemporaryTables,
    *,
    typed: bool,
    drawn: bool,
) -> dict[str, NewTable]:
    """Build the tables of a release, the data first: queries, and the names of their columns.

    ``typed`` requests numbers as numbers, where that loses nothing. Data and sensitive values are sorted by
    group and then by their other cells or, if ``drawn``, each in an independent random order. The help table
    is computed only from the released groups and values, and is sorted by group and hits. Random orders are
    stored, so a query returns the same rows each time. Tables that the queries read are created in
    ``temporary_tables``.
    """
    dialect = staged.engine.dialect
    value, group = f"t.{sql.MOVED_VALUE}", f"t.{sql.GROUP_NUMBER}"
    if typed and tables.form is not None and staged.as_numbers:
        exact = tables.exact and tables.form.scale is not None
        number = value if exact else sql.number_of(dialect, staged.text_of(value), tables.form.scale)
        value = dialect.cast(number, sensitive_number_type(staged))
    identifying, labels = _published_quasi_identifiers(staged, tables.moved, temporary_tables)
    others = [c for c in staged.columns if c.role is not AttributeRole.QUASI_IDENTIFIER]
    names = [*(c.name for c in identifying), facts.group_column]
    cells = [*(c.published for c in identifying), group]
    found: dict[str, NewTable] = {}
    if facts.form is ReleaseForm.ONE_TABLE:
        names, cells = [*names, facts.sensitive], [*cells, value]
    else:
        values_table = tables.moved
        if drawn:
            values_table = temporary_tables.create(sql.values_table(tables.moved))
            values_table = add_sort_keys(
                staged.engine, temporary_tables, values_table, tables.rows, load_sort_keys
            )
        names_alone = (facts.group_column, facts.sensitive)
        found[SENSITIVE_NAME] = _ordered_table(
            staged.engine, values_table, [group, value], (), names_alone, drawn=drawn
        )
    helped = _help_table(staged, tables, facts, temporary_tables)
    rows = tables.moved
    if drawn:
        rows = add_sort_keys(staged.engine, temporary_tables, rows, tables.rows, load_sort_keys)
    cells, names = [*cells, *(c.published for c in others)], [*names, *(c.name for c in others)]
    data = _ordered_table(staged.engine, rows, cells, labels, names, drawn=drawn)
    return {facts.table or ONE_TABLE_NAME: data, **found, HELP_NAME: helped}


def _published_quasi_identifiers(
    staged: StagedRows, moved: str, temporary_tables: TemporaryTables
) -> tuple[list[PublishedColumn], tuple[tuple[int, str], ...]]:
    """Return the published quasi-identifiers, and the tables of their labels.

    In the embedded engine, an expression over a label is computed once per label instead of once per row.
    """
    columns = {c.name: c for c in staged.columns if c.role is AttributeRole.QUASI_IDENTIFIER}
    labels = dict(staged.labels)
    if staged.engine.dialect.random_key is None:
        for index, table in staged.labels:
            column = columns[staged.hierarchies[index].attribute]
            label = f"l{index}.{LABEL_TEXT}"
            if column.published != label:
                labels[index] = temporary_tables.create(
                    released_labels(table, index, column.published, moved)
                )
                columns[column.name] = replace(column, published=label)
    return list(columns.values()), tuple(labels.items())


def _ordered_table(
    engine: Engine,
    table: str,
    cells: Sequence[str],
    labels: Sequence[tuple[int, str]],
    names: Sequence[str],
    *,
    drawn: bool,
) -> NewTable:
    """Return a table in release order: by group and then by the other cells, or by random sort keys."""
    rows = sql.released_rows(table, cells, labels)
    if drawn:
        return NewTable(sql.released_rows(table, cells, labels, drawn=True), tuple(names), rows)
    columns = [column_name(i) for i in range(len(cells))]
    first = [cells.index(f"t.{sql.GROUP_NUMBER}")]
    ordered = sorted_by_cells(engine.dialect, rows, engine.column_types(rows), columns, first)
    return NewTable(ordered, tuple(names), rows)


def index_columns(name: str, facts: PermutedRelease) -> tuple[tuple[str, ...], ...]:
    """Return the columns by which a table of a release is queried, for indexes in a database."""
    if name == HELP_NAME:
        return ((facts.group_column, help_table.HITS),)
    return ((facts.group_column,),)


def _help_table(
    staged: StagedRows, tables: PermutedRows, facts: PermutedRelease, temporary_tables: TemporaryTables
) -> NewTable:
    dialect = staged.engine.dialect
    columns = help_table.help_columns(facts.group_column, numeric=facts.numeric)
    if tables.form is None:
        values = temporary_tables.create(sql.values_table(tables.moved))
        return _ordered_help(
            help_table.count_query(dialect, values, sql.GROUP_NUMBER, sql.MOVED_VALUE), columns
        )
    sums, values = exact_number_type(staged.total, staged.form), sensitive_number_type(staged)
    types = help_table.HelpTypes(sums, values, tables.form.scale)
    number = tables.number(dialect, types.values)
    assert number is not None
    by_arrays = _help_query_by_arrays(staged, tables, facts, temporary_tables, types, number)
    if by_arrays is not None:
        return NewTable(by_arrays, columns)
    totals = temporary_tables.create(
        help_table.group_totals(dialect, tables.moved, sql.GROUP_NUMBER, number, types)
    )
    ordered = temporary_tables.create(
        help_table.ranked_values(dialect, tables.moved, totals, sql.GROUP_NUMBER, number, types)
    )
    result = _ordered_help(help_table.help_query(dialect, totals, ordered, types), columns)
    if not dialect.sorts_before_joins:
        return result
    # The query is read twice, for writing and for comparing; stored as a table it keeps its order.
    if facts.rows_without_value:
        helped = temporary_tables.create(result.query)
        help_query = f"SELECT * FROM {identifier(helped)}"
    else:
        number_type = sql.row_number_type(tables.rows)
        helped = temporary_tables.create(
            help_table.compact_query(dialect, totals, ordered, types, number_type)
        )
        help_query = help_table.expanded_query(dialect, helped)
    for name in (totals, ordered):
        temporary_tables.drop(name)
    return NewTable(help_query, columns)


def _help_query_by_arrays(
    staged: StagedRows,
    tables: PermutedRows,
    facts: PermutedRelease,
    temporary_tables: TemporaryTables,
    types: help_table.HelpTypes,
    number: str,
) -> str | None:
    """Return the query of a help table computed from arrays; None where this is not possible.

    It is possible if the engine is embedded, each row has an exact number, and group and number fit 64 bits.
    """
    engine, scale = staged.engine, None if tables.form is None else tables.form.scale
    if engine.dialect.random_key is not None or scale is None or facts.rows_without_value:
        return None
    form = help_table.SortKeyLayout(staged.widest, scale)
    if staged.total > LARGEST_BIGINT or not form.fit(facts.groups):
        return None
    engine.leave_room(_KEY_BYTES_PER_ROW * tables.rows)
    found = engine.fetch_arrays(
        help_table.group_value_keys(engine.dialect, tables.moved, sql.GROUP_NUMBER, number, form)
    )
    keys = found.pop(help_table.SORT_KEY)
    if len(keys) != tables.rows:
        raise InternalError(f"{len(keys)} values were read, but {tables.rows} are to be published")
    lines = temporary_tables.load_parts(generate_help_lines(keys, form))
    return help_table.expanded_from_units(engine.dialect, lines, types, scale)


def _ordered_help(rows: str, columns: tuple[str, ...]) -> NewTable:
    return NewTable(f"{rows} ORDER BY g, h", columns, rows)


def build_claims(facts: PermutedRelease, published: Sequence[PublishedColumn]) -> PermutedClaims:
    """Return the claims that the audit must confirm for a release with these columns."""
    return PermutedClaims(
        group_column=facts.group_column,
        sensitive=facts.sensitive,
        quasi_identifiers=tuple(c.name for c in published if c.role is AttributeRole.QUASI_IDENTIFIER),
        k=facts.k,
        e=facts.e,
        first_group=facts.first_group,
        numeric=facts.numeric,
        doubles=facts.numeric and facts.scale is None,
    )


PERMUTED_FORMATS = {**PLAIN_FORMATS, ".duckdb": DATABASE_FORMAT}
GROUP_COLUMN = "group_id"


def companion_purposes(file_format: str, form: ReleaseForm) -> tuple[str, ...]:
    """Return the purposes of the data's companion files; none for a database file, which contains them."""
    if file_format == DATABASE_FORMAT:
        return ()
    return (HELP_FILE, SENSITIVE_FILE) if form is ReleaseForm.TWO_TABLES else (HELP_FILE,)


def write_parts(
    staged: StagedRows,
    tables: PermutedRows,
    partition: GroupPartition,
    form: ReleaseForm,
    delivery: Delivery,
    views: ReleaseViews | None,
    *,
    drawn: bool,
) -> PermutedRelease:
    """Write the tables of a release to their target, sorted by group or, if ``drawn``, in random order.

    The help table is computed only from the released groups and values, and is sorted by group and hits.
    """
    facts = _collect_facts(staged, tables, partition, form, delivery)
    # Drop the temporary tables before the audit, which needs the memory.
    with TemporaryTables(staged.engine) as temporary_tables:
        how = {"typed": delivery.typed, "drawn": drawn}
        parts = {
            purpose: Part(table, name, index_columns(name, facts))
            for purpose, (name, table) in zip(
                (DATA, *facts.files),
                build_release_tables(staged, tables, facts, temporary_tables, **how).items(),
                strict=True,
            )
        }
        delivery.write(parts, None if views is None else lambda: views.statements(facts))
        check_output(staged.engine, delivery, parts)
        staged.tables.drop(tables.moved)
    if views is not None:
        delivery.write_views(lambda *relations: views.queries(facts, *relations))
    listed = {name: replace(file, sha256=delivery.digest(name)) for name, file in facts.files.items()}
    return replace(facts, files=listed)


def _collect_facts(
    staged: StagedRows,
    tables: PermutedRows,
    partition: GroupPartition,
    form: ReleaseForm,
    delivery: Delivery,
) -> PermutedRelease:
    names = {HELP_FILE: HELP_NAME, SENSITIVE_FILE: SENSITIVE_NAME}
    two = form is ReleaseForm.TWO_TABLES
    listed = {
        name: delivery.listed(name, names[name])
        for name in ((SENSITIVE_FILE, HELP_FILE) if two else (HELP_FILE,))
    }
    without = staged.engine.fetch_rows(sql.null_value_count(tables.moved))[0][0]
    first = partition.first
    return PermutedRelease(
        sensitive=staged.sensitive.attribute,
        k=partition.requirement.k,
        e=partition.requirement.e,
        partition=partition.strategy,
        form=form,
        group_column=_free_name([column.name for column in staged.columns] + [staged.sensitive.attribute]),
        groups=partition.group_count,
        rows_without_value=int(without),
        numeric=staged.form is not None,
        scale=None if staged.form is None else staged.form.scale,
        table=delivery.listed(DATA, QUASI_IDENTIFIERS_NAME if two else ONE_TABLE_NAME).table,
        files={name: PermutedFile(part.file, tables.rows, table=part.table) for name, part in listed.items()},
        first_group=None if first is None else (first.k, first.e),
    )


def _free_name(taken: Sequence[str]) -> str:
    """Return ``group_id``, with a number appended where a column has that name."""
    names = {name.casefold() for name in taken} | set(help_table.help_columns("", numeric=True))
    others = (f"{GROUP_COLUMN}_{number}" for number in count(2))
    return next(name for name in chain((GROUP_COLUMN,), others) if name not in names)


def audit_output(
    facts: PermutedRelease, delivery: Delivery, *, published: Sequence[PublishedColumn]
) -> AuditReport:
    """Audit the written release; raise ``RequirementNotMet`` where it fails."""
    with delivery.auditor() as engine:
        report = audit_permuted(engine, _written_sources(facts, delivery), build_claims(facts, published))
    if not report.passed:
        raise RequirementNotMet(
            f"the audit of the output failed: {' '.join(report.warnings[:3])}",
            advice="Nothing was published. Please report this: permuting and audit disagree.",
        )
    rows = facts.files[HELP_FILE].rows
    found = report.permutation
    if found is None or (report.rows, found.groups, found.rows_without_value) != (
        rows,
        facts.groups,
        facts.rows_without_value,
    ):
        raise InternalError(
            f"{rows} rows in {facts.groups} groups were to be written, but there are {report.rows} in "
            f"{report.classes}",
            advice="Nothing was published. Please report this.",
        )
    return report


def _written_sources(facts: PermutedRelease, delivery: Delivery) -> PermutedSources:
    values_file = facts.files.get(SENSITIVE_FILE)
    return PermutedSources(
        data=delivery.source(DATA, facts.table),
        help=delivery.source(HELP_FILE, facts.files[HELP_FILE].table),
        sensitive=None if values_file is None else delivery.source(SENSITIVE_FILE, values_file.table),
    )


def build_permuted_manifest(
    spec: TableSpec,
    counted: CountedTable,
    node: Sequence[int],
    chosen: ChosenGroups,
    facts: PermutedRelease,
    staged: StagedRows,
    audit: AuditReport,
    delivery: Delivery,
    further: Sequence[CodedWarning] = (),
) -> Manifest:
    """Build the manifest of the written and audited release; ``further`` are the caller's warnings."""
    roles = {column.name: column.role for column in staged.columns} | {
        facts.sensitive: AttributeRole.SENSITIVE
    }
    levels = levels_by_attribute(counted, node)
    warnings = _collect_permuted_warnings(
        spec, counted.hierarchies, node, chosen, facts, staged, audit.rows, roles
    )
    return Manifest(
        sha256=delivery.digest(DATA) or "",
        rows=audit.rows,
        attributes=build_manifest_attributes(spec, tuple(counted.hierarchies), levels, roles),
        requirement=Requirement().as_json(),
        counted="rows" if staged.subject is None else "subjects",
        suppression=str(SuppressionPolicy.DROP),
        suppressed=staged.rows - audit.rows,
        model=PERMUTATION,
        permutation=facts,
        **build_manifest_frame(spec, counted, delivery, audit, (*public_warnings(further), *warnings)),
    )


def levels_by_attribute(counted: CountedTable, node: Sequence[int]) -> dict[str, int]:
    """Return the level of each quasi-identifier, for the publisher: the manifest omits some."""
    return {h.attribute: level for h, level in zip(counted.hierarchies, node, strict=True)}


def _collect_permuted_warnings(
    spec: TableSpec,
    hierarchies: Sequence[GeneralizationHierarchy],
    node: Sequence[int],
    chosen: ChosenGroups,
    facts: PermutedRelease,
    staged: StagedRows,
    rows: int,
    roles: dict[str, AttributeRole],
) -> tuple[CodedWarning, ...]:
    """Collect the manifest's warnings, first the limits of every permuted release; none names a value."""
    warnings = [
        CodedWarning("identity-and-membership", NOT_PROTECTED),
        CodedWarning("definetti", DE_FINETTI),
    ]
    if chosen.proximity is not None:
        warnings.append(CodedWarning("proximity", chosen.proximity))
    if facts.k < LOW_K:
        text = f"A group needs only {facts.k} distinct values; publishers commonly require {LOW_K} or more."
        warnings.append(CodedWarning("low-k", text))
    others = [a.name for a in spec.sensitive if a.name != facts.sensitive]
    if others:
        text = f"One sensitive attribute is permuted; left out of the release: {quote_names(others)}."
        warnings.append(CodedWarning("sensitive-left-out", text))
    warnings += [CodedWarning("partition", text) for text in (*chosen.partition.warnings, *chosen.warnings)]
    levels = list(zip(hierarchies, node, strict=True))
    derived = [h.attribute for h, level in levels if h.from_data and 0 < level < h.height]
    raised = {h.attribute for h, level in levels if level > 0}
    generalized = replace(spec, attributes=tuple(a for a in spec.attributes if a.name in raised))
    warnings += hierarchy_warnings(generalized, derived)
    warnings += column_warnings(spec, roles)
    warnings += row_warnings(staged.rows, staged.rows - rows)
    return tuple(warnings)


def build_permuted_log_entry(
    spec: TableSpec,
    counted: CountedTable,
    node: Sequence[int],
    chosen: ChosenGroups,
    manifest: Manifest,
    delivery: Delivery,
) -> dict[str, object]:
    """Build the private log's entry of a publication; it contains nothing of the permutation."""
    facts = manifest.permutation
    assert facts is not None
    return {
        **describe_source(spec),
        "requirement": {"k": facts.k, "e": str(facts.e)},
        "model": manifest.model,
        "partition": facts.partition,
        "error": None if chosen.partition.error is None else str(chosen.partition.error),
        "sensitive": facts.sensitive,
        "levels": levels_by_attribute(counted, node),
        "rows": manifest.rows,
        "files": {name: file.sha256 for name, file in facts.files.items()},
        **describe_release(delivery.address, manifest),
    }
