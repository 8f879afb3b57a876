"""Permutation of sensitive values within groups: staged rows, value codes and released rows.

If the rows are in this process, a loaded table contains each row's group and the row that its value comes
from ("by arrays" below). Inside a database, rows of one value and row type form a stratum: Python assigns
counts of each stratum to groups, and the database draws the rows and the permutation by two rankings of
random keys. Released rows have neither row numbers nor keys. Every function returns SQL text.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.sql.cell_expressions import LONG_DIGITS, to_units, unpivot
from discreet.sql.dialect import Dialect
from discreet.sql.quoting import identifier, literal
from discreet.sql.recoded_rows import POSITION, SORT_KEYS, key_name

ROW_NUMBER, SOURCE_ROW, GROUP_NUMBER, MOVED_VALUE = "row_number", "source_row", "group_number", "moved_value"
DISTINCT_TEXT, VALUE_CODE, VALUE_NUMBER = "text", "code", "number"
STRATUM, STRATUM_ROWS, FIRST_SEAT = "stratum", "n", "first_seat"
EXACT_DIGITS = 38

STORED_ROW = "rowid"
"""The embedded engine's row number of a stored table, from 0, in the order in which it reads the rows."""
_NUMBERED = f"{STORED_ROW} AS {ROW_NUMBER}"
_SEAT, _PLACE = "seat", "place"
_ROW_DRAW, _VALUE_DRAW = "row_draw", "value_draw"
_LARGEST_DOUBLE = "1.7976931348623157e308"
_PLAIN = "[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)"
_ANY = _PLAIN + "([eE][+-]?[0-9]{1,3})?"


def row_number_type(rows: int) -> str:
    """Return the house type of row numbers below ``rows``, and of -1; by arrays."""
    return "INTEGER" if rows < 1 << 31 else "BIGINT"


def row_leaf_codes(staged: str, keys: int) -> str:
    """Select the leaf codes of every row, in no order: ``row_number``, ``q0``, …; by arrays."""
    codes = ", ".join(f"CAST({key_name(i)} AS INTEGER) AS {key_name(i)}" for i in range(keys))
    return f"SELECT {_NUMBERED}, {codes} FROM {identifier(staged)}"


def distinct_texts(staged: str, text: str, value: str | None = None) -> str:
    """Select the distinct texts of a column, without NULL.

    If they are texts of numbers, ``value`` is the staged column of those numbers: only distinct ones are
    converted.
    """
    rows = (
        identifier(staged) if value is None else f"(SELECT DISTINCT {value} FROM {identifier(staged)}) AS d"
    )
    texts = f"SELECT DISTINCT {text} AS {DISTINCT_TEXT} FROM {rows}"
    return f"SELECT x.{DISTINCT_TEXT} FROM ({texts}) AS x WHERE x.{DISTINCT_TEXT} IS NOT NULL"


def counted_texts(staged: str, text: str) -> str:
    """Select ``distinct_texts`` with the number of rows that have each."""
    texts = f"SELECT {text} AS {DISTINCT_TEXT} FROM {identifier(staged)}"
    return (
        f"SELECT {DISTINCT_TEXT}, count(*) AS {STRATUM_ROWS} FROM ({texts}) AS x "
        f"WHERE {DISTINCT_TEXT} IS NOT NULL GROUP BY {DISTINCT_TEXT}"
    )


def kinds_of_texts(dialect: Dialect, texts: str) -> str:
    """Select one row: texts, plain decimals, numbers of any form, most decimals, most integer digits."""
    number = _trimmed(DISTINCT_TEXT)
    plain = dialect.full_match.format(number, literal(_PLAIN))
    double = dialect.try_double.format(number)
    finite = f"coalesce(abs({double}) <= {_LARGEST_DOUBLE}, FALSE)"
    any_form = f"{dialect.full_match.format(number, literal(_ANY))} AND {finite}"
    # Leading zeros and the sign are not counted as digits.
    integer_digits = f"length(trim(LEADING '+-0' FROM split_part({number}, '.', 1)))"
    return (
        f"SELECT count(*), count(*) FILTER (WHERE {plain}), count(*) FILTER (WHERE {any_form}), "
        f"coalesce(max(length(split_part({number}, '.', 2))) FILTER (WHERE {plain}), 0), "
        f"coalesce(max({integer_digits}) FILTER (WHERE {plain}), 0) FROM {identifier(texts)}"
    )


def number_of(dialect: Dialect, text: str, scale: int | None) -> str:
    """Return the number that a cell's text denotes: exact with ``scale`` decimals, or a double if None.

    A negative zero becomes zero: it is equal, but forms a separate group and has another text.
    """
    number = dialect.cast(_trimmed(text), number_type(scale))
    return number if scale is not None else f"({number} + 0)"


def number_type(scale: int | None) -> str:
    """Return the house type for computing with exact numbers of ``scale`` decimals, or with doubles.

    Exact numbers have 63 bits in units of the last decimal, so 19 digits suffice; the rest of the 38 digits
    serves their sums.
    """
    return "DOUBLE" if scale is None else f"DECIMAL({max(LONG_DIGITS, scale)},{scale})"


def exact_numbers(dialect: Dialect, texts: str, scale: int) -> str:
    """Select the largest magnitude of the exact numbers, as a decimal, and the texts in another notation."""
    house = f"DECIMAL({EXACT_DIGITS},{scale})"
    number = dialect.cast(_trimmed(DISTINCT_TEXT), house)
    unlike = f"{dialect.text(number, house)} <> {DISTINCT_TEXT}"
    return f"SELECT max(abs({number})), count(*) FILTER (WHERE {unlike}) FROM {identifier(texts)}"


def codes_by_number(dialect: Dialect, texts: str, scale: int | None) -> str:
    """Select texts with codes from 0 in the order of their numbers; equal numbers share one code.

    All other columns of the table of texts are retained.
    """
    number = number_of(dialect, DISTINCT_TEXT, scale)
    ranked = f"dense_rank() OVER (ORDER BY {VALUE_NUMBER}) - 1"
    return (
        f"SELECT x.*, {ranked} AS {VALUE_CODE} FROM (SELECT *, {number} AS {VALUE_NUMBER} "
        f"FROM {identifier(texts)}) AS x"
    )


def codes_by_text(dialect: Dialect, texts: str) -> str:
    """Select the table of texts with codes from 0 in the order of the texts; other columns are retained."""
    ranked = f"row_number() OVER (ORDER BY {dialect.binary_order.format(DISTINCT_TEXT)}) - 1"
    return f"SELECT t.*, {ranked} AS {VALUE_CODE} FROM {identifier(texts)} AS t"


def number_of_codes(codes: str) -> str:
    """Count the codes."""
    return f"SELECT coalesce(max({VALUE_CODE}) + 1, 0) FROM {identifier(codes)}"


def numbers_by_code(dialect: Dialect, codes: str, scale: int | None) -> str:
    """Select the number of each code, by code: integers in units of the last decimal, or doubles."""
    number = f"min({VALUE_NUMBER})"
    if scale is not None:
        number_text = dialect.text(dialect.cast(number, number_type(scale)), number_type(scale))
        # Without its point, the text is the number in units of its last decimal.
        number = f"CAST(replace({number_text}, '.', '') AS BIGINT)"
    return (
        f"SELECT {number} AS {VALUE_NUMBER} FROM {identifier(codes)} GROUP BY {VALUE_CODE} "
        f"ORDER BY {VALUE_CODE}"
    )


def codes_of_rows(staged: str, text: str, codes: str, rows: int) -> str:
    """Select the code of every row's text, -1 for NULL, in no order: ``row_number``, ``code``; by arrays."""
    return _codes_by(staged, text, codes, DISTINCT_TEXT, rows)


def codes_of_numbers(dialect: Dialect, staged: str, value: str, codes: str, scale: int, rows: int) -> str:
    """Select ``codes_of_rows`` for a staged column of exact numbers with ``scale`` decimals."""
    units = to_units(dialect, value, scale)
    return _codes_by(staged, units, codes, to_units(dialect, VALUE_NUMBER, scale), rows)


def _codes_by(staged: str, cell: str, codes: str, coded: str, rows: int) -> str:
    return (
        f"SELECT CAST(h.{ROW_NUMBER} AS {row_number_type(rows)}) AS {ROW_NUMBER}, "
        f"CAST(coalesce(c.{VALUE_CODE}, -1) AS {row_number_type(rows)}) AS {VALUE_CODE} "
        f"FROM (SELECT {_NUMBERED}, {cell} AS {MOVED_VALUE} FROM {identifier(staged)}) AS h "
        f"LEFT JOIN (SELECT {VALUE_CODE}, {coded} AS {MOVED_VALUE} FROM {identifier(codes)}) AS c "
        f"ON h.{MOVED_VALUE} = c.{MOVED_VALUE}"
    )


def row_subjects(staged: str, subject: str) -> str:
    """Number the subject of every row, from 0, in no order: ``row_number``, ``code``; by arrays."""
    number = f"CAST(dense_rank() OVER (ORDER BY {subject}) - 1 AS BIGINT)"
    return (
        f"SELECT {_NUMBERED}, {number} AS {VALUE_CODE} FROM {identifier(staged)} WHERE {subject} IS NOT NULL"
    )


def value_carriers(staged: str, grouped: str, subject: str, value: str) -> str:
    """Select the distinct ``group_number``, ``code`` and ``subject`` of rows with a value; by arrays.

    ``grouped`` has ``row_number``, the group and the value's code (-1 for none) of each published row.
    """
    person = f"CAST(dense_rank() OVER (ORDER BY h.{subject}) AS BIGINT) AS {value}"
    return (
        f"SELECT DISTINCT g.{GROUP_NUMBER} AS {GROUP_NUMBER}, g.{VALUE_CODE} AS {VALUE_CODE}, {person} "
        f"FROM {identifier(grouped)} AS g JOIN {identifier(staged)} AS h ON h.{STORED_ROW} = g.{ROW_NUMBER} "
        f"WHERE g.{VALUE_CODE} >= 0 ORDER BY 1, 2, 3"
    )


def non_integer_counts(dialect: Dialect, staged: str, columns: Sequence[str]) -> str:
    """Count, by index of a column of texts, the cells that are not the plain text of an integer.

    A column of NULLs only has no line.
    """
    number = dialect.text(dialect.try_whole.format("v"), "BIGINT")
    turned = unpivot(dialect, identifier(staged), columns)
    return (
        f"SELECT place, count(*) FILTER (WHERE {number} IS DISTINCT FROM v) FROM ({turned}) AS c "
        "WHERE v IS NOT NULL GROUP BY place"
    )


def without_negative_zero(column: str, *, as_text: bool) -> str:
    """Return a floating-point number, or its canonical text, without the sign of a zero.

    Two zeros are equal: a group of both has one value.
    """
    if as_text:
        return f"CASE WHEN {column} = '-0.0' THEN '0.0' ELSE {column} END"
    return f"CASE WHEN {column} = 0 THEN abs({column}) ELSE {column} END"


def moved_rows(staged: str, move: str, other_columns: Sequence[str], value: str) -> str:
    """Build the released rows before shuffling: ``other_columns`` columns, group and moved value; by arrays.

    ``move`` has ``row_number``, ``source_row`` and ``group_number``; ``value`` is an expression over the
    staged table. Rows that are not in ``move`` are left out.
    """
    columns = "".join(f"h.{column} AS {column}, " for column in other_columns)
    values = f"SELECT {_NUMBERED}, {value} AS {MOVED_VALUE} FROM {identifier(staged)}"
    return (
        f"SELECT {columns}CAST(m.{GROUP_NUMBER} AS BIGINT) AS {GROUP_NUMBER}, "
        f"s.{MOVED_VALUE} AS {MOVED_VALUE} FROM {identifier(move)} AS m "
        f"JOIN {identifier(staged)} AS h ON h.{STORED_ROW} = m.{ROW_NUMBER} "
        f"JOIN ({values}) AS s ON s.{ROW_NUMBER} = m.{SOURCE_ROW}"
    )


def strata(staged: str, text: str, codes: str, keys: int) -> str:
    """Number the strata from 0 by value: ``stratum``, ``code`` (-1 for NULL), ``q0``, …, ``n``.

    ``keys`` is 0 if groups do not depend on quasi-identifiers: then ``codes``, built from ``counted_texts``,
    already contains all counts except that of the rows without a value.
    """
    named = ", ".join([VALUE_CODE, *(key_name(i) for i in range(keys))])
    of_rows = f"SELECT {_all_keys(keys)}{text} AS {DISTINCT_TEXT} FROM {identifier(staged)}"
    by_text = ", ".join([DISTINCT_TEXT, *(key_name(i) for i in range(keys))])
    counted = f"SELECT {by_text}, count(*) AS {STRATUM_ROWS} FROM ({of_rows}) AS r GROUP BY {by_text}"
    coded = (
        f"SELECT {_all_keys(keys)}coalesce(c.{VALUE_CODE}, -1) AS {VALUE_CODE}, r.{STRATUM_ROWS} "
        f"FROM ({counted}) AS r LEFT JOIN {identifier(codes)} AS c ON r.{DISTINCT_TEXT} = c.{DISTINCT_TEXT}"
    )
    if not keys:
        none = (
            f"SELECT -1 AS {VALUE_CODE}, count(*) AS {STRATUM_ROWS} FROM ({of_rows}) AS r "
            f"WHERE {DISTINCT_TEXT} IS NULL"
        )
        coded = (
            f"SELECT {VALUE_CODE}, {STRATUM_ROWS} FROM {identifier(codes)} UNION ALL {none} "
            "HAVING count(*) > 0"
        )
    grouped = f"SELECT {named}, sum({STRATUM_ROWS}) AS {STRATUM_ROWS} FROM ({coded}) AS x GROUP BY {named}"
    number = f"row_number() OVER (ORDER BY {named}) - 1"
    return (
        f"SELECT {number} AS {STRATUM}, {named}, CAST({STRATUM_ROWS} AS BIGINT) AS {STRATUM_ROWS} "
        f"FROM ({grouped}) AS y"
    )


def strata_in_order(table: str, keys: int) -> str:
    """Select the strata in the order of their numbers, as numbers: ``code``, ``q0``, …, ``n``."""
    names = [VALUE_CODE, *(key_name(i) for i in range(keys)), STRATUM_ROWS]
    columns = ", ".join(f"CAST({name} AS BIGINT) AS {name}" for name in names)
    return f"SELECT {columns} FROM {identifier(table)} ORDER BY {STRATUM}"


def rows_with_random_keys(
    dialect: Dialect,
    staged: str,
    text: str,
    codes: str,
    table: str,
    keys: int,
    other_columns: Sequence[str],
    value: str,
    full_strata: str,
) -> str:
    """Build the rows with two random keys, their ``stratum``, the ``other_columns`` columns and the value.

    ``full_strata`` has ``stratum`` and ``group_number`` of the strata that belong to one group entirely:
    their rows take that group. Keys are drawn once and stored, so that later rankings by them are
    reproducible. Rows that have their group need no key for ranking rows, unless the engine may read stored
    rows in another order when it computes a ranking again.
    """
    # Texts are joined to the strata first, which are fewer than rows; the one without a value has NULL.
    keyed = (
        f"SELECT x.*, c.{DISTINCT_TEXT} AS {DISTINCT_TEXT}, w.{GROUP_NUMBER} AS {GROUP_NUMBER} "
        f"FROM {identifier(table)} AS x "
        f"LEFT JOIN {identifier(codes)} AS c ON c.{VALUE_CODE} = x.{VALUE_CODE} "
        f"LEFT JOIN {identifier(full_strata)} AS w ON w.{STRATUM} = x.{STRATUM}"
    )
    same = [
        dialect.same_text.format(f"h.{DISTINCT_TEXT}", f"x.{DISTINCT_TEXT}"),
        *(f"h.{key_name(i)} = x.{key_name(i)}" for i in range(keys)),
    ]
    columns = "".join(f"h.{column} AS {column}, " for column in other_columns)
    rows = (
        f"SELECT {', '.join([*other_columns, ''])}{value} AS {MOVED_VALUE}, {text} AS {DISTINCT_TEXT} "
        f"FROM {identifier(staged)}"
    )
    drawn = dialect.random_key
    if dialect.keeps_stored_order:
        drawn = f"CASE WHEN x.{GROUP_NUMBER} IS NULL THEN {drawn} END"
    return (
        f"SELECT {columns}h.{MOVED_VALUE} AS {MOVED_VALUE}, x.{STRATUM} AS {STRATUM}, x.{GROUP_NUMBER} AS "
        f"{GROUP_NUMBER}, {drawn} AS {_ROW_DRAW}, {dialect.random_key} AS {_VALUE_DRAW} FROM ({rows}) AS h "
        f"JOIN ({keyed}) AS x ON {' AND '.join(same)}"
    )


def seats(dialect: Dialect, parts: str) -> str:
    """Build the positions in strata, from 0, with the group of each.

    ``parts`` has ``stratum``, ``group_number``, the ``first_seat`` of a part and its rows ``n``.
    """
    numbers = (
        f"SELECT {STRATUM}, {GROUP_NUMBER}, {FIRST_SEAT}, {dialect.numbers_to.format(STRATUM_ROWS)} AS i "
        f"FROM {identifier(parts)}"
    )
    return f"SELECT {STRATUM}, {GROUP_NUMBER}, {FIRST_SEAT} + i - 1 AS {_SEAT} FROM ({numbers}) AS p"


def seated_rows(keyed: str, seated: str, other_columns: Sequence[str]) -> str:
    """Build the rows of strata that are divided among groups, each with the group of its seat.

    The rows of such a stratum take its seats in drawn order.
    """
    named = (*other_columns, MOVED_VALUE, _ROW_DRAW, _VALUE_DRAW)
    columns = "".join(f"k.{column} AS {column}, " for column in named)
    drawn = f"row_number() OVER (PARTITION BY {STRATUM} ORDER BY {_ROW_DRAW}) - 1"
    split = f"SELECT {STRATUM}, {', '.join(named)}, {drawn} AS {_SEAT} FROM {identifier(keyed)}"
    return (
        f"SELECT {columns}s.{GROUP_NUMBER} AS {GROUP_NUMBER} FROM ({split} "
        f"WHERE {GROUP_NUMBER} IS NULL) AS k "
        f"JOIN {identifier(seated)} AS s ON s.{STRATUM} = k.{STRATUM} AND s.{_SEAT} = k.{_SEAT}"
    )


def rows_with_groups(keyed: str, split: str | None, other_columns: Sequence[str]) -> str:
    """Return a relation of all rows with their group; ``split`` is the table of ``seated_rows``, if any."""
    if split is None:
        return f"{identifier(keyed)} AS placed"
    named = ", ".join([*other_columns, MOVED_VALUE, _ROW_DRAW, _VALUE_DRAW, GROUP_NUMBER])
    grouped = f"SELECT {named} FROM {identifier(keyed)} WHERE {GROUP_NUMBER} IS NOT NULL"
    return f"({grouped} UNION ALL SELECT {named} FROM {identifier(split)}) AS placed"


def permuted_rows(placed: str, other_columns: Sequence[str]) -> str:
    """Build the released rows before shuffling, with the columns of ``moved_rows``.

    The rows of a group are ranked by one key and its values by the other, and equal ranks are matched: since
    the second ranking is uniform whatever the first, so is the permutation.
    """
    columns = "".join(f"{column}, " for column in other_columns)
    ranked = f"row_number() OVER (PARTITION BY {GROUP_NUMBER} ORDER BY {{}}) AS {_PLACE} FROM {placed}"
    rows = f"SELECT {columns}{GROUP_NUMBER}, {ranked.format(_ROW_DRAW)}"
    values = f"SELECT {GROUP_NUMBER}, {MOVED_VALUE}, {ranked.format(_VALUE_DRAW)}"
    named = "".join(f"r.{column} AS {column}, " for column in other_columns)
    return (
        f"SELECT {named}r.{GROUP_NUMBER} AS {GROUP_NUMBER}, v.{MOVED_VALUE} AS {MOVED_VALUE} FROM ({rows}) "
        "AS r "
        f"JOIN ({values}) AS v ON v.{GROUP_NUMBER} = r.{GROUP_NUMBER} AND v.{_PLACE} = r.{_PLACE}"
    )


def value_differences(placed: str, moved: str) -> str:
    """Select the number of released rows, and the pairs of group and value with a changed count."""
    both = (
        f"SELECT {GROUP_NUMBER}, {MOVED_VALUE}, 1 AS d FROM {placed} "
        f"UNION ALL SELECT {GROUP_NUMBER}, {MOVED_VALUE}, -1 AS d FROM {identifier(moved)}"
    )
    unlike = (
        f"SELECT {GROUP_NUMBER} FROM ({both}) AS b GROUP BY {GROUP_NUMBER}, {MOVED_VALUE} HAVING sum(d) <> 0"
    )
    return f"SELECT (SELECT count(*) FROM {identifier(moved)}), (SELECT count(*) FROM ({unlike}) AS u)"


def null_value_count(moved: str) -> str:
    """Count the released rows whose sensitive value is NULL."""
    return f"SELECT count(*) - count({MOVED_VALUE}) FROM {identifier(moved)}"


def values_table(moved: str) -> str:
    """Select only the groups and sensitive values."""
    return f"SELECT {GROUP_NUMBER}, {MOVED_VALUE} FROM {identifier(moved)}"


def released_rows(
    table: str, columns: Sequence[str], labels: Sequence[tuple[int, str]], *, drawn: bool = False
) -> str:
    """Select the rows of a table; if ``drawn``, in the order of its sort keys.

    ``columns`` are expressions over the rows ``t`` and the tables of labels ``l0``, ``l1``, … by
    quasi-identifier. Labels are joined to the rows in their new order only, which an outer join keeps.
    Without an order, an inner join suffices, since every position has its label; it looks them up in arrays.
    """
    named = ", ".join(f"{column} AS c{i}" for i, column in enumerate(columns))
    order = f" ORDER BY {', '.join(f't.{key}' for key in SORT_KEYS)}" if drawn else ""
    join = "LEFT JOIN" if drawn else "JOIN"
    joins = " ".join(
        f"{join} {identifier(texts)} AS l{i} ON t.{key_name(i)} = l{i}.{POSITION}" for i, texts in labels
    )
    return f"SELECT {named} FROM (SELECT t.* FROM {identifier(table)} AS t{order}) AS t {joins}"


def failing_groups(moved: str, value: str, least: str | None, k: int) -> str:
    """Select one row: groups, groups that fail, fewest distinct values.

    ``value`` is an expression over the released rows: a number, or a text if values have no range; ``least``
    is then None, else a literal of the number's type.
    """
    width = "NULL" if least is None else "max(v) - min(v)"
    rows = f"SELECT {GROUP_NUMBER}, {value} AS v FROM {identifier(moved)}"
    pairs = f"SELECT {GROUP_NUMBER}, v FROM ({rows}) AS x GROUP BY {GROUP_NUMBER}, v"
    groups = f"SELECT count(v) AS d, {width} AS w FROM ({pairs}) AS y GROUP BY {GROUP_NUMBER}"
    narrow = "" if least is None else f" OR coalesce(w < {least}, TRUE)"
    failing = f"count(*) FILTER (WHERE d < {k}{narrow})"
    return f"SELECT count(*), {failing}, min(d) FROM ({groups}) AS z"


def _trimmed(text: str) -> str:
    return f"trim(BOTH ' ' FROM {text})"


def _all_keys(keys: int) -> str:
    return "".join(f"{key_name(i)}, " for i in range(keys))
