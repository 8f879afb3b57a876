"""Full-domain recoding in SQL: the coded table, the classes that fail, and the published rows.

Each row is copied once with the position of each generalized value (``q0``, ``q1``, …) and its other columns
(``o0``, …). Positions are never NULL, so classes join by equality; labels are joined back when rows are
published. The predicate of failing classes supports the criteria that engines count: rows or subjects, and
distinct values. Functions return SQL text unless they test criteria.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discreet.errors import InputError
from discreet.model.criteria.base import BoundCriterion, Criterion
from discreet.model.criteria.registry import CRITERIA
from discreet.model.requirement import Requirement
from discreet.sql.cell_expressions import any_null
from discreet.sql.dialect import Dialect
from discreet.sql.quoting import identifier, literal, numbered

_NOTHING = "FALSE"


def is_engine_counted(criterion: Criterion) -> bool:
    """Test whether an engine counts a criterion's score."""
    return not criterion.of_release and criterion.counted.criterion.counted_by_engines


def require_countable(requirement: Requirement, where: str, advice: str) -> None:
    """Raise ``InputError`` for a criterion that no engine counts; ``where`` names the counting component."""
    for criterion in requirement.criteria:
        if not is_engine_counted(criterion):
            counted = ", ".join(kind.name for kind in CRITERIA if kind.counted_by_engines)
            raise InputError(
                f"{criterion}: {where} cannot compute {criterion.title}", allowed=counted, advice=advice
            )


def failure_predicate(bound: Sequence[BoundCriterion], size: str, distinct: Mapping[int, str]) -> str:
    """Return the predicate of the classes that fail; ``FALSE`` without criteria.

    ``size`` is the expression that k limits; ``distinct`` contains the numbers of distinct values by the
    index of a sensitive attribute. Raises ``InputError`` for a criterion that engines do not count.
    """
    require_countable(
        Requirement(criteria=[one.criterion for one in bound]), "the engine", "Remove it from the request."
    )
    tests = [
        f"{size if one.index is None else distinct[one.index]} < {one.criterion.threshold}" for one in bound
    ]
    return " OR ".join(tests) or _NOTHING


CELL_VALUE, POSITION, LABEL_TEXT = "value", "position", "label"
SORT_KEYS = ("a", "b")
CLASS_ID = "class_id"
STAR = "*"


@dataclass(frozen=True)
class KeyColumn:
    """A quasi-identifier that is generalized to its level.

    ``cell`` is the SQL of its cell in the source: the text, or a value of the house type ``type_name``.
    ``positions`` names the table of values (texts) and positions, None at the top level, where every cell has
    position 0; ``null_position`` is the position of NULL.
    """

    cell: str
    positions: str | None
    null_position: int
    type_name: str | None = None


def position_join(dialect: Dialect, key: KeyColumn, index: int) -> str:
    """Return the join that finds the position of a quasi-identifier's cell, with alias ``p0``, …."""
    if key.positions is None:
        return ""
    value = f"p{index}.{CELL_VALUE}"
    if key.type_name is not None:
        value = dialect.cast(value, key.type_name)
    return f"LEFT JOIN {identifier(key.positions)} AS p{index} ON ({key.cell}) = {value}"


def position_of(dialect: Dialect, key: KeyColumn, index: int) -> str:
    """Return the position of a quasi-identifier's cell after ``position_join``; NULL for unknown values."""
    if key.positions is None:
        return dialect.cast("0", "UTINYINT")
    return f"CASE WHEN ({key.cell}) IS NULL THEN {key.null_position} ELSE p{index}.{POSITION} END"


key_name = numbered("q")
"""Coded table's column of a quasi-identifier, by its index in the lattice."""


def key_list(keys: int) -> str:
    """Return the coded table's columns of all quasi-identifiers, for a SELECT list."""
    return ", ".join(map(key_name, range(keys)))


def keys_agree(keys: int, left: str = "t", right: str = "f") -> str:
    """Return the predicate that rows of two relations agree in all quasi-identifiers."""
    return " AND ".join(f"{left}.{key_name(i)} = {right}.{key_name(i)}" for i in range(keys))


other_name = numbered("o")
"""Coded table's column of another column, by its index."""


def coded_table(
    dialect: Dialect,
    relation: str,
    keys: Sequence[KeyColumn],
    others: Sequence[str],
    never_null: Sequence[str] = (),
) -> str:
    """Build the coded table of a source with alias ``s``.

    ``others`` are expressions over ``s``. Rows in which one of ``never_null`` is NULL are left out. A value
    without a position, which is not a leaf, becomes NULL (``coded_rows`` counts them).
    """
    columns = [f"{position_of(dialect, key, i)} AS {key_name(i)}" for i, key in enumerate(keys)]
    columns += [f"{expression} AS {other_name(i)}" for i, expression in enumerate(others)]
    joins = " ".join(position_join(dialect, key, i) for i, key in enumerate(keys))
    where = f"WHERE NOT {any_null(never_null)}" if never_null else ""
    return f"SELECT {', '.join(columns)} FROM {relation} AS s {joins} {where}"


def coded_rows(coded: str, keys: int) -> str:
    """Count the rows of the coded table, and those with a value without a position."""
    uncovered = any_null([key_name(i) for i in range(keys)])
    return f"SELECT count(*), count(*) FILTER (WHERE {uncovered}) FROM {identifier(coded)}"


def row_count(coded: str) -> str:
    """Count the rows of the coded table."""
    return f"SELECT count(*) FROM {identifier(coded)}"


def classes_by_rows(coded: str, keys: int, one: BoundCriterion) -> str:
    """Select the classes that fail a criterion of their number of rows."""
    columns = key_list(keys)
    return (
        f"SELECT {columns} FROM {identifier(coded)} GROUP BY {columns} "
        f"HAVING {failure_predicate([one], 'count(*)', {})}"
    )


def classes_by_values(coded: str, keys: int, expression: str, one: BoundCriterion) -> str:
    """Select the classes that fail a criterion of the distinct values of an expression, without NULL.

    Two plain groupings replace a distinct count, since they may spill to disk.
    """
    columns, counted = key_list(keys), "count(v)"
    distinct = f"SELECT DISTINCT {columns}, {expression} AS v FROM {identifier(coded)}"
    failing = failure_predicate([one], counted, {} if one.index is None else {one.index: counted})
    return f"SELECT {columns} FROM ({distinct}) AS d GROUP BY {columns} HAVING {failing}"


def failing_table(coded: str, keys: int, criteria: Sequence[str]) -> str:
    """Select the classes that one of several queries returns, each class once."""
    # The first query returns no rows; without criteria it still defines the columns of the table.
    none = f"SELECT {key_list(keys)} FROM {identifier(coded)} WHERE FALSE"
    return " UNION ".join([none, *criteria])


def failing_rows(coded: str, failing: str, keys: int) -> str:
    """Count the rows in failing classes, of which each is listed once."""
    return (
        f"SELECT count(*) FROM {identifier(coded)} AS t JOIN {identifier(failing)} AS f ON {keys_agree(keys)}"
    )


def with_loaded_keys(coded: str, sort_keys: str) -> str:
    """Append one row of a table of sort keys to each row of a coded table of equal size.

    The assignment of keys to rows does not matter. For the embedded engine, and to be stored as a table: the
    engine misestimates the size of a positional join and would plan later joins badly.
    """
    return f"SELECT * FROM {identifier(coded)} POSITIONAL JOIN {identifier(sort_keys)}"


def with_random_keys(dialect: Dialect, coded: str) -> str:
    """Append sort keys that the database draws (``dialect.random_key``) to the rows of a coded table."""
    first, *rest = SORT_KEYS
    keys = ", ".join([f"{dialect.random_key} AS {first}", *(f"0 AS {key}" for key in rest)])
    return f"SELECT t.*, {keys} FROM {identifier(coded)} AS t"


def published_rows(
    dialect: Dialect,
    coded: str,
    failing: str,
    keys: int,
    columns: Sequence[str],
    labels: Sequence[tuple[int, str]],
    *,
    drawn: bool,
    star: bool,
) -> str:
    """Build the published rows; if ``drawn``, in the order of the coded table's sort keys.

    ``columns`` are expressions over the coded rows ``t`` and the label tables ``l0``, ``l1``, …; ``labels``
    names the table of labels by quasi-identifier. Rows of failing classes are left out or, if ``star``, have
    ``*`` in every cell. If the engine's joins keep the order of a subquery, codes are sorted before labels
    are joined, as they are smaller. The join then reads the rows in their new order only, so that no
    reordering in it can restore the old order.
    """
    order = f" ORDER BY {', '.join(f't.{key}' for key in SORT_KEYS)}" if drawn else ""
    inner, outer = (order, "") if dialect.sorts_before_joins else ("", order)
    rows = f"FROM {identifier(coded)} AS t LEFT JOIN {identifier(failing)} AS f ON {keys_agree(keys)}"
    fails = f"f.{key_name(0)} IS NOT NULL"
    if star:
        rows = f"SELECT t.*, {fails} AS starred {rows}"
        cells = [f"CASE WHEN t.starred THEN {literal(STAR)} ELSE {cell} END" for cell in columns]
    else:
        rows = f"SELECT t.* {rows} WHERE NOT ({fails})"
        cells = list(columns)
    named = ", ".join(f"{cell} AS c{i}" for i, cell in enumerate(cells))
    joins = " ".join(
        f"LEFT JOIN {identifier(table)} AS l{i} ON t.{key_name(i)} = l{i}.{POSITION}" for i, table in labels
    )
    return f"SELECT {named} FROM ({rows}{inner}) AS t {joins}{outer}"


def released_labels(labels: str, index: int, cell: str, moved: str) -> str:
    """Select the labels that occur in released rows, and the displayed ``cell`` of each.

    ``cell`` is an expression over the table of labels of the quasi-identifier ``index``. Labels that do not
    occur may not be texts of the column's type.
    """
    occurring = f"SELECT DISTINCT {key_name(index)} FROM {identifier(moved)}"
    return (
        f"SELECT {POSITION}, {cell} AS {LABEL_TEXT} FROM {identifier(labels)} AS l{index} "
        f"WHERE {POSITION} IN ({occurring})"
    )
