"""``label(column)``: what a release shows in a column, as a text, whatever it may stand for."""

from __future__ import annotations

from sqlglot import exp

from discreet.queries.operand import Operand, text
from discreet.queries.syntax import ReadsExpressions, check_arguments, refusal

LABEL = "label"


def label_of(column: str) -> str:
    """The name of a column's labels among a query's columns."""
    return f"{LABEL}({column})"


def is_label(tree: exp.Expr | None) -> bool:
    """Whether a piece of syntax is ``label(…)``."""
    return isinstance(tree, exp.Anonymous) and str(tree.this).casefold() == LABEL


def read_label(of: ReadsExpressions, tree: exp.Expr) -> Operand:
    """The label of a column; other functions of the parser's that it does not know are refused."""
    if not is_label(tree):
        raise refusal(tree)
    check_arguments(tree, "this", "expressions")
    inner = tree.expressions[0].unnest() if len(tree.expressions) == 1 else tree
    if not isinstance(inner, exp.Column):
        raise refusal(tree, "is no label of one column", "Write label(column).")
    name = of.columns.name_of(inner)
    taken = label_of(name)
    if taken in of.columns.refused and name in of.columns.kinds and taken not in of.columns.kinds:
        raise refusal(tree, f"is refused: {of.columns.refused[taken]}")
    if taken in of.columns.kinds or taken in of.columns.refused:
        raise refusal(tree, f"cannot be told from the column of the name '{taken}'")
    return text(of.dialect.identifier(taken), Operand(None, None, (taken,)))
