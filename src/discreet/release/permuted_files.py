"""The files of a permuted release: the data, the sensitive values where they stand alone, the help table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.audit.permuted import PermutedClaims, PermutedSources, audit_permuted
from discreet.engines.base import Engine
from discreet.engines.database_file import NewTable, check_columns
from discreet.errors import InternalError, RequirementNotMet
from discreet.model.audit_report import AuditReport
from discreet.model.permutation import GroupPartition
from discreet.model.permuted_release import (
    HELP,
    HELP_NAME,
    ONE_TABLE_NAME,
    QUASI_IDENTIFIERS_NAME,
    SENSITIVE,
    SENSITIVE_NAME,
    PermutationFacts,
    PermutedFile,
    ReleaseForm,
)
from discreet.model.table_spec import AttributeRole, SourceSpec
from discreet.permutation.sensitive import NumberForm, total_magnitude
from discreet.recoding.coded_rows import with_sort_keys
from discreet.recoding.columns import Column
from discreet.release.held import HeldRows
from discreet.release.private_log import file_digest
from discreet.release.shuffle import load_sort_keys
from discreet.release.target import FORMATS as FILE_FORMATS
from discreet.release.target import Target, writing
from discreet.release.temporary import TemporaryFiles, sync_file
from discreet.sql import help_table
from discreet.sql import permuted as sql

DATABASE = "duckdb"
FORMATS = {**FILE_FORMATS, ".duckdb": DATABASE}
GROUP_COLUMN = "group_id"

_LARGEST = (1 << 63) - 1
_SHORT_DIGITS = 18

Views = Callable[[PermutationFacts], Sequence[str]]
"""The statements that make the views of a release in a database."""


@dataclass(frozen=True, eq=False)
class PermutedTables:
    """The released rows in the engine (``sql.permuted.moved_rows``), and the group of each in some order.

    ``form`` says how their sensitive texts say numbers, None where they do not.
    """

    moved: str
    groups: NDArray[np.int64]
    form: NumberForm | None

    @property
    def number(self) -> str | None:
        """The number of a released sensitive value in SQL; None where values are no numbers."""
        return None if self.form is None else sql.number_of(_TEXT, self.form.scale)


_TEXT = f"CAST({sql.VALUE} AS VARCHAR)"


def purposes_of(output: Path, form: ReleaseForm) -> tuple[str, ...]:
    """The purposes of the files beside the data; a database holds them itself."""
    if FORMATS.get(output.suffix.lower()) == DATABASE:
        return ()
    return (HELP, SENSITIVE) if form is ReleaseForm.TWO_TABLES else (HELP,)


def write_files(
    held: HeldRows,
    tables: PermutedTables,
    partition: GroupPartition,
    form: ReleaseForm,
    target: Target,
    files: TemporaryFiles,
    views: Views | None,
) -> PermutationFacts:
    """Write what a release consists of under temporary names, each table in a random order of its own.

    The help table is computed from the released groups and values alone, and is ordered by group and hits.
    """
    facts = _facts(held, tables, partition, form, target)
    written = _tables(held, tables, facts, target)
    if target.file_format == DATABASE:
        check_columns({name: table.columns for name, table in written.items()})
        held.engine.write_database(files.path("data"), written, () if views is None else views(facts))
    else:
        for purpose, table in zip(("data", *facts.files), written.values(), strict=True):
            held.engine.write_file(table.query, files.path(purpose), target.file_format, table.columns)
    with writing(target.folder):
        for purpose in ("data", *(purpose for purpose, _ in target.companions)):
            sync_file(files.path(purpose))
    digests = {purpose: file_digest(files.path(purpose)) for purpose, _ in target.companions}
    listed = {name: replace(file, sha256=digests.get(name)) for name, file in facts.files.items()}
    return replace(facts, files=listed)


def _facts(
    held: HeldRows, tables: PermutedTables, partition: GroupPartition, form: ReleaseForm, target: Target
) -> PermutationFacts:
    rows = len(tables.groups)
    companions = dict(target.companions)
    names = {HELP: HELP_NAME, SENSITIVE: SENSITIVE_NAME}
    two = form is ReleaseForm.TWO_TABLES
    database = target.file_format == DATABASE
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
        table=(QUASI_IDENTIFIERS_NAME if two else ONE_TABLE_NAME) if database else None,
        files={
            name: PermutedFile(
                companions.get(name, target.path).name, rows, table=names[name] if database else None
            )
            for name in ((SENSITIVE, HELP) if two else (HELP,))
        },
        first_group=None if first is None else (first.k, first.e),
    )


def _free_name(taken: Sequence[str]) -> str:
    """``group_id``, or with a number where a column has that name."""
    names = {name.casefold() for name in taken} | set(help_table.help_columns("", numeric=True))
    others = (f"{GROUP_COLUMN}_{number}" for number in count(2))
    return next(name for name in chain((GROUP_COLUMN,), others) if name not in names)


def _tables(
    held: HeldRows, tables: PermutedTables, facts: PermutationFacts, target: Target
) -> dict[str, NewTable]:
    """The tables to write, the data first: queries, and the names of their columns."""
    typed = target.file_format != "csv"
    rows = len(tables.groups)
    value, group = f"t.{sql.VALUE}", f"t.{sql.GROUP}"
    if typed and tables.form is not None:
        value = f"CAST({sql.number_of(f'CAST({value} AS VARCHAR)', tables.form.scale)} AS {value_type(held)})"
    identifying = [c for c in held.columns if c.role is AttributeRole.QUASI_IDENTIFIER]
    others = [c for c in held.columns if c.role is not AttributeRole.QUASI_IDENTIFIER]
    names = [*(c.name for c in identifying), facts.group_column]
    cells = [*(c.published for c in identifying), group]
    found: dict[str, NewTable] = {}
    if facts.form is ReleaseForm.ONE_TABLE:
        names, cells = [*names, facts.sensitive], [*cells, value]
    else:
        alone = held.tables.new_name()
        held.engine.execute(sql.values_table(alone, tables.moved))
        alone = with_sort_keys(held.engine, held.tables, alone, rows, load_sort_keys)
        found[SENSITIVE_NAME] = NewTable(
            sql.shuffled_rows(alone, [group, value], ()), (facts.group_column, facts.sensitive)
        )
    helped = _help(held, tables, facts)
    shuffled = with_sort_keys(held.engine, held.tables, tables.moved, rows, load_sort_keys)
    query = sql.shuffled_rows(shuffled, [*cells, *(c.published for c in others)], held.labels)
    data = NewTable(query, (*names, *(c.name for c in others)))
    return {facts.table or ONE_TABLE_NAME: data, **found, HELP_NAME: helped}


def _help(held: HeldRows, tables: PermutedTables, facts: PermutationFacts) -> NewTable:
    columns = help_table.help_columns(facts.group_column, numeric=facts.numeric)
    number = tables.number
    if number is None or tables.form is None:
        values = held.tables.new_name()
        held.engine.execute(sql.values_table(values, tables.moved))
        return NewTable(help_table.count_query(values, sql.GROUP, sql.VALUE), columns)
    totals, ordered = held.tables.new_name(), held.tables.new_name()
    held.engine.execute(help_table.group_totals(totals, tables.moved, sql.GROUP, number))
    held.engine.execute(help_table.sorted_values(ordered, tables.moved, totals, sql.GROUP, number))
    types = help_table.HelpTypes(_sum_type(held), value_type(held), doubles=tables.form.scale is None)
    return NewTable(help_table.help_query(totals, ordered, types), columns)


def value_type(held: HeldRows) -> str:
    """The SQL type that holds every sensitive number exactly."""
    numbers = held.sensitive.numbers
    assert numbers is not None
    widest = 0 if numbers.dtype.kind == "f" else max((abs(n) for n in numbers[[0, -1]].tolist()), default=0)
    return _type_of(widest, held.form)


def _sum_type(held: HeldRows) -> str:
    return _type_of(total_magnitude(held.sensitive), held.form)


def _type_of(widest: int, form: NumberForm | None) -> str:
    """A type for whole numbers of units up to a magnitude."""
    if form is None or form.scale is None:
        return "DOUBLE"
    if form.scale == 0 and widest <= _LARGEST:
        return "BIGINT"
    digits = _SHORT_DIGITS if widest < 10**_SHORT_DIGITS and form.scale <= _SHORT_DIGITS else sql.EXACT_DIGITS
    return f"DECIMAL({digits}, {form.scale})"


def audited(
    engine: Engine,
    facts: PermutationFacts,
    target: Target,
    files: TemporaryFiles,
    *,
    published: Sequence[Column],
) -> AuditReport:
    """The audit of the written files; ``RequirementNotMet`` where it fails."""
    report = audit_permuted(
        engine,
        _sources(facts, target, files),
        PermutedClaims(
            group_column=facts.group_column,
            sensitive=facts.sensitive,
            quasi_identifiers=tuple(c.name for c in published if c.role is AttributeRole.QUASI_IDENTIFIER),
            k=facts.k,
            e=facts.e,
            first_group=facts.first_group,
            numeric=facts.numeric,
            doubles=facts.numeric and facts.scale is None,
        ),
    )
    if not report.passed:
        raise RequirementNotMet(
            f"the audit of the written files failed: {' '.join(report.warnings[:3])}",
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
            f"{rows} rows in {facts.groups} groups were to be written, but the files have {report.rows} in "
            f"{report.classes}",
            advice="Nothing was published. Please report this.",
        )
    return report


def _sources(facts: PermutationFacts, target: Target, files: TemporaryFiles) -> PermutedSources:
    def source(purpose: str, table: str | None) -> SourceSpec:
        if table is not None:
            return SourceSpec(path=files.path("data"), table=table)
        csv = target.file_format == "csv"
        return SourceSpec(path=files.path(purpose), format=target.file_format, delimiter="," if csv else None)

    alone = facts.files.get(SENSITIVE)
    return PermutedSources(
        data=source("data", facts.table),
        help=source(HELP, facts.files[HELP].table),
        sensitive=None if alone is None else source(SENSITIVE, alone.table),
    )
