"""A table whose sensitive values are permuted within groups: held rows, codes of values, released rows.

The *held table* has one row per row of the source (after the NULL policy): leaf codes of the
quasi-identifiers (``q0``, …) and the cells of other columns (``o0``, …).

Values move in one of two ways. By *arrays*, where the rows are in this process anyway: held rows are numbered
as the engine stores them, and a loaded table, the *move*, says of each its group and from which row it gets
its value (or that value itself: ``sql.side_by_side``). Or *inside the database*, which row numbers never
leave: rows of one value (and, where groups depend on them, of one row type) make a *stratum*. Python is told
the strata with their rows, and says how many rows of each go to which group (*parts*). Which ones is drawn in
the database by random keys, and within a group values are matched to rows by two rankings, each by random
keys of its own.

Released rows have neither row numbers nor keys.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.sql.cells import cells
from discreet.sql.dialect import Dialect
from discreet.sql.names import identifier, literal
from discreet.sql.recode import POSITION, SORT_KEYS, key_name
from discreet.sql.units import LONG_DIGITS, in_units

ROW, SOURCE, GROUP, VALUE = "row_number", "source_row", "group_number", "moved_value"
TEXT, CODE, NUMBER = "text", "code", "number"
STRATUM, ROWS, FIRST = "stratum", "n", "first_seat"
EXACT_DIGITS = 38

STORED_ROW = "rowid"
"""What the embedded engine numbers a stored table's rows by, from 0, in the order in which it reads them."""
_NUMBERED = f"{STORED_ROW} AS {ROW}"
_SEAT, _PLACE = "seat", "place"
_ROW_DRAW, _VALUE_DRAW = "row_draw", "value_draw"
_LARGEST_DOUBLE = "1.7976931348623157e308"
_PLAIN = "[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)"
_ANY = _PLAIN + "([eE][+-]?[0-9]{1,3})?"


def row_type(rows: int) -> str:
    """The house type that holds the numbers of so many rows, and -1; by arrays."""
    return "INTEGER" if rows < 1 << 31 else "BIGINT"


def leaf_codes(held: str, keys: int) -> str:
    """The leaf codes of every row, in no order: ``row_number``, ``q0``, …; by arrays."""
    codes = ", ".join(f"CAST({key_name(i)} AS INTEGER) AS {key_name(i)}" for i in range(keys))
    return f"SELECT {_NUMBERED}, {codes} FROM {identifier(held)}"


def distinct_texts(held: str, text: str, value: str | None = None) -> str:
    """The table of distinct texts of a column, NULL left out.

    Where they are the texts of numbers, ``value`` is the held column of these: only distinct ones are turned.
    """
    rows = identifier(held) if value is None else f"(SELECT DISTINCT {value} FROM {identifier(held)}) AS d"
    texts = f"SELECT DISTINCT {text} AS {TEXT} FROM {rows}"
    return f"SELECT x.{TEXT} FROM ({texts}) AS x WHERE x.{TEXT} IS NOT NULL"


def counted_texts(held: str, text: str) -> str:
    """As ``distinct_texts``, with the number of rows that have each."""
    texts = f"SELECT {text} AS {TEXT} FROM {identifier(held)}"
    return f"SELECT {TEXT}, count(*) AS {ROWS} FROM ({texts}) AS x WHERE {TEXT} IS NOT NULL GROUP BY {TEXT}"


def kinds_of_texts(dialect: Dialect, texts: str) -> str:
    """One row: texts, plain decimals among them, numbers of any form, most decimals, most whole digits."""
    number = _trimmed(TEXT)
    plain = dialect.full_match.format(number, literal(_PLAIN))
    double = dialect.try_double.format(number)
    finite = f"coalesce(abs({double}) <= {_LARGEST_DOUBLE}, FALSE)"
    any_form = f"{dialect.full_match.format(number, literal(_ANY))} AND {finite}"
    # Zeros before a number are none of its digits.
    whole = f"length(trim(LEADING '+-0' FROM split_part({number}, '.', 1)))"
    return (
        f"SELECT count(*), count(*) FILTER (WHERE {plain}), count(*) FILTER (WHERE {any_form}), "
        f"coalesce(max(length(split_part({number}, '.', 2))) FILTER (WHERE {plain}), 0), "
        f"coalesce(max({whole}) FILTER (WHERE {plain}), 0) FROM {identifier(texts)}"
    )


def number_of(dialect: Dialect, text: str, scale: int | None) -> str:
    """The number that a cell's text says: exact with ``scale`` decimals, or a double where it is None.

    A negative zero is the zero: it is equal, but groups apart and reads otherwise.
    """
    number = dialect.cast(_trimmed(text), number_type(scale))
    return number if scale is not None else f"({number} + 0)"


def number_type(scale: int | None) -> str:
    """The house type that exact numbers of so many decimals are computed with, or doubles.

    Exact numbers have 63 bits in units of the last decimal, so 19 digits hold them; what is left of 38 is for
    their sums.
    """
    return "DOUBLE" if scale is None else f"DECIMAL({max(LONG_DIGITS, scale)},{scale})"


def exact_numbers(dialect: Dialect, texts: str, scale: int) -> str:
    """One row: the largest magnitude of the exact numbers, as a decimal, and texts that read otherwise."""
    house = f"DECIMAL({EXACT_DIGITS},{scale})"
    number = dialect.cast(_trimmed(TEXT), house)
    unlike = f"{dialect.text(number, house)} <> {TEXT}"
    return f"SELECT max(abs({number})), count(*) FILTER (WHERE {unlike}) FROM {identifier(texts)}"


def codes_by_number(dialect: Dialect, texts: str, scale: int | None) -> str:
    """The table of texts with codes from 0 in the order of their numbers; equal numbers share one.

    Whatever else the table of texts has, this has too.
    """
    number = number_of(dialect, TEXT, scale)
    ranked = f"dense_rank() OVER (ORDER BY {NUMBER}) - 1"
    return (
        f"SELECT x.*, {ranked} AS {CODE} FROM (SELECT *, {number} AS {NUMBER} FROM {identifier(texts)}) AS x"
    )


def codes_by_text(dialect: Dialect, texts: str) -> str:
    """The table of texts, and what else it has, with codes from 0 in the order of the texts."""
    ranked = f"row_number() OVER (ORDER BY {dialect.binary_order.format(TEXT)}) - 1"
    return f"SELECT t.*, {ranked} AS {CODE} FROM {identifier(texts)} AS t"


def number_of_codes(codes: str) -> str:
    """One row: how many codes there are."""
    return f"SELECT coalesce(max({CODE}) + 1, 0) FROM {identifier(codes)}"


def numbers_by_code(dialect: Dialect, codes: str, scale: int | None) -> str:
    """The number of each code, by code: whole numbers in units of the last decimal, or doubles."""
    number = f"min({NUMBER})"
    if scale is not None:
        number_text = dialect.text(dialect.cast(number, number_type(scale)), number_type(scale))
        # Without its point the text is the number in units of its last decimal.
        number = f"CAST(replace({number_text}, '.', '') AS BIGINT)"
    return f"SELECT {number} AS {NUMBER} FROM {identifier(codes)} GROUP BY {CODE} ORDER BY {CODE}"


def codes_of_rows(held: str, text: str, codes: str, rows: int) -> str:
    """The code of every row's text, -1 for NULL, in no order: ``row_number``, ``code``; by arrays."""
    return _codes_by(held, text, codes, TEXT, rows)


def codes_of_numbers(dialect: Dialect, held: str, value: str, codes: str, scale: int, rows: int) -> str:
    """As ``codes_of_rows``, of the held column of exact numbers with so many decimals."""
    units = in_units(dialect, value, scale)
    return _codes_by(held, units, codes, in_units(dialect, NUMBER, scale), rows)


def _codes_by(held: str, cell: str, codes: str, coded: str, rows: int) -> str:
    return (
        f"SELECT CAST(h.{ROW} AS {row_type(rows)}) AS {ROW}, "
        f"CAST(coalesce(c.{CODE}, -1) AS {row_type(rows)}) AS {CODE} "
        f"FROM (SELECT {_NUMBERED}, {cell} AS {VALUE} FROM {identifier(held)}) AS h "
        f"LEFT JOIN (SELECT {CODE}, {coded} AS {VALUE} FROM {identifier(codes)}) AS c "
        f"ON h.{VALUE} = c.{VALUE}"
    )


def subjects_of_rows(held: str, subject: str) -> str:
    """The number of every row's subject, from 0, in no order: ``row_number``, ``code``; by arrays."""
    number = f"CAST(dense_rank() OVER (ORDER BY {subject}) - 1 AS BIGINT)"
    return f"SELECT {_NUMBERED}, {number} AS {CODE} FROM {identifier(held)} WHERE {subject} IS NOT NULL"


def carriers_of_groups(held: str, grouped: str, subject: str, value: str) -> str:
    """The distinct ``group_number``, ``code`` of the value and ``subject`` of rows with a value; by arrays.

    ``grouped`` has ``row_number``, the group and the value's code (-1 for none) of each published row.
    """
    person = f"CAST(dense_rank() OVER (ORDER BY h.{subject}) AS BIGINT) AS {value}"
    return (
        f"SELECT DISTINCT g.{GROUP} AS {GROUP}, g.{CODE} AS {CODE}, {person} FROM {identifier(grouped)} AS g "
        f"JOIN {identifier(held)} AS h ON h.{STORED_ROW} = g.{ROW} WHERE g.{CODE} >= 0 ORDER BY 1, 2, 3"
    )


def other_texts(dialect: Dialect, held: str, columns: Sequence[str]) -> str:
    """By the place of a column of texts: its cells that are not just what a whole number reads as.

    A column of NULLs alone has no line.
    """
    number = dialect.text(dialect.try_whole.format("v"), "BIGINT")
    turned = cells(dialect, identifier(held), columns)
    return (
        f"SELECT place, count(*) FILTER (WHERE {number} IS DISTINCT FROM v) FROM ({turned}) AS c "
        "WHERE v IS NOT NULL GROUP BY place"
    )


def without_negative_zero(column: str, *, as_text: bool) -> str:
    """A floating-point number, or its canonical text, without the sign of a zero.

    Two zeros are equal: a group of both has one value.
    """
    if as_text:
        return f"CASE WHEN {column} = '-0.0' THEN '0.0' ELSE {column} END"
    return f"CASE WHEN {column} = 0 THEN abs({column}) ELSE {column} END"


def moved_rows(held: str, move: str, kept: Sequence[str], value: str) -> str:
    """The table of released rows, not shuffled yet: ``kept`` columns, group and moved value; by arrays.

    ``move`` has ``row_number``, ``source_row`` and ``group_number``; ``value`` is an expression over the held
    table. Rows that are not in ``move`` are left out.
    """
    columns = "".join(f"h.{column} AS {column}, " for column in kept)
    values = f"SELECT {_NUMBERED}, {value} AS {VALUE} FROM {identifier(held)}"
    return (
        f"SELECT {columns}CAST(m.{GROUP} AS BIGINT) AS {GROUP}, s.{VALUE} AS {VALUE} "
        f"FROM {identifier(move)} AS m JOIN {identifier(held)} AS h ON h.{STORED_ROW} = m.{ROW} "
        f"JOIN ({values}) AS s ON s.{ROW} = m.{SOURCE}"
    )


def strata(held: str, text: str, codes: str, keys: int) -> str:
    """The table of strata, numbered from 0 by value: ``stratum``, ``code`` (-1 for NULL), ``q0``, …, ``n``.

    ``keys`` is 0 where groups do not depend on quasi-identifiers: then the ``codes``, which are of
    ``counted_texts``, tell all of it but the rows without a value.
    """
    named = ", ".join([CODE, *(key_name(i) for i in range(keys))])
    of_rows = f"SELECT {_all_keys(keys)}{text} AS {TEXT} FROM {identifier(held)}"
    by_text = ", ".join([TEXT, *(key_name(i) for i in range(keys))])
    counted = f"SELECT {by_text}, count(*) AS {ROWS} FROM ({of_rows}) AS r GROUP BY {by_text}"
    coded = (
        f"SELECT {_all_keys(keys)}coalesce(c.{CODE}, -1) AS {CODE}, r.{ROWS} FROM ({counted}) AS r "
        f"LEFT JOIN {identifier(codes)} AS c ON r.{TEXT} = c.{TEXT}"
    )
    if not keys:
        none = f"SELECT -1 AS {CODE}, count(*) AS {ROWS} FROM ({of_rows}) AS r WHERE {TEXT} IS NULL"
        coded = f"SELECT {CODE}, {ROWS} FROM {identifier(codes)} UNION ALL {none} HAVING count(*) > 0"
    grouped = f"SELECT {named}, sum({ROWS}) AS {ROWS} FROM ({coded}) AS x GROUP BY {named}"
    number = f"row_number() OVER (ORDER BY {named}) - 1"
    return f"SELECT {number} AS {STRATUM}, {named}, CAST({ROWS} AS BIGINT) AS {ROWS} FROM ({grouped}) AS y"


def strata_in_order(table: str, keys: int) -> str:
    """The strata by their numbers, as numbers: ``code``, ``q0``, …, ``n``."""
    names = [CODE, *(key_name(i) for i in range(keys)), ROWS]
    columns = ", ".join(f"CAST({name} AS BIGINT) AS {name}" for name in names)
    return f"SELECT {columns} FROM {identifier(table)} ORDER BY {STRATUM}"


def keyed_rows(
    dialect: Dialect,
    held: str,
    text: str,
    codes: str,
    table: str,
    keys: int,
    kept: Sequence[str],
    value: str,
    whole: str,
) -> str:
    """The table of rows with two random keys and their ``stratum``, beside ``kept`` columns and the value.

    ``whole`` has ``stratum`` and ``group_number`` of the strata that go to one group as they are: their rows
    have the group. Keys are drawn once and stored: what is ranked by them later is the same however often it
    is computed. Rows that have their group need no key to be ranked by, unless what is stored might be read
    in another order when it is computed again.
    """
    # Strata get their texts first, of which there are fewer than rows; that of no value has none.
    told = (
        f"SELECT x.*, c.{TEXT} AS {TEXT}, w.{GROUP} AS {GROUP} FROM {identifier(table)} AS x "
        f"LEFT JOIN {identifier(codes)} AS c ON c.{CODE} = x.{CODE} "
        f"LEFT JOIN {identifier(whole)} AS w ON w.{STRATUM} = x.{STRATUM}"
    )
    same = [
        dialect.same_text.format(f"h.{TEXT}", f"x.{TEXT}"),
        *(f"h.{key_name(i)} = x.{key_name(i)}" for i in range(keys)),
    ]
    columns = "".join(f"h.{column} AS {column}, " for column in kept)
    rows = f"SELECT {', '.join([*kept, ''])}{value} AS {VALUE}, {text} AS {TEXT} FROM {identifier(held)}"
    drawn = dialect.random_key
    if dialect.keeps_stored_order:
        drawn = f"CASE WHEN x.{GROUP} IS NULL THEN {drawn} END"
    return (
        f"SELECT {columns}h.{VALUE} AS {VALUE}, x.{STRATUM} AS {STRATUM}, x.{GROUP} AS {GROUP}, "
        f"{drawn} AS {_ROW_DRAW}, {dialect.random_key} AS {_VALUE_DRAW} FROM ({rows}) AS h "
        f"JOIN ({told}) AS x ON {' AND '.join(same)}"
    )


def seats(dialect: Dialect, parts: str) -> str:
    """The table of places in strata, from 0, and the group of each.

    ``parts`` has ``stratum``, ``group_number``, the ``first_seat`` of a part and its rows ``n``.
    """
    numbers = (
        f"SELECT {STRATUM}, {GROUP}, {FIRST}, {dialect.numbers_to.format(ROWS)} AS i FROM {identifier(parts)}"
    )
    return f"SELECT {STRATUM}, {GROUP}, {FIRST} + i - 1 AS {_SEAT} FROM ({numbers}) AS p"


def split_rows(keyed: str, seated: str, kept: Sequence[str]) -> str:
    """The table of rows whose stratum is not whole, each with the group of its seat.

    The rows of such a stratum take its seats in drawn order.
    """
    named = (*kept, VALUE, _ROW_DRAW, _VALUE_DRAW)
    columns = "".join(f"k.{column} AS {column}, " for column in named)
    drawn = f"row_number() OVER (PARTITION BY {STRATUM} ORDER BY {_ROW_DRAW}) - 1"
    split = f"SELECT {STRATUM}, {', '.join(named)}, {drawn} AS {_SEAT} FROM {identifier(keyed)}"
    return (
        f"SELECT {columns}s.{GROUP} AS {GROUP} FROM ({split} WHERE {GROUP} IS NULL) AS k "
        f"JOIN {identifier(seated)} AS s ON s.{STRATUM} = k.{STRATUM} AND s.{_SEAT} = k.{_SEAT}"
    )


def placed_rows(keyed: str, split: str | None, kept: Sequence[str]) -> str:
    """A relation of all rows with their group; ``split`` is the table of ``split_rows``, if there are any."""
    if split is None:
        return f"{identifier(keyed)} AS placed"
    named = ", ".join([*kept, VALUE, _ROW_DRAW, _VALUE_DRAW, GROUP])
    whole = f"SELECT {named} FROM {identifier(keyed)} WHERE {GROUP} IS NOT NULL"
    return f"({whole} UNION ALL SELECT {named} FROM {identifier(split)}) AS placed"


def permuted_rows(placed: str, kept: Sequence[str]) -> str:
    """The table of released rows before they are shuffled, as of ``moved_rows``.

    A group's rows are ranked by one key and its values by the other, and those of equal rank are matched:
    since the second ranking is uniform whatever the first, so is the permutation.
    """
    columns = "".join(f"{column}, " for column in kept)
    ranked = f"row_number() OVER (PARTITION BY {GROUP} ORDER BY {{}}) AS {_PLACE} FROM {placed}"
    rows = f"SELECT {columns}{GROUP}, {ranked.format(_ROW_DRAW)}"
    values = f"SELECT {GROUP}, {VALUE}, {ranked.format(_VALUE_DRAW)}"
    named = "".join(f"r.{column} AS {column}, " for column in kept)
    return (
        f"SELECT {named}r.{GROUP} AS {GROUP}, v.{VALUE} AS {VALUE} FROM ({rows}) AS r "
        f"JOIN ({values}) AS v ON v.{GROUP} = r.{GROUP} AND v.{_PLACE} = r.{_PLACE}"
    )


def lost_values(placed: str, moved: str) -> str:
    """One row: released rows, and how many pairs of group and value occur more or less often than before."""
    both = (
        f"SELECT {GROUP}, {VALUE}, 1 AS d FROM {placed} "
        f"UNION ALL SELECT {GROUP}, {VALUE}, -1 AS d FROM {identifier(moved)}"
    )
    unlike = f"SELECT {GROUP} FROM ({both}) AS b GROUP BY {GROUP}, {VALUE} HAVING sum(d) <> 0"
    return f"SELECT (SELECT count(*) FROM {identifier(moved)}), (SELECT count(*) FROM ({unlike}) AS u)"


def rows_without_value(moved: str) -> str:
    """The released rows whose sensitive value is NULL."""
    return f"SELECT count(*) - count({VALUE}) FROM {identifier(moved)}"


def values_table(moved: str) -> str:
    """The table of groups and sensitive values alone."""
    return f"SELECT {GROUP}, {VALUE} FROM {identifier(moved)}"


def released_rows(
    table: str, columns: Sequence[str], labels: Sequence[tuple[int, str]], *, drawn: bool = False
) -> str:
    """The rows of a table; where ``drawn``, it has sort keys, and they go in their order.

    ``columns`` are expressions over the rows ``t`` and the tables of labels ``l0``, ``l1``, … by
    quasi-identifier. Labels are joined to the rows in their new order only, which an outer join leaves as it
    is. Every position has its label, so that elsewhere an inner one does, which looks them up in arrays.
    """
    named = ", ".join(f"{column} AS c{i}" for i, column in enumerate(columns))
    order = f" ORDER BY {', '.join(f't.{key}' for key in SORT_KEYS)}" if drawn else ""
    join = "LEFT JOIN" if drawn else "JOIN"
    joins = " ".join(
        f"{join} {identifier(texts)} AS l{i} ON t.{key_name(i)} = l{i}.{POSITION}" for i, texts in labels
    )
    return f"SELECT {named} FROM (SELECT t.* FROM {identifier(table)} AS t{order}) AS t {joins}"


def failing_groups(moved: str, value: str, least: str | None, k: int) -> str:
    """One row: groups, groups that fail, fewest distinct values.

    ``value`` is an expression over the released rows: a number, or a text where values have no range, and
    then ``least`` is None. ``least`` is a literal of the number's type.
    """
    width = "NULL" if least is None else "max(v) - min(v)"
    rows = f"SELECT {GROUP}, {value} AS v FROM {identifier(moved)}"
    pairs = f"SELECT {GROUP}, v FROM ({rows}) AS x GROUP BY {GROUP}, v"
    groups = f"SELECT count(v) AS d, {width} AS w FROM ({pairs}) AS y GROUP BY {GROUP}"
    narrow = "" if least is None else f" OR coalesce(w < {least}, TRUE)"
    failing = f"count(*) FILTER (WHERE d < {k}{narrow})"
    return f"SELECT count(*), {failing}, min(d) FROM ({groups}) AS z"


def _trimmed(text: str) -> str:
    return f"trim(BOTH ' ' FROM {text})"


def _all_keys(keys: int) -> str:
    return "".join(f"{key_name(i)}, " for i in range(keys))
