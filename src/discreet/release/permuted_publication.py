"""Publication with permuted sensitive values: (k,e)-anonymity by permutation, and Anatomy's two tables.

The steps are those of ``release.publication``; instead of recoding, rows are staged, grouped, permuted within
groups and recounted. The permutation is random and never stored: drawn by arrays in the embedded engine, by
two random rankings per group in a database (``sql.value_permutation``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal
from pathlib import Path

import numpy as np

from discreet.audit.recount import match_representatives
from discreet.engines.base import Engine
from discreet.engines.delivery import ReleaseViews
from discreet.errors import InternalError, NoSolution, RequirementNotMet
from discreet.model.audit_report import Release
from discreet.model.coded_warnings import FEW_PEOPLE, CodedWarning, few_people_warning
from discreet.model.release_address import ReleaseAddress
from discreet.model.release_kind import GroupRequirement, ReleaseForm
from discreet.model.table_spec import TableSpec
from discreet.permutation.group_checks import proximity_warning
from discreet.permutation.row_positions import (
    DrawOrder,
    RowIntegers,
    draw_group_numbers,
    draw_order,
    is_permutation_within,
    permute_within,
    working_bytes,
)
from discreet.permutation.sensitive_column import NumberForm, RowStrata
from discreet.recoding.stored_classes import CountedTable
from discreet.release import private_log
from discreet.release.file_delivery import open_delivery
from discreet.release.permutation_staging import (
    ChosenGroups,
    StagedRows,
    fetch_row_subjects,
    stage_rows,
)
from discreet.release.permuted_output import (
    PERMUTED_FORMATS,
    PermutedRows,
    audit_output,
    build_permuted_log_entry,
    build_permuted_manifest,
    companion_purposes,
    levels_by_attribute,
    write_parts,
)
from discreet.release.publication import collect_publisher_warnings, open_private_log, require_no_identifiers
from discreet.release.publication_evidence import collect_publisher_notes
from discreet.settings import Settings
from discreet.sql import value_permutation as sql
from discreet.sql.dialect import Dialect


def permute_values(
    staged: StagedRows,
    groups: RowIntegers,
    numbers: RowIntegers,
    rows: RowIntegers | None,
    draw: DrawOrder,
) -> str:
    """Create the table of released rows (``sql.value_permutation.moved_rows``), not yet in output order.

    ``groups``, shape ``(rows,)``, are the groups of the staged rows or positions ``rows``, or of all;
    ``numbers``, shape ``(groups,)``, are the published group numbers. Raise ``InternalError`` where a value
    would leave its group.
    """
    if staged.strata is None:
        return _permute_by_arrays(staged, groups, numbers, rows, draw)
    return _permute_in_database(staged, staged.strata, groups, numbers, rows)


def _permute_by_arrays(
    staged: StagedRows,
    groups: RowIntegers,
    numbers: RowIntegers,
    rows: RowIntegers | None,
    draw: DrawOrder,
) -> str:
    sources = permute_within(groups, draw)
    if not is_permutation_within(groups, sources):
        raise _value_left_group_error()
    if rows is not None:
        sources = rows[sources]
    chosen = np.arange(staged.rows, dtype=sources.dtype) if rows is None else rows
    move = staged.tables.load(
        {sql.ROW_NUMBER: chosen, sql.SOURCE_ROW: sources, sql.GROUP_NUMBER: numbers[groups]}
    )
    del chosen, sources
    moved = staged.tables.create(sql.moved_rows(staged.table, move, staged.source_cells, staged.value))
    for name in (move, staged.table):
        staged.tables.drop(name)
    return moved


def _permute_in_database(
    staged: StagedRows,
    strata: RowStrata,
    groups: RowIntegers,
    numbers: RowIntegers,
    places: RowIntegers | None,
) -> str:
    dialect, tables, source_cells = staged.engine.dialect, staged.tables, staged.source_cells
    assert staged.coded is not None
    stratum, group, first, rows = strata.parts(groups, places)
    is_full, group = strata.are_full(stratum, rows), numbers[group]
    split = ~is_full
    of_whole = tables.load({sql.STRATUM: stratum[is_full], sql.GROUP_NUMBER: group[is_full]})
    parts = tables.load(
        {
            sql.STRATUM: stratum[split],
            sql.GROUP_NUMBER: group[split],
            sql.FIRST_SEAT: first[split],
            sql.STRATUM_ROWS: rows[split],
        }
    )
    seated = tables.create(sql.seats(dialect, parts))
    keyed = tables.create(
        sql.rows_with_random_keys(
            dialect,
            staged.table,
            staged.value_text,
            staged.coded,
            strata.table,
            strata.keys,
            source_cells,
            staged.value,
            of_whole,
        )
    )
    parted = None
    if np.count_nonzero(is_full) < len(strata.counts):
        parted = tables.create(sql.seated_rows(keyed, seated, source_cells))
    placed = sql.rows_with_groups(keyed, parted, source_cells)
    for name in (parts, seated, of_whole):
        tables.drop(name)
    moved = tables.create(sql.permuted_rows(placed, source_cells))
    found, lost = staged.engine.fetch_rows(sql.value_differences(placed, moved))[0]
    if found != len(groups) or lost:
        raise _value_left_group_error()
    tables.drop(keyed)
    if parted is not None:
        tables.drop(parted)
    return moved


def _value_left_group_error() -> InternalError:
    return InternalError("a sensitive value would leave its group", advice="Please report this.")


_PERSON = "person"


@dataclass(frozen=True)
class PermutedPlan:
    """Plan of a permuted release: every group meets ``requirement``; quasi-identifiers are at ``node``.

    ``node`` has a level per hierarchy of the counted table. ``row_types`` is true if groups depend on
    quasi-identifiers and not only on sensitive values, ``people`` if k counts people with different values,
    as some have several rows.
    """

    sensitive: str
    requirement: GroupRequirement
    node: tuple[int, ...]
    form: ReleaseForm = ReleaseForm.ONE_TABLE
    row_types: bool = False
    people: bool = False


GroupChooser = Callable[[StagedRows], ChosenGroups]


def publish_permuted(
    engine: Engine,
    spec: TableSpec,
    counted: CountedTable,
    plan: PermutedPlan,
    choose: GroupChooser,
    output: Path | ReleaseAddress,
    *,
    overwrite: bool,
    settings: Settings,
    views: ReleaseViews | None = None,
    draw: DrawOrder = draw_order,
    further: tuple[CodedWarning, ...] = (),
    person: str | None = None,
) -> Release:
    """Publish a spec's table with the sensitive values permuted within the groups that ``choose`` finds.

    Parameters
    ----------
    output
        A file with the suffix ``.csv``, ``.parquet`` or ``.duckdb``, or a table in the source's database (as
        in ``release.publication``).
    views
        Views to create in a database.
    draw
        Source of random orders, by default the operating system's generator; no order is stored. An engine
        that draws random keys itself permutes by those.
    further
        The caller's warnings.
    person
        Column by which people are counted.

    Raises
    ------
    RequirementNotMet
        Where a group fails; also as in ``release.publication``, with its other errors.
    """
    with (
        open_private_log(settings.private_log) as log,
        open_delivery(
            engine,
            spec,
            output,
            settings,
            overwrite=overwrite,
            formats=PERMUTED_FORMATS,
            purposes=lambda file_format: companion_purposes(file_format, plan.form),
        ) as delivery,
        stage_rows(
            *(engine, spec, counted, plan.sensitive, plan.node),
            typed=delivery.typed,
            row_types=plan.row_types,
            people=plan.people,
            person=person,
        ) as staged,
    ):
        chosen, tables, further = _group_rows(staged, plan, choose, draw, further)
        staged = staged.without_arrays()
        _require_groups(staged, tables, plan.requirement)
        parts = (staged, tables, chosen.partition, plan.form, delivery, views)
        facts = write_parts(*parts, drawn=spec.draws_order)
        audit = audit_output(facts, delivery, published=staged.columns)
        require_no_identifiers(engine, spec, delivery)
        node = plan.node
        manifest = build_permuted_manifest(
            spec, counted, node, chosen, facts, staged, audit, delivery, further
        )
        delivery.write_manifest(manifest.text())
        private_log.append(log, build_permuted_log_entry(spec, counted, node, chosen, manifest, delivery))
        delivery.put_in_place()
        notes = collect_publisher_notes(spec, staged.source_columns)
        return Release(
            address=delivery.address,
            manifest_address=delivery.manifest,
            rows=staged.rows,
            suppressed=staged.rows - tables.rows,
            model=manifest.model,
            levels=levels_by_attribute(counted, node),
            audit=audit,
            warnings=collect_publisher_warnings(manifest, further, notes),
            permutation=manifest.permutation,
        )


def _group_rows(
    staged: StagedRows,
    plan: PermutedPlan,
    choose: GroupChooser,
    draw: DrawOrder,
    further: tuple[CodedWarning, ...],
) -> tuple[ChosenGroups, PermutedRows, tuple[CodedWarning, ...]]:
    """Find the groups and create the released rows; reserve memory for the arrays of both, freed on return.

    The returned warnings are ``further``; where people were counted, the result of that replaces theirs.
    """
    keys = len(staged.hierarchies) if plan.row_types else 0
    staged.engine.leave_room(working_bytes(staged.rows, staged.sensitive.distinct, keys))
    chosen = choose(staged)
    require_people(staged, chosen, plan.requirement)
    chosen = replace(chosen, proximity=_proximity_warning(staged, chosen))
    people_warnings = _people_warnings(staged, chosen, plan.requirement.k)
    if people_warnings is not None:
        further = (*people_warnings, *(warning for warning in further if warning.code != FEW_PEOPLE))
    tables = _permute_rows(staged, chosen, draw)
    return chosen.without_arrays(), tables, further


def _people_warnings(staged: StagedRows, chosen: ChosenGroups, k: int) -> tuple[CodedWarning, ...] | None:
    """Return the warning that groups contain fewer than k people; None without a staged column of people."""
    if staged.person is None:
        return None
    name, column = staged.person
    people = fetch_row_subjects(staged, column)
    people = people if chosen.rows is None else people[chosen.rows]
    pairs = np.unique(np.stack([chosen.partition.groups, people]), axis=1)
    few = int((np.unique(pairs[0], return_counts=True)[1] < k).sum())
    return (few_people_warning(name, k, few, chosen.partition.group_count),) if few else ()


def _permute_rows(staged: StagedRows, chosen: ChosenGroups, draw: DrawOrder) -> PermutedRows:
    """Draw the permutation and the groups' numbers, and create the released rows.

    The drawn orders are not stored.
    """
    groups = chosen.partition.groups
    rows = staged.rows if chosen.rows is None else len(chosen.rows)
    if len(groups) == 0:
        raise NoSolution("no row would remain", advice="Suppress fewer. Nothing was written.")
    if len(groups) != rows:
        raise InternalError(f"{len(groups)} rows are in groups, but {rows} are to be published")
    numbers = draw_group_numbers(chosen.partition.group_count, draw)
    moved = permute_values(staged, groups, numbers, chosen.rows, draw)
    return PermutedRows(
        moved=moved, rows=rows, text=staged.text_of(sql.MOVED_VALUE), form=staged.form, exact=staged.exact
    )


def _proximity_warning(staged: StagedRows, chosen: ChosenGroups) -> str | None:
    """Return the warning of values of one group that are near each other, before the permutation."""
    column = staged.sensitive
    if chosen.rows is not None:
        column = replace(column, codes=column.codes[chosen.rows])
    return proximity_warning(column, chosen.partition)


def _require_groups(staged: StagedRows, tables: PermutedRows, requirement: GroupRequirement) -> None:
    """Count the groups of the released rows in the engine; raise ``RequirementNotMet`` where one fails."""
    number = tables.number(staged.engine.dialect)
    least = None if staged.form is None else range_literal(staged.engine.dialect, requirement.e, staged.form)
    query = sql.failing_groups(tables.moved, number or tables.text, least, requirement.k)
    groups, failing, fewest = staged.engine.fetch_rows(query)[0]
    if failing or (number is None and requirement.e > 0):
        raise RequirementNotMet(
            f"{failing or groups} of {groups} groups fail {requirement} after the values were permuted "
            f"(fewest distinct values: {fewest})",
            advice="Nothing was published. Please report this, with the spec if it is not confidential.",
        )


def range_literal(dialect: Dialect, e: Decimal, form: NumberForm) -> str:
    """Return the least range as a literal, rounded up to the resolution of the numbers.

    >>> from discreet.sql.dialect import DUCKDB, POSTGRES
    >>> range_literal(DUCKDB, Decimal("0.25"), NumberForm(1))
    "CAST('0.3' AS DECIMAL(38,1))"
    >>> range_literal(POSTGRES, Decimal(500), NumberForm(None))
    "CAST('500' AS DOUBLE PRECISION)"
    """
    if form.scale is None:
        return dialect.cast(f"'{e:f}'", "DOUBLE")
    rounded = e.quantize(Decimal(1).scaleb(-form.scale), rounding=ROUND_CEILING)
    return dialect.cast(f"'{rounded:f}'", f"DECIMAL({sql.EXACT_DIGITS},{form.scale})")


def require_people(staged: StagedRows, chosen: ChosenGroups, requirement: GroupRequirement) -> None:
    """Raise ``RequirementNotMet`` where a group lacks k people with k different values.

    People are counted again before the values are permuted, since this is impossible afterwards: from the
    people and values of the source, by a matching independent of the one that found the groups. Where each
    row is a person, nothing is counted.
    """
    if staged.subject is None:
        return
    rows = np.arange(staged.rows) if chosen.rows is None else chosen.rows
    groups = chosen.partition.groups
    grouped = staged.tables.load(
        {sql.ROW_NUMBER: rows, sql.GROUP_NUMBER: groups, sql.VALUE_CODE: staged.sensitive.codes[rows]}
    )
    found = staged.engine.fetch_arrays(sql.value_carriers(staged.table, grouped, staged.subject, _PERSON))
    staged.tables.drop(grouped)
    persons: dict[int, dict[int, list[int]]] = {}
    triples = zip(
        *(found[name].tolist() for name in (sql.GROUP_NUMBER, sql.VALUE_CODE, _PERSON)), strict=True
    )
    for group, value, person in triples:
        persons.setdefault(group, {}).setdefault(person, []).append(value)
    met = sum(
        match_representatives(list(of.values()), requirement.k) >= requirement.k for of in persons.values()
    )
    count = len(np.unique(groups))
    if met < count:
        raise RequirementNotMet(
            f"{count - met} of {count} groups have fewer than {requirement.k} people with different values",
            advice="Nothing was published. Please report this, with the spec if it is not confidential.",
        )
