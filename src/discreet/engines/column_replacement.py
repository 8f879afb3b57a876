"""Replacement of columns: linked keys, shifted dates and pseudonymized identifiers, by joins in the engine.

The distinct texts of a column are fetched, replaced in this process and joined back, so that no statement
contains a key. Memory and time are linear in the number of distinct texts. Loaded on demand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from discreet.engines.base import Engine, SourceTable, TemporaryTables
from discreet.errors import InputError
from discreet.model.identifiers.base import DateShift, Pseudonymizer, shift_date_texts
from discreet.model.table_spec import Link, SourceSpec
from discreet.places.file_access import open_secret_file
from discreet.sql.cell_expressions import column_name
from discreet.sql.format_parsing import MISREAD
from discreet.sql.quoting import identifier, qualified

_OLD, _NEW, _SUBJECT = "old", "new", "whose"
_DATED = ("DATE", "TIMESTAMP")


@dataclass(frozen=True)
class _Join:
    """Replacement of one column: the loaded table, the join condition, and the type of the result."""

    table: str
    test: str
    type_name: str


@contextmanager
def link_rows(engine: Engine, link: Link, table: SourceTable) -> Iterator[SourceTable]:
    """Yield the rows of an opened source that a link keeps, with the column that the link adds."""
    with TemporaryTables(engine) as tables:
        key_table = tables.load({_OLD: link.keys, **({_NEW: link.values} if link.name is not None else {})})
        names = [column_name(index) for index in range(len(table.columns))]
        cells = [f"{qualified(name, 's')} AS {identifier(name)}" for name in names]
        columns, types = table.columns, dict(table.types)
        if link.name is not None:
            cells.append(f"{qualified(_NEW, 'r')} AS {identifier(column_name(len(columns)))}")
            columns, types[link.name] = (*columns, link.name), "VARCHAR"
        if table.written:
            cells.append(f"{qualified(MISREAD, 's')} AS {identifier(MISREAD)}")
        query = (
            f"SELECT {', '.join(cells)} FROM {table.relation} AS s JOIN {identifier(key_table)} AS r "
            f"ON {qualified(_OLD, 'r')} = {table.text(link.column, 's')}"
        )
        made = identifier(tables.create(query))
        yield replace(
            table, relation=made, columns=columns, types=types, made_from=table.unmodified, linked=True
        )


@contextmanager
def shift_dates(engine: Engine, source: SourceSpec, table: SourceTable) -> Iterator[SourceTable]:
    """Yield the rows of an opened source with shifted dates.

    Raises ``InputError`` if a date has another format, or if other users can access the key file.
    """
    with TemporaryTables(engine) as tables:
        joins = {
            table.position(name): _join_of_shifted_dates(engine, tables, table, source, name, shift)
            for name, shift in source.date_shifts.items()
        }
        yield _replace_columns(tables, table, joins)


@contextmanager
def replace_identifiers(engine: Engine, source: SourceSpec, table: SourceTable) -> Iterator[SourceTable]:
    """Yield the rows of an opened source with replaced identifiers.

    Raises the same errors as ``shift_dates``.
    """
    with TemporaryTables(engine) as tables:
        joins = {
            table.position(name): _join_of_replacements(engine, tables, table, name, way)
            for name, way in source.pseudonymizations.items()
        }
        yield _replace_columns(tables, table, joins)


def _replace_columns(tables: TemporaryTables, table: SourceTable, joins: Mapping[int, _Join]) -> SourceTable:
    cells, further, types = [], [], dict(table.types)
    for index, name in enumerate(table.columns):
        cell = qualified(column_name(index), "s")
        join = joins.get(index)
        if join is not None:
            alias = f"r{index}"
            cell = qualified(_NEW, alias)
            if join.type_name != "VARCHAR":
                cell = table.dialect.cast(cell, join.type_name)
            types[name] = join.type_name
            test = join.test.replace("{alias}", identifier(alias))
            further.append(f" LEFT JOIN {identifier(join.table)} AS {identifier(alias)} ON {test}")
        cells.append(f"{cell} AS {identifier(column_name(index))}")
    if table.written:
        cells.append(f"{qualified(MISREAD, 's')} AS {identifier(MISREAD)}")
    name = tables.create(f"SELECT {', '.join(cells)} FROM {table.relation} AS s{''.join(further)}")
    return replace(table, relation=identifier(name), types=types, made_from=table.unmodified)


def _join_of_replacements(
    engine: Engine, tables: TemporaryTables, table: SourceTable, name: str, way: Pseudonymizer
) -> _Join:
    text = table.text(name)
    texts = [str(row[0]) for row in _distinct(engine, table, [text])]
    loaded = tables.load({_OLD: texts, _NEW: compute_replacements(way, texts, name)})
    return _Join(loaded, f"{{alias}}.{identifier(_OLD)} = {table.text(name, 's')}", "VARCHAR")


def compute_replacements(way: Pseudonymizer, texts: Sequence[str], name: str) -> list[str]:
    """Compute the replacements of a column's texts from the secret in the method's key file.

    A secret that the method creates is written back to the key file. Raises ``InputError`` for a file that
    contains no secret of this method, or that other users can access.
    """
    if way.key_file is None:
        return list(way.replaced(texts, None).texts)
    with open_secret_file(way.key_file) as secret, _errors_named(f"the key file {way.key_file} of '{name}'"):
        made = way.replaced(texts, secret.content)
        if made.secret is not None:
            secret.write(made.secret)
        return list(made.texts)


def _join_of_shifted_dates(
    engine: Engine,
    tables: TemporaryTables,
    table: SourceTable,
    source: SourceSpec,
    name: str,
    shift: DateShift,
) -> _Join:
    assert source.subject is not None
    subject = source.subject
    pairs = [(str(a), str(b)) for a, b in _distinct(engine, table, [table.text(subject), table.text(name)])]
    with open_secret_file(shift.key) as secret, _errors_named(f"{table.label}, the column '{name}'"):
        found, content = shift_date_texts(shift, pairs, secret.content)
        secret.write(content)
    loaded = tables.load({_SUBJECT: [a for a, _ in pairs], _OLD: [b for _, b in pairs], _NEW: found})
    test = (
        f"{{alias}}.{identifier(_SUBJECT)} = {table.text(subject, 's')} "
        f"AND {{alias}}.{identifier(_OLD)} = {table.text(name, 's')}"
    )
    kind = table.types[name]
    return _Join(loaded, test, kind if kind in _DATED else "VARCHAR")


def _distinct(engine: Engine, table: SourceTable, texts: Sequence[str]) -> list[tuple[object, ...]]:
    """Return the distinct texts, or tuples of texts, without NULLs."""
    known = " AND ".join(f"{text} IS NOT NULL" for text in texts)
    return engine.fetch_rows(f"SELECT DISTINCT {', '.join(texts)} FROM {table.relation} WHERE {known}")


@contextmanager
def _errors_named(what: str) -> Iterator[None]:
    """Prefix the messages of input errors with the column or file concerned."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{what}: {error.message}", allowed=error.allowed, advice=error.advice) from None
