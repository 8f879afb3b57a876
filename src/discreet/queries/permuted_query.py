"""Queries of a permuted release, rewritten to SQL that returns bounds (Zhang et al. 2007, section 4).

For each group the number of rows that meet the condition (the *hits*) is known, but not the sensitive
values of these rows. The help table contains, per group and number of hits, bounds of the sum, the least
and the greatest of that number of values::

    SELECT SUM(h.sum_lower), SUM(h.sum_upper)
    FROM (SELECT group_id, COUNT(*) AS hits FROM release WHERE … GROUP BY group_id) AS q
    JOIN help AS h ON h.group_id = q.group_id AND h.hits = q.hits

Groups are permuted independently, so the bounds over all groups are attained.

Differences from the paper, which has no NULL: if some rows have no value, between ``values_lower`` and
``values_upper`` of the hits have one. MIN is at most its bound in a group that surely has a value among the
hits. AVG is not SUM / COUNT of bounds: the values surely among the hits are taken at their greatest, and
further ones, the greatest first, while they raise the average (best prefix; optimal by exchange).

Estimates: every value of a group is equally likely at each hit. COUNT of values ≈ Σ hits · values/rows, SUM
≈ Σ hits · sum/rows, AVG their ratio; MIN: of V values in a group, v are expected among the hits, the least
at rank (V + 1)/(v + 1).

Cost: one scan of the release and one of the help table, hashed by group; MIN, MAX, and AVG with NULLs join
it once more each. If every row has a value, MIN and MAX join only the groups that can matter. With one row
per group (``by_group``), hits are positions in lists. ``select_packed_hits`` instead returns the group and
key of each matching row as one integer, which is counted in arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from discreet.model.release_kind import PermutedRelease
from discreet.queries.aggregate_query import Aggregate
from discreet.queries.select_query import ReleaseQuery, SelectedAggregate
from discreet.sql.dialect import DUCKDB, Dialect
from discreet.sql.help_table import GROUP_ROWS, GROUP_SUM, GROUP_VALUES


@dataclass(frozen=True)
class PermutedTables:
    """SQL relations of a permuted release, in a form that FROM accepts.

    ``group_column`` is its name in both tables. ``numeric`` is True if the help table has sums and ends.
    ``scale`` is the number of decimals of exact sums, None for floating point. ``has_null`` is True if some
    row has no sensitive value. ``by_group`` is the help table with one row per group
    (``sql.help_table.by_group_query``), if it exists.
    """

    release: str
    help: str
    group_column: str
    numeric: bool
    scale: int | None
    has_null: bool
    by_group: str | None = None

    @classmethod
    def of(
        cls, facts: PermutedRelease, release: str, help_table: str, by_group: str | None = None
    ) -> PermutedTables:
        """Build the relations of a release from its manifest entry."""
        return cls(
            release=release,
            help=help_table,
            group_column=facts.group_column,
            numeric=facts.numeric,
            scale=facts.scale,
            has_null=facts.rows_without_value > 0,
            by_group=by_group,
        )


def key_names(release_query: ReleaseQuery) -> list[str]:
    """Return the column names of the keys, in order."""
    return [f"key_{number}" for number in range(1, len(release_query.keys) + 1)]


def key_order_terms(release_query: ReleaseQuery) -> list[str]:
    """Return the terms of ORDER BY that sort the answer's rows."""
    names, chosen = key_names(release_query), dict(release_query.order)
    places = [*chosen, *(index for index in range(len(names)) if index not in chosen)]
    return [f"{names[p]} {'DESC' if chosen.get(p) else 'ASC'} NULLS LAST" for p in places]


def matching_rows_clause(release_query: ReleaseQuery, tables: PermutedTables) -> str:
    """Return FROM the release, with WHERE for the condition."""
    found = f"FROM {tables.release}{' AS release' if tables.release.startswith('(') else ''}"
    return found if release_query.condition is None else f"{found}\nWHERE {release_query.condition.sql}"


def rewrite_query(release_query: ReleaseQuery, tables: PermutedTables, dialect: Dialect = DUCKDB) -> str:
    """Rewrite a query over a permuted release to SQL that returns bounds.

    The columns are the keys, then lower bound, upper bound and estimate of each aggregate.

    Parameters
    ----------
    release_query
        The parsed query.
    tables
        The relations of the release.
    dialect
        The SQL dialect that is written.

    Returns
    -------
    str
        One SELECT statement with common table expressions.

    References
    ----------
    Zhang, Koudas, Srivastava and Yu (2007), section 4.
    """
    return _QueryRewriter(release_query, tables, dialect).text()


@dataclass(frozen=True)
class _QueryRewriter:
    release_query: ReleaseQuery
    tables: PermutedTables
    dialect: Dialect

    def text(self) -> str:
        dialect, release_query = self.dialect, self.release_query
        names = release_query.column_names
        keys = [f"{key} AS {dialect.identifier(name)}" for key, name in zip(self._keys, names, strict=False)]
        bounds = [column for aggregate in release_query.aggregates for column in self._bounds(aggregate)]
        columns = [
            f"{sql} AS {dialect.identifier(name)}"
            for sql, name in zip(bounds, names[len(keys) :], strict=True)
        ]
        steps = self._steps()
        lines = ["WITH " + ",\n".join(f"{name} AS (\n{_indent(sql)}\n)" for name, sql in steps)]
        lines += ["SELECT\n  " + ",\n  ".join([*keys, *columns]), f"FROM {steps[-1][0]}"]
        if self._keys:
            lines.append("GROUP BY " + ", ".join(self._keys))
            lines.append("ORDER BY " + ", ".join(key_order_terms(self.release_query)))
        return "\n".join(lines)

    @property
    def _keys(self) -> list[str]:
        return key_names(self.release_query)

    def _steps(self) -> list[tuple[str, str]]:
        """Return the common table expressions, in order."""
        result = [("hits", self._hits())]
        if self._is_file(self.tables.help) and self.release_query.measures:
            result.insert(0, ("help", f"SELECT * FROM {self.tables.help}"))
        if any(a.measure is not None for a in self.release_query.aggregates):
            result += self._matched()
        if self._has_averages:
            for end, value in (("lower", "lowest"), ("upper", "highest")):
                result += [
                    (f"candidates_{end}", self._candidates(value)),
                    (f"running_{end}", self._running(end)),
                ]
            result.append(("answers", self._answers()))
        return result

    @property
    def _help(self) -> str:
        """Help table, in a common table expression if it is read from a file, so that it is read once."""
        return "help" if self._is_file(self.tables.help) else self.tables.help

    @staticmethod
    def _is_file(relation: str) -> bool:
        return relation.startswith("read_")

    @property
    def _has_averages(self) -> bool:
        """True if averages need more than sums and counts."""
        return self.tables.has_null and self._asks(Aggregate.AVG)

    def _asks(self, *kinds: Aggregate) -> bool:
        return any(a.measure is not None and a.aggregate in kinds for a in self.release_query.aggregates)

    def _hits(self) -> str:
        group = self.dialect.identifier(self.tables.group_column)
        keys = [f"{key.sql} AS {name}" for key, name in zip(self.release_query.keys, self._keys, strict=True)]
        lines = [
            f"SELECT {', '.join([f'{group} AS group_id', *keys, 'COUNT(*) AS hits'])}",
            matching_rows_clause(self.release_query, self.tables),
            "GROUP BY " + ", ".join([group, *(key.sql for key in self.release_query.keys)]),
        ]
        return "\n".join(lines)

    def _matched(self) -> list[tuple[str, str]]:
        """Join each group's hits with its row of the help table, and with the row of the expected rank.

        The second step is an outer join of the first one's result. If an engine assumed that result to be
        large, it would hash the whole help table to look up a few rows.
        """
        group = self.dialect.identifier(self.tables.group_column)
        ends = [name for kind, name in _RANKED.items() if self._asks(kind)]
        columns = [*(f"hits.{key}" for key in self._keys), "hits.group_id", "hits.hits"]
        if self.tables.by_group is not None and not self._keys:
            columns += [f"{self._at(name, 'hits.hits')} AS {name}" for name in self._helped]
            columns += [f"{self._at(_ENDS[name], self._rank())} AS {name}_expected" for name in ends]
            joined = f"hits JOIN {self.tables.by_group} AS help ON help.{group} = hits.group_id"
            return [("matched", f"SELECT {', '.join(columns)}\nFROM {joined}")]
        columns += [f"help.{name}" for name in self._helped]
        columns += [f"{self._rank()} AS expected_rank"] if ends else []
        few = self._near(ends)
        first = (
            f"SELECT {', '.join(columns)}\n"
            f"FROM {'near AS hits' if few else 'hits'} "
            f"JOIN {self._help} AS help ON help.{group} = hits.group_id AND help.hits = hits.hits"
        )
        if not ends:
            return [("matched", first)]
        expected = [f"ranked.{_ENDS[name]} AS {name}_expected" for name in ends]
        second = (
            f"SELECT {', '.join(['met.*', *expected])}\n"
            f"FROM met LEFT JOIN {self._help} AS ranked "
            f"ON ranked.{group} = met.group_id AND ranked.hits = met.expected_rank"
        )
        return [*few, ("met", first), ("matched", second)]

    def _near(self, ends: Sequence[str]) -> list[tuple[str, str]]:
        """Return the hits of groups that can affect MIN or MAX; empty if other aggregates are requested."""
        measured = [
            a for a in self.release_query.aggregates if a.measure is not None and a.aggregate in _RANKED
        ]
        if self.tables.has_null or self._keys or len(measured) < len(self.release_query.aggregates):
            return []
        group = self.dialect.identifier(self.tables.group_column)
        lines = f"SELECT {group} AS group_id, lowest, highest FROM {self._help} AS help WHERE hits = 1"
        ranges = (
            "SELECT hits.group_id, hits.hits, one.lowest, one.highest\n"
            f"FROM hits JOIN ({lines}) AS one ON one.group_id = hits.group_id"
        )
        parts = {"min": "lowest <= (SELECT MIN(highest) FROM ranges)"}
        parts["max"] = "highest >= (SELECT MAX(lowest) FROM ranges)"
        chosen = " OR ".join(parts[name] for name in ends)
        return [("ranges", ranges), ("near", f"SELECT group_id, hits FROM ranges\nWHERE {chosen}")]

    @staticmethod
    def _at(name: str, position: str) -> str:
        """Return a column of the help table by group: its value, or the list element at a position."""
        return f"help.{name}" if name in (GROUP_ROWS, GROUP_VALUES, GROUP_SUM) else f"help.{name}[{position}]"

    @property
    def _helped(self) -> list[str]:
        """Required columns of the help table, and no others, because it is as long as the release."""
        result = ["values_lower", "values_upper", "group_values"] if self.tables.has_null else []
        if self.tables.has_null or self._asks(Aggregate.SUM, Aggregate.AVG):
            result.append("group_rows")
        if self._asks(Aggregate.SUM, Aggregate.AVG):
            result += ["sum_lower", "sum_upper", "group_sum"]
        for kind in (Aggregate.MIN, Aggregate.MAX):
            if self._asks(kind):
                result += [f"{kind.lower()}_lower", f"{kind.lower()}_upper"]
        return result

    def _rank(self) -> str:
        """Return the expected rank of the least value among the hits, 1 if there is none."""
        values = self._double("help.group_values")
        rank = f"FLOOR(({values} + 1) / (hits.hits * {values} / help.group_rows + 1) + 0.5)"
        return f"GREATEST(1, LEAST(help.group_values, CAST({rank} AS BIGINT)))"

    def _candidates(self, value: str) -> str:
        """Return the values that may be among each group's hits, with those that surely are (``forced``)."""
        group = self.dialect.identifier(self.tables.group_column)
        keys = "".join(f"matched.{key}, " for key in self._keys)
        return "\n".join(
            [
                f"SELECT {keys}ranked.{value} AS value, "
                "CASE WHEN ranked.hits <= matched.values_lower THEN 1 ELSE 0 END AS forced",
                f"FROM matched JOIN {self._help} AS ranked "
                f"ON ranked.{group} = matched.group_id AND ranked.hits <= matched.values_upper",
            ]
        )

    def _running(self, end: str) -> str:
        """Return cumulative sums over the forced values, then over the others, the best first."""
        partition = f"PARTITION BY {', '.join(self._keys)}" if self._keys else ""
        order = "ASC" if end == "lower" else "DESC"
        best_first = (
            f"{partition} ORDER BY forced DESC, value {order} "
            "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
        ).strip()
        total = f"SUM({self._exact('value')}) OVER ({best_first})"
        return "\n".join(
            [
                f"SELECT {''.join(f'{key}, ' for key in self._keys)}{total} AS total, "
                f"COUNT(*) OVER ({best_first}) AS number, SUM(forced) OVER ({partition}) AS forced",
                f"FROM candidates_{end}",
            ]
        )

    def _answers(self) -> str:
        """Return the rows of ``matched``, and one row per key with the bounds of the average.

        A UNION ALL combines them and GROUP BY merges them, because a join would lose NULL keys.
        """
        keys = "".join(f"{key}, " for key in self._keys)
        columns = [name for name in self._matched_names() if name not in self._keys]
        none = f"CAST(NULL AS {self.dialect.type_name('DOUBLE')})"
        parts = [f"SELECT {keys}{', '.join(columns)}, {none} AS avg_lower, {none} AS avg_upper\nFROM matched"]
        nothing = ", ".join(f"NULL AS {name}" for name in columns)
        grouped = f"\nGROUP BY {', '.join(self._keys)}" if self._keys else ""
        for end, best in (("lower", "MIN"), ("upper", "MAX")):
            average = f"{best}({self._double('total')} / number)"
            ends = (average, "NULL") if end == "lower" else ("NULL", average)
            parts.append(
                f"SELECT {keys}{nothing}, {ends[0]} AS avg_lower, {ends[1]} AS avg_upper\n"
                f"FROM running_{end} WHERE number >= forced{grouped}"
            )
        return "\nUNION ALL\n".join(parts)

    def _matched_names(self) -> list[str]:
        expected = [f"{k.lower()}_expected" for k in (Aggregate.MIN, Aggregate.MAX) if self._asks(k)]
        return [*self._keys, "hits", *self._helped, *expected]

    def _exact(self, sql: str) -> str:
        """Widen a number for summation: Spark sums 64-bit integers within 64 bits."""
        return sql if self.tables.scale is None else self.dialect.wide.format(sql, self.tables.scale)

    def _double(self, sql: str) -> str:
        return self.dialect.cast(sql, "DOUBLE")

    def _bounds(self, selected: SelectedAggregate) -> Sequence[str]:
        """Return the SQL of lower bound, upper bound and estimate of one aggregate."""
        if selected.measure is None or (selected.aggregate is Aggregate.COUNT and not self.tables.has_null):
            return (_ALL_HITS, _ALL_HITS, self._double(_ALL_HITS))
        if selected.aggregate is Aggregate.COUNT:
            counted = [f"COALESCE(SUM({name}), 0)" for name in ("values_lower", "values_upper")]
            return (*counted, f"COALESCE({self._expected('group_values')}, 0)")
        if selected.aggregate is Aggregate.MIN:
            return self._ends("min", "MIN")
        if selected.aggregate is Aggregate.MAX:
            return self._ends("max", "MAX")
        sums = [f"SUM({self._exact(name)})" for name in ("sum_lower", "sum_upper")]
        estimate = self._expected("group_sum")
        if selected.aggregate is Aggregate.SUM:
            if not self.tables.has_null:
                return (*sums, estimate)
            return [f"CASE WHEN SUM(values_upper) > 0 THEN {sql} END" for sql in (*sums, estimate)]
        if self.tables.has_null:
            values = f"NULLIF({self._expected('group_values')}, 0)"
            return ("MAX(avg_lower)", "MAX(avg_upper)", f"{estimate} / {values}")
        return (*(f"{self._double(sql)} / SUM(hits)" for sql in sums), f"{estimate} / SUM(hits)")

    def _ends(self, name: str, best: str) -> Sequence[str]:
        bounds = [f"{best}({name}_lower)", f"{best}({name}_upper)"]
        if self.tables.has_null:
            far, worst = ("upper", "MAX") if best == "MIN" else ("lower", "MIN")
            sure = f"{best}(CASE WHEN values_lower >= 1 THEN {name}_{far} END)"
            bounds[far == "upper"] = f"COALESCE({sure}, {worst}({name}_{far}))"
        return (*bounds, self._double(f"{best}({name}_expected)"))

    def _expected(self, name: str) -> str:
        return f"SUM(hits * {self._double(name)} / group_rows)"


_ALL_HITS = "COALESCE(SUM(hits), 0)"
_RANKED = {Aggregate.MIN: "min", Aggregate.MAX: "max"}
_ENDS = {"min": "lowest", "max": "highest"}


def _indent(sql: str) -> str:
    return "\n".join(f"  {line}" for line in sql.splitlines())


KEY_NUMBER_COLUMN, PACKED_COLUMN = "code", "packed"
_INTEGER_BITS = 31
_MOST_KEYS = 1 << 12
_SHORT = ("TINYINT", "UTINYINT", "SMALLINT", "USMALLINT", "INTEGER")


@dataclass(frozen=True)
class KeyNumbers:
    """Keys of a query in its order; some may not occur.

    ``number`` is the SQL of a key's index among them, over the rows ``r`` and, if ``joined`` is given, the
    table of ``select_numbered_keys``.
    """

    keys: tuple[tuple[Any, ...], ...] = ((),)
    number: str | None = None
    joined: str | None = None

    @property
    def bits(self) -> int:
        """Bits of the greatest number."""
        return max(len(self.keys) - 1, 0).bit_length()


def select_keys(release_query: ReleaseQuery, tables: PermutedTables) -> str:
    """Return a query with one column per key."""
    return f"SELECT {_key_columns(release_query)}\nFROM {tables.release} AS release"


def select_key_ends(release_query: ReleaseQuery, tables: PermutedTables) -> str:
    """Return a query for the least and the greatest value of the only key in the release."""
    return f"SELECT min(key_1), max(key_1) FROM (\n{select_keys(release_query, tables)}\n) AS r"


def number_keys_by_value(
    release_query: ReleaseQuery, dialect: Dialect, kind: str, ends: tuple[Any, Any]
) -> KeyNumbers | None:
    """Number the only key, of type ``kind``, by value, NULL last; None if its ends are far apart."""
    low, high = ends
    if low is None or high - low >= _MOST_KEYS:
        return None
    value = dialect.cast("r.key_1", "INTEGER" if kind in _SHORT else "BIGINT")
    descends = dict(release_query.order).get(0, False)
    number = f"{high} - {value}" if descends else f"{value} - {low}"
    found = range(low, high + 1)
    keys = (*((value,) for value in (reversed(found) if descends else found)), (None,))
    return KeyNumbers(keys, f"coalesce({number}, {len(found)})")


def select_numbered_keys(release_query: ReleaseQuery, tables: PermutedTables, dialect: Dialect) -> str:
    """Return a query for the occurring keys and their numbers (``KEY_NUMBER_COLUMN``), from 0 in order."""
    number = f"row_number() OVER (ORDER BY {', '.join(key_order_terms(release_query))}) - 1"
    rows = f"SELECT DISTINCT {_key_columns(release_query)}\n{matching_rows_clause(release_query, tables)}"
    return (
        f"SELECT {dialect.cast(number, 'INTEGER')} AS {KEY_NUMBER_COLUMN}, * FROM (\n{rows}\n) AS occurring"
    )


def select_packed_hits(
    release_query: ReleaseQuery, tables: PermutedTables, dialect: Dialect, numbers: KeyNumbers, last: int
) -> str:
    """Return a query with one integer per row: group number, at most ``last``, then the bits of the key.

    The integer has 32 bits if they suffice, else 64.
    """
    bits = numbers.bits
    integer_type = "INTEGER" if ((last + 1) << bits).bit_length() <= _INTEGER_BITS else "BIGINT"
    group = dialect.cast(dialect.identifier(tables.group_column), integer_type)
    if numbers.number is None:
        return f"SELECT {group} AS {PACKED_COLUMN}\n{matching_rows_clause(release_query, tables)}"
    rows = (
        f"SELECT {group} AS group_id, {_key_columns(release_query)}\n"
        f"{matching_rows_clause(release_query, tables)}"
    )
    alike = " AND ".join(dialect.same.format(f"r.{name}", f"k.{name}") for name in key_names(release_query))
    joined = "" if numbers.joined is None else f" JOIN {numbers.joined} AS k ON {alike}"
    packed = (
        f"r.group_id * {dialect.cast(str(1 << bits), integer_type)} + "
        f"{dialect.cast(numbers.number, integer_type)}"
    )
    return f"SELECT {packed} AS {PACKED_COLUMN}\nFROM (\n{rows}\n) AS r{joined}"


def _key_columns(release_query: ReleaseQuery) -> str:
    names = key_names(release_query)
    return ", ".join(f"{key.sql} AS {name}" for key, name in zip(release_query.keys, names, strict=True))
