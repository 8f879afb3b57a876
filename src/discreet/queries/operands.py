"""Values that an asked query may compare: a row for each kind of syntax that is no function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlglot import exp

from discreet.model.leaf_order import decimal_of
from discreet.queries.condition import Comparison, Condition, attributes_in
from discreet.queries.operand import NULL, Operand, Reading, named_by, number, of_column, text
from discreet.queries.syntax import ReadsExpressions, check_arguments, refusal

_SIGNS: dict[type[exp.Expr], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*"}


def _inner(of: ReadsExpressions, tree: exp.Expr) -> Operand:
    check_arguments(tree, "this")
    return of.operand(tree.this)


def _column(of: ReadsExpressions, tree: exp.Expr) -> Operand:
    assert isinstance(tree, exp.Column)
    name = of.columns.name_of(tree)
    return of_column(name, of.columns.kinds[name], of.dialect, of.columns.types.get(name, ""))


def _constant(of: ReadsExpressions, tree: exp.Expr) -> Operand:
    check_arguments(tree, "this", "is_string")
    if tree.is_string:
        if "\0" in tree.this:
            raise refusal(tree, "has a character that databases do not store")
        return text(of.dialect.literal(tree.this))
    value = decimal_of(tree.this)
    if value is None:
        raise refusal(tree, "is no number", "Write plain decimals, such as 30 or 0.5.")
    whole = tree.this.isdigit()
    return Operand(tree.this, None, (), Reading.NUMBER, whole=whole)


def _null(_of: ReadsExpressions, _tree: exp.Expr) -> Operand:
    return NULL


def _negative(of: ReadsExpressions, tree: exp.Expr) -> Operand:
    check_arguments(tree, "this")
    value = of.number(tree.this)
    return replace(value, number=f"(-{value.read_as(Reading.NUMBER)})", prefers=Reading.NUMBER, is_null=False)


def _arithmetic(of: ReadsExpressions, tree: exp.Expr) -> Operand:
    """In floating point; whole numbers stay whole where they are divided as such."""
    check_arguments(tree, "this", "expression", "typed", "safe")
    first, second = of.number(tree.this), of.number(tree.expression)
    left, right = first.read_as(Reading.NUMBER), second.read_as(Reading.NUMBER)
    whole = of.whole_division and first.whole and second.whole
    native = whole and of.dialect.whole_division
    if not (native or first.floating or second.floating):
        left = of.dialect.cast(left, "DOUBLE")
    if isinstance(tree, exp.Mod):
        sql = of.dialect.remainder.format(left, right)
        return number(sql, first, second, whole=whole, floating=not of.dialect.decimal_functions)
    if isinstance(tree, exp.Div):
        sql = f"({left} / NULLIF({right}, 0))"
        sql = of.dialect.truncated.format(sql) if whole and not native else sql
    else:
        sql = f"({left} {_SIGNS[type(tree)]} {right})"
    return number(sql, first, second, whole=whole, floating=not native)


def _concatenation(of: ReadsExpressions, tree: exp.Expr) -> Operand:
    check_arguments(tree, "this", "expression", "safe")
    first, second = of.text(tree.this), of.text(tree.expression)
    return text(f"({first.read_as(Reading.TEXT)} || {second.read_as(Reading.TEXT)})", first, second)


def _case(of: ReadsExpressions, tree: exp.Expr) -> Operand:
    check_arguments(tree, "this", "ifs", "default")
    whens: list[Condition] = []
    for branch in tree.args["ifs"]:
        check_arguments(branch, "this", "true")
        if tree.this is None:
            whens.append(of.condition(branch.this))
        else:
            (value, wanted), names = of.compared(tree, tree.this, branch.this)
            whens.append(Comparison(f"{value} = {wanted}", names))
    thens = [of.operand(branch.args["true"]) for branch in tree.args["ifs"]]
    default = NULL if tree.args.get("default") is None else of.operand(tree.args["default"])

    def written(reading: Reading) -> str:
        branches = zip(whens, thens, strict=True)
        steps = " ".join(f"WHEN {when.sql} THEN {then.read_as(reading)}" for when, then in branches)
        return f"CASE {steps} ELSE {default.read_as(reading)} END"

    names = tuple(dict.fromkeys(name for when in whens for name in attributes_in(when)))
    return joined(tree, [*thens, default], written, names)


def joined(
    tree: exp.Expr,
    operands: Sequence[Operand],
    written: Callable[[Reading], str],
    names: tuple[str, ...] = (),
) -> Operand:
    """One of several operands, in every reading that all of them have."""
    as_number = all(operand.number is not None for operand in operands)
    as_text = all(operand.text is not None for operand in operands)
    if not (as_number or as_text):
        raise refusal(tree, "is a number here and a text there")
    known = [operand for operand in operands if not operand.is_null]
    preferred = {operand.prefers for operand in known}
    return Operand(
        written(Reading.NUMBER) if as_number else None,
        written(Reading.TEXT) if as_text else None,
        tuple(dict.fromkeys((*names, *named_by(operands)))),
        preferred.pop() if len(preferred) == 1 else None,
        whole=bool(known) and all(operand.whole for operand in known),
        floating=any(operand.floating for operand in known),
        is_null=not known,
    )


OPERANDS: dict[type[exp.Expr], Callable[[ReadsExpressions, exp.Expr], Operand]] = {
    exp.Paren: _inner,
    exp.Column: _column,
    exp.Literal: _constant,
    exp.Null: _null,
    exp.Neg: _negative,
    exp.Add: _arithmetic,
    exp.Sub: _arithmetic,
    exp.Mul: _arithmetic,
    exp.Div: _arithmetic,
    exp.Mod: _arithmetic,
    exp.DPipe: _concatenation,
    exp.Case: _case,
}
