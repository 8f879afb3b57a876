"""A query of a release, answered by bounds that hold surely, and an estimate.

A permuted release answers in SQL (``queries.rewriting``); where the query names a column that is generalized,
and for releases of equivalence classes, the answer is computed from what its cells may stand for
(``bounds.generalized``; Zhang et al. 2007).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from discreet.bounds.answer import BoundRow, Key, Number, rounded
from discreet.bounds.generalized import answer_by_cells
from discreet.bounds.opening import OpenRelease
from discreet.bounds.permuted_files import PermutedFiles
from discreet.engines.registry import dialect_named
from discreet.queries.asked import AskedQuery
from discreet.queries.labels import label_of
from discreet.queries.reading import read_query
from discreet.queries.rewriting import rewritten
from discreet.sql.dialect import Dialect


@dataclass(frozen=True)
class Answered:
    """The answers of a query, a row for each group and aggregate.

    ``columns`` are the names of the groups' keys. ``sql`` is the rewritten query, which runs by itself; None
    where there is none, as the answer follows from what generalized cells may stand for.
    """

    columns: tuple[str, ...]
    rows: tuple[BoundRow, ...]
    sql: str | None
    warnings: tuple[str, ...] = ()


def ask(
    release: OpenRelease,
    text: str,
    dialect: Dialect | None = None,
    *,
    release_table: str | None = None,
    help_table: str | None = None,
) -> Answered:
    """The answers of one query in a dialect, in which its rewritten form is written too.

    Without a dialect it is that of the engine which has the release. Names of tables concern the rewritten
    form alone. Raises ``InputError`` for a query that is refused, or that names generalized columns whose
    hierarchies are not known.
    """
    runs = release.engine.dialect
    own = dialect_named(release.engine.name)
    dialect = dialect or own
    asked = read_query(text, release.readable, dialect, runs)
    warnings = _warnings(release, asked)
    columns = tuple(key.title for key in asked.keys)
    permuted = release.permuted
    if permuted is None or not _is_rewritable(release, permuted, asked):
        texts = read_query(text, release.readable.as_texts(), dialect, runs)
        rows, notes = answer_by_cells(release, texts)
        return Answered(columns, rows, None, warnings + notes)
    if permuted.groups is not None and asked.measures:
        found = permuted.groups.lines(release.engine, asked)
    else:
        found = release.engine.fetch_rows(rewritten(asked, permuted.in_engine, runs))
    rows = tuple(row for line in found for row in _rows_of(asked, line))
    if dialect.name == runs.name and release_table is None and help_table is None:
        sql = rewritten(read_query(text, release.readable, dialect), permuted.stored(dialect), dialect)
    else:
        elsewhere = read_query(text, release.readable.loaded_elsewhere(), dialect)
        quoted = [None if n is None else dialect.identifier(n) for n in (release_table, help_table)]
        sql = rewritten(elsewhere, permuted.named(*quoted), dialect)
    return Answered(columns, rows, sql, warnings)


def _is_rewritable(release: OpenRelease, permuted: PermutedFiles, asked: AskedQuery) -> bool:
    """Whether a query of a permuted release names columns that show values, and aggregates no other's."""
    labels = {label_of(name) for name in release.data.columns}
    return (
        not release.generalized(asked.attributes)
        and not labels.intersection(asked.attributes)
        and permuted.facts.sensitive not in asked.attributes
        and set(asked.measures) <= {permuted.facts.sensitive}
    )


def _rows_of(asked: AskedQuery, line: Sequence[Any]) -> list[BoundRow]:
    group = tuple(_key(value) for value in line[: len(asked.keys)])
    sides = itertools.cycle((False, True, None))
    cells = [_number(value, side) for value, side in zip(line[len(asked.keys) :], sides, strict=False)]
    return [
        BoundRow.of(group, aggregate.title, *cells[3 * place : 3 * place + 3])
        for place, aggregate in enumerate(asked.aggregates)
    ]


def _key(value: Any) -> Key:
    if isinstance(value, Decimal):
        return rounded(value)
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)


def _number(value: Any, upwards: bool | None) -> Number | None:
    if isinstance(value, Decimal):
        return rounded(value, upwards=upwards)
    assert value is None or isinstance(value, int | float)
    return value


def _warnings(release: OpenRelease, asked: AskedQuery) -> tuple[str, ...]:
    found = []
    if release.missing:
        found.append(
            f"{release.missing:,} rows were suppressed: bounds are those of the rows that the release shows."
        )
    if release.manifest.dropped:
        found.append(
            f"{release.manifest.dropped:,} rows with NULL were left out of the release, and of the answers."
        )
    if release.manifest.set_apart:
        found.append(
            f"{release.manifest.set_apart:,} rows without any quasi-identifier were left out of the release, "
            "and of the answers."
        )
    facts = None if release.permuted is None else release.permuted.facts
    if facts is not None and facts.rows_without_value and asked.measures:
        found.append(
            f"{facts.rows_without_value:,} rows have no value of '{facts.sensitive}': bounds allow for "
            "any of their groups' rows to be one of them."
        )
    return tuple(found)
