"""What marks for missing values do to the count of sensitive values in a published file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from discreet.engines.base import Engine, SourceTable
from discreet.engines.missing_marks import marks_in
from discreet.model.coded_warning import MISSING_MARKS, STARRED_CELLS, CodedWarning
from discreet.model.missing_marks import Mark, marks_among
from discreet.sql import verify as sql
from discreet.sql.names import literal
from discreet.sql.starred_cells import holds_stars, star_free
from discreet.sql.verify_bits import values_with_rows

_MOST_TOLD = 5


@dataclass(frozen=True)
class MarkedColumns:
    """An opened release and its sensitive columns, as ``ObservedRelease`` has them."""

    table: SourceTable
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    starred: int
    starred_apart: bool
    real_values: Mapping[str, Collection[str]]
    values: Mapping[str, tuple[str, str]]


def observe_marks(engine: Engine, release: MarkedColumns) -> Iterator[CodedWarning]:
    """Warn of marks and stars in sensitive columns: with them a class may seem to have more values."""
    scanned = [name for name in release.sensitive if name not in release.values]
    starred = release.starred if release.starred_apart else 0
    found = dict(marks_in(engine, release.table, scanned, scanned))
    for name, (table, type_name) in release.values.items():
        counted = engine.fetch_rows(values_with_rows(engine.dialect, table, type_name))
        texts, rows = [str(text) for text, _ in counted], [int(number) for _, number in counted]
        found[name] = marks_among(texts, rows, sensitive=True)
    for name in release.sensitive:
        marks = found.get(name, ())
        stars = sum(mark.rows for mark in marks if mark.starred) - starred
        if stars > 0:
            yield CodedWarning(
                STARRED_CELLS,
                f"* stands in '{name}' in {_rows(stars)}: a star is no sensitive value, and no criterion "
                "counts it as one.",
                private=True,
            )
        real = release.real_values.get(name, ())
        told = [mark for mark in marks if not mark.starred and mark.text not in real]
        if told:
            yield _counted(engine, release, name, told)


def _counted(engine: Engine, release: MarkedColumns, name: str, marks: Sequence[Mark]) -> CodedWarning:
    texts = [mark.text for mark in marks[:_MOST_TOLD]]
    found = ", ".join(f"'{mark.text}' in {_rows(mark.rows)}" for mark in marks[:_MOST_TOLD])
    more = f" and {len(marks) - _MOST_TOLD} more such texts" if len(marks) > _MOST_TOLD else ""
    counted = _fewest(engine, release, name, ())
    without = _fewest(engine, release, name, [mark.text for mark in marks])
    quoted = ", ".join(f'"{text}"' for text in texts)
    return CodedWarning(
        MISSING_MARKS,
        f"'{name}' has {found}{more}: texts that may say that a value is missing. They count as values: the "
        f"fewest values of a class are {counted} with them and {without} without. Where they do, read "
        f"them as NULL by null_values = [{quoted}], as an option --null.",
        private=True,
    )


def _fewest(engine: Engine, release: MarkedColumns, name: str, but: Sequence[str]) -> int:
    """The fewest distinct values of a class, some texts left out."""
    table = release.table
    text = table.text(name)
    value = star_free(text, "VARCHAR", table.dialect) if holds_stars(table.types[name]) else text
    if but:
        value = f"CASE WHEN {text} IN ({', '.join(map(literal, but))}) THEN NULL ELSE {value} END"
    keys = [table.text(key) for key in release.quasi_identifiers]
    every = [table.text(column) for column in table.columns]
    rows = sql.rows_of(table.relation, keys, [value], every, starred_apart=release.starred_apart)
    texts = [sql.key(i) for i in range(len(keys))]
    query = f"SELECT min(d0) FROM ({sql.classes_table(rows, texts, 1)}) AS classes WHERE NOT starred"
    return int(engine.fetch_rows(query)[0][0] or 0)


def _rows(number: int) -> str:
    return f"{number:,} row{'s' * (number != 1)}"
