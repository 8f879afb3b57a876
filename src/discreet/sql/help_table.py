"""Help tables: bounds of sums, minima and maxima of any h rows of a group.

Source: Zhang, Koudas, Srivastava and Yu (2007). Among h of a group's n rows with m values, j values occur,
max(0, h - (n - m)) ≤ j ≤ min(h, m). Prefix sums of the sorted values give the least and largest sum; doubles
are rounded outwards by (m + 4) · 2^-52 · Σ|a|. Cost: one sort of the values and a join of the sorted values
with themselves. Every function returns SQL text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.sql.cell_expressions import LONG_DIGITS, from_units, to_units
from discreet.sql.dialect import Dialect
from discreet.sql.quoting import identifier

HITS, VALUES_LOWER, VALUES_UPPER = "hits", "values_lower", "values_upper"
GROUP_ROWS, GROUP_VALUES, GROUP_SUM = "group_rows", "group_values", "group_sum"
BOUNDS = (
    "sum_lower",
    "sum_upper",
    "min_lower",
    "min_upper",
    "max_lower",
    "max_upper",
    "lowest",
    "highest",
)
_COUNTS = ("g", "h", "n")
_SUMS, _VALUES = (GROUP_SUM, *BOUNDS[:2]), BOUNDS[2:6]
_COMPACT_VALUES = (*_SUMS, *_VALUES)
COMPACT_COLUMNS = (*_COUNTS, *_COMPACT_VALUES)
"""Columns that determine all others if every row has a value."""


SORT_KEY = "sort_key"


@dataclass(frozen=True)
class SortKeyLayout:
    """Layout of a 64-bit sort key from a group number and an exact number.

    Values range from -``widest`` to ``widest`` units of the last of ``scale`` decimals. The low ``bits`` of a
    key contain the value, counted from -``widest``, and the bits above them the group number.
    """

    widest: int
    scale: int

    @property
    def bits(self) -> int:
        """Number of bits of a value."""
        return (2 * self.widest).bit_length()

    def fit(self, groups: int) -> bool:
        """Test whether group numbers from 1 to ``groups`` fit above the value's bits."""
        return self.scale < LONG_DIGITS and (groups + 1) << self.bits < 1 << 63


@dataclass(frozen=True)
class HelpTypes:
    """House types of a help table: of sums, and of single values.

    ``scale`` is the number of decimals of exact numbers, None for floating-point numbers.
    """

    sums: str
    values: str
    scale: int | None

    def summed(self, dialect: Dialect, number: str) -> str:
        """Return an expression over single values in a type whose sums do not overflow."""
        return number if self.scale is None else dialect.wide.format(number, self.scale)


def help_columns(group: str, *, numeric: bool) -> tuple[str, ...]:
    """Return the columns of a help table, in order."""
    counts = (group, HITS, VALUES_LOWER, VALUES_UPPER, GROUP_ROWS, GROUP_VALUES)
    return (*counts, *((GROUP_SUM, *BOUNDS) if numeric else ()))


def group_totals(dialect: Dialect, values: str, group: str, number: str, types: HelpTypes) -> str:
    """Select the groups ``g`` with rows ``n``, values ``m``, and the inputs of sums.

    ``number`` is the numeric value, an expression over the table of values. Sums are cast to their final type
    here, per group: DuckDB and PostgreSQL sum in a wider type, and casting it per row is slow.
    """
    rows = f"SELECT {group} AS g, {number} AS v FROM {identifier(values)}"
    added = types.summed(dialect, "v")
    total = dialect.cast(f"coalesce(sum({added}), 0)", types.sums)
    return (
        "SELECT g, count(*) AS n, count(v) AS m, "
        "count(*) FILTER (WHERE v < 0) AS negative, count(*) FILTER (WHERE v > 0) AS positive, "
        f"{total} AS total, coalesce(sum(abs({added})), 0) AS spread, "
        "min(v) AS least, max(v) AS most "
        f"FROM ({rows}) AS r GROUP BY g"
    )


def ranked_values(
    dialect: Dialect, values: str, totals: str, group: str, number: str, types: HelpTypes
) -> str:
    """Select the values of each group in order: ``g``, ``i`` and ``back``, ``v``, ``upto`` (sum).

    ``i`` is the rank from 1, ``back`` the rank from the end: stored, so that both are joined by equality.
    """
    rows = f"SELECT {group} AS g, {number} AS v FROM {identifier(values)}"
    upto = dialect.cast("r.upto", types.sums)
    return (
        f"SELECT r.g, r.v, r.i, {upto} AS upto, t.m + 1 - r.i AS back "
        f"FROM (SELECT g, v, row_number() OVER w AS i, sum({types.summed(dialect, 'v')}) OVER w AS upto "
        f"FROM ({rows}) AS x WHERE v IS NOT NULL "
        "WINDOW w AS (PARTITION BY g ORDER BY v ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
        f") AS r JOIN {identifier(totals)} AS t ON r.g = t.g"
    )


def help_query(dialect: Dialect, totals: str, ordered: str, types: HelpTypes) -> str:
    """Build the help table of numbers: a row for each group ``g`` and number of hits ``h``."""
    both = f"{_complete(totals, ordered)} UNION ALL {_incomplete(dialect, totals, ordered)}"
    return f"SELECT {', '.join(_cells(dialect, types).values())} FROM ({both}) AS x"


def compact_query(dialect: Dialect, totals: str, ordered: str, types: HelpTypes, integer_type: str) -> str:
    """Build the columns that distinguish cells of ``help_query`` if every row has a value, sorted by g and h.

    Counts have the house type ``integer_type``. A third less data is sorted, which takes half the time.
    """
    cells = _cells(dialect, types)
    counts = [f"{dialect.cast(name, integer_type)} AS {name}" for name in _COUNTS]
    columns = [*counts, *(cells[name] for name in _COMPACT_VALUES)]
    return f"SELECT {', '.join(columns)} FROM ({_complete(totals, ordered)}) AS x ORDER BY g, h"


def expanded_query(dialect: Dialect, table: str) -> str:
    """Build the help table from a table of ``compact_query``, in its order."""
    return (
        f"SELECT {', '.join(_expanded_cells(dialect, {name: name for name in _COMPACT_VALUES}))} "
        f"FROM {identifier(table)}"
    )


def expanded_from_units(dialect: Dialect, table: str, types: HelpTypes, scale: int) -> str:
    """Build the help table from ``COMPACT_COLUMNS`` whose numbers are in units of the last decimal."""
    columns = {name: dialect.cast(from_units(dialect, name, scale), types.sums) for name in _SUMS}
    columns |= {name: dialect.cast(from_units(dialect, name, scale), types.values) for name in _VALUES}
    return f"SELECT {', '.join(_expanded_cells(dialect, columns))} FROM {identifier(table)}"


def _expanded_cells(dialect: Dialect, columns: Mapping[str, str]) -> list[str]:
    """Build the cells of a help table in which every row has a value."""
    group, hits, rows = (dialect.cast(name, "BIGINT") for name in _COUNTS)
    cells = [f"{group} AS g", f"{hits} AS h", f"{hits} AS j_least", f"{hits} AS j_most"]
    cells += [f"{rows} AS n", f"{rows} AS m", *(f"{cell} AS {name}" for name, cell in columns.items())]
    return [*cells, f"{columns['max_lower']} AS lowest", f"{columns['min_upper']} AS highest"]


def group_value_keys(dialect: Dialect, values: str, group: str, number: str, form: SortKeyLayout) -> str:
    """Select one integer per row that sorts rows by group and value, in the layout ``form``."""
    units = to_units(dialect, number, form.scale)
    integer_group = dialect.cast(group, "BIGINT")
    return (
        f"SELECT {integer_group} * {1 << form.bits} + ({units} + {form.widest}) AS {SORT_KEY} "
        f"FROM {identifier(values)}"
    )


def _cells(dialect: Dialect, types: HelpTypes) -> dict[str, str]:
    """Build the columns of a help table by name, in their final types."""
    margin = "(m + 4) * 2.220446049250313e-16 * spread" if types.scale is None else "0"
    least, most = f"low_sum - {margin}", f"total - high_upto + high_value + {margin}"
    sums = {
        GROUP_SUM: "total",
        "sum_lower": f"CASE WHEN low_j = 0 THEN 0 ELSE {least} END",
        "sum_upper": f"CASE WHEN high_j = 0 THEN 0 ELSE {most} END",
    }
    cells = {name: name for name in ("g", "h", "j_least", "j_most", "n", "m")}
    cells |= {name: f"{dialect.cast(sql, types.sums)} AS {name}" for name, sql in sums.items()}
    return cells | {name: f"{dialect.cast(name, types.values)} AS {name}" for name in BOUNDS[2:]}


def _complete(totals: str, ordered: str) -> str:
    """Build the rows of groups in which every row has a value: h rows have h values."""
    # a is the h-th value from below, b the h-th from above (its rank is a.back).
    return (
        "SELECT a.g, a.i AS h, a.i AS j_least, a.i AS j_most, t.n, t.m, t.total, t.spread, a.i AS low_j, "
        "a.upto AS low_sum, a.i AS high_j, b.upto AS high_upto, b.v AS high_value, t.least AS min_lower, "
        "b.v AS min_upper, a.v AS max_lower, t.most AS max_upper, a.v AS lowest, b.v AS highest "
        f"FROM {identifier(ordered)} AS a JOIN {identifier(totals)} AS t ON a.g = t.g AND t.n = t.m "
        f"JOIN {identifier(ordered)} AS b ON b.g = a.g AND b.i = a.back"
    )


def _incomplete(dialect: Dialect, totals: str, ordered: str) -> str:
    """Build the rows of groups with NULLs: h rows have between ``j_least`` and ``j_most`` values."""
    hits = f"SELECT *, {dialect.numbers_to.format('n')} AS h FROM {identifier(totals)} WHERE n > m"
    counted = f"SELECT *, greatest(0, h - (n - m)) AS j_least, least(h, m) AS j_most FROM ({hits}) AS of_hits"
    # The least sum takes all negative values, within the limits of j; the largest all positive ones.
    chosen = (
        "SELECT *, least(greatest(negative, j_least), j_most) AS low_j, "
        "least(greatest(positive, j_least), j_most) AS high_j, greatest(j_least, 1) AS one "
        f"FROM ({counted}) AS counted"
    )
    possible = "CASE WHEN j_most > 0 THEN {} END"
    joins = " ".join(
        f"LEFT JOIN {identifier(ordered)} AS {alias} ON {alias}.g = x.g AND {alias}.i = {position}"
        for alias, position in (
            ("low_end", "x.low_j"),
            ("high_end", "x.m - x.high_j + 1"),
            ("late", "x.m - x.one + 1"),
            ("early", "x.one"),
            ("up", "x.h"),
            ("down", "x.m - x.h + 1"),
        )
    )
    return (
        "SELECT x.g, x.h, x.j_least, x.j_most, x.n, x.m, x.total, x.spread, x.low_j, low_end.upto, x.high_j, "
        f"high_end.upto, high_end.v, {possible.format('x.least')}, {possible.format('late.v')}, "
        f"{possible.format('early.v')}, {possible.format('x.most')}, up.v, down.v "
        f"FROM ({chosen}) AS x {joins}"
    )


def by_group_query(relation: str, group: str, *, numeric: bool, has_null: bool) -> str:
    """Build a help table with one line per group and lists over hits 1, 2, …, for databases with lists.

    A group without exactly one line per number of hits, or with differing totals, is left out. ``relation``
    and ``group`` are SQL; ``group_sum`` and the bounds exist for numbers only.
    """
    totals = (GROUP_ROWS, GROUP_VALUES, *((GROUP_SUM,) if numeric else ()))
    listed = ((VALUES_LOWER, VALUES_UPPER) if has_null else ()) + (BOUNDS if numeric else ())
    columns = [group, *(f"min({name}) AS {name}" for name in totals)]
    columns += [f"list({name} ORDER BY {HITS}) AS {name}" for name in listed]
    conditions = [f"list({HITS} ORDER BY {HITS}) = range(1, count(*) + 1)", f"min({GROUP_ROWS}) = count(*)"]
    conditions += [f"min({name}) = max({name}) AND count({name}) = count(*)" for name in totals]
    return (
        f"SELECT {', '.join(columns)} FROM {relation} AS h GROUP BY {group} HAVING {' AND '.join(conditions)}"
    )


def count_query(dialect: Dialect, values: str, group: str, value: str) -> str:
    """Build the help table of values that are not numbers: the bounds on values among h rows of a group."""
    rows = f"SELECT {group} AS g, {value} AS v FROM {identifier(values)}"
    groups = f"SELECT g, count(*) AS n, count(v) AS m FROM ({rows}) AS r GROUP BY g"
    hits = f"SELECT *, {dialect.numbers_to.format('n')} AS h FROM ({groups}) AS counted"
    return f"SELECT g, h, greatest(0, h - (n - m)) AS j_least, least(h, m) AS j_most, n, m FROM ({hits}) AS x"
