"""Check of a whole help table by sums of hashes, for exact numbers.

Cost: one sort of the values and one scan of the help table.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from discreet.engines.base import Engine, SourceTable
from discreet.sql import audit_permuted as sql
from discreet.sql.cell_expressions import decimals_of, fits_long


def help_table_agrees(
    engine: Engine,
    source: SourceTable,
    names: Sequence[str],
    groups: str,
    numbers: tuple[str, int, int] | None,
) -> bool:
    """Return true if a help table has exactly the due rows; false if it differs or was not checked.

    ``names`` are its columns in order; ``numbers`` are the table of values, their digits and their decimals,
    None where they are no numbers. The check is skipped where cells are no exact numbers of these decimals or
    larger than a BIGINT, a group has rows without a value, or the engine gives no rows in order.

    Cost: one sort of the values, one scan of the help table.
    """
    dialect = engine.dialect
    if not (dialect.runs_in_order and _has_exact_columns(source, names, numbers)):
        return False
    table, digits, scale = numbers or ("", 0, 0)
    # A random salt prevents a table that is crafted to have the right sum of hashes.
    salt = secrets.randbits(62)
    columns = [source.column(name) for name in names]
    due = sql.expected_counts(dialect, groups, salt)
    if numbers is not None:
        if digits > sql.VALUE_DIGITS:
            return False
        incomplete, largest = engine.fetch_rows(sql.group_kinds(dialect, groups))[0]
        if incomplete or largest * 10**scale > sql.LARGEST_SUM:
            return False
        due = sql.expected_sums(dialect, groups, table, scale, salt)
    published_sums = sql.published_sums(dialect, source.relation, columns, scale, salt)
    return engine.fetch_rows(due) == engine.fetch_rows(published_sums)


def _has_exact_columns(
    source: SourceTable, names: Sequence[str], numbers: tuple[str, int, int] | None
) -> bool:
    """Return true if every column has exact numbers of these decimals within a BIGINT."""
    if source.null_values:
        return False
    scales = [0] * sql.COUNT_COLUMNS + [0 if numbers is None else numbers[2]] * (
        len(names) - sql.COUNT_COLUMNS
    )
    return (numbers is None) == (len(names) == sql.COUNT_COLUMNS) and all(
        fits_long(source.types[name]) and decimals_of(source.types[name]) == scale
        for name, scale in zip(names, scales, strict=True)
    )
