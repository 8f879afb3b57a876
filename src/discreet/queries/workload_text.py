"""Workloads as SQL text: one SELECT per statement, with an optional weight in a comment.

::

    SELECT COUNT(*) FROM people WHERE age BETWEEN 20 AND 29 AND sex = 'Male';  -- weight 3
    SELECT AVG(hours) FROM people WHERE education IN ('Masters', 'Doctorate') OR age >= 60;

The table's name is ignored. Statements are parsed by an allow-list, one entry per kind of expression
(``_PREDICATES``); everything else is rejected with the statement's line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal

import sqlglot
from sqlglot import Token, TokenType, exp
from sqlglot.errors import ParseError, TokenError

from discreet.errors import InputError
from discreet.model.hierarchy import parse_decimal
from discreet.queries.aggregate_query import (
    Aggregate,
    AggregateQuery,
    And,
    Atom,
    Constant,
    Everything,
    Interval,
    IsNull,
    Members,
    Not,
    Or,
    Predicate,
)
from discreet.queries.syntax import AGGREGATES

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")
WORKLOAD_TABLE = "people"


def query_text(query: AggregateQuery) -> str:
    """Format a query as SQL text."""
    of = "*" if query.attribute is None else _quoted_name(query.attribute)
    text = f"SELECT {query.aggregate}({of}) FROM {WORKLOAD_TABLE}"
    if isinstance(query.predicate, Everything):
        return text
    return f"{text} WHERE {_predicate_text(query.predicate)}"


def _predicate_text(predicate: Predicate) -> str:
    if isinstance(predicate, Everything):
        return "1 = 1"
    if isinstance(predicate, Not):
        return f"NOT ({_predicate_text(predicate.of)})"
    if isinstance(predicate, And | Or):
        sign = " AND " if isinstance(predicate, And) else " OR "
        return sign.join(
            f"({_predicate_text(part)})" if isinstance(part, And | Or) else _predicate_text(part)
            for part in predicate.parts
        )
    return _atom_text(predicate)


def _atom_text(atom: Atom) -> str:
    name = _quoted_name(atom.attribute)
    if isinstance(atom, IsNull):
        return f"{name} IS NULL"
    if isinstance(atom, Members):
        if len(atom.values) == 1:
            return f"{name} = {_constant_text(atom.values[0])}"
        return f"{name} IN ({', '.join(map(_constant_text, atom.values))})"
    return _interval_text(name, atom)


def _interval_text(name: str, atom: Interval) -> str:
    if atom.low is not None and atom.high is not None and atom.low_closed and atom.high_closed:
        return f"{name} BETWEEN {_constant_text(atom.low)} AND {_constant_text(atom.high)}"
    sides = []
    if atom.low is not None:
        sides.append(f"{name} {'>=' if atom.low_closed else '>'} {_constant_text(atom.low)}")
    if atom.high is not None:
        sides.append(f"{name} {'<=' if atom.high_closed else '<'} {_constant_text(atom.high)}")
    return " AND ".join(sides)


def _constant_text(value: Constant) -> str:
    if isinstance(value, Decimal):
        return format(value, "f")
    return "'" + value.replace("'", "''") + "'"


def _quoted_name(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'


WORKLOAD_DIALECT = "duckdb"
ALLOWED_SELECT = "SELECT COUNT(*) or COUNT, SUM, AVG, MIN, MAX of one column, FROM one table, with WHERE"
ALLOWED_WHERE = "=, <>, <, <=, >, >=, BETWEEN, IN (…), IS NULL, of a column and constants; AND, OR, NOT"
_WEIGHT = re.compile(r"weight\s*[:=]?\s*(\S+)", re.IGNORECASE)


def parse_workload(text: str, label: str = "the workload") -> tuple[AggregateQuery, ...]:
    """Parse the queries of a text, in its order.

    Raises ``InputError``, with the line and what is allowed, for a statement that is not an aggregate query
    of the kind above, a weight that is not a number of at least 0 or is given twice, or a text without
    queries.
    """
    try:
        tokens = sqlglot.tokenize(text, read=WORKLOAD_DIALECT)
    except TokenError:
        raise InputError(
            f"{label}, line {_line_of_open_quote(text)}: unterminated quote or comment",
            allowed="SQL text",
        ) from None
    queries = tuple(_parse_query(statement, label) for statement in _statements(text, tokens))
    if not queries:
        raise InputError(f"{label} has no query", allowed=f"one SELECT per statement: {ALLOWED_SELECT}")
    return queries


def _line_of_open_quote(text: str) -> int:
    """Return the line after the longest run of lines that is valid SQL text."""
    lines = text.splitlines()
    for number in range(len(lines) - 1, 0, -1):
        with suppress(TokenError):
            sqlglot.tokenize("\n".join(lines[:number]), read=WORKLOAD_DIALECT)
            return number + 1
    return 1


@dataclass(frozen=True)
class _Statement:
    """Text of one statement, the line on which it begins, and the comments around it."""

    text: str
    line: int
    comments: tuple[str, ...]


def _statements(text: str, tokens: list[Token]) -> Iterator[_Statement]:
    """Split at semicolons; a comment after a semicolon on its line belongs to the statement before it."""
    collected: list[Token] = []
    for token in tokens:
        if token.token_type is not TokenType.SEMICOLON:
            collected.append(token)
            continue
        if collected:
            yield _statement(text, collected, token.comments)
        collected = []
    if collected:
        yield _statement(text, collected, [])


def _statement(text: str, tokens: list[Token], behind: list[str]) -> _Statement:
    comments = [comment for token in tokens for comment in token.comments] + behind
    start = tokens[0].start
    line = text.count("\n", 0, start) + 1
    return _Statement(text[start : tokens[-1].end + 1], line, tuple(comment.strip() for comment in comments))


@dataclass(frozen=True)
class _StatementPosition:
    """Position of a statement, for errors."""

    label: str
    line: int

    def error(self, fact: str, allowed: str = ALLOWED_WHERE, advice: str | None = None) -> InputError:
        return InputError(f"{self.label}, line {self.line}: {fact}", allowed=allowed, advice=advice)


def _parse_query(statement: _Statement, label: str) -> AggregateQuery:
    position = _StatementPosition(label, statement.line)
    try:
        tree = sqlglot.parse_one(statement.text, read=WORKLOAD_DIALECT)
    except ParseError as error:
        near = error.errors[0].get("highlight") if error.errors else None
        behind = f" near '{near}'" if near else ""
        raise position.error(f"invalid SQL{behind}", ALLOWED_SELECT) from None
    except RecursionError:
        raise position.error("parentheses are nested too deeply", "at most some hundred levels") from None
    if not isinstance(tree, exp.Select):
        raise position.error(f"not a SELECT statement: {_excerpt(tree)}", ALLOWED_SELECT)
    aggregate, attribute = _parse_selection(tree, position)
    where = tree.args.get("where")
    return AggregateQuery(
        aggregate=aggregate,
        attribute=attribute,
        predicate=Everything() if where is None else _parse_predicate(where.this, position),
        weight=_parse_weight(statement, position),
        text=" ".join(tree.sql(dialect=WORKLOAD_DIALECT, comments=False).split()),
    )


def _parse_selection(tree: exp.Select, position: _StatementPosition) -> tuple[Aggregate, str | None]:
    set_clauses = {name for name, value in tree.args.items() if value}
    beyond = set_clauses - {"expressions", "from", "from_", "where"}
    if beyond:
        raise position.error(f"{', '.join(sorted(beyond)).upper()} in a query", ALLOWED_SELECT)
    source = tree.args.get("from_") or tree.args.get("from")
    if source is not None and not _is_plain_table(source.this):
        raise position.error(f"FROM {_excerpt(source.this)}", ALLOWED_SELECT)
    expressions = tree.expressions
    if len(expressions) != 1:
        raise position.error(f"{len(expressions)} expressions after SELECT", ALLOWED_SELECT)
    found = expressions[0].unalias()
    if type(found) not in AGGREGATES:
        raise position.error(f"SELECT {_excerpt(found)}", ALLOWED_SELECT)
    aggregate = AGGREGATES[type(found)]
    beyond = {name for name, value in found.args.items() if value} - {"this", "big_int"}
    if beyond:
        raise position.error(f"SELECT {_excerpt(found)}", ALLOWED_SELECT)
    if isinstance(found.this, exp.Star) and aggregate is Aggregate.COUNT:
        return aggregate, None
    if not isinstance(found.this, exp.Column):
        raise position.error(f"SELECT {_excerpt(found)}", ALLOWED_SELECT)
    return aggregate, _column_name(found.this)


def _is_plain_table(tree: exp.Expr) -> bool:
    """Check whether it is only a table's name, optionally with a schema or an alias."""
    set_clauses = {name for name, value in tree.args.items() if value}
    alias = tree.args.get("alias")
    return (
        isinstance(tree, exp.Table)
        and isinstance(tree.this, exp.Identifier)
        and set_clauses <= {"this", "db", "catalog", "alias"}
        and not (alias is not None and alias.args.get("columns"))
    )


def _parse_predicate(tree: exp.Expr, position: _StatementPosition) -> Predicate:
    found = _PREDICATES.get(type(tree))
    if found is None:
        advice = None
        if isinstance(tree, exp.Sub) or any(isinstance(part, exp.Sub) for part in tree.iter_expressions()):
            advice = 'Write a column name with a sign in double quotes, such as "marital-status".'
        raise position.error(f"{_excerpt(tree)} in WHERE", advice=advice)
    return found(tree, position)


def _parse_parts(tree: exp.Expr, position: _StatementPosition) -> tuple[Predicate, ...]:
    return tuple(_parse_predicate(part, position) for part in tree.flatten())


def _parse_is(tree: exp.Expr, position: _StatementPosition) -> Predicate:
    if not isinstance(tree.this, exp.Column) or not isinstance(tree.expression, exp.Null):
        raise position.error(f"{_excerpt(tree)} in WHERE")
    return IsNull(_column_name(tree.this))


def _parse_in(tree: exp.Expr, position: _StatementPosition) -> Predicate:
    if not isinstance(tree.this, exp.Column) or not tree.expressions:
        raise position.error(f"{_excerpt(tree)} in WHERE")
    return Members(
        _column_name(tree.this), tuple(_parse_constant(value, position) for value in tree.expressions)
    )


def _parse_between(tree: exp.Expr, position: _StatementPosition) -> Predicate:
    if not isinstance(tree.this, exp.Column):
        raise position.error(f"{_excerpt(tree)} in WHERE")
    low, high = _parse_constant(tree.args["low"], position), _parse_constant(tree.args["high"], position)
    if isinstance(low, str) != isinstance(high, str):
        raise position.error(f"{_excerpt(tree)} mixes a number and a text")
    return Interval(_column_name(tree.this), low, high)


_MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.EQ: exp.EQ,
    exp.NEQ: exp.NEQ,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
}


def _parse_comparison(tree: exp.Expr, position: _StatementPosition) -> Predicate:
    column, other, kind = tree.this, tree.expression, type(tree)
    if isinstance(other, exp.Column) and not isinstance(column, exp.Column):
        column, other, kind = other, column, _MIRRORED[kind]
    if not isinstance(column, exp.Column):
        return _parse_predicate(column, position) if isinstance(column, exp.Sub) else _refuse(tree, position)
    name, value = _column_name(column), _parse_constant(other, position)
    if kind is exp.EQ:
        return Members(name, (value,))
    if kind is exp.NEQ:
        return Not(Members(name, (value,)))
    closed = kind in (exp.GTE, exp.LTE)
    if kind in (exp.GT, exp.GTE):
        return Interval(name, low=value, low_closed=closed)
    return Interval(name, high=value, high_closed=closed)


def _refuse(tree: exp.Expr, position: _StatementPosition) -> Predicate:
    raise position.error(f"{_excerpt(tree)} in WHERE")


_PREDICATES: dict[type[exp.Expr], Callable[[exp.Expr, _StatementPosition], Predicate]] = {
    exp.Paren: lambda tree, position: _parse_predicate(tree.this, position),
    exp.And: lambda tree, position: And(_parse_parts(tree, position)),
    exp.Or: lambda tree, position: Or(_parse_parts(tree, position)),
    exp.Not: lambda tree, position: Not(_parse_predicate(tree.this, position)),
    exp.Is: _parse_is,
    exp.In: _parse_in,
    exp.Between: _parse_between,
    **dict.fromkeys(_MIRRORED, _parse_comparison),
}


def _parse_constant(tree: exp.Expr, position: _StatementPosition) -> Constant:
    if isinstance(tree, exp.Paren):
        return _parse_constant(tree.this, position)
    if isinstance(tree, exp.Neg):
        value = _parse_constant(tree.this, position)
        if isinstance(value, Decimal):
            return -value
    elif isinstance(tree, exp.Literal):
        number = None if tree.is_string else parse_decimal(tree.this)
        if number is not None or tree.is_string:
            return tree.this if number is None else number
    raise position.error(f"{_excerpt(tree)} is not a constant")


def _column_name(tree: exp.Column) -> str:
    return str(tree.name)


def _parse_weight(statement: _Statement, position: _StatementPosition) -> float:
    found = [match for comment in statement.comments if (match := _WEIGHT.match(comment))]
    if not found:
        return 1.0
    number = parse_decimal(found[0].group(1))
    weight = math.nan if number is None else float(number)
    if len(found) > 1 or not math.isfinite(weight) or weight < 0 or found[0].end() < len(found[0].string):
        texts = ", ".join(match.string for match in found)
        raise position.error(
            f"invalid weight '{texts}'",
            "one comment per query, such as -- weight 3; a number of at least 0",
        )
    return weight


def _excerpt(tree: exp.Expr) -> str:
    text = " ".join(tree.sql(dialect=WORKLOAD_DIALECT, comments=False).split())
    return text if len(text) <= 60 else text[:57] + "…"
