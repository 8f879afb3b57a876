"""The keys of several tables, read and checked: whose row each row is.

Keys are compared as texts, as everything is. What does not fit is named by table and column, with the number
of rows, and never by a key: it is an identifier.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from discreet.engines.base import Engine
from discreet.engines.scratch import opened_as_it_lies
from discreet.engines.written import check_forms
from discreet.errors import InputError
from discreet.model.relations import Orphans, RelatedTable, RelationalSpec
from discreet.model.table_spec import Link


@dataclass(frozen=True)
class KeyRows:
    """The cells of a table's key columns, a line for each combination, and how many rows have it."""

    columns: tuple[str, ...]
    lines: tuple[tuple[tuple[str | None, ...], int], ...]

    @property
    def rows(self) -> int:
        """All rows of the table."""
        return sum(number for _, number in self.lines)


@dataclass(frozen=True)
class OwnedRows:
    """Whose a table's rows are.

    ``owner`` is the person of each key that its rows are told apart by (of the column that it stands under
    where it has no key of its own); ``keys`` the key of each line and ``parents`` the row above it; ``rows``
    are those that belong to somebody, ``dropped`` those that were left out.
    """

    owner: Mapping[str, str]
    parents: Mapping[str, str]
    rows: Mapping[str, int]
    dropped: int = 0


def read_keys(engine: Engine, spec: RelationalSpec, table: RelatedTable) -> KeyRows:
    """The key columns of a table's source, by one scan; ``InputError`` where one is missing.

    Cost: the distinct combinations of its keys, in this process.
    """
    columns = tuple(dict.fromkeys((*([table.key] if table.key else []), *table.references)))
    subject = spec.subject_column(table)
    with opened_as_it_lies(engine, table.spec.source) as source:
        if subject not in columns and subject in source.columns:
            raise InputError(
                f"{table.name}: the column '{subject}' has the name of the key of {spec.subjects}, and "
                "references nothing",
                advice=f'Add it to the references of [tables.{table.name}]: {subject} = "{spec.subjects}".',
            )
        source.check_flat(columns)
        check_forms(engine, source, table.spec.source)
        texts = [source.text(name) for name in columns]
        names = [f"k{place}" for place in range(len(columns))]
        told = ", ".join(f"{text} AS {name}" for text, name in zip(texts, names, strict=True))
        listed = ", ".join(names)
        rows = engine.fetch_rows(
            f"SELECT {listed}, count(*) AS n FROM (SELECT {told} FROM {source.relation}) AS keyed "
            f"GROUP BY {listed}"
        )
        found = KeyRows(
            columns,
            tuple((tuple(None if c is None else str(c) for c in row[:-1]), int(row[-1])) for row in rows),
        )
        engine.confirm_rows(source, found.rows)
    return found


def owned_rows(spec: RelationalSpec, read: Mapping[str, KeyRows]) -> dict[str, OwnedRows]:
    """Whose every row is, table by table, parents first; ``InputError`` for keys that do not fit."""
    found: dict[str, OwnedRows] = {}
    for table in spec.tables:
        _check_unique(table, read[table.name])
        found[table.name] = _owned(spec, table, read[table.name], found)
    return found


def link_of(spec: RelationalSpec, table: RelatedTable, kept: Mapping[str, str]) -> Link:
    """The link by which a table's rows are kept: ``kept`` are keys of the rows above it, with their people.

    Of the subjects' table they are its own keys.
    """
    column = spec.under(table) or spec.subject_key
    keys = tuple(kept)
    subject = spec.subject_column(table)
    if table.name == spec.subjects or subject in table.references:
        return Link(column, keys)
    return Link(column, keys, subject, tuple(kept[key] for key in keys))


def _check_unique(table: RelatedTable, read: KeyRows) -> None:
    if table.key is None:
        return
    place = read.columns.index(table.key)
    numbers: Counter[str | None] = Counter()
    for cells, rows in read.lines:
        numbers[cells[place]] += rows
    empty = numbers.pop(None, 0)
    if empty:
        raise InputError(
            f"{table.name}: the key '{table.key}' is NULL in {empty:,} of {read.rows:,} rows",
            allowed="a value in each row",
            advice="Fill it in the source, or name another key.",
        )
    twice = [number for number in numbers.values() if number > 1]
    if twice:
        raise InputError(
            f"{table.name}: {sum(twice):,} rows share {len(twice):,} of the values of the key '{table.key}'",
            allowed="a key whose value is another one in each row",
            advice="Name another key, or remove what is there twice.",
        )


def _owned(
    spec: RelationalSpec, table: RelatedTable, read: KeyRows, above: Mapping[str, OwnedRows]
) -> OwnedRows:
    places = {name: place for place, name in enumerate(read.columns)}
    column = spec.under(table)
    if column is None:
        keys = [str(cells[places[spec.subject_key]]) for cells, _ in read.lines]
        return OwnedRows({key: key for key in keys}, {}, dict.fromkeys(keys, 1))
    parents = above[table.references[column]].owner
    subject = next((c for c, other in table.references.items() if other == spec.subjects), None)
    owner: dict[str, str] = {}
    parent_of: dict[str, str] = {}
    rows: Counter[str] = Counter()
    strange: list[tuple[str | None, int]] = []
    elsewhere = 0
    for cells, number in read.lines:
        parent = cells[places[column]]
        person = None if parent is None else parents.get(parent)
        if parent is None or person is None:
            strange.append((parent, number))
            continue
        if subject is not None and cells[places[subject]] != person:
            elsewhere += number
            continue
        key = parent if table.key is None else str(cells[places[table.key]])
        owner[key], parent_of[key] = person, parent
        rows[key] += number
    if elsewhere:
        raise InputError(
            f"{table.name}: in {elsewhere:,} of {read.rows:,} rows '{subject}' names another person than the "
            f"row that '{column}' names, or nobody",
            allowed=f"rows whose '{subject}' is that of their row of {table.references[column]}",
            advice=f"Mend the source; or leave '{subject}' out of the references, if the other one is right.",
        )
    if strange and table.orphans is Orphans.REFUSE:
        raise _orphans(table, column, strange, read.rows, parents)
    return OwnedRows(owner, parent_of, rows, sum(number for _, number in strange))


def _orphans(
    table: RelatedTable,
    column: str,
    strange: Sequence[tuple[str | None, int]],
    rows: int,
    parents: Mapping[str, str],
) -> InputError:
    """What is wrong with foreign keys that name no row, and what may be done."""
    other = table.references[column]
    drop = f'or leave such rows out: orphans = "drop" in [tables.{table.name}].'
    empty = sum(number for text, number in strange if text is None)
    if empty:
        return InputError(
            f"{table.name}: '{column}' is NULL in {empty:,} of {rows:,} rows: nobody knows whose they are",
            allowed=f"a key of {other} in each row",
            advice=f"Fill it in the source, {drop}",
        )
    fact = (
        f"{table.name}: '{column}' names no row of {other} in {sum(n for _, n in strange):,} of {rows:,} rows"
    )
    for words, form in _FORMS.items():
        known = {form(text) for text in parents}
        alike = sum(number for text, number in strange if text is not None and form(text) in known)
        if alike:
            return InputError(
                f"{fact}; in {alike:,} of them it would but for {words}",
                allowed="keys that are written alike, character by character",
                advice=f"Write them alike in both tables, {drop}",
            )
    return InputError(
        fact, allowed=f"keys of {other}", advice=f"Add the rows that are missing in {other}, {drop}"
    )


def _plain(text: str) -> str:
    """A key without what programs add to numbers: blanks, zeros before them, and ``.0`` behind."""
    bare = text.strip()
    head, dot, tail = bare.partition(".")
    if dot and head.isdigit() and not tail.strip("0"):
        bare = head
    return (bare.lstrip("0") or "0").casefold()


_FORMS: Mapping[str, Callable[[str], str]] = {
    "blanks around it": str.strip,
    "zeros before it": lambda text: text.lstrip("0") or "0",
    "'.0' behind it": lambda text: text.removesuffix(".0"),
    "capital letters": str.casefold,
    "blanks, zeros, '.0' or capital letters": _plain,
}
