"""Functions that an asked query may call, a row for each: deterministic, and without side effects."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from discreet.queries.labels import read_label
from discreet.queries.operand import Operand, Reading, common_reading, named_by, number, number_in, text
from discreet.queries.operands import joined
from discreet.queries.syntax import ReadsExpressions, check_arguments, given_arguments, refusal

_TEXT_TYPES = {"VARCHAR", "TEXT", "CHAR", "NVARCHAR"}
_WHOLE_TYPES = {"INT", "BIGINT", "SMALLINT", "TINYINT"}
_DOUBLE_TYPES = {"DOUBLE", "FLOAT"}


def _text_function(name: str) -> Callable[[ReadsExpressions, exp.Expr], Operand]:
    def read(of: ReadsExpressions, tree: exp.Expr) -> Operand:
        check_arguments(tree, "this")
        value = of.text(tree.this)
        return text(f"{name}({value.read_as(Reading.TEXT)})", value)

    return read


def _length(of: ReadsExpressions, tree: exp.Expr) -> Operand:
    # What functions do with bytes, or beyond constants of 0 or 1 on, matters to no text and no constant here.
    check_arguments(tree, "this", "binary")
    value = of.text(tree.this)
    return number(f"LENGTH({value.read_as(Reading.TEXT)})", value, whole=True, floating=False)


def _substring(of: ReadsExpressions, tree: exp.Expr) -> Operand:
    check_arguments(tree, "this", "start", "length", "zero_start")
    value, start = of.text(tree.this), _whole_constant(tree, tree.args["start"], least=1)
    length = tree.args.get("length")
    rest = "" if length is None else f", {_whole_constant(tree, length, least=0)}"
    return text(f"SUBSTRING({value.read_as(Reading.TEXT)}, {start}{rest})", value)


def _side(of: ReadsExpressions, tree: exp.Expr) -> Operand:
    check_arguments(tree, "this", "expression", "negative_length_returns_empty")
    value, length = of.text(tree.this), _whole_constant(tree, tree.expression, least=0)
    name = "LEFT" if isinstance(tree, exp.Left) else "RIGHT"
    return text(f"{name}({value.read_as(Reading.TEXT)}, {length})", value)


def _whole_constant(tree: exp.Expr, value: exp.Expr, *, least: int) -> int:
    if isinstance(value, exp.Literal) and not value.is_string and value.this.isdigit():
        found = int(value.this)
        if least <= found <= 1_000_000:
            return found
    raise refusal(tree, f"wants whole numbers of at least {least} as constants")


def _number_function(name: str) -> Callable[[ReadsExpressions, exp.Expr], Operand]:
    def read(of: ReadsExpressions, tree: exp.Expr) -> Operand:
        check_arguments(tree, "this")
        value = of.number(tree.this)
        sql = value.read_as(Reading.NUMBER)
        return number(f"{name}({sql if value.floating else of.dialect.cast(sql, 'DOUBLE')})", value)

    return read


def _round(of: ReadsExpressions, tree: exp.Expr) -> Operand:
    check_arguments(tree, "this", "decimals", "casts_non_integer_decimals")
    digits = tree.args.get("decimals")
    places = 0 if digits is None else _whole_constant(tree, digits, least=0)
    if places > 15:
        raise refusal(tree, "rounds to more than 15 decimals")
    value = of.number(tree.this)
    sql = value.read_as(Reading.NUMBER)
    exact = of.dialect.rounded.format(sql if value.floating else of.dialect.cast(sql, "DOUBLE"), places)
    return number(exact, value, floating=not of.dialect.decimal_functions)


def _one_of(name: str, *allowed: str) -> Callable[[ReadsExpressions, exp.Expr], Operand]:
    def read(of: ReadsExpressions, tree: exp.Expr) -> Operand:
        check_arguments(tree, "this", "expressions", *allowed)
        operands = [of.operand(part) for part in (tree.this, *tree.expressions)]
        return joined(
            tree, operands, lambda reading: f"{name}({', '.join(o.read_as(reading) for o in operands)})"
        )

    return read


def _extreme(name: str) -> Callable[[ReadsExpressions, exp.Expr], Operand]:
    def read(of: ReadsExpressions, tree: exp.Expr) -> Operand:
        check_arguments(tree, "this", "expressions", "ignore_nulls")
        parts, names = of.compared(tree, tree.this, *tree.expressions)
        reading = common_reading([of.operand(part) for part in (tree.this, *tree.expressions)])
        sql = f"{name}({', '.join(parts)})"
        as_number = reading is Reading.NUMBER
        return Operand(sql if as_number else None, None if as_number else sql, names, reading, floating=False)

    return read


def _nullif(of: ReadsExpressions, tree: exp.Expr) -> Operand:
    check_arguments(tree, "this", "expression")
    (first, second), _ = of.compared(tree, tree.this, tree.expression)
    operands = [of.operand(tree.this), of.operand(tree.expression)]
    reading = common_reading(operands)
    sql = f"NULLIF({first}, {second})"
    as_number = reading is Reading.NUMBER
    return Operand(
        sql if as_number else None,
        None if as_number else sql,
        named_by(operands),
        reading,
        whole=operands[0].whole,
        floating=operands[0].floating,
    )


def _cast(of: ReadsExpressions, tree: exp.Expr) -> Operand:
    """What a cell says as a number, or its text; what says no number is NULL."""
    check_arguments(tree, "this", "to", "safe")
    target = tree.args["to"]
    if given_arguments(target) - {"this"}:
        raise refusal(tree, "casts to a type with parameters", "CAST to VARCHAR, BIGINT or DOUBLE.")
    name = getattr(target.this, "name", str(target.this))
    value = of.operand(tree.this)
    if name in _TEXT_TYPES:
        sql = value.text
        if sql is None or (value.prefers is Reading.NUMBER and value.number is not None):
            sql = of.dialect.cast(value.read_as(Reading.NUMBER), "VARCHAR")
        return text(sql, value)
    if name not in _WHOLE_TYPES | _DOUBLE_TYPES:
        raise refusal(tree, "casts to a type that is not supported", "CAST to VARCHAR, BIGINT or DOUBLE.")
    sql = value.number
    if sql is None:
        sql = number_in(of.dialect, value.read_as(Reading.TEXT))
    if name in _WHOLE_TYPES:
        return number(of.dialect.whole.format(sql), value, whole=True, floating=False)
    return number(sql if value.floating else of.dialect.cast(sql, "DOUBLE"), value)


FUNCTIONS: dict[type[exp.Expr], Callable[[ReadsExpressions, exp.Expr], Operand]] = {
    exp.Upper: _text_function("UPPER"),
    exp.Lower: _text_function("LOWER"),
    exp.Trim: _text_function("TRIM"),
    exp.Length: _length,
    exp.Substring: _substring,
    exp.Left: _side,
    exp.Right: _side,
    exp.Abs: _number_function("ABS"),
    exp.Floor: _number_function("FLOOR"),
    exp.Ceil: _number_function("CEIL"),
    exp.Round: _round,
    exp.Greatest: _extreme("GREATEST"),
    exp.Least: _extreme("LEAST"),
    exp.Coalesce: _one_of("COALESCE"),
    exp.Nullif: _nullif,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Anonymous: read_label,
}
