"""The files of a permuted release: the data, the sensitive values where they stand alone, the help table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, count

from discreet.audit.permuted import PermutedSources, audit_permuted
from discreet.engines.delivery import DATA, Delivery, Part, Views
from discreet.engines.scratch import TemporaryTables
from discreet.errors import InternalError, RequirementNotMet
from discreet.model.audit_report import AuditReport
from discreet.model.permutation import GroupPartition
from discreet.model.permuted_parts import PermutedFile
from discreet.model.permuted_release import (
    HELP,
    HELP_NAME,
    ONE_TABLE_NAME,
    QUASI_IDENTIFIERS_NAME,
    SENSITIVE,
    SENSITIVE_NAME,
    PermutationFacts,
    ReleaseForm,
)
from discreet.recoding.columns import PublishedColumn
from discreet.release.held import HeldRows
from discreet.release.permuted_tables import PermutedTables, claims_of, index_columns, release_tables
from discreet.release.target import DATABASE, FILES
from discreet.release.written import check_written
from discreet.sql import help_table
from discreet.sql import permuted as sql

PERMUTED_FORMATS = {**FILES, ".duckdb": DATABASE}
GROUP_COLUMN = "group_id"


def purposes_of(file_format: str, form: ReleaseForm) -> tuple[str, ...]:
    """The purposes of what lies beside the data; a database file holds it itself."""
    if file_format == DATABASE:
        return ()
    return (HELP, SENSITIVE) if form is ReleaseForm.TWO_TABLES else (HELP,)


def write_parts(
    held: HeldRows,
    tables: PermutedTables,
    partition: GroupPartition,
    form: ReleaseForm,
    delivery: Delivery,
    views: Views | None,
    *,
    drawn: bool,
) -> PermutationFacts:
    """Write what a release consists of where it is to go, by group, or ``drawn`` in random orders.

    The help table is computed from the released groups and values alone, and is ordered by group and hits.
    """
    facts = _facts(held, tables, partition, form, delivery)
    # What was made for writing is gone before the audit, which needs the room.
    with TemporaryTables(held.engine) as made:
        how = {"typed": delivery.typed, "drawn": drawn}
        parts = {
            purpose: Part(table, name, index_columns(name, facts))
            for purpose, (name, table) in zip(
                (DATA, *facts.files), release_tables(held, tables, facts, made, **how).items(), strict=True
            )
        }
        delivery.write(parts, None if views is None else lambda: views.statements(facts))
        check_written(held.engine, delivery, parts)
        held.tables.drop(tables.moved)
    if views is not None:
        delivery.write_views(lambda *relations: views.queries(facts, *relations))
    listed = {name: replace(file, sha256=delivery.digest(name)) for name, file in facts.files.items()}
    return replace(facts, files=listed)


def _facts(
    held: HeldRows,
    tables: PermutedTables,
    partition: GroupPartition,
    form: ReleaseForm,
    delivery: Delivery,
) -> PermutationFacts:
    names = {HELP: HELP_NAME, SENSITIVE: SENSITIVE_NAME}
    two = form is ReleaseForm.TWO_TABLES
    listed = {name: delivery.listed(name, names[name]) for name in ((SENSITIVE, HELP) if two else (HELP,))}
    without = held.engine.fetch_rows(sql.rows_without_value(tables.moved))[0][0]
    first = partition.first
    return PermutationFacts(
        sensitive=held.sensitive.attribute,
        k=partition.requirement.k,
        e=partition.requirement.e,
        partition=partition.strategy,
        form=form,
        group_column=_free_name([column.name for column in held.columns] + [held.sensitive.attribute]),
        groups=partition.group_count,
        rows_without_value=int(without),
        numeric=held.form is not None,
        scale=None if held.form is None else held.form.scale,
        table=delivery.listed(DATA, QUASI_IDENTIFIERS_NAME if two else ONE_TABLE_NAME).table,
        files={name: PermutedFile(part.file, tables.rows, table=part.table) for name, part in listed.items()},
        first_group=None if first is None else (first.k, first.e),
    )


def _free_name(taken: Sequence[str]) -> str:
    """``group_id``, or with a number where a column has that name."""
    names = {name.casefold() for name in taken} | set(help_table.help_columns("", numeric=True))
    others = (f"{GROUP_COLUMN}_{number}" for number in count(2))
    return next(name for name in chain((GROUP_COLUMN,), others) if name not in names)


def audited(
    facts: PermutationFacts, delivery: Delivery, *, published: Sequence[PublishedColumn]
) -> AuditReport:
    """The audit of what was written; ``RequirementNotMet`` where it fails."""
    with delivery.auditor() as engine:
        report = audit_permuted(engine, _sources(facts, delivery), claims_of(facts, published))
    if not report.passed:
        raise RequirementNotMet(
            f"the audit of what was written failed: {' '.join(report.warnings[:3])}",
            advice="Nothing was published. Please report this: permuting and audit disagree.",
        )
    rows = facts.files[HELP].rows
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


def _sources(facts: PermutationFacts, delivery: Delivery) -> PermutedSources:
    alone = facts.files.get(SENSITIVE)
    return PermutedSources(
        data=delivery.source(DATA, facts.table),
        help=delivery.source(HELP, facts.files[HELP].table),
        sensitive=None if alone is None else delivery.source(SENSITIVE, alone.table),
    )
