"""Grammar of expressions in a release query: an allow-list of syntax that is parsed and rewritten.

Each kind of syntax has an entry in one of three tables (``CONDITION_READERS``, ``OPERAND_READERS``,
``FUNCTION_READERS``) and a list of allowed arguments; its SQL is composed from the parsed parts. Syntax
without an entry is rejected, so no function with side effects, no file, no subquery and no parameter
passes, even if a later version of the parser accepts more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from sqlglot import exp

from discreet.model.hierarchy import parse_decimal
from discreet.queries.sql_expression import (
    NULL_OPERAND,
    Condition,
    Conjunction,
    Disjunction,
    Negation,
    Operand,
    OperandType,
    SqlComparison,
    attributes_of_condition,
    attributes_of_operands,
    column_operand,
    find_common_type,
    number_of_text,
    number_operand,
    text_operand,
)
from discreet.queries.syntax import (
    QueryColumns,
    check_syntax_arguments,
    is_label,
    label_column,
    present_arguments,
    refuse_syntax,
)
from discreet.sql.dialect import Dialect

_COMPARISON_SIGNS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}


_Tree = TypeVar("_Tree", Condition, Operand)
_Readers = dict[type[exp.Expr], tuple[Callable[["GrammarReader", exp.Expr], _Tree], tuple[str, ...] | None]]
"""Reader of each kind of syntax, and the arguments that it allows; None if the reader checks them."""


def is_condition(tree: exp.Expr) -> bool:
    """Check whether syntax is a condition, not a value (parentheses are not counted)."""
    return type(tree) in CONDITION_READERS and not isinstance(tree, exp.Paren)


def _conditions_of_chain(of: GrammarReader, tree: exp.Expr) -> tuple[Condition, ...]:
    """Read the parts of a chain of AND or OR, which the parser nests to the left.

    A loop avoids one recursion per part.
    """
    found: list[exp.Expr] = []
    kind = type(tree)
    while type(tree) is kind:
        check_syntax_arguments(tree, "this", "expression")
        found.append(tree.expression)
        tree = tree.this
    return tuple(of.condition(part) for part in (tree, *reversed(found)))


def _read_comparison(of: GrammarReader, tree: exp.Expr) -> Condition:
    (first, second), names = of.compared(tree, tree.this, tree.expression)
    return SqlComparison(f"{first} {_COMPARISON_SIGNS[type(tree)]} {second}", names)


def _read_distinct(of: GrammarReader, tree: exp.Expr) -> Condition:
    (first, second), names = of.compared(tree, tree.this, tree.expression)
    found = SqlComparison(of.dialect.differs.format(first, second), names)
    return Negation(found) if isinstance(tree, exp.NullSafeEQ) else found


def _read_between(of: GrammarReader, tree: exp.Expr) -> Condition:
    (value, low, high), names = of.compared(tree, tree.this, tree.args["low"], tree.args["high"])
    return SqlComparison(f"{value} BETWEEN {low} AND {high}", names)


def _read_in(of: GrammarReader, tree: exp.Expr) -> Condition:
    """Read IN; numeric and text members are compared separately."""
    members = [of.operand(member) for member in tree.expressions]
    value = of.operand(tree.this)
    by_reading: dict[OperandType, list[str]] = {}
    for member in members:
        reading = find_common_type([value, member])
        if reading is None:
            raise refuse_syntax(tree, "compares untyped cells", "Use CAST(… AS DOUBLE).")
        by_reading.setdefault(reading, []).append(member.read_as(reading))
    parts = [f"{value.read_as(reading)} IN ({', '.join(of_it)})" for reading, of_it in by_reading.items()]
    if not parts:
        raise refuse_syntax(tree, "has no members")
    sql = parts[0] if len(parts) == 1 else f"({' OR '.join(parts)})"
    return SqlComparison(sql, attributes_of_operands([value, *members]))


def _read_like(of: GrammarReader, tree: exp.Expr) -> Condition:
    pattern = tree.expression
    if not (isinstance(pattern, exp.Literal) and pattern.is_string):
        raise refuse_syntax(tree, "has a pattern that is not a constant text")
    if "\\" in pattern.this:
        raise refuse_syntax(tree, "has a backslash in its pattern, which databases interpret differently")
    value = of.text(tree.this)
    sign = "LIKE" if isinstance(tree, exp.Like) else "ILIKE"
    sql = f"{value.read_as(OperandType.TEXT)} {sign} {of.dialect.literal(pattern.this)}"
    found = SqlComparison(sql, value.attributes)
    return Negation(found) if tree.args.get("negate") else found


def _read_is(of: GrammarReader, tree: exp.Expr) -> Condition:
    found = _read_is_unnegated(of, tree)
    return Negation(found) if tree.args.get("negate") else found


def _read_is_unnegated(of: GrammarReader, tree: exp.Expr) -> Condition:
    other = tree.expression
    is_truth = isinstance(other, exp.Boolean)
    if not is_truth and not isinstance(other, exp.Null):
        raise refuse_syntax(tree)
    word = "NULL" if not is_truth else "TRUE" if other.this else "FALSE"
    inner = tree.this.unnest()
    if is_truth or is_condition(inner):
        condition = of.condition(inner)
        return SqlComparison(f"({condition.sql}) IS {word}", attributes_of_condition(condition))
    value = of.operand(inner)
    reading = find_common_type([value]) or OperandType.TEXT
    return SqlComparison(f"{value.read_as(reading)} IS NULL", value.attributes)


CONDITION_READERS: _Readers[Condition] = {
    exp.Paren: (lambda of, tree: of.condition(tree.this), ("this",)),
    exp.And: (lambda of, tree: Conjunction(_conditions_of_chain(of, tree)), None),
    exp.Or: (lambda of, tree: Disjunction(_conditions_of_chain(of, tree)), None),
    exp.Not: (lambda of, tree: Negation(of.condition(tree.this)), ("this",)),
    exp.Boolean: (lambda _of, tree: SqlComparison("TRUE" if tree.this else "FALSE", ()), None),
    exp.NullSafeEQ: (_read_distinct, ("this", "expression")),
    exp.NullSafeNEQ: (_read_distinct, ("this", "expression")),
    exp.Between: (_read_between, ("this", "low", "high")),
    exp.In: (_read_in, ("this", "expressions")),
    exp.Like: (_read_like, ("this", "expression", "negate")),
    exp.ILike: (_read_like, ("this", "expression", "negate")),
    exp.Is: (_read_is, ("this", "expression", "negate")),
    **dict.fromkeys(_COMPARISON_SIGNS, (_read_comparison, ("this", "expression"))),
}


_ARITHMETIC_SIGNS: dict[type[exp.Expr], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*"}


def _read_column(of: GrammarReader, tree: exp.Expr) -> Operand:
    assert isinstance(tree, exp.Column)
    name = of.columns.name_of(tree)
    return column_operand(name, of.columns.kinds[name], of.dialect, of.columns.types.get(name, ""))


def _read_constant(of: GrammarReader, tree: exp.Expr) -> Operand:
    if tree.is_string:
        if "\0" in tree.this:
            raise refuse_syntax(tree, "has a character that databases do not store")
        return text_operand(of.dialect.literal(tree.this))
    value = parse_decimal(tree.this)
    if value is None:
        raise refuse_syntax(tree, "is no number", "Write plain decimals, such as 30 or 0.5.")
    is_integer = tree.this.isdigit()
    return Operand(tree.this, None, (), OperandType.NUMBER, is_integer=is_integer)


def _read_negative(of: GrammarReader, tree: exp.Expr) -> Operand:
    value = of.number(tree.this)
    return replace(
        value, number=f"(-{value.read_as(OperandType.NUMBER)})", prefers=OperandType.NUMBER, is_null=False
    )


def _read_arithmetic(of: GrammarReader, tree: exp.Expr) -> Operand:
    """Read arithmetic in floating point; divisions of whole numbers stay whole if the dialect divides so.

    The parser's ``typed`` and ``safe`` flags are ignored. Operands are cast to DOUBLE unless one already is
    floating, and a division by 0 is NULL.
    """
    first, second = of.number(tree.this), of.number(tree.expression)
    left, right = first.read_as(OperandType.NUMBER), second.read_as(OperandType.NUMBER)
    is_integer = of.integer_division and first.is_integer and second.is_integer
    native = is_integer and of.dialect.integer_division
    if not (native or first.floating or second.floating):
        left = of.dialect.cast(left, "DOUBLE")
    if isinstance(tree, exp.Mod):
        sql = of.dialect.remainder.format(left, right)
        return number_operand(
            sql, first, second, is_integer=is_integer, floating=not of.dialect.decimal_functions
        )
    if isinstance(tree, exp.Div):
        sql = f"({left} / NULLIF({right}, 0))"
        sql = of.dialect.truncated.format(sql) if is_integer and not native else sql
    else:
        sql = f"({left} {_ARITHMETIC_SIGNS[type(tree)]} {right})"
    return number_operand(sql, first, second, is_integer=is_integer, floating=not native)


def _read_concatenation(of: GrammarReader, tree: exp.Expr) -> Operand:
    first, second = of.text(tree.this), of.text(tree.expression)
    return text_operand(
        f"({first.read_as(OperandType.TEXT)} || {second.read_as(OperandType.TEXT)})", first, second
    )


def _read_case(of: GrammarReader, tree: exp.Expr) -> Operand:
    whens: list[Condition] = []
    for branch in tree.args["ifs"]:
        check_syntax_arguments(branch, "this", "true")
        if tree.this is None:
            whens.append(of.condition(branch.this))
        else:
            (value, wanted), names = of.compared(tree, tree.this, branch.this)
            whens.append(SqlComparison(f"{value} = {wanted}", names))
    thens = [of.operand(branch.args["true"]) for branch in tree.args["ifs"]]
    default = NULL_OPERAND if tree.args.get("default") is None else of.operand(tree.args["default"])

    def written(reading: OperandType) -> str:
        branches = zip(whens, thens, strict=True)
        steps = " ".join(f"WHEN {when.sql} THEN {then.read_as(reading)}" for when, then in branches)
        return f"CASE {steps} ELSE {default.read_as(reading)} END"

    names = tuple(dict.fromkeys(name for when in whens for name in attributes_of_condition(when)))
    return choose_operand(tree, [*thens, default], written, names)


def choose_operand(
    tree: exp.Expr,
    operands: Sequence[Operand],
    written: Callable[[OperandType], str],
    names: tuple[str, ...] = (),
) -> Operand:
    """Combine the alternatives of CASE or COALESCE, in every type that all of them have."""
    as_number = all(operand.number is not None for operand in operands)
    as_text = all(operand.text is not None for operand in operands)
    if not (as_number or as_text):
        raise refuse_syntax(tree, "mixes numbers and texts")
    known = [operand for operand in operands if not operand.is_null]
    preferred = {operand.prefers for operand in known}
    return Operand(
        written(OperandType.NUMBER) if as_number else None,
        written(OperandType.TEXT) if as_text else None,
        tuple(dict.fromkeys((*names, *attributes_of_operands(operands)))),
        preferred.pop() if len(preferred) == 1 else None,
        is_integer=bool(known) and all(operand.is_integer for operand in known),
        floating=any(operand.floating for operand in known),
        is_null=not known,
    )


OPERAND_READERS: _Readers[Operand] = {
    exp.Paren: (lambda of, tree: of.operand(tree.this), ("this",)),
    exp.Column: (_read_column, None),
    exp.Literal: (_read_constant, ("this", "is_string")),
    exp.Null: (lambda _of, _tree: NULL_OPERAND, None),
    exp.Neg: (_read_negative, ("this",)),
    exp.Add: (_read_arithmetic, ("this", "expression", "typed", "safe")),
    exp.Sub: (_read_arithmetic, ("this", "expression", "typed", "safe")),
    exp.Mul: (_read_arithmetic, ("this", "expression", "typed", "safe")),
    exp.Div: (_read_arithmetic, ("this", "expression", "typed", "safe")),
    exp.Mod: (_read_arithmetic, ("this", "expression", "typed", "safe")),
    exp.DPipe: (_read_concatenation, ("this", "expression", "safe")),
    exp.Case: (_read_case, ("this", "ifs", "default")),
}


_TEXT_TYPES = {"VARCHAR", "TEXT", "CHAR", "NVARCHAR"}
_INTEGER_TYPES = {"INT", "BIGINT", "SMALLINT", "TINYINT"}
_DOUBLE_TYPES = {"DOUBLE", "FLOAT"}


def _text_function_reader(name: str) -> Callable[[GrammarReader, exp.Expr], Operand]:
    def read(of: GrammarReader, tree: exp.Expr) -> Operand:
        value = of.text(tree.this)
        return text_operand(f"{name}({value.read_as(OperandType.TEXT)})", value)

    return read


def _read_length(of: GrammarReader, tree: exp.Expr) -> Operand:
    # The parser's flags for bytes and for unusual constants do not change the result of allowed arguments.
    value = of.text(tree.this)
    return number_operand(
        f"LENGTH({value.read_as(OperandType.TEXT)})", value, is_integer=True, floating=False
    )


def _read_substring(of: GrammarReader, tree: exp.Expr) -> Operand:
    value, start = of.text(tree.this), _integer_constant(tree, tree.args["start"], least=1)
    length = tree.args.get("length")
    rest = "" if length is None else f", {_integer_constant(tree, length, least=0)}"
    return text_operand(f"SUBSTRING({value.read_as(OperandType.TEXT)}, {start}{rest})", value)


def _read_left_or_right(of: GrammarReader, tree: exp.Expr) -> Operand:
    value, length = of.text(tree.this), _integer_constant(tree, tree.expression, least=0)
    name = "LEFT" if isinstance(tree, exp.Left) else "RIGHT"
    return text_operand(f"{name}({value.read_as(OperandType.TEXT)}, {length})", value)


def _integer_constant(tree: exp.Expr, value: exp.Expr, *, least: int) -> int:
    if isinstance(value, exp.Literal) and not value.is_string and value.this.isdigit():
        result = int(value.this)
        if least <= result <= 1_000_000:
            return result
    raise refuse_syntax(tree, f"requires integer constants of at least {least}")


def _number_function_reader(name: str) -> Callable[[GrammarReader, exp.Expr], Operand]:
    def read(of: GrammarReader, tree: exp.Expr) -> Operand:
        value = of.number(tree.this)
        sql = value.read_as(OperandType.NUMBER)
        return number_operand(f"{name}({sql if value.floating else of.dialect.cast(sql, 'DOUBLE')})", value)

    return read


def _read_round(of: GrammarReader, tree: exp.Expr) -> Operand:
    digits = tree.args.get("decimals")
    places = 0 if digits is None else _integer_constant(tree, digits, least=0)
    if places > 15:
        raise refuse_syntax(tree, "rounds to more than 15 decimals")
    value = of.number(tree.this)
    sql = value.read_as(OperandType.NUMBER)
    exact = of.dialect.rounded.format(sql if value.floating else of.dialect.cast(sql, "DOUBLE"), places)
    return number_operand(exact, value, floating=not of.dialect.decimal_functions)


def _choice_reader(name: str, *allowed: str) -> Callable[[GrammarReader, exp.Expr], Operand]:
    def read(of: GrammarReader, tree: exp.Expr) -> Operand:
        check_syntax_arguments(tree, "this", "expressions", *allowed)
        operands = [of.operand(part) for part in (tree.this, *tree.expressions)]
        return choose_operand(
            tree, operands, lambda reading: f"{name}({', '.join(o.read_as(reading) for o in operands)})"
        )

    return read


def _extreme_reader(name: str) -> Callable[[GrammarReader, exp.Expr], Operand]:
    def read(of: GrammarReader, tree: exp.Expr) -> Operand:
        parts, names = of.compared(tree, tree.this, *tree.expressions)
        reading = find_common_type([of.operand(part) for part in (tree.this, *tree.expressions)])
        sql = f"{name}({', '.join(parts)})"
        as_number = reading is OperandType.NUMBER
        return Operand(sql if as_number else None, None if as_number else sql, names, reading, floating=False)

    return read


def _read_nullif(of: GrammarReader, tree: exp.Expr) -> Operand:
    (first, second), _ = of.compared(tree, tree.this, tree.expression)
    operands = [of.operand(tree.this), of.operand(tree.expression)]
    reading = find_common_type(operands)
    sql = f"NULLIF({first}, {second})"
    as_number = reading is OperandType.NUMBER
    return Operand(
        sql if as_number else None,
        None if as_number else sql,
        attributes_of_operands(operands),
        reading,
        is_integer=operands[0].is_integer,
        floating=operands[0].floating,
    )


def _read_cast(of: GrammarReader, tree: exp.Expr) -> Operand:
    """Read CAST to a number or text; a text that states no number becomes NULL."""
    target = tree.args["to"]
    if present_arguments(target) - {"this"}:
        raise refuse_syntax(tree, "casts to a type with parameters", "CAST to VARCHAR, BIGINT or DOUBLE.")
    name = getattr(target.this, "name", str(target.this))
    value = of.operand(tree.this)
    if name in _TEXT_TYPES:
        sql = value.text
        if sql is None or (value.prefers is OperandType.NUMBER and value.number is not None):
            sql = of.dialect.cast(value.read_as(OperandType.NUMBER), "VARCHAR")
        return text_operand(sql, value)
    if name not in _INTEGER_TYPES | _DOUBLE_TYPES:
        raise refuse_syntax(
            tree, "casts to a type that is not supported", "CAST to VARCHAR, BIGINT or DOUBLE."
        )
    sql = value.number
    if sql is None:
        sql = number_of_text(of.dialect, value.read_as(OperandType.TEXT))
    if name in _INTEGER_TYPES:
        return number_operand(of.dialect.integer_cast.format(sql), value, is_integer=True, floating=False)
    return number_operand(sql if value.floating else of.dialect.cast(sql, "DOUBLE"), value)


def _read_label(of: GrammarReader, tree: exp.Expr) -> Operand:
    """Read the label of a column; other functions that the parser does not know are rejected."""
    if not is_label(tree):
        raise refuse_syntax(tree)
    check_syntax_arguments(tree, "this", "expressions")
    inner = tree.expressions[0].unnest() if len(tree.expressions) == 1 else tree
    if not isinstance(inner, exp.Column):
        raise refuse_syntax(tree, "requires one column", "Write label(column).")
    name = of.columns.name_of(inner)
    taken = label_column(name)
    if taken in of.columns.refused and name in of.columns.kinds and taken not in of.columns.kinds:
        raise refuse_syntax(tree, f"is refused: {of.columns.refused[taken]}")
    if taken in of.columns.kinds or taken in of.columns.refused:
        raise refuse_syntax(tree, f"is ambiguous: a column has the name '{taken}'")
    return text_operand(of.dialect.identifier(taken), Operand(None, None, (taken,)))


FUNCTION_READERS: _Readers[Operand] = {
    exp.Upper: (_text_function_reader("UPPER"), ("this",)),
    exp.Lower: (_text_function_reader("LOWER"), ("this",)),
    exp.Trim: (_text_function_reader("TRIM"), ("this",)),
    exp.Length: (_read_length, ("this", "binary")),
    exp.Substring: (_read_substring, ("this", "start", "length", "zero_start")),
    exp.Left: (_read_left_or_right, ("this", "expression", "negative_length_returns_empty")),
    exp.Right: (_read_left_or_right, ("this", "expression", "negative_length_returns_empty")),
    exp.Abs: (_number_function_reader("ABS"), ("this",)),
    exp.Floor: (_number_function_reader("FLOOR"), ("this",)),
    exp.Ceil: (_number_function_reader("CEIL"), ("this",)),
    exp.Round: (_read_round, ("this", "decimals", "casts_non_integer_decimals")),
    exp.Greatest: (_extreme_reader("GREATEST"), ("this", "expressions", "ignore_nulls")),
    exp.Least: (_extreme_reader("LEAST"), ("this", "expressions", "ignore_nulls")),
    exp.Coalesce: (_choice_reader("COALESCE"), None),
    exp.Nullif: (_read_nullif, ("this", "expression")),
    exp.Cast: (_read_cast, ("this", "to", "safe")),
    exp.TryCast: (_read_cast, ("this", "to", "safe")),
    exp.Anonymous: (_read_label, None),
}


_VALUE_READERS = {**OPERAND_READERS, **FUNCTION_READERS}


@dataclass(frozen=True)
class GrammarReader:
    """Reader of expressions over some columns, which are written in a dialect.

    ``integer_division`` is True if whole numbers are divided without a remainder, as in PostgreSQL.
    """

    columns: QueryColumns
    dialect: Dialect
    integer_division: bool = False

    def condition(self, tree: exp.Expr) -> Condition:
        """Read a condition after WHERE or WHEN."""
        if type(tree) not in CONDITION_READERS:
            advice = None
            if type(tree) in _VALUE_READERS:
                advice = "Compare it with a value, such as member = 'true'."
            raise refuse_syntax(tree, "is not a supported condition", advice)
        read, allowed = CONDITION_READERS[type(tree)]
        if allowed is not None:
            check_syntax_arguments(tree, *allowed)
        return read(self, tree)

    def operand(self, tree: exp.Expr) -> Operand:
        """Read a value that may be compared."""
        if type(tree) not in _VALUE_READERS:
            advice = None
            if isinstance(tree, exp.Concat):
                advice = "Join texts by ||."
            raise refuse_syntax(tree, advice=advice)
        read, allowed = _VALUE_READERS[type(tree)]
        if allowed is not None:
            check_syntax_arguments(tree, *allowed)
        return read(self, tree)

    def number(self, tree: exp.Expr) -> Operand:
        """Read a numeric operand, or one that can be read as a number."""
        found = self.operand(tree)
        if found.number is None:
            raise refuse_syntax(
                tree, "is a text; a number is required", "Convert the text by CAST(… AS DOUBLE)."
            )
        return replace(found, text=None)

    def text(self, tree: exp.Expr) -> Operand:
        """Read a text operand, or one that can be read as a text."""
        found = self.operand(tree)
        if found.text is None:
            raise refuse_syntax(
                tree, "is a number; a text is required", "Convert the number by CAST(… AS VARCHAR)."
            )
        return replace(found, number=None)

    def compared(self, tree: exp.Expr, *parts: exp.Expr) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the SQL of operands in their common type, and the columns that they name."""
        operands = [self.operand(part) for part in parts]
        reading = find_common_type(operands)
        if reading is None:
            raise refuse_syntax(
                tree,
                "compares untyped cells",
                "Use CAST(… AS DOUBLE) or CAST(… AS VARCHAR) for one of them.",
            )
        return tuple(operand.read_as(reading) for operand in operands), attributes_of_operands(operands)
