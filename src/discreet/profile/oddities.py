"""What a publisher should look at first: keys of persons, and what is odd in a table."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from discreet.engines.base import Engine, SourceTable
from discreet.model.table_spec import AttributeRole
from discreet.profile.columns import ColumnProfile, columns_at_once, grouped_texts
from discreet.profile.lattice_size import GIVEN_UP
from discreet.profile.names import is_age
from discreet.profile.proposed import ProposedAttribute
from discreet.profile.roles import nearly_unique
from discreet.profile.sums import ColumnSum
from discreet.sql.cells import in_parts
from discreet.sql.source import is_binary, is_nested
from discreet.sql.written_steps import stripped

_NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?")
_OLDEST = 120
_MOST_COMPARED = 20_000_000
_MOST_WORDS = 2_000
_MOST_SUMS = 10


def warnings_of(attributes: Sequence[ProposedAttribute], told: Collection[str] = ()) -> list[str]:
    """What to look at, from the profiles alone; of columns that were ``told``, numbers far off were."""
    found: list[str] = []
    found += _one_column([a.column for a in attributes])
    found += _strange_header([a.column for a in attributes])
    columns = [a.column for a in attributes if a.role is not AttributeRole.IDENTIFIER]
    found += warnings_of_values(columns, told)
    found += warnings_of_dropped(attributes)
    if not any(a.role is AttributeRole.QUASI_IDENTIFIER for a in attributes):
        found.append("No column looks like a quasi-identifier: name at least one before you negotiate.")
    if not any(a.role is AttributeRole.SENSITIVE for a in attributes):
        found.append("No column looks sensitive: l-diversity needs at least one, k does not.")
    return found


def warnings_of_values(columns: Sequence[ColumnProfile], told: Collection[str] = ()) -> list[str]:
    """What is odd in numbers and codes: nobody's age, numbers that mean missing, zeros that were lost.

    Of columns that were ``told``, numbers that mean missing were.
    """
    ages = [column for column in columns if is_strange_age(column)]
    others = [column for column in columns if column not in ages and column.name not in told]
    return [*map(_strange_age, ages), *_far_off(others), *_lost_zeros(columns)]


def is_strange_age(column: ColumnProfile) -> bool:
    """Test whether a column of ages holds what is nobody's age."""
    return is_age(column.name) and _is_strange_age(column)


def warnings_of_dropped(attributes: Sequence[ProposedAttribute]) -> list[str]:
    """What to decide of columns that would make the lattice too large."""
    given_up = [a.name for a in attributes if a.reason == GIVEN_UP]
    if not given_up:
        return []
    return [
        f"{len(given_up):,} columns would make the lattice too large and are dropped until you decide: "
        f"{shortened(given_up)}. Look at the values of each. Give those that others may know the role "
        "quasi-identifier, and leave names, numbers of persons and free text as they are. Only a "
        'column that says nothing of anybody may have the role "insensitive", which publishes it outside '
        "every check."
    ]


def warnings_of_copies(copies: int) -> list[str]:
    """What to look at where rows are copies of others."""
    if not copies:
        return []
    return [
        f"Exact copies of other rows, nearly unique cells included: {copies:,}. Where a copy is no other "
        "person, take it out of the file: it lets k count somebody twice."
    ]


def warnings_of_rows(
    engine: Engine, table: SourceTable, attributes: Sequence[ProposedAttribute]
) -> list[str]:
    """What to look at in an open table: words that differ in capitals or blanks alone.

    Cost: a grouping of the columns of few words.
    """
    return _told_apart(
        engine, table, [a.column for a in attributes if a.role is not AttributeRole.IDENTIFIER]
    )


def warnings_of_sums(sums: Sequence[ColumnSum]) -> list[str]:
    """What to look at where columns are calculated from others."""
    if not sums:
        return []
    told = "; ".join(str(sum_) for sum_ in sums[:_MOST_SUMS])
    more = f"; and {len(sums) - _MOST_SUMS:,} more" if len(sums) > _MOST_SUMS else ""
    return [
        f"In every row that has the values, {told}{more}. What is hidden of one the others tell: leave out "
        "what can be calculated, or give all of them roles and levels that hide as much."
    ]


def shortened(names: Sequence[str]) -> str:
    """Names in a list; of a long one the first and the last."""
    return ", ".join(names) if len(names) <= 4 else f"{names[0]}, {names[1]}, …, {names[-1]}"


def _one_column(columns: Sequence[ColumnProfile]) -> list[str]:
    """A warning where the only column's name looks like several: the mark between them was not seen."""
    if len(columns) != 1 or not re.search(r"[\^~&;:#|\t+]|\w +\w+ +\w", columns[0].name):
        return []
    return [
        f"The table has one column, {columns[0].name!r}. If it is several, say what parts them, as in "
        "--delimiter '^', or export it as CSV."
    ]


def _strange_header(columns: Sequence[ColumnProfile]) -> list[str]:
    """A warning where a name is a number among its column's, or a program's note: no header, it seems."""
    numbers = [c.name for c in columns if c.numbers and _NUMBER.fullmatch(c.name.strip())]
    within = [c.name for c in columns if c.name in numbers and c.lowest <= float(c.name) <= c.highest]
    strange = [*within, *(c.name for c in columns if c.name.startswith("sep="))]
    if not strange:
        return []
    return [
        f"The first line holds {shortened([repr(name) for name in strange])}, which names no column: is it a "
        "header? Columns' names are published as they stand. Write them in the first line."
    ]


def _is_strange_age(column: ColumnProfile) -> bool:
    return column.numbers and (column.lowest < 0 or column.highest > _OLDEST)


def _strange_age(column: ColumnProfile) -> str:
    values = [v for v in (column.lowest, column.highest) if v < 0 or v > _OLDEST]
    said = " and ".join(f"{value:g}" for value in values)
    texts = ", ".join(f'"{value:g}"' for value in values)
    return (
        f"'{column.name}' holds {said}, which is nobody's age. Where it stands for an age that is missing, "
        f"write null_values = [{texts}] in [source], with the other such texts."
    )


def copied_rows(engine: Engine, table: SourceTable, columns: Sequence[ColumnProfile]) -> int:
    """Rows that are alike in a column that is nearly unique, and in all others: they are likely one row.

    Cost: a grouping of all columns, in tables of up to 20 million cells where a column is nearly unique and
    none is unique; 0 of others.
    """
    rows = columns[0].rows if columns else 0
    nearly = any(nearly_unique(c) and c.distinct > 1 for c in columns)
    unique = any(c.once == rows for c in columns)
    nested = any(is_nested(kind) or is_binary(kind) for kind in table.types.values())
    if unique or nested or not nearly or rows * len(columns) > _MOST_COMPARED:
        return 0
    keys = ", ".join(table.text(name) for name in table.columns)
    groups = f"SELECT count(*) AS n FROM {table.relation} GROUP BY {keys}"
    found = engine.fetch_rows(f"SELECT CAST(coalesce(sum(n - 1), 0) AS BIGINT) FROM ({groups}) AS g")
    return int(found[0][0])


def _far_off(columns: Sequence[ColumnProfile]) -> list[str]:
    """A warning where numbers that programs write for what is missing lie far off the others."""
    found, texts = [], []
    for column in columns:
        low, high = column.within
        far = [v for v in (column.lowest, column.highest) if max(low - v, v - high) > high - low > 0]
        if column.numbers and far:
            said = " and ".join(f"{value:.15g}" for value in far)
            found.append(f"'{column.name}' ({said}; the others from {low:.15g} to {high:.15g})")
            texts += [f'"{value:.15g}"' for value in far]
    if not found:
        return []
    return [
        f"Numbers that may stand for what is missing, in {shortened(found)}. If they do, list them under "
        f"others of the column's hierarchy, or write null_values = [{', '.join(dict.fromkeys(texts))}] in "
        "[source], for every column."
    ]


def _lost_zeros(columns: Sequence[ColumnProfile]) -> list[str]:
    """A warning where some of a column's codes begin with zeros, and others seem to have lost theirs."""
    found = [
        f"'{c.name}' ({c.shortest} and {c.longest} digits)"
        for c in columns
        if c.numbers and c.zeros and c.shortest == c.longest - 1 and c.lowest > 0
    ]
    if not found:
        return []
    return [
        f"Codes that begin with a zero stand beside shorter ones, which may have lost theirs, in "
        f"{', '.join(found)}. Write them alike in the file: else one code counts as two."
    ]


def _told_apart(engine: Engine, table: SourceTable, columns: Sequence[ColumnProfile]) -> list[str]:
    """Columns of words of which some differ in capitals or in blanks around them alone."""
    words = [
        c.name for c in columns if 1 < c.distinct <= _MOST_WORDS and not (c.numbers or c.dates or c.codes)
    ]
    words = [name for name in words if not (is_nested(table.types[name]) or is_binary(table.types[name]))]
    found = []
    alike = f"lower({stripped('v')})"
    for some in in_parts(words, columns_at_once(columns[0].rows if columns else 0)):
        counted = (
            f"SELECT place, count(*) AS values_, count(DISTINCT {alike}) AS words "
            f"FROM ({grouped_texts(table, some)}) AS g GROUP BY place"
        )
        told = engine.fetch_rows(f"SELECT place, values_, words FROM ({counted}) AS c WHERE words < values_")
        found += [
            f"'{some[int(place)]}' ({int(values):,} values, then {int(few):,})"
            for place, values, few in sorted(told)
        ]
    return warnings_of_words(found)


def warnings_of_words(columns: Sequence[str]) -> list[str]:
    """What to look at in columns of words, each with its numbers of values with and without capitals."""
    if not columns:
        return []
    return [
        f"Values differ in capitals or in blanks alone, in {', '.join(columns)}. Write them alike in the "
        "file, or join them in a hierarchy: what is rare stands out."
    ]
