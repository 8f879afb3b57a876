"""The tables of a permuted release, as queries: the data, the sensitive values alone, the help table.

Where they are written is the delivery's matter. Nothing in them depends on it but the types.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from discreet.audit.permuted import PermutedClaims
from discreet.engines.base import Engine
from discreet.engines.files.database_file import NewTable
from discreet.engines.scratch import TemporaryTables
from discreet.errors import InternalError
from discreet.model.permuted_release import (
    HELP_NAME,
    ONE_TABLE_NAME,
    SENSITIVE_NAME,
    PermutationFacts,
    ReleaseForm,
)
from discreet.model.table_spec import AttributeRole
from discreet.permutation.help_lines import help_lines
from discreet.permutation.sensitive import NumberForm
from discreet.recoding.coded_rows import with_sort_keys
from discreet.recoding.columns import PublishedColumn
from discreet.release.held import HeldRows
from discreet.release.number_types import LARGEST, type_of, value_type
from discreet.release.shuffle import load_sort_keys
from discreet.sql import help_table
from discreet.sql import permuted as sql
from discreet.sql.dialect import Dialect
from discreet.sql.names import identifier
from discreet.sql.recode import LABEL, shown_labels
from discreet.sql.row_order import sorted_by_cells
from discreet.sql.source import column_name

_BYTES_OF_KEYS = 24
"""A row's key while the engine hands it over, and of the lines that are made at a time."""


@dataclass(frozen=True, eq=False)
class PermutedTables:
    """The released rows in the engine (``sql.permuted.moved_rows``), and how many there are.

    ``text`` is the SQL of a released sensitive value's text; ``form`` says how such texts say numbers, None
    where they do not. ``exact`` says that values are stored as exact numbers.
    """

    moved: str
    rows: int
    text: str
    form: NumberForm | None
    exact: bool = False

    def number(self, dialect: Dialect, house: str | None = None) -> str | None:
        """The number of a released sensitive value in SQL; None where values are no numbers.

        It is of the type ``house``, where that is given, which holds them all exactly.
        """
        if self.form is None:
            return None
        if self.exact and self.form.scale is not None:
            return dialect.cast(sql.VALUE, house or sql.number_type(self.form.scale))
        number = sql.number_of(dialect, self.text, self.form.scale)
        return number if house is None else dialect.cast(number, house)


def release_tables(
    held: HeldRows,
    tables: PermutedTables,
    facts: PermutationFacts,
    made: TemporaryTables,
    *,
    typed: bool,
    drawn: bool,
) -> dict[str, NewTable]:
    """The tables that a release consists of, the data first: queries, and the names of their columns.

    ``typed`` asks for numbers as numbers, where that loses nothing. Data and sensitive values go by group and
    then by their other cells, or are ``drawn``, each in a random order of its own; the help table is made
    from the released groups and values alone, and is ordered by group and hits. What was drawn is stored, so
    a query gives the same rows each time. Tables that the queries read are ``made`` beside the released rows.
    """
    dialect = held.engine.dialect
    value, group = f"t.{sql.VALUE}", f"t.{sql.GROUP}"
    if typed and tables.form is not None and held.as_numbers:
        exact = tables.exact and tables.form.scale is not None
        number = value if exact else sql.number_of(dialect, held.text_of(value), tables.form.scale)
        value = dialect.cast(number, value_type(held))
    identifying, labels = _shown(held, tables.moved, made)
    others = [c for c in held.columns if c.role is not AttributeRole.QUASI_IDENTIFIER]
    names = [*(c.name for c in identifying), facts.group_column]
    cells = [*(c.published for c in identifying), group]
    found: dict[str, NewTable] = {}
    if facts.form is ReleaseForm.ONE_TABLE:
        names, cells = [*names, facts.sensitive], [*cells, value]
    else:
        alone = tables.moved
        if drawn:
            alone = made.create(sql.values_table(tables.moved))
            alone = with_sort_keys(held.engine, made, alone, tables.rows, load_sort_keys)
        names_alone = (facts.group_column, facts.sensitive)
        found[SENSITIVE_NAME] = _in_order(held.engine, alone, [group, value], (), names_alone, drawn=drawn)
    helped = _help(held, tables, facts, made)
    rows = tables.moved
    if drawn:
        rows = with_sort_keys(held.engine, made, rows, tables.rows, load_sort_keys)
    cells, names = [*cells, *(c.published for c in others)], [*names, *(c.name for c in others)]
    data = _in_order(held.engine, rows, cells, labels, names, drawn=drawn)
    return {facts.table or ONE_TABLE_NAME: data, **found, HELP_NAME: helped}


def _shown(
    held: HeldRows, moved: str, made: TemporaryTables
) -> tuple[list[PublishedColumn], tuple[tuple[int, str], ...]]:
    """The published quasi-identifiers, and the tables of their labels.

    Where the rows are in this process, what is made of a label is made once for it, and not for each row.
    """
    columns = {c.name: c for c in held.columns if c.role is AttributeRole.QUASI_IDENTIFIER}
    labels = dict(held.labels)
    if held.engine.dialect.random_key is None:
        for place, table in held.labels:
            column = columns[held.hierarchies[place].attribute]
            label = f"l{place}.{LABEL}"
            if column.published != label:
                labels[place] = made.create(shown_labels(table, place, column.published, moved))
                columns[column.name] = replace(column, published=label)
    return list(columns.values()), tuple(labels.items())


def _in_order(
    engine: Engine,
    table: str,
    cells: Sequence[str],
    labels: Sequence[tuple[int, str]],
    names: Sequence[str],
    *,
    drawn: bool,
) -> NewTable:
    """A table of cells in the order of a release: by group and then by the others, or by sort keys."""
    rows = sql.released_rows(table, cells, labels)
    if drawn:
        return NewTable(sql.released_rows(table, cells, labels, drawn=True), tuple(names), rows)
    columns = [column_name(i) for i in range(len(cells))]
    first = [cells.index(f"t.{sql.GROUP}")]
    ordered = sorted_by_cells(engine.dialect, rows, engine.column_types(rows), columns, first)
    return NewTable(ordered, tuple(names), rows)


def index_columns(name: str, facts: PermutationFacts) -> tuple[tuple[str, ...], ...]:
    """By which columns a table of a release is asked, where a database indexes them."""
    if name == HELP_NAME:
        return ((facts.group_column, help_table.HITS),)
    return ((facts.group_column,),)


def _help(held: HeldRows, tables: PermutedTables, facts: PermutationFacts, made: TemporaryTables) -> NewTable:
    dialect = held.engine.dialect
    columns = help_table.help_columns(facts.group_column, numeric=facts.numeric)
    if tables.form is None:
        values = made.create(sql.values_table(tables.moved))
        return _by_group_and_hits(help_table.count_query(dialect, values, sql.GROUP, sql.VALUE), columns)
    sums, values = type_of(held.total, held.form), value_type(held)
    types = help_table.HelpTypes(sums, values, tables.form.scale)
    number = tables.number(dialect, types.values)
    assert number is not None
    by_arrays = _help_of_arrays(held, tables, facts, made, types, number)
    if by_arrays is not None:
        return NewTable(by_arrays, columns)
    totals = made.create(help_table.group_totals(dialect, tables.moved, sql.GROUP, number, types))
    ordered = made.create(help_table.sorted_values(dialect, tables.moved, totals, sql.GROUP, number, types))
    found = _by_group_and_hits(help_table.help_query(dialect, totals, ordered, types), columns)
    if not dialect.sorts_before_joins:
        return found
    # It is read twice, to be written and to be compared with that; as a table it keeps its order there.
    if facts.rows_without_value:
        helped = made.create(found.query)
        told = f"SELECT * FROM {identifier(helped)}"
    else:
        whole = sql.row_type(tables.rows)
        helped = made.create(help_table.kept_query(dialect, totals, ordered, types, whole))
        told = help_table.told_query(dialect, helped)
    for name in (totals, ordered):
        made.drop(name)
    return NewTable(told, columns)


def _help_of_arrays(
    held: HeldRows,
    tables: PermutedTables,
    facts: PermutationFacts,
    made: TemporaryTables,
    types: help_table.HelpTypes,
    number: str,
) -> str | None:
    """The query of a help table that arrays tell; None where they do not.

    They do where the rows are in this process, each has an exact number, and group and number fit 64 bits.
    """
    engine, scale = held.engine, None if tables.form is None else tables.form.scale
    if engine.dialect.random_key is not None or scale is None or facts.rows_without_value:
        return None
    form = help_table.Units(held.widest, scale)
    if held.total > LARGEST or not form.fit(facts.groups):
        return None
    engine.leave_room(_BYTES_OF_KEYS * tables.rows)
    found = engine.fetch_arrays(help_table.sort_keys(engine.dialect, tables.moved, sql.GROUP, number, form))
    keys = found.pop(help_table.KEY)
    if len(keys) != tables.rows:
        raise InternalError(f"{len(keys)} values were read, but {tables.rows} are to be published")
    lines = made.load_parts(help_lines(keys, form))
    return help_table.told_of_units(engine.dialect, lines, types, scale)


def _by_group_and_hits(rows: str, columns: tuple[str, ...]) -> NewTable:
    return NewTable(f"{rows} ORDER BY g, h", columns, rows)


def claims_of(facts: PermutationFacts, published: Sequence[PublishedColumn]) -> PermutedClaims:
    """What the audit is to find true of a release with these columns."""
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
