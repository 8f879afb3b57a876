"""Parser of release queries; everything that is not on the allow-list is rejected.

::

    SELECT sex, AVG(salary), COUNT(*) AS people FROM people
    WHERE age BETWEEN 30 AND 40 AND state = 'TX' GROUP BY sex ORDER BY sex

The table's name represents the release. A query is parsed in the dialect in which it is to run. Rejections
are ``InputError`` with the reason and the allowed syntax; nothing is executed for them.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError

from discreet.errors import InputError
from discreet.queries.aggregate_query import Aggregate
from discreet.queries.expression_grammar import GrammarReader, is_condition
from discreet.queries.select_query import GroupKey, KeyKind, ReleaseQuery, SelectedAggregate, find_column_uses
from discreet.queries.sql_expression import ColumnKind, OperandType, attributes_of_condition, find_common_type
from discreet.queries.syntax import (
    AGGREGATES,
    QueryColumns,
    check_syntax_arguments,
    excerpt,
    is_label,
    present_arguments,
)
from discreet.sql.dialect import DUCKDB, Dialect

LONGEST_QUERY = 20_000
MOSTAGGREGATES = 100
ALLOWED_QUERY = (
    "SELECT COUNT(*) or COUNT, SUM, AVG, MIN, MAX of a sensitive attribute, and GROUP BY keys, FROM one "
    "table with WHERE, GROUP BY and ORDER BY keys"
)
_CLAUSES = {"expressions", "from_", "from", "where", "group", "order"}
_REFUSAL_REASONS = {
    "distinct": "DISTINCT is not supported: a permuted release does not determine equal values",
    "having": "HAVING is not supported: it is a condition on sensitive values",
    "limit": "LIMIT is not supported: every group is answered",
    "offset": "OFFSET is not supported: every group is answered",
    "joins": "joins are not supported: query one table",
    "laterals": "LATERAL is not supported: query one table",
    "with_": "WITH is not supported: use one plain SELECT",
    "with": "WITH is not supported: use one plain SELECT",
    "into": "INTO is not supported: queries only read",
    "locks": "FOR UPDATE is not supported: queries only read",
    "windows": "window functions are not supported: they return single rows",
    "qualify": "QUALIFY is not supported: it is a condition on window functions",
    "sample": "TABLESAMPLE is not supported: a sample of the rows has no certain bounds",
}


@dataclass(frozen=True)
class QueryableColumns:
    """Columns that a query may name.

    ``kinds`` are columns for conditions and keys; ``measures`` are those for aggregates, and whether their
    values are numbers; ``refused`` maps other columns to the reason why they may not be named. ``types``
    are the type names, as ``engines`` uses them, of the columns in the queried table.
    """

    kinds: Mapping[str, ColumnKind]
    measures: Mapping[str, bool]
    refused: Mapping[str, str]
    types: Mapping[str, str] = field(default_factory=dict)

    def as_texts(self) -> QueryableColumns:
        """Return the same columns, as if they were stored as texts."""
        return replace(self, kinds=dict.fromkeys(self.kinds, ColumnKind.TEXT), types={})

    def without_types(self) -> QueryableColumns:
        """Return the same columns without their stored types."""
        return replace(self, types={})


def parse_release_query(
    text: str, readable: QueryableColumns, dialect: Dialect = DUCKDB, written: Dialect | None = None
) -> ReleaseQuery:
    """Parse a query in one dialect; its expressions are written in another (None: in the same).

    Raises ``InputError`` for everything that is not on the allow-list, with the reason and what is allowed.
    """
    try:
        return _QueryParser(readable, dialect, written or dialect).query(_parse_select(text, dialect))
    except RecursionError:
        raise InputError("the query is nested too deeply", allowed="at most some hundred levels") from None


def _parse_select(text: str, dialect: Dialect) -> exp.Select:
    if len(text) > LONGEST_QUERY:
        raise InputError(f"a query of {len(text):,} characters", allowed=f"at most {LONGEST_QUERY:,}")
    try:
        with _silent_parser():
            trees = [tree for tree in sqlglot.parse(text, read=dialect.name) if tree is not None]
    except ParseError as error:
        near = error.errors[0].get("highlight") if error.errors else None
        raise InputError(f"invalid SQL{f' near {near!r}' if near else ''}", allowed=ALLOWED_QUERY) from None
    except (SqlglotError, ValueError, TypeError, AttributeError, KeyError, IndexError):
        raise InputError("this is no SQL", allowed=ALLOWED_QUERY) from None
    trees = [tree for tree in trees if not isinstance(tree, exp.Semicolon)]
    if len(trees) != 1:
        fact = "the query is empty" if not trees else f"{len(trees)} statements"
        raise InputError(fact, allowed=f"one statement: {ALLOWED_QUERY}")
    if not isinstance(trees[0], exp.Select):
        raise InputError(f"{excerpt(trees[0])} is not a plain SELECT", allowed=ALLOWED_QUERY)
    return trees[0]


@contextmanager
def _silent_parser() -> Iterator[None]:
    """Keep the parser from logging text that it cannot parse, which is rejected."""
    logger = logging.getLogger("sqlglot")
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before


@dataclass(frozen=True)
class _QueryParser:
    readable: QueryableColumns
    dialect: Dialect
    written: Dialect

    def query(self, tree: exp.Select) -> ReleaseQuery:
        for clause in sorted(present_arguments(tree) - _CLAUSES):
            reason = _REFUSAL_REASONS.get(
                clause, f"{clause.strip('_').replace('_', ' ').upper()} is not supported"
            )
            raise InputError(reason, allowed=ALLOWED_QUERY)
        of_tables = self.readable.kinds, self.readable.refused, _table_names(tree), self.readable.types
        columns = QueryColumns(*of_tables)
        expressions = GrammarReader(columns, self.written, integer_division=self.dialect.integer_division)
        where, group = tree.args.get("where"), tree.args.get("group")
        condition = None if where is None else expressions.condition(where.this)
        keys = self._keys(tree, group, expressions)
        aggregates, keys = self._selected(tree, keys, expressions)
        trees = [] if where is None else [where.this]
        trees += (
            []
            if group is None
            else [_resolve_reference(tree, part, expressions) for part in group.expressions]
        )
        uses = find_column_uses(trees, columns.name_of)
        return ReleaseQuery(aggregates, keys, condition, _parse_order(tree, keys, expressions), uses)

    def _keys(
        self, tree: exp.Select, group: exp.Expr | None, expressions: GrammarReader
    ) -> tuple[GroupKey, ...]:
        if group is None:
            return ()
        beyond = present_arguments(group) - {"expressions"}
        if beyond or not group.expressions:
            raise InputError(
                f"GROUP BY with {', '.join(sorted(beyond)).upper()}",
                allowed="GROUP BY columns or expressions",
            )
        found: list[GroupKey] = []
        for part in group.expressions:
            key = read_group_key(_resolve_reference(tree, part, expressions), expressions)
            if not key.attributes:
                raise InputError(f"GROUP BY {excerpt(part)} names no column", allowed=ALLOWED_QUERY)
            if key.sql not in {other.sql for other in found}:
                found.append(key)
        return tuple(found)

    def _selected(
        self, tree: exp.Select, keys: tuple[GroupKey, ...], expressions: GrammarReader
    ) -> tuple[tuple[SelectedAggregate, ...], tuple[GroupKey, ...]]:
        """Return the aggregates, and the keys with their names after SELECT."""
        found: list[SelectedAggregate] = []
        names: set[str] = set()
        titles: dict[str, str] = {}
        for selected in tree.expressions:
            alias = selected.alias if isinstance(selected, exp.Alias) else ""
            part = selected.unalias().unnest()
            if type(part) in AGGREGATES:
                found.append(_name_aggregate(self._aggregate(part), alias, names))
                continue
            key = read_group_key(part, expressions) if _may_be_key(part) else None
            if key is None or key.sql not in {other.sql for other in keys}:
                raise InputError(
                    f"SELECT {excerpt(part)} is neither an aggregate nor a GROUP BY key",
                    allowed=ALLOWED_QUERY,
                )
            titles[key.sql] = alias or key.title
        if not found:
            raise InputError("SELECT has no aggregate", allowed=ALLOWED_QUERY)
        if len(found) > MOSTAGGREGATES:
            raise InputError(f"{len(found)} aggregates", allowed=f"at most {MOSTAGGREGATES}")
        return tuple(found), _title_keys(keys, titles, names)

    def _aggregate(self, tree: exp.Expr) -> SelectedAggregate:
        kind = AGGREGATES[type(tree)]
        beyond = present_arguments(tree) - {"this", "big_int"}
        of = tree.this
        if isinstance(of, exp.Distinct):
            raise InputError(f"{excerpt(tree)}: {_REFUSAL_REASONS['distinct']}", allowed=ALLOWED_QUERY)
        if not beyond and isinstance(of, exp.Star) and kind is Aggregate.COUNT and not present_arguments(of):
            return SelectedAggregate(kind, None, "COUNT(*)", "count")
        if beyond or not isinstance(of, exp.Column) or not isinstance(of.this, exp.Identifier):
            raise InputError(
                f"{excerpt(tree)} is not an aggregate of one column",
                allowed=ALLOWED_QUERY,
                advice="Compute expressions from the answers instead.",
            )
        measure = self._measure(tree, of)
        if kind is not Aggregate.COUNT and not self.readable.measures[measure]:
            raise InputError(f"{excerpt(tree)}: '{measure}' is not numeric", allowed="COUNT")
        name = re.sub(r"\W+", "_", f"{kind.lower()}_{measure}").strip("_")
        return SelectedAggregate(kind, measure, f"{kind}({measure})", name)

    def _measure(self, tree: exp.Expr, of: exp.Column) -> str:
        check_syntax_arguments(of, "this", "table")
        measures = dict.fromkeys(self.readable.measures, ColumnKind.NUMBER)
        known = QueryColumns({**self.readable.kinds, **measures}, self.readable.refused)
        measure = known.find_name(str(of.name), refusing=False)
        if measure not in measures:
            raise InputError(
                f"{excerpt(tree)}: '{measure}' cannot be aggregated",
                allowed=", ".join(measures) or "COUNT(*)",
            )
        return measure


def read_group_key(tree: exp.Expr, expressions: GrammarReader) -> GroupKey:
    """Read a key expression: a value in its stored type, or true and false for a condition."""
    title, inner = excerpt(tree)[1:-1], tree.unnest()
    if is_condition(inner):
        condition = expressions.condition(inner)
        return GroupKey(title, f"({condition.sql})", attributes_of_condition(condition), KeyKind.TRUTH)
    value = expressions.operand(inner)
    reading = find_common_type([value]) or OperandType.TEXT
    kind = KeyKind.TEXT if reading is OperandType.TEXT else KeyKind.NUMBER
    if isinstance(inner, exp.Column) or is_label(inner):
        title = value.attributes[0]
    return GroupKey(title, value.read_as(reading), value.attributes, kind)


def _table_names(tree: exp.Select) -> tuple[str, ...]:
    """Return the names that may precede a column's: the table's, or its alias."""
    source = tree.args.get("from_") or tree.args.get("from")
    if source is None:
        raise InputError("SELECT without FROM", allowed=ALLOWED_QUERY)
    table = source.this
    beyond = present_arguments(table) - {"this", "alias"}
    alias = table.args.get("alias")
    plain = (
        isinstance(table, exp.Table)
        and isinstance(table.this, exp.Identifier)
        and re.fullmatch(r"\w[\w $-]*", table.name) is not None
        and not (alias is not None and present_arguments(alias) - {"this"})
        and present_arguments(source) == {"this"}
    )
    if beyond or not plain:
        raise InputError(
            f"FROM {excerpt(table)} is not a plain table name",
            allowed="one name for the release, such as FROM people",
            advice="Files, functions, subqueries, schemas and other tables are refused.",
        )
    return (table.alias_or_name.casefold(), table.name.casefold())


def _resolve_reference(tree: exp.Select, part: exp.Expr, expressions: GrammarReader) -> exp.Expr:
    """Resolve a number or an alias after GROUP BY or ORDER BY."""
    selected = tree.expressions
    if isinstance(part, exp.Literal) and not part.is_string:
        number = int(part.this) if part.this.isdigit() else 0
        if not 1 <= number <= len(selected):
            raise InputError(f"{excerpt(part)} is not a position in SELECT", allowed=f"1 to {len(selected)}")
        result: exp.Expr = selected[number - 1].unalias()
        return result
    if isinstance(part, exp.Column) and not part.args.get("table"):
        folded = part.name.casefold()
        if folded not in {name.casefold() for name in expressions.columns.kinds}:
            for other in selected:
                if isinstance(other, exp.Alias) and other.alias.casefold() == folded:
                    return other.unalias()
    return part


def _may_be_key(tree: exp.Expr) -> bool:
    return not isinstance(tree, exp.Star | exp.Literal | exp.Null)


def _name_aggregate(aggregate: SelectedAggregate, alias: str, names: set[str]) -> SelectedAggregate:
    """Give an aggregate a unique name for the columns of the rewritten query."""
    wanted = alias or aggregate.name
    name, number = wanted, 1
    while name.casefold() in names:
        number += 1
        name = f"{wanted}_{number}"
    names.add(name.casefold())
    return replace(aggregate, name=name, title=alias or aggregate.title)


def _title_keys(keys: Sequence[GroupKey], titles: Mapping[str, str], names: set[str]) -> tuple[GroupKey, ...]:
    """Give keys names that no other column of the rewritten query has."""
    taken = {f"{name}_{end}" for name in names for end in ("lower", "upper", "estimate")}
    found = []
    for key in keys:
        wanted = titles.get(key.sql, key.title)
        title, number = wanted, 1
        while title.casefold() in taken:
            number += 1
            title = f"{wanted} {number}"
        taken.add(title.casefold())
        found.append(replace(key, title=title))
    return tuple(found)


def _parse_order(
    tree: exp.Select, keys: tuple[GroupKey, ...], expressions: GrammarReader
) -> tuple[tuple[int, bool], ...]:
    order = tree.args.get("order")
    if order is None:
        return ()
    if present_arguments(order) - {"expressions"}:
        raise InputError("this ORDER BY is not supported", allowed="ORDER BY keys")
    places = {key.sql: index for index, key in enumerate(keys)}
    found = []
    for part in order.expressions:
        beyond = present_arguments(part) - {"this", "desc", "nulls_first"}
        meant = _resolve_reference(tree, part.this, expressions).unnest()
        key = None if beyond or type(meant) in AGGREGATES else read_group_key(meant, expressions)
        if key is None or key.sql not in places:
            raise InputError(f"ORDER BY {excerpt(part.this)} is not a GROUP BY key", allowed="ORDER BY keys")
        found.append((places[key.sql], bool(part.args.get("desc"))))
    return tuple(found)
