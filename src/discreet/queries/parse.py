"""A workload from SQL text: one SELECT per statement, with an optional weight in a comment.

::

    SELECT COUNT(*) FROM people WHERE age BETWEEN 20 AND 29 AND sex = 'Male';  -- weight 3
    SELECT AVG(hours) FROM people WHERE education IN ('Masters', 'Doctorate') OR age >= 60;

The table's name is not looked at: the workload is asked of whatever table it is run against. What may stand
in a statement is an allow-list, one row per kind of expression (``_PREDICATES``); everything else is refused
with the statement's line, since a query that was half understood would be answered wrongly.
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
from discreet.model.leaf_order import decimal_of
from discreet.queries.predicate import (
    And,
    Constant,
    Everything,
    Interval,
    IsNull,
    Members,
    Not,
    Or,
    Predicate,
)
from discreet.queries.query import Aggregate, AggregateQuery

DIALECT = "duckdb"
ALLOWED_SELECT = "SELECT COUNT(*) or COUNT, SUM, AVG, MIN, MAX of one column, FROM one table, with WHERE"
ALLOWED_WHERE = "=, <>, <, <=, >, >=, BETWEEN, IN (…), IS NULL, of a column and constants; AND, OR, NOT"
_AGGREGATES: dict[type[exp.Expr], Aggregate] = {
    exp.Count: Aggregate.COUNT,
    exp.Sum: Aggregate.SUM,
    exp.Avg: Aggregate.AVG,
    exp.Min: Aggregate.MIN,
    exp.Max: Aggregate.MAX,
}
_WEIGHT = re.compile(r"weight\s*[:=]?\s*(\S+)", re.IGNORECASE)


def parse_workload(text: str, label: str = "the workload") -> tuple[AggregateQuery, ...]:
    """The queries of a text, in its order.

    Raises ``InputError``, with the line and what is allowed, for a statement that is not an aggregate query
    of the kind above, a weight that is no number of at least 0 or is given twice, or a text without queries.
    """
    try:
        tokens = sqlglot.tokenize(text, read=DIALECT)
    except TokenError:
        raise InputError(
            f"{label}, line {_broken_line(text)}: a quote or a comment that is opened is never closed",
            allowed="SQL text",
        ) from None
    queries = tuple(_query(statement, label) for statement in _statements(text, tokens))
    if not queries:
        raise InputError(f"{label} has no query", allowed=f"one SELECT per statement: {ALLOWED_SELECT}")
    return queries


def _broken_line(text: str) -> int:
    """The line after the longest run of lines that is SQL text by itself."""
    lines = text.splitlines()
    for number in range(len(lines) - 1, 0, -1):
        with suppress(TokenError):
            sqlglot.tokenize("\n".join(lines[:number]), read=DIALECT)
            return number + 1
    return 1


@dataclass(frozen=True)
class _Statement:
    """The text of one statement, the line that it begins on, and the comments around it."""

    text: str
    line: int
    comments: tuple[str, ...]


def _statements(text: str, tokens: list[Token]) -> Iterator[_Statement]:
    """Split at semicolons; a comment behind a semicolon on its line belongs to the statement before it."""
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
class _Place:
    """Where a statement stands, for errors."""

    label: str
    line: int

    def error(self, fact: str, allowed: str = ALLOWED_WHERE, advice: str | None = None) -> InputError:
        return InputError(f"{self.label}, line {self.line}: {fact}", allowed=allowed, advice=advice)


def _query(statement: _Statement, label: str) -> AggregateQuery:
    place = _Place(label, statement.line)
    try:
        tree = sqlglot.parse_one(statement.text, read=DIALECT)
    except ParseError as error:
        near = error.errors[0].get("highlight") if error.errors else None
        behind = f" near '{near}'" if near else ""
        raise place.error(f"this is no SQL{behind}", ALLOWED_SELECT) from None
    except RecursionError:
        raise place.error("parentheses are nested too deeply", "at most some hundred levels") from None
    if not isinstance(tree, exp.Select):
        raise place.error(f"a statement that is no SELECT: {_excerpt(tree)}", ALLOWED_SELECT)
    aggregate, attribute = _selected(tree, place)
    where = tree.args.get("where")
    return AggregateQuery(
        aggregate=aggregate,
        attribute=attribute,
        predicate=Everything() if where is None else _predicate(where.this, place),
        weight=_weight(statement, place),
        text=" ".join(tree.sql(dialect=DIALECT, comments=False).split()),
    )


def _selected(tree: exp.Select, place: _Place) -> tuple[Aggregate, str | None]:
    given = {name for name, value in tree.args.items() if value}
    beyond = given - {"expressions", "from", "from_", "where"}
    if beyond:
        raise place.error(f"{', '.join(sorted(beyond)).upper()} in a query", ALLOWED_SELECT)
    source = tree.args.get("from_") or tree.args.get("from")
    if source is not None and not _is_plain_table(source.this):
        raise place.error(f"FROM {_excerpt(source.this)}", ALLOWED_SELECT)
    expressions = tree.expressions
    if len(expressions) != 1:
        raise place.error(f"{len(expressions)} expressions behind SELECT", ALLOWED_SELECT)
    found = expressions[0].unalias()
    if type(found) not in _AGGREGATES:
        raise place.error(f"SELECT {_excerpt(found)}", ALLOWED_SELECT)
    aggregate = _AGGREGATES[type(found)]
    beyond = {name for name, value in found.args.items() if value} - {"this", "big_int"}
    if beyond:
        raise place.error(f"SELECT {_excerpt(found)}", ALLOWED_SELECT)
    if isinstance(found.this, exp.Star) and aggregate is Aggregate.COUNT:
        return aggregate, None
    if not isinstance(found.this, exp.Column):
        raise place.error(f"SELECT {_excerpt(found)}", ALLOWED_SELECT)
    return aggregate, _column(found.this)


def _is_plain_table(tree: exp.Expr) -> bool:
    """Whether it is a table's name, with a schema or an alias perhaps, and nothing beside it."""
    given = {name for name, value in tree.args.items() if value}
    alias = tree.args.get("alias")
    return (
        isinstance(tree, exp.Table)
        and isinstance(tree.this, exp.Identifier)
        and given <= {"this", "db", "catalog", "alias"}
        and not (alias is not None and alias.args.get("columns"))
    )


def _predicate(tree: exp.Expr, place: _Place) -> Predicate:
    found = _PREDICATES.get(type(tree))
    if found is None:
        advice = None
        if isinstance(tree, exp.Sub) or any(isinstance(part, exp.Sub) for part in tree.iter_expressions()):
            advice = 'A column with a sign in its name is written in double quotes, as "marital-status".'
        raise place.error(f"{_excerpt(tree)} in WHERE", advice=advice)
    return found(tree, place)


def _parenthesis(tree: exp.Expr, place: _Place) -> Predicate:
    return _predicate(tree.this, place)


def _and(tree: exp.Expr, place: _Place) -> Predicate:
    return And(tuple(_predicate(part, place) for part in tree.flatten()))


def _or(tree: exp.Expr, place: _Place) -> Predicate:
    return Or(tuple(_predicate(part, place) for part in tree.flatten()))


def _not(tree: exp.Expr, place: _Place) -> Predicate:
    return Not(_predicate(tree.this, place))


def _is(tree: exp.Expr, place: _Place) -> Predicate:
    if not isinstance(tree.this, exp.Column) or not isinstance(tree.expression, exp.Null):
        raise place.error(f"{_excerpt(tree)} in WHERE")
    return IsNull(_column(tree.this))


def _in(tree: exp.Expr, place: _Place) -> Predicate:
    if not isinstance(tree.this, exp.Column) or not tree.expressions:
        raise place.error(f"{_excerpt(tree)} in WHERE")
    return Members(_column(tree.this), tuple(_constant(value, place) for value in tree.expressions))


def _between(tree: exp.Expr, place: _Place) -> Predicate:
    if not isinstance(tree.this, exp.Column):
        raise place.error(f"{_excerpt(tree)} in WHERE")
    low, high = _constant(tree.args["low"], place), _constant(tree.args["high"], place)
    if isinstance(low, str) != isinstance(high, str):
        raise place.error(f"{_excerpt(tree)} mixes a number and a text")
    return Interval(_column(tree.this), low, high)


_MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.EQ: exp.EQ,
    exp.NEQ: exp.NEQ,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
}


def _comparison(tree: exp.Expr, place: _Place) -> Predicate:
    column, other, kind = tree.this, tree.expression, type(tree)
    if isinstance(other, exp.Column) and not isinstance(column, exp.Column):
        column, other, kind = other, column, _MIRRORED[kind]
    if not isinstance(column, exp.Column):
        return _predicate(column, place) if isinstance(column, exp.Sub) else _refuse(tree, place)
    name, value = _column(column), _constant(other, place)
    if kind is exp.EQ:
        return Members(name, (value,))
    if kind is exp.NEQ:
        return Not(Members(name, (value,)))
    closed = kind in (exp.GTE, exp.LTE)
    if kind in (exp.GT, exp.GTE):
        return Interval(name, low=value, low_closed=closed)
    return Interval(name, high=value, high_closed=closed)


def _refuse(tree: exp.Expr, place: _Place) -> Predicate:
    raise place.error(f"{_excerpt(tree)} in WHERE")


_PREDICATES: dict[type[exp.Expr], Callable[[exp.Expr, _Place], Predicate]] = {
    exp.Paren: _parenthesis,
    exp.And: _and,
    exp.Or: _or,
    exp.Not: _not,
    exp.Is: _is,
    exp.In: _in,
    exp.Between: _between,
    **dict.fromkeys(_MIRRORED, _comparison),
}


def _constant(tree: exp.Expr, place: _Place) -> Constant:
    if isinstance(tree, exp.Paren):
        return _constant(tree.this, place)
    if isinstance(tree, exp.Neg):
        value = _constant(tree.this, place)
        if isinstance(value, Decimal):
            return -value
    elif isinstance(tree, exp.Literal):
        number = None if tree.is_string else decimal_of(tree.this)
        if number is not None or tree.is_string:
            return tree.this if number is None else number
    raise place.error(f"{_excerpt(tree)} where a constant is wanted")


def _column(tree: exp.Column) -> str:
    return str(tree.name)


def _weight(statement: _Statement, place: _Place) -> float:
    found = [match for comment in statement.comments if (match := _WEIGHT.match(comment))]
    if not found:
        return 1.0
    number = decimal_of(found[0].group(1))
    weight = math.nan if number is None else float(number)
    if len(found) > 1 or not math.isfinite(weight) or weight < 0 or found[0].end() < len(found[0].string):
        texts = ", ".join(match.string for match in found)
        raise place.error(
            f"the comment '{texts}' is no weight",
            "one comment per query, such as -- weight 3; a number of at least 0",
        )
    return weight


def _excerpt(tree: exp.Expr) -> str:
    text = " ".join(tree.sql(dialect=DIALECT, comments=False).split())
    return text if len(text) <= 60 else text[:57] + "…"
