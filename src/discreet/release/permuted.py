"""Publishing with permuted sensitive values: (k,e)-anonymity by permutation, and Anatomy's two tables.

The order is that of ``release.publish``, and so is what holds when a run fails or is killed:

1. look at the target, and remove what killed runs left there;
2. hold the rows in the engine, have them put into groups, and permute the sensitive values within each;
3. count the groups again, in the engine;
4. write the data, its sensitive values where they have a table of their own, and the help table, under
   owner-only temporary names;
5. compare what was written with what was decided, cell by cell;
6. audit the written files by their own reading and counting;
7. write the manifest, and a line of the private log;
8. rename the manifest, then the files beside the data, then the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal
from pathlib import Path

import numpy as np

from discreet.audit.representatives import most_representatives
from discreet.engines.base import Engine
from discreet.engines.delivery import Views
from discreet.errors import InternalError, NoSolution, RequirementNotMet
from discreet.model.coded_warning import FEW_PEOPLE, CodedWarning
from discreet.model.group_warnings import few_people
from discreet.model.permutation import GroupRequirement
from discreet.model.permuted_release import ReleaseForm
from discreet.model.release import Release
from discreet.model.release_address import ReleaseAddress
from discreet.model.table_spec import TableSpec
from discreet.permutation.checks import proximity_warning
from discreet.permutation.draw import Draw, draw_order
from discreet.permutation.narrow import bytes_beside
from discreet.permutation.permuting import random_numbers
from discreet.permutation.sensitive import NumberForm
from discreet.recoding.stored_classes import CountedTable
from discreet.release import private_log
from discreet.release.deliveries import delivery_to
from discreet.release.held import Chosen, HeldRows, held_rows, subjects_of_rows
from discreet.release.identifiers import require_no_original
from discreet.release.moving import moved_values
from discreet.release.permuted_evidence import levels_of, permuted_log_entry, permuted_manifest
from discreet.release.permuted_files import PERMUTED_FORMATS, audited, purposes_of, write_parts
from discreet.release.permuted_tables import PermutedTables
from discreet.release.publish import open_private_log, publisher_warnings
from discreet.release.warnings import left_out
from discreet.settings import Settings
from discreet.sql import permuted as sql
from discreet.sql.dialect import Dialect

_PERSON = "person"


@dataclass(frozen=True)
class PermutedPlan:
    """What is asked: every group meets ``requirement``, and the quasi-identifiers are shown at ``node``.

    ``node`` has a level per hierarchy of the counted table. ``row_types`` says that groups are chosen by
    quasi-identifiers too, and not by sensitive values alone, ``people`` that k counts people who have
    different values, as some have several rows.
    """

    sensitive: str
    requirement: GroupRequirement
    node: tuple[int, ...]
    form: ReleaseForm = ReleaseForm.ONE_TABLE
    row_types: bool = False
    people: bool = False


Choose = Callable[[HeldRows], Chosen]


def publish_permuted(
    engine: Engine,
    spec: TableSpec,
    counted: CountedTable,
    plan: PermutedPlan,
    choose: Choose,
    output: Path | ReleaseAddress,
    *,
    overwrite: bool,
    settings: Settings,
    views: Views | None = None,
    draw: Draw = draw_order,
    further: tuple[CodedWarning, ...] = (),
    person: str | None = None,
) -> Release:
    """Publish a spec's table with the sensitive values permuted within the groups that ``choose`` finds.

    ``output`` ends in ``.csv``, ``.parquet`` or ``.duckdb``, or is a table where the source lies (as in
    ``release.publish``); ``views`` are made in a database. ``draw`` draws orders, by default from the
    operating system's generator, of which nothing is kept; an engine that draws random keys itself permutes
    by those. ``further`` are the caller's warnings; ``person`` is a column by which people are counted.

    Raises as ``release.publish`` does, ``RequirementNotMet`` also where a group fails.
    """
    with (
        open_private_log(settings.private_log) as log,
        delivery_to(
            engine,
            spec,
            output,
            settings,
            overwrite=overwrite,
            formats=PERMUTED_FORMATS,
            purposes=lambda file_format: purposes_of(file_format, plan.form),
        ) as delivery,
        held_rows(
            engine,
            spec,
            counted,
            plan.sensitive,
            plan.node,
            typed=delivery.typed,
            row_types=plan.row_types,
            people=plan.people,
            person=person,
        ) as held,
    ):
        chosen, tables, further = _grouped(held, plan, choose, draw, further)
        held = held.without_arrays()
        _count_groups(held, tables, plan.requirement)
        parts = (held, tables, chosen.partition, plan.form, delivery, views)
        facts = write_parts(*parts, drawn=spec.draws_order)
        audit = audited(facts, delivery, published=held.columns)
        require_no_original(engine, spec, delivery)
        manifest = permuted_manifest(spec, counted, plan.node, chosen, facts, held, audit, delivery, further)
        delivery.write_manifest(manifest.text())
        private_log.append(log, permuted_log_entry(spec, counted, plan.node, chosen, manifest, delivery))
        delivery.put_in_place()
        return Release(
            address=delivery.address,
            manifest_address=delivery.manifest,
            rows=held.rows,
            suppressed=held.rows - tables.rows,
            model=manifest.model,
            levels=levels_of(counted, plan.node),
            audit=audit,
            warnings=publisher_warnings(manifest, further, left_out(spec, held.source_columns)),
            permutation=manifest.permutation,
        )


def _grouped(
    held: HeldRows, plan: PermutedPlan, choose: Choose, draw: Draw, further: tuple[CodedWarning, ...]
) -> tuple[Chosen, PermutedTables, tuple[CodedWarning, ...]]:
    """Find the groups and make the released rows, with room for the arrays of both, which end here.

    The warnings are ``further`` ones; where people were counted, what that found is in place of theirs.
    """
    keys = len(held.hierarchies) if plan.row_types else 0
    held.engine.leave_room(bytes_beside(held.rows, held.sensitive.distinct, keys))
    chosen = choose(held)
    count_people(held, chosen, plan.requirement)
    chosen = replace(chosen, near=_near(held, chosen))
    told = _few_people(held, chosen, plan.requirement.k)
    if told is not None:
        further = (*told, *(warning for warning in further if warning.code != FEW_PEOPLE))
    tables = _permuted(held, chosen, draw)
    return chosen.without_arrays(), tables, further


def _few_people(held: HeldRows, chosen: Chosen, k: int) -> tuple[CodedWarning, ...] | None:
    """That groups contain fewer than k values of the column that may name people; None if it is not held."""
    if held.person is None:
        return None
    name, column = held.person
    people = subjects_of_rows(held, column)
    people = people if chosen.rows is None else people[chosen.rows]
    pairs = np.unique(np.stack([chosen.partition.groups, people]), axis=1)
    few = int((np.unique(pairs[0], return_counts=True)[1] < k).sum())
    return (few_people(name, k, few, chosen.partition.group_count),) if few else ()


def _permuted(held: HeldRows, chosen: Chosen, draw: Draw) -> PermutedTables:
    """Draw the permutation and the groups' numbers, and make the released rows; the drawn orders end here."""
    groups = chosen.partition.groups
    rows = held.rows if chosen.rows is None else len(chosen.rows)
    if len(groups) == 0:
        raise NoSolution("no row would be left", advice="Suppress fewer. Nothing was written.")
    if len(groups) != rows:
        raise InternalError(f"{len(groups)} rows are in groups, but {rows} are to be published")
    numbers = random_numbers(chosen.partition.group_count, draw)
    moved = moved_values(held, groups, numbers, chosen.rows, draw)
    return PermutedTables(
        moved=moved, rows=rows, text=held.text_of(sql.VALUE), form=held.form, exact=held.exact
    )


def _near(held: HeldRows, chosen: Chosen) -> str | None:
    """The warning of values of one group that lie near each other, by what they were before they moved."""
    column = held.sensitive
    if chosen.rows is not None:
        column = replace(column, codes=column.codes[chosen.rows])
    return proximity_warning(column, chosen.partition)


def _count_groups(held: HeldRows, tables: PermutedTables, requirement: GroupRequirement) -> None:
    """Count the groups of the released rows in the engine; ``RequirementNotMet`` where one fails."""
    number = tables.number(held.engine.dialect)
    least = None if held.form is None else least_range(held.engine.dialect, requirement.e, held.form)
    query = sql.failing_groups(tables.moved, number or tables.text, least, requirement.k)
    groups, failing, fewest = held.engine.fetch_rows(query)[0]
    if failing or (number is None and requirement.e > 0):
        raise RequirementNotMet(
            f"{failing or groups} of {groups} groups fail {requirement} after the values were permuted "
            f"(fewest distinct values: {fewest})",
            advice="Nothing was published. Please report this, with the spec if you may show it.",
        )


def least_range(dialect: Dialect, e: Decimal, form: NumberForm) -> str:
    """The least range as a literal, rounded up to what such numbers can differ by.

    >>> from discreet.sql.dialect import DUCKDB, POSTGRES
    >>> least_range(DUCKDB, Decimal("0.25"), NumberForm(1))
    "CAST('0.3' AS DECIMAL(38,1))"
    >>> least_range(POSTGRES, Decimal(500), NumberForm(None))
    "CAST('500' AS DOUBLE PRECISION)"
    """
    if form.scale is None:
        return dialect.cast(f"'{e:f}'", "DOUBLE")
    rounded = e.quantize(Decimal(1).scaleb(-form.scale), rounding=ROUND_CEILING)
    return dialect.cast(f"'{rounded:f}'", f"DECIMAL({sql.EXACT_DIGITS},{form.scale})")


def count_people(held: HeldRows, chosen: Chosen, requirement: GroupRequirement) -> None:
    """Raise ``RequirementNotMet`` where a group has no k people with k different values.

    They are counted again before values change places, since afterwards nobody could: the people and values
    of the source, by a matching that shares nothing with the one that found the groups. Nothing is counted
    where each row is a person.
    """
    if held.subject is None:
        return
    rows = np.arange(held.rows) if chosen.rows is None else chosen.rows
    groups = chosen.partition.groups
    grouped = held.tables.load({sql.ROW: rows, sql.GROUP: groups, sql.CODE: held.sensitive.codes[rows]})
    found = held.engine.fetch_arrays(sql.carriers_of_groups(held.table, grouped, held.subject, _PERSON))
    held.tables.drop(grouped)
    persons: dict[int, dict[int, list[int]]] = {}
    triples = zip(*(found[name].tolist() for name in (sql.GROUP, sql.CODE, _PERSON)), strict=True)
    for group, value, person in triples:
        persons.setdefault(group, {}).setdefault(person, []).append(value)
    met = sum(
        most_representatives(list(of.values()), requirement.k) >= requirement.k for of in persons.values()
    )
    count = len(np.unique(groups))
    if met < count:
        raise RequirementNotMet(
            f"{count - met} of {count} groups have fewer than {requirement.k} people with different values",
            advice="Nothing was published. Please report this, with the spec if you may show it.",
        )
