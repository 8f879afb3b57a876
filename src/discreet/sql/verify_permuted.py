"""Checking a permuted release, for the audit alone: groups, and what a help table must say.

Written apart from what makes the release: a group's values are ranked once upwards and once downwards, and a
bound is the sum of the values that must be among j plus those that may be and move it on, not a prefix of one
order. Numbers are computed in decimals of the most digits that any text has, or in doubles.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.sql.names import identifier, literal

DIGITS = 38
_COUNTS = ("j0", "j1", "n", "m")
_NUMBER = r"\s*[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)\s*"
_WITH_EXPONENT = r"\s*[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?\s*"


def pairs_table(name: str, relation: str, group: str, value: str) -> str:
    """Create the table of group texts ``g`` and sensitive texts ``s`` of a source."""
    return f"CREATE TEMP TABLE {identifier(name)} AS SELECT {group} AS g, {value} AS s FROM {relation}"


def group_texts(relation: str, group: str) -> str:
    """The query of groups ``g`` and their rows ``n`` in a source."""
    return f"SELECT {group} AS g, count(*) AS n FROM {relation} GROUP BY g"


def unlike_groups(pairs: str, data: str) -> str:
    """How many groups have other numbers of rows in the data than among the sensitive values."""
    counted = f"SELECT g, count(*) AS n FROM {identifier(pairs)} GROUP BY g"
    return (
        f"SELECT count(*) FROM ({counted}) AS a FULL JOIN ({data}) AS b ON a.g IS NOT DISTINCT FROM b.g "
        "WHERE a.n IS DISTINCT FROM b.n"
    )


def number_facts(pairs: str) -> str:
    """One row: values, plain numbers, numbers with exponents too, most decimals, most whole digits."""
    point = "strpos(trim(s), '.')"
    decimals = f"CASE WHEN {point} = 0 THEN 0 ELSE length(trim(s)) - {point} END"
    plain = f"regexp_full_match(s, {literal(_NUMBER)})"
    return (
        f"SELECT count(s), count(*) FILTER (WHERE {plain}), "
        f"count(*) FILTER (WHERE regexp_full_match(s, {literal(_WITH_EXPONENT)})), "
        f"coalesce(max({decimals}) FILTER (WHERE {plain}), 0), "
        f"coalesce(max(length(trim(s)) - ({decimals})) FILTER (WHERE {plain}), 0) FROM {identifier(pairs)}"
    )


def numbers_table(name: str, pairs: str, type_name: str | None) -> str:
    """Create the table of groups ``g`` by number and values ``v`` (texts where there is no type)."""
    value = "s" if type_name is None else f"CAST(trim(s) AS {type_name})"
    rows = f"SELECT {_whole('g')} AS g, {value} AS v FROM {identifier(pairs)}"
    return f"CREATE TEMP TABLE {identifier(name)} AS {rows}"


def groups_table(name: str, numbers: str, *, numeric: bool) -> str:
    """Create the table of groups: rows ``n``, values ``m``, distinct ones ``d``, ends, range ``w``, sum."""
    ends = "NULL AS w"
    if numeric:
        ends = "min(v) AS low, max(v) AS high, max(v) - min(v) AS w, coalesce(sum(v), 0) AS every"
    rows = f"SELECT g, count(*) AS n, count(v) AS m, {ends} FROM {identifier(numbers)} GROUP BY g"
    several = f"SELECT DISTINCT g, v FROM {identifier(numbers)} WHERE v IS NOT NULL"
    distinct = f"SELECT g, count(*) AS d FROM ({several}) GROUP BY g"
    return (
        f"CREATE TEMP TABLE {identifier(name)} AS SELECT r.*, coalesce(x.d, 0) AS d FROM ({rows}) AS r "
        f"LEFT JOIN ({distinct}) AS x ON r.g IS NOT DISTINCT FROM x.g"
    )


def failing(k: int, least: str | None) -> str:
    """The predicate that a group fails; ``least`` is the smallest range allowed, as a literal."""
    narrow = "" if least is None else f" OR coalesce(w < {least}, TRUE)"
    return f"(g IS NULL OR d < {k}{narrow})"


def totals(groups: str) -> str:
    """One row: groups, rows, smallest group, fewest distinct values, smallest range, rows without a value."""
    return (
        "SELECT count(*), coalesce(sum(n), 0)::BIGINT, coalesce(min(n), 0), coalesce(min(d), 0), "
        f"CAST(min(w) AS VARCHAR), coalesce(sum(n - m), 0)::BIGINT FROM {identifier(groups)}"
    )


def count_groups(groups: str, predicate: str) -> str:
    """The number of groups for which a predicate holds."""
    return f"SELECT count(*) FROM {identifier(groups)} WHERE {predicate}"


def list_groups(groups: str, predicate: str, limit: int) -> str:
    """Rows and number of some groups, the smallest first."""
    found = f"SELECT * FROM {identifier(groups)} WHERE {predicate} ORDER BY n, g LIMIT {limit}"
    return f"SELECT n, CAST(g AS VARCHAR) FROM ({found}) ORDER BY n, g"


def group_sizes(groups: str) -> str:
    """Each size of a group and the number of groups of that size, ascending."""
    return f"SELECT n, count(*) FROM {identifier(groups)} GROUP BY n ORDER BY n"


def unnumbered_groups(pairs: str) -> str:
    """How many groups are not named by one of the numbers 1, 2, …, as many as there are."""
    groups = f"SELECT g, count(*) OVER () AS n FROM (SELECT DISTINCT g FROM {identifier(pairs)})"
    return f"SELECT count(*) FROM ({groups}) WHERE coalesce({_whole('g')} NOT BETWEEN 1 AND n, TRUE)"


def holds_first(groups: str, k: int, least: str | None) -> str:
    """How many of the groups that hold the smallest value meet a requirement of their own."""
    lowest = f"SELECT min(low) FROM {identifier(groups)}"
    narrow = "" if least is None else f" AND w >= {least}"
    return f"SELECT count(*) FROM {identifier(groups)} WHERE low = ({lowest}) AND d >= {k}{narrow}"


def ranked_table(name: str, numbers: str, *, down: bool) -> str:
    """Create the table of each group's values in one direction.

    ``g``, place ``i`` from 1, ``v``, the sum ``whole`` up to it, and ``gain``, that of the values among
    them which move the sum on (negative ones upwards, positive ones downwards).
    """
    order, gains = ("DESC", "greatest(v, 0)") if down else ("ASC", "least(v, 0)")
    return (
        f"CREATE TEMP TABLE {identifier(name)} AS SELECT g, v, row_number() OVER w AS i, "
        f"sum(v) OVER w AS whole, sum({gains}) OVER w AS gain "
        f"FROM {identifier(numbers)} WHERE v IS NOT NULL "
        f"WINDOW w AS (PARTITION BY g ORDER BY v {order} ROWS UNBOUNDED PRECEDING)"
    )


def expected_help(name: str, groups: str, up: str | None, down: str | None) -> str:
    """Create the table of what a help table must hold: ``g, h, j0, j1, n, m`` and, of numbers, its bounds.

    Where every row has a value, h rows have h values: two joins do. Elsewhere each bound has its own place.
    """
    if up is None or down is None:
        return f"CREATE TEMP TABLE {identifier(name)} AS SELECT g, h, j0, j1, n, m FROM ({_hits(groups)})"
    both = f"{_without_null(groups, up, down)} UNION ALL {_with_null(groups, up, down)}"
    return f"CREATE TEMP TABLE {identifier(name)} AS {both}"


def _hits(groups: str, condition: str = "TRUE") -> str:
    """Groups and hits, and between what (``j0``, ``j1``) their values lie in number."""
    hits = f"SELECT *, unnest(range(1, n + 1)) AS h FROM {identifier(groups)} WHERE {condition}"
    return (
        "SELECT *, CASE WHEN h > n - m THEN h - (n - m) ELSE 0 END AS j0, "
        f"CASE WHEN h < m THEN h ELSE m END AS j1 FROM ({hits})"
    )


def _without_null(groups: str, up: str, down: str) -> str:
    return (
        "SELECT x.g, u.i AS h, u.i AS j0, u.i AS j1, x.n, x.m, x.every, u.whole AS b0, w.whole AS b1, "
        "x.low AS b2, w.v AS b3, u.v AS b4, x.high AS b5, u.v AS b6, w.v AS b7 "
        f"FROM {identifier(up)} AS u JOIN {identifier(down)} AS w ON w.g = u.g AND w.i = u.i "
        f"JOIN {identifier(groups)} AS x ON x.g = u.g AND x.n = x.m"
    )


def _with_null(groups: str, up: str, down: str) -> str:
    places = (("0", "x.j0"), ("1", "x.j1"), ("o", "greatest(x.j0, 1)"), ("h", "x.h"))
    joins = " ".join(
        f"LEFT JOIN {identifier(table)} AS {side}{alias} ON {side}{alias}.g = x.g "
        f"AND {side}{alias}.i = {place}"
        for side, table in (("u", up), ("w", down))
        for alias, place in places
    )
    total = "coalesce({0}0.whole, 0) + coalesce({0}1.gain, 0) - coalesce({0}0.gain, 0)"
    some = "CASE WHEN x.j1 > 0 THEN {} END"
    cells = [total.format("u"), total.format("w")]
    cells += [some.format(cell) for cell in ("x.low", "wo.v", "uo.v", "x.high")]
    return (
        f"SELECT x.g, x.h, x.j0, x.j1, x.n, x.m, x.every, {', '.join(cells)}, uh.v, wh.v "
        f"FROM ({_hits(groups, 'n > m')}) AS x {joins}"
    )


def wrong_help(
    expected: str, relation: str, columns: Sequence[str], spread: str | None, *, numeric: bool
) -> str:
    """One row: rows of the help table, those due, and groups and hits of which it says something else.

    ``columns`` are the texts of the help table's columns in order. Exact numbers must be the same; where
    ``spread`` names the table of each group's ``g, slack`` (doubles), sums may differ by that.
    """
    names = ["g", "h", *_COUNTS, *(["every", *(f"b{i}" for i in range(8))] if numeric else [])]
    texts = [_whole(columns[0]), _whole(columns[1]), *columns[2:]]
    given = ", ".join(f"{text} AS {name}" for name, text in zip(names, texts, strict=True))
    found = f"SELECT {given} FROM {relation}"
    unlike = [f"f.{name} IS DISTINCT FROM CAST(e.{name} AS VARCHAR)" for name in _COUNTS]
    if numeric and spread is None:
        unlike += [
            f"{_plain(f'f.{name}')} IS DISTINCT FROM {_plain(f'CAST(e.{name} AS VARCHAR)')}"
            for name in names[-9:]
        ]
    elif numeric:
        unlike += [f"f.b{i} IS DISTINCT FROM CAST(e.b{i} AS VARCHAR)" for i in range(2, 8)]
        unlike += [
            f"coalesce(abs(TRY_CAST(f.{name} AS DOUBLE) - e.{name}) > p.slack, TRUE)"
            for name in ("every", "b0", "b1")
        ]
        unlike += ["coalesce(TRY_CAST(f.b0 AS DOUBLE) > TRY_CAST(f.b1 AS DOUBLE), TRUE)"]
    slack = "" if spread is None else f" LEFT JOIN {identifier(spread)} AS p ON e.g = p.g"
    return (
        f"SELECT (SELECT count(*) FROM {relation}), (SELECT count(*) FROM {identifier(expected)}), "
        f"count(*) FILTER (WHERE e.g IS NULL OR f.g IS NULL OR "
        f"{' OR '.join(unlike)}) FROM {identifier(expected)} AS e FULL JOIN ({found}) AS f "
        f"ON f.g = e.g AND f.h = e.h{slack}"
    )


def _whole(text: str) -> str:
    """The whole number that a text is the plain writing of; NULL where it is of none."""
    number = f"TRY_CAST({text} AS BIGINT)"
    return f"CASE WHEN CAST({number} AS VARCHAR) = {text} THEN {number} END"


def _plain(text: str) -> str:
    """A decimal's text without zeros at its end: 1.50 and 1.5 are one number."""
    return f"CASE WHEN contains({text}, '.') THEN rtrim(rtrim({text}, '0'), '.') ELSE {text} END"


def slack_table(name: str, numbers: str) -> str:
    """Create the table of how far sums of a group's doubles may differ from what is added here."""
    return (
        f"CREATE TEMP TABLE {identifier(name)} AS SELECT g, "
        "(count(v) + 8) * 6e-16 * coalesce(sum(abs(v)), 0) AS slack "
        f"FROM {identifier(numbers)} GROUP BY g"
    )
