"""Warnings about odd data: impossible ages, missing-value codes, lost zeros, copied rows, sums, variants.

``init`` finds them in column profiles; later verbs find them again in the values of the frequency set,
without a query.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import numpy as np

from discreet.engines.base import Engine, SourceTable
from discreet.model.coded_warnings import CodedWarning
from discreet.model.frequency_set import FrequencySet
from discreet.model.table_spec import AttributeRole
from discreet.profile.column_profile import (
    MISSING_CODES,
    ColumnProfile,
    ColumnSum,
    column_batch_size,
    grouped_texts_sql,
    is_readable,
)
from discreet.profile.heading_hints import is_age
from discreet.profile.roles import is_nearly_unique
from discreet.profile.spec_proposal import LATTICE_TOO_LARGE_REASON, ProposedAttribute
from discreet.sql.cell_expressions import batched
from discreet.sql.format_parsing import strip_blanks

_NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?")
_OLDEST = 120
_MOST_COMPARED = 20_000_000
_MOST_WORDS = 2_000
_MOST_SUMS = 10


def warn_about_columns(attributes: Sequence[ProposedAttribute], reported: Collection[str] = ()) -> list[str]:
    """Return the warnings that follow from the profiles; codes of ``reported`` columns are left out."""
    result: list[str] = []
    result += _warn_about_single_column([a.column for a in attributes])
    result += _warn_about_header([a.column for a in attributes])
    columns = [a.column for a in attributes if a.role is not AttributeRole.IDENTIFIER]
    result += warn_about_values(columns, reported)
    result += warn_about_dropped_columns(attributes)
    if not any(a.role is AttributeRole.QUASI_IDENTIFIER for a in attributes):
        result.append("No column looks like a quasi-identifier: name at least one before you negotiate.")
    if not any(a.role is AttributeRole.SENSITIVE for a in attributes):
        result.append("No column looks sensitive: l-diversity needs at least one, k does not.")
    return result


def warn_about_values(columns: Sequence[ColumnProfile], reported: Collection[str] = ()) -> list[str]:
    """Return warnings about numbers and codes: impossible ages, missing-value codes, lost zeros.

    Missing-value codes of ``reported`` columns are left out, since another warning names them.
    """
    ages = [column for column in columns if has_impossible_age(column)]
    others = [column for column in columns if column not in ages and column.name not in reported]
    return [*map(_warn_about_age, ages), *_warn_about_missing_codes(others), *_warn_about_lost_zeros(columns)]


def has_impossible_age(column: ColumnProfile) -> bool:
    """Return whether a column of ages contains a number that is nobody's age."""
    return is_age(column.name) and _has_impossible_numbers(column)


def warn_about_dropped_columns(attributes: Sequence[ProposedAttribute]) -> list[str]:
    """Return a warning about columns that are dropped since they would make the lattice too large."""
    given_up = [a.name for a in attributes if a.reason == LATTICE_TOO_LARGE_REASON]
    if not given_up:
        return []
    return [
        f"{len(given_up):,} columns would make the lattice too large and are dropped until you decide: "
        f"{shorten_names(given_up)}. Look at the values of each. Give those that others may know the role "
        "quasi-identifier, and leave names, numbers of persons and free text unchanged. Only a column "
        'without information about persons may have the role "insensitive", which publishes it outside every '
        "check."
    ]


def warn_about_copies(copies: int) -> list[str]:
    """Return a warning if rows are copies of others."""
    if not copies:
        return []
    return [
        f"Exact copies of other rows, nearly unique cells included: {copies:,}. Remove copies that are "
        "the same person: k would count that person twice."
    ]


def warn_about_sums(sums: Sequence[ColumnSum]) -> list[str]:
    """Return a warning if columns are calculated from others."""
    if not sums:
        return []
    reported = "; ".join(str(sum_) for sum_ in sums[:_MOST_SUMS])
    more = f"; and {len(sums) - _MOST_SUMS:,} more" if len(sums) > _MOST_SUMS else ""
    return [
        f"In every row that has the values, {reported}{more}. The other values reveal a hidden one: leave "
        "out columns that can be calculated, or give all of them equally strict roles and levels."
    ]


def shorten_names(names: Sequence[str]) -> str:
    """Join names with commas; of more than four, the first two and the last."""
    return ", ".join(names) if len(names) <= 4 else f"{names[0]}, {names[1]}, …, {names[-1]}"


def _warn_about_single_column(columns: Sequence[ColumnProfile]) -> list[str]:
    """Return a warning if the only column's name looks like several: the delimiter was not recognized."""
    if len(columns) != 1 or not re.search(r"[\^~&;:#|\t+]|\w +\w+ +\w", columns[0].name):
        return []
    return [
        f"The table has one column, {columns[0].name!r}. If it is several, name the delimiter, as in "
        "--delimiter '^', or export it as CSV."
    ]


def _warn_about_header(columns: Sequence[ColumnProfile]) -> list[str]:
    """Return a warning if a name looks like a value or a program's note: the header may be missing."""
    numbers = [c.name for c in columns if c.numbers and _NUMBER.fullmatch(c.name.strip())]
    inside = [c.name for c in columns if c.name in numbers and c.lowest <= float(c.name) <= c.highest]
    strange = [*inside, *(c.name for c in columns if c.name.startswith("sep="))]
    if not strange:
        return []
    return [
        f"The first line holds {shorten_names([repr(name) for name in strange])}, which does not look like "
        "a column name: is it a header? Column names are published unchanged. Write them in the first line."
    ]


def _has_impossible_numbers(column: ColumnProfile) -> bool:
    return column.numbers and (column.lowest < 0 or column.highest > _OLDEST)


def _warn_about_age(column: ColumnProfile) -> str:
    values = [v for v in (column.lowest, column.highest) if v < 0 or v > _OLDEST]
    said = " and ".join(f"{value:g}" for value in values)
    texts = ", ".join(f'"{value:g}"' for value in values)
    return (
        f"'{column.name}' holds {said}, which is not an age. If it means a missing age, "
        f"write null_values = [{texts}] in [source], with the other such texts."
    )


def count_copied_rows(engine: Engine, table: SourceTable, columns: Sequence[ColumnProfile]) -> int:
    """Count rows that agree with another row in all columns, a nearly unique one included: likely duplicates.

    Cost: one grouping by all columns, for tables of up to 20 million cells in which some column is nearly
    unique and none is unique; 0 for other tables.
    """
    rows = columns[0].rows if columns else 0
    nearly = any(is_nearly_unique(c) and c.distinct > 1 for c in columns)
    unique = any(c.once == rows for c in columns)
    readable = all(is_readable(table, name) for name in table.types)
    if unique or not readable or not nearly or rows * len(columns) > _MOST_COMPARED:
        return 0
    keys = ", ".join(table.text(name) for name in table.columns)
    groups = f"SELECT count(*) AS n FROM {table.relation} GROUP BY {keys}"
    found = engine.fetch_rows(f"SELECT CAST(coalesce(sum(n - 1), 0) AS BIGINT) FROM ({groups}) AS g")
    return int(found[0][0])


def _warn_about_missing_codes(columns: Sequence[ColumnProfile]) -> list[str]:
    """Return a warning if missing-value codes are far outside the range of the other numbers."""
    found, texts = [], []
    for column in columns:
        low, high = column.plausible_range
        far = [v for v in (column.lowest, column.highest) if max(low - v, v - high) > high - low > 0]
        if column.numbers and far:
            said = " and ".join(f"{value:.15g}" for value in far)
            found.append(f"'{column.name}' ({said}; the others from {low:.15g} to {high:.15g})")
            texts += [f'"{value:.15g}"' for value in far]
    if not found:
        return []
    return [
        f"Numbers that may mean a missing value, in {shorten_names(found)}. If they do, list them under "
        f"others of the column's hierarchy, or write null_values = [{', '.join(dict.fromkeys(texts))}] in "
        "[source], for every column."
    ]


def _warn_about_lost_zeros(columns: Sequence[ColumnProfile]) -> list[str]:
    """Return a warning if some of a column's codes begin with zeros and others seem to have lost theirs."""
    found = [
        f"'{c.name}' ({c.shortest} and {c.longest} digits)"
        for c in columns
        if c.numbers and c.zeros and c.shortest == c.longest - 1 and c.lowest > 0
    ]
    if not found:
        return []
    return [
        f"Some codes begin with a zero, and shorter ones may have lost theirs, in "
        f"{', '.join(found)}. Write them the same way in the file, or one code counts as two."
    ]


def warn_about_rows(engine: Engine, table: SourceTable, attributes: Sequence[ProposedAttribute]) -> list[str]:
    """Return a warning about columns of words in which some differ only in capitals or surrounding blanks.

    Cost: one grouping of the columns with few words.
    """
    columns = [a.column for a in attributes if a.role is not AttributeRole.IDENTIFIER]
    words = [
        c.name
        for c in columns
        if 1 < c.distinct <= _MOST_WORDS
        and not (c.numbers or c.dates or c.codes)
        and is_readable(table, c.name)
    ]
    found = []
    alike = f"lower({strip_blanks('v')})"
    for some in batched(words, column_batch_size(columns[0].rows if columns else 0)):
        counted = (
            f"SELECT place, count(*) AS values_, count(DISTINCT {alike}) AS words "
            f"FROM ({grouped_texts_sql(table, some)}) AS g GROUP BY place"
        )
        reported = engine.fetch_rows(
            f"SELECT place, values_, words FROM ({counted}) AS c WHERE words < values_"
        )
        found += [
            f"'{some[int(index)]}' ({int(values):,} values, then {int(few):,})"
            for index, values, few in sorted(reported)
        ]
    return warn_about_word_variants(found)


def warn_about_word_variants(columns: Sequence[str]) -> list[str]:
    """Return a warning about columns of words, each described with its numbers of values."""
    if not columns:
        return []
    return [
        f"Values differ only in capitals or blanks, in {', '.join(columns)}. Write them the same way "
        "in the file, or join them in a hierarchy: rare spellings identify people."
    ]


ODD_VALUES = "odd-values"
_MOST_VALUES = 20_000
_MOST_COUNTED_WORDS = 2_000


def warn_about_counted_values(table: FrequencySet) -> tuple[CodedWarning, ...]:
    """Return warnings about counted quasi-identifiers: ages, missing-value codes, lost zeros, word variants.

    The warnings name values, so they are private.
    """
    columns, words = [], []
    for hierarchy, rows in zip(table.hierarchies, table.rows_by_code, strict=True):
        occurring = np.flatnonzero(rows[: hierarchy.null_code])
        if not 1 < len(occurring) <= _MOST_VALUES:
            continue
        texts = [hierarchy.leaves[index] for index in occurring.tolist()]
        numbers = _parse_numbers(texts)
        if numbers is not None:
            columns.append(_number_profile(hierarchy.attribute, texts, numbers))
        elif len(texts) <= _MOST_COUNTED_WORDS:
            alike = len({text.strip().lower() for text in texts})
            if alike < len(texts):
                words.append(f"'{hierarchy.attribute}' ({len(texts):,} values, then {alike:,})")
    found = (*warn_about_word_variants(words), *warn_about_values(columns))
    return tuple(CodedWarning(ODD_VALUES, text, private=True) for text in found)


def _parse_numbers(texts: Sequence[str]) -> list[float] | None:
    try:
        return [float(text) for text in texts]
    except ValueError:
        return None


def _number_profile(name: str, texts: Sequence[str], numbers: Sequence[float]) -> ColumnProfile:
    """Build the profile that the warnings need from the values of a numeric column."""
    measured = [n for n, text in zip(numbers, texts, strict=True) if text not in MISSING_CODES] or numbers
    lengths = [len(text) for text in texts]
    return ColumnProfile(
        name=name,
        rows=len(texts),
        nulls=0,
        distinct=len(texts),
        once=0,
        most=1,
        shortest=min(lengths),
        longest=max(lengths),
        numbers=True,
        dates=False,
        codes=False,
        zeros=any(text[:1] == "0" and text[1:2].isdigit() for text in texts),
        lowest=min(numbers),
        highest=max(numbers),
        null_texts=(),
        plausible_range=(min(measured), max(measured)),
    )
