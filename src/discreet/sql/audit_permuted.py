"""Audit of a permuted release: its groups, and every row of its help table.

Written independently of the release: values are ranked in both directions, and a bound is the sum of the
values that must be among j and of those that may be. A help table is first compared by sums of salted row
hashes, in one pass over the values; if these differ, row by row. Every function returns SQL text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.sql.dialect import Dialect
from discreet.sql.quoting import identifier, literal
from discreet.sql.row_hashes import row_hash

MOST_DIGITS = 38
_COUNTS = ("j0", "j1", "n", "m")
_NUMBER = "[ ]*[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)[ ]*"
_WITH_EXPONENT = "[ ]*[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?[ ]*"
_TRIMMED = "trim(BOTH ' ' FROM s)"
_LARGEST = "1.7976931348623157e308"


def pairs_table(relation: str, group: str, value: str, *, floating: bool) -> str:
    """Select the group texts ``g`` and sensitive texts ``s`` of a source.

    With ``floating`` values, the two zeros, whose texts differ, become one value.
    """
    value = f"CASE {value} WHEN '-0.0' THEN '0.0' ELSE {value} END" if floating else value
    return f"SELECT {group} AS g, {value} AS s FROM {relation}"


def count_differing_groups(pairs: str, relation: str, group: str) -> str:
    """Count the groups whose row counts in a source differ from those among the sensitive values.

    ``group`` is the text of the group number in that source.
    """
    both = (
        f"SELECT g, 1 AS d FROM {pairs} UNION ALL "
        f"SELECT x.g, -1 AS d FROM (SELECT {group} AS g FROM {relation}) AS x"
    )
    unlike = f"SELECT g FROM ({both}) AS b GROUP BY g HAVING sum(d) <> 0"
    return f"SELECT count(*) FROM ({unlike}) AS u"


def count_small_groups(relation: str, group: str, subject: str, k: int) -> str:
    """Count the groups of fewer than ``k`` people, identified by the text ``subject``."""
    people = f"SELECT x.g FROM (SELECT {group} AS g, {subject} AS u FROM {relation}) AS x"
    return f"SELECT count(*) FROM ({people} GROUP BY x.g HAVING count(DISTINCT x.u) < {k}) AS f"


def number_facts(dialect: Dialect, pairs: str) -> str:
    """Select one row: values, plain numbers, also with exponents, most decimals, most integer digits."""
    point = f"position('.' IN {_TRIMMED})"
    decimals = f"CASE WHEN {point} = 0 THEN 0 ELSE length({_TRIMMED}) - {point} END"
    plain = dialect.full_match.format("s", literal(_NUMBER))
    double = dialect.try_double.format(_TRIMMED)
    finite = f"coalesce(abs({double}) <= {_LARGEST}, FALSE)"
    any_form = f"{dialect.full_match.format('s', literal(_WITH_EXPONENT))} AND {finite}"
    return (
        f"SELECT count(s), count(*) FILTER (WHERE {plain}), count(*) FILTER (WHERE {any_form}), "
        f"coalesce(max({decimals}) FILTER (WHERE {plain}), 0), "
        f"coalesce(max(length({_TRIMMED}) - ({decimals})) FILTER (WHERE {plain}), 0) FROM {pairs}"
    )


def facts_of_exact(dialect: Dialect, relation: str, value: str, kind: str, decimals: int) -> str:
    """Select ``number_facts`` of a column of exact numbers of a house type, without a text per row.

    The longest text is that of the minimum or of the maximum.
    """
    least, most = (f"length({dialect.text(f'{end}({value})', kind)})" for end in ("min", "max"))
    values = f"count({value})"
    return (
        f"SELECT {values}, {values}, {values}, CASE WHEN {values} > 0 THEN {decimals} ELSE 0 END, "
        f"coalesce(greatest({least}, {most}) - {decimals}, 0) FROM {relation}"
    )


def numbers_table(dialect: Dialect, pairs: str, house: str | None, *, integers: bool = False) -> str:
    """Select the group numbers ``g`` and values ``v`` (texts if ``house`` is None).

    ``integers`` means that the texts of all groups are integers. A negative zero becomes zero, because
    groupings distinguish doubles by more than their value.
    """
    value = "s" if house is None else dialect.cast(_TRIMMED, house)
    value = f"{value} + 0" if house == "DOUBLE" else value
    group = dialect.cast("g", "BIGINT") if integers else _whole(dialect, "g")
    return f"SELECT {group} AS g, {value} AS v FROM {pairs}"


def exact_numbers_table(dialect: Dialect, relation: str, group: str, value: str, house: str) -> str:
    """Select ``numbers_table`` from a relation with an integer group and an exact numeric value."""
    return f"SELECT {dialect.cast(group, 'BIGINT')} AS g, {dialect.cast(value, house)} AS v FROM {relation}"


def audited_groups_table(dialect: Dialect, numbers: str, *, numeric: bool) -> str:
    """Select the groups: rows ``n``, values ``m``, distinct values ``d``, ends, range ``w``, sum ``every``.

    Rows are grouped by group and value first, and the result by group: groupings may spill to disk, a
    distinct count may not.
    """
    total, ends = "", f"{dialect.cast('NULL', 'DOUBLE')} AS w"
    if numeric:
        total = ", sum(v) AS total"
        ends = "min(v) AS low, max(v) AS high, max(v) - min(v) AS w, coalesce(sum(total), 0) AS every"
    by_value = f"SELECT g, v, count(*) AS c{total} FROM {identifier(numbers)} GROUP BY g, v"
    valued = "CASE WHEN v IS NULL THEN 0 ELSE c END"
    return (
        f"SELECT g, CAST(sum(c) AS BIGINT) AS n, CAST(sum({valued}) AS BIGINT) AS m, count(v) AS d, {ends} "
        f"FROM ({by_value}) AS x GROUP BY g"
    )


def failing_group_predicate(k: int, least: str | None) -> str:
    """Return the predicate that a group fails; ``least`` is the smallest allowed range, as a literal."""
    narrow = "" if least is None else f" OR coalesce(w < {least}, TRUE)"
    return f"(g IS NULL OR d < {k}{narrow})"


def audited_group_totals(dialect: Dialect, groups: str, house: str | None) -> str:
    """Select one row: groups, rows, least group, fewest values, least range, rows without a value."""
    return (
        "SELECT count(*), CAST(coalesce(sum(n), 0) AS BIGINT), coalesce(min(n), 0), coalesce(min(d), 0), "
        f"{dialect.text('min(w)', house or 'DOUBLE')}, CAST(coalesce(sum(n - m), 0) AS BIGINT) "
        f"FROM {identifier(groups)}"
    )


def count_groups(groups: str, predicate: str) -> str:
    """Count the groups that satisfy a predicate."""
    return f"SELECT count(*) FROM {identifier(groups)} WHERE {predicate}"


def list_groups(dialect: Dialect, groups: str, predicate: str, limit: int) -> str:
    """Select rows and number of up to ``limit`` groups, smallest first."""
    group = dialect.text("g", "BIGINT")
    return f"SELECT n, {group} FROM {identifier(groups)} WHERE {predicate} ORDER BY n, g LIMIT {limit}"


def group_sizes(groups: str) -> str:
    """Count the groups of each size, in ascending order of size."""
    return f"SELECT n, count(*) FROM {identifier(groups)} GROUP BY n ORDER BY n"


def unnumbered_groups(dialect: Dialect, relation: str, *, integers: bool) -> str:
    """Count the groups ``g`` of a relation that are not numbered 1, 2, …, up to the number of groups.

    ``integers`` means that ``g`` is an integer instead of a text.
    """
    groups = f"SELECT DISTINCT g FROM {relation}"
    number = "x.g" if integers else _whole(dialect, "x.g")
    return (
        f"SELECT count(*) FROM ({groups}) AS x CROSS JOIN (SELECT count(*) AS n FROM ({groups}) AS y) AS z "
        f"WHERE coalesce({number} < 1 OR {number} > z.n, TRUE)"
    )


def count_lowest_groups_meeting(groups: str, k: int, least: str | None) -> str:
    """Count the groups that contain the smallest value and satisfy a requirement for such groups."""
    lowest = f"SELECT min(low) FROM {identifier(groups)}"
    narrow = "" if least is None else f" AND w >= {least}"
    return f"SELECT count(*) FROM {identifier(groups)} WHERE low = ({lowest}) AND d >= {k}{narrow}"


def ranked_table(numbers: str, *, down: bool, part: str = "TRUE") -> str:
    """Select the values of each group, ranked in one direction.

    Columns: ``g``, rank ``i`` from 1, ``v``, the sum ``whole`` up to it, and ``gain``, the sum of those
    values among them that extend the bound (negative values upwards, positive values downwards).
    """
    # ROWS, because the default RANGE would add up equal values in one step.
    order, gains = ("DESC", "greatest(v, 0)") if down else ("ASC", "least(v, 0)")
    return (
        "SELECT g, v, row_number() OVER w AS i, "
        f"sum(v) OVER w AS whole, sum({gains}) OVER w AS gain "
        f"FROM {identifier(numbers)} WHERE v IS NOT NULL AND {part} "
        f"WINDOW w AS (PARTITION BY g ORDER BY v {order} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    )


def slice_predicate(number: str, slices: int, slice_index: int) -> str:
    """Return the predicate that a group number (NULL too) belongs to slice ``slice_index`` of ``slices``."""
    return "TRUE" if slices == 1 else f"mod(abs(coalesce({number}, 0)), {slices}) = {slice_index}"


def expected_help(dialect: Dialect, groups: str, part: str, up: str | None, down: str | None) -> str:
    """Select the help-table rows that are due for the groups ``part``: ``g, h, j0, j1, n, m`` and the bounds.

    Numbers only have bounds. Where every row has a value, h rows have h values, and two joins suffice.
    Otherwise each bound is looked up at its own rank.
    """
    if up is None or down is None:
        return f"SELECT g, h, j0, j1, n, m FROM ({_hits(dialect, groups, part)}) AS x"
    return f"{_without_null(groups, up, down)} UNION ALL {_with_null(dialect, groups, part, up, down)}"


def _hits(dialect: Dialect, groups: str, condition: str) -> str:
    """Select groups and hits with ``j0`` and ``j1``, the fewest and most values among ``h`` rows."""
    hits = f"SELECT *, {dialect.numbers_to.format('n')} AS h FROM {identifier(groups)} WHERE {condition}"
    return (
        "SELECT *, CASE WHEN h > n - m THEN h - (n - m) ELSE 0 END AS j0, "
        f"CASE WHEN h < m THEN h ELSE m END AS j1 FROM ({hits}) AS of_hits"
    )


def _without_null(groups: str, up: str, down: str) -> str:
    # The h-th value from below (u) and from above (w) give all bounds of h rows: least and largest sum
    # (b0, b1), then lower and upper bounds of minimum (b2, b3), maximum (b4, b5), and two ends (b6, b7).
    return (
        "SELECT x.g, u.i AS h, u.i AS j0, u.i AS j1, x.n, x.m, x.every, u.whole AS b0, w.whole AS b1, "
        "x.low AS b2, w.v AS b3, u.v AS b4, x.high AS b5, u.v AS b6, w.v AS b7 "
        f"FROM {identifier(up)} AS u JOIN {identifier(down)} AS w ON w.g = u.g AND w.i = u.i "
        f"JOIN {identifier(groups)} AS x ON x.g = u.g AND x.n = x.m"
    )


def _with_null(dialect: Dialect, groups: str, part: str, up: str, down: str) -> str:
    # The first j0 values must be among the h rows; up to j1 may be, and are added where they extend the sum.
    places = (("0", "x.j0"), ("1", "x.j1"), ("o", "greatest(x.j0, 1)"), ("h", "x.h"))
    joins = " ".join(
        f"LEFT JOIN {identifier(table)} AS {side}{alias} ON {side}{alias}.g = x.g "
        f"AND {side}{alias}.i = {position}"
        for side, table in (("u", up), ("w", down))
        for alias, position in places
    )
    total = "coalesce({0}0.whole, 0) + coalesce({0}1.gain, 0) - coalesce({0}0.gain, 0)"
    some = "CASE WHEN x.j1 > 0 THEN {} END"
    cells = [total.format("u"), total.format("w")]
    cells += [some.format(cell) for cell in ("x.low", "wo.v", "uo.v", "x.high")]
    return (
        f"SELECT x.g, x.h, x.j0, x.j1, x.n, x.m, x.every, {', '.join(cells)}, uh.v, wh.v "
        f"FROM ({_hits(dialect, groups, f'n > m AND {part}')}) AS x {joins}"
    )


@dataclass(frozen=True)
class PublishedHelp:
    """A published help table: a relation, and the texts of its columns in order.

    Columns that are ``exact`` are exact numbers instead of texts and are compared unchanged.
    """

    relation: str
    columns: Sequence[str]
    exact: Sequence[bool]

    def rows(self, dialect: Dialect, names: Sequence[str], slices: int, index: int) -> str:
        """Select a slice of the rows under the given names; rows without a group belong to slice 0."""
        places = [
            dialect.cast(column, "BIGINT") if exact else _whole(dialect, column)
            for column, exact in zip(self.columns[:2], self.exact, strict=False)
        ]
        texts = [*places, *self.columns[2:]]
        named = ", ".join(f"{text} AS {name}" for name, text in zip(names, texts, strict=True))
        found = f"SELECT {named} FROM {self.relation}"
        return (
            found
            if slices == 1
            else f"SELECT * FROM ({found}) AS y WHERE {slice_predicate('g', slices, index)}"
        )


def count_wrong_help(
    dialect: Dialect,
    expected: str,
    published_help: PublishedHelp,
    spread: str | None,
    house: str | None,
    slices: int = 1,
    slice_index: int = 0,
) -> str:
    """Count the (group, hits) rows of a slice that a help table lacks, has in excess or has wrong.

    ``expected`` is the query of the rows that are due, ``house`` the type of their numbers (None: no
    numbers). A duplicate row is not detected. Exact numbers must be equal; if ``spread`` names the table of
    ``g, slack`` (doubles), sums may differ by the slack of their group.
    """
    names = ["g", "h", *_COUNTS, *(["every", *(f"b{i}" for i in range(8))] if house else [])]
    found = published_help.rows(dialect, names, slices, slice_index)
    as_numbers = {name for name, is_exact in zip(names, published_help.exact, strict=True) if is_exact}
    unlike = [
        f"f.{name} IS DISTINCT FROM "
        + (f"e.{name}" if name in as_numbers else dialect.text(f"e.{name}", "BIGINT"))
        for name in _COUNTS
    ]
    exact, rounded = names[6:], list[str]()
    if spread is not None:
        exact, rounded = [f"b{i}" for i in range(2, 8)], ["every", "b0", "b1"]
    for name in exact:
        if name in as_numbers:
            unlike.append(f"f.{name} IS DISTINCT FROM e.{name}")
            continue
        published, due = f"f.{name}", dialect.text(f"e.{name}", house or "")
        differs = f"{published} IS DISTINCT FROM {due}"
        if spread is None:
            differs = f"({differs} AND {_plain(published)} IS DISTINCT FROM {_plain(due)})"
        unlike.append(differs)
    double = {name: dialect.try_double.format(f"f.{name}") for name in rounded}
    unlike += [f"coalesce(abs({double[name]} - e.{name}) > p.slack, TRUE)" for name in rounded]
    if rounded:
        unlike += [f"coalesce({double['b0']} > {double['b1']}, TRUE)"]
    slack = "" if spread is None else f" LEFT JOIN {identifier(spread)} AS p ON e.g = p.g"
    return (
        f"SELECT count(*) FILTER (WHERE e.g IS NULL OR f.g IS NULL OR {' OR '.join(unlike)}) "
        f"FROM ({expected}) AS e FULL JOIN ({found}) AS f "
        f"ON f.g = e.g AND f.h = e.h{slack}"
    )


def slack_table(numbers: str) -> str:
    """Select the tolerated difference of sums of each group's doubles."""
    return (
        "SELECT g, (count(v) + 8) * 6e-16 * coalesce(sum(abs(v)), 0) AS slack "
        f"FROM {identifier(numbers)} GROUP BY g"
    )


def _whole(dialect: Dialect, text: str) -> str:
    """Return the integer whose plain notation a text is; NULL for any other text."""
    number = dialect.try_whole.format(text)
    return f"CASE WHEN {dialect.text(number, 'BIGINT')} = {text} THEN {number} END"


def _plain(text: str) -> str:
    """Return a decimal's text without trailing zeros, since 1.50 and 1.5 are equal."""
    bare = f"trim(TRAILING '.' FROM trim(TRAILING '0' FROM {text}))"
    return f"CASE WHEN position('.' IN {text}) > 0 THEN {bare} ELSE {text} END"


VALUE_DIGITS = MOST_DIGITS // 2
"""Most digits of a value: with more, the running sum could exceed the digits of an exact number."""
_FROM_BELOW = (0, 1, 2, 3, 4, 5, 6, 7, 9, 11, 12, 13)
_FROM_ABOVE = (0, 1, 8, 10, 14)
LARGEST_SUM = 9e17
"""Upper limit of any sum, in units of the last decimal, so that it fits in 18 digits."""
COUNT_COLUMNS = 6
"""Number of leading columns of a help table that are counts."""


def group_kinds(dialect: Dialect, groups: str) -> str:
    """Select one row: groups without a number or with missing values, and a bound on any group's sum."""
    low, high, rows = (dialect.cast(name, "DOUBLE") for name in ("low", "high", "m"))
    return (
        "SELECT count(*) FILTER (WHERE n <> m OR g IS NULL), "
        f"coalesce(max({rows} * greatest(abs({low}), abs({high}))), 0) FROM {identifier(groups)}"
    )


def expected_sums(dialect: Dialect, groups: str, numbers: str, scale: int, salt: int) -> str:
    """Select one row: the number of rows that are due, and the sums of the hashes of their two halves."""
    running = "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
    ordered = f"SELECT g, v FROM {identifier(numbers)} ORDER BY g, v"
    values = (
        f"SELECT g, v, row_number() OVER () AS place, sum(v) OVER ({running}) AS upto FROM ({ordered}) AS o"
    )
    # Cast per group, and once per value: DuckDB casts sums (HUGEINT) to BIGINT slowly.
    exact = _exact_type(scale)
    ends = ", ".join(f"{dialect.cast(name, exact)} AS {name}" for name in ("every", "low", "high"))
    starts = (
        f"SELECT g, m, {ends}, {dialect.cast('sum(m) OVER w - m', 'BIGINT')} AS places, "
        f"sum(every) OVER w - every AS before FROM {identifier(groups)} WINDOW w AS (ORDER BY g {running})"
    )
    rows = (
        f"SELECT s.g, {dialect.cast('x.v', exact)} AS v, x.place - s.places AS i, "
        f"{dialect.cast('x.upto - s.before', exact)} AS least, s.m, s.every, s.low, s.high "
        f"FROM ({values}) AS x JOIN ({starts}) AS s ON s.g = x.g"
    )
    below = ["g", "i", "i", "i", "m", "m", "every", "least", "low", "v", "high", "v"]
    above = ["g", "m + 1 - i", "every - least + v", "v", "v"]
    low = _hashed(dialect, below, _FROM_BELOW, scale, salt)
    return _sums(dialect, f"({rows}) AS r", low, _hashed(dialect, above, _FROM_ABOVE, scale, salt))


def expected_counts(dialect: Dialect, groups: str, salt: int) -> str:
    """Select ``expected_sums`` for values that are not numbers: the number of rows, and one sum."""
    cells = ["g", "h", "j0", "j1", "n", "m"]
    hashed = _hashed(dialect, cells, range(COUNT_COLUMNS), 0, salt)
    return _sums(dialect, f"({expected_help(dialect, groups, 'TRUE', None, None)}) AS r", hashed)


def published_sums(dialect: Dialect, relation: str, columns: Sequence[str], scale: int, salt: int) -> str:
    """Select ``expected_sums`` or ``expected_counts`` of a published help table of exact numbers."""
    if len(columns) == COUNT_COLUMNS:
        return _sums(dialect, relation, _hashed(dialect, columns, range(COUNT_COLUMNS), 0, salt))
    low, high = (
        _hashed(dialect, [columns[i] for i in half], half, scale, salt) for half in (_FROM_BELOW, _FROM_ABOVE)
    )
    return _sums(dialect, relation, low, high)


def _hashed(dialect: Dialect, cells: Sequence[str], places: Sequence[int], scale: int, salt: int) -> str:
    """Return the hash of some cells of a help-table row, in types that both sides share.

    The types have the size of a BIGINT, because DuckDB gives equal hashes to some larger numbers of one type,
    for example to 0 and -1.
    """
    typed = [
        dialect.cast(cell, "BIGINT" if position < COUNT_COLUMNS else _exact_type(scale))
        for cell, position in zip(cells, places, strict=True)
    ]
    return row_hash(dialect, [dialect.cast(str(salt), "BIGINT"), *typed])


def _exact_type(scale: int) -> str:
    return "BIGINT" if scale == 0 else f"DECIMAL(18,{scale})"


def _sums(dialect: Dialect, relation: str, first: str, second: str = "0") -> str:
    added = ", ".join(dialect.hash_sum.format(name) for name in ("a", "b"))
    return f"SELECT count(*), {added} FROM (SELECT {first} AS a, {second} AS b FROM {relation}) AS h"
