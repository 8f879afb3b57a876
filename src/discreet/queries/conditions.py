"""Conditions that an asked query may have: a row for each kind of syntax."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from discreet.queries.condition import Comparison, Condition, Contrary, Either, Every, attributes_in
from discreet.queries.operand import Reading, common_reading, named_by
from discreet.queries.syntax import ReadsExpressions, check_arguments, refusal

_COMPARED: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}


def is_condition(tree: exp.Expr) -> bool:
    """Whether syntax is true or false, not a value (parentheses left aside)."""
    return type(tree) in CONDITIONS and not isinstance(tree, exp.Paren)


def _parenthesis(of: ReadsExpressions, tree: exp.Expr) -> Condition:
    check_arguments(tree, "this")
    return of.condition(tree.this)


def _and(of: ReadsExpressions, tree: exp.Expr) -> Condition:
    return Every(tuple(of.condition(part) for part in _parts(tree)))


def _or(of: ReadsExpressions, tree: exp.Expr) -> Condition:
    return Either(tuple(of.condition(part) for part in _parts(tree)))


def _parts(tree: exp.Expr) -> list[exp.Expr]:
    """The parts of a chain of AND or OR, which the parser nests to the left."""
    found: list[exp.Expr] = []
    kind = type(tree)
    while type(tree) is kind:
        check_arguments(tree, "this", "expression")
        found.append(tree.expression)
        tree = tree.this
    return [tree, *reversed(found)]


def _not(of: ReadsExpressions, tree: exp.Expr) -> Condition:
    check_arguments(tree, "this")
    return Contrary(of.condition(tree.this))


def _truth(_of: ReadsExpressions, tree: exp.Expr) -> Condition:
    return Comparison("TRUE" if tree.this else "FALSE", ())


def _compare(of: ReadsExpressions, tree: exp.Expr) -> Condition:
    check_arguments(tree, "this", "expression")
    (first, second), names = of.compared(tree, tree.this, tree.expression)
    return Comparison(f"{first} {_COMPARED[type(tree)]} {second}", names)


def _distinct(of: ReadsExpressions, tree: exp.Expr) -> Condition:
    check_arguments(tree, "this", "expression")
    (first, second), names = of.compared(tree, tree.this, tree.expression)
    found = Comparison(of.dialect.differs.format(first, second), names)
    return Contrary(found) if isinstance(tree, exp.NullSafeEQ) else found


def _between(of: ReadsExpressions, tree: exp.Expr) -> Condition:
    check_arguments(tree, "this", "low", "high")
    (value, low, high), names = of.compared(tree, tree.this, tree.args["low"], tree.args["high"])
    return Comparison(f"{value} BETWEEN {low} AND {high}", names)


def _in(of: ReadsExpressions, tree: exp.Expr) -> Condition:
    """Members that are numbers and members that are texts are compared apart."""
    check_arguments(tree, "this", "expressions")
    members = [of.operand(member) for member in tree.expressions]
    value = of.operand(tree.this)
    by_reading: dict[Reading, list[str]] = {}
    for member in members:
        reading = common_reading([value, member])
        if reading is None:
            raise refusal(
                tree, "compares cells that may be texts or numbers", "Say which: CAST(… AS DOUBLE)."
            )
        by_reading.setdefault(reading, []).append(member.read_as(reading))
    parts = [f"{value.read_as(reading)} IN ({', '.join(of_it)})" for reading, of_it in by_reading.items()]
    if not parts:
        raise refusal(tree, "has no members")
    sql = parts[0] if len(parts) == 1 else f"({' OR '.join(parts)})"
    return Comparison(sql, named_by([value, *members]))


def _like(of: ReadsExpressions, tree: exp.Expr) -> Condition:
    check_arguments(tree, "this", "expression", "negate")
    pattern = tree.expression
    if not (isinstance(pattern, exp.Literal) and pattern.is_string):
        raise refusal(tree, "has a pattern that is no constant text")
    if "\\" in pattern.this:
        raise refusal(tree, "has a backslash in its pattern, which databases read differently")
    value = of.text(tree.this)
    sign = "LIKE" if isinstance(tree, exp.Like) else "ILIKE"
    sql = f"{value.read_as(Reading.TEXT)} {sign} {of.dialect.literal(pattern.this)}"
    found = Comparison(sql, value.attributes)
    return Contrary(found) if tree.args.get("negate") else found


def _is(of: ReadsExpressions, tree: exp.Expr) -> Condition:
    check_arguments(tree, "this", "expression", "negate")
    found = _is_plainly(of, tree)
    return Contrary(found) if tree.args.get("negate") else found


def _is_plainly(of: ReadsExpressions, tree: exp.Expr) -> Condition:
    other = tree.expression
    is_truth = isinstance(other, exp.Boolean)
    if not is_truth and not isinstance(other, exp.Null):
        raise refusal(tree)
    word = "NULL" if not is_truth else "TRUE" if other.this else "FALSE"
    inner = tree.this.unnest()
    if is_truth or is_condition(inner):
        condition = of.condition(inner)
        return Comparison(f"({condition.sql}) IS {word}", attributes_in(condition))
    value = of.operand(inner)
    reading = common_reading([value]) or Reading.TEXT
    return Comparison(f"{value.read_as(reading)} IS NULL", value.attributes)


CONDITIONS: dict[type[exp.Expr], Callable[[ReadsExpressions, exp.Expr], Condition]] = {
    exp.Paren: _parenthesis,
    exp.And: _and,
    exp.Or: _or,
    exp.Not: _not,
    exp.Boolean: _truth,
    exp.NullSafeEQ: _distinct,
    exp.NullSafeNEQ: _distinct,
    exp.Between: _between,
    exp.In: _in,
    exp.Like: _like,
    exp.ILike: _like,
    exp.Is: _is,
    **dict.fromkeys(_COMPARED, _compare),
}
