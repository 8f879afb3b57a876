"""Expressions of an asked query: an allow-list of syntax, read and written anew.

Nothing of what was asked is passed on as it stands. Each kind of syntax has a row in one of three tables
(``queries.conditions``, ``operands``, ``functions``) with the arguments that it may have; its SQL is composed
from what was understood. Whatever has no row is refused, so no function with side effects, no file, no
subquery and no parameter can come through, whatever a later version of the parser makes of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from discreet.queries.condition import Condition
from discreet.queries.conditions import CONDITIONS
from discreet.queries.functions import FUNCTIONS
from discreet.queries.operand import Operand, common_reading, named_by
from discreet.queries.operands import OPERANDS
from discreet.queries.syntax import Columns, refusal
from discreet.sql.dialect import Dialect

_VALUES = {**OPERANDS, **FUNCTIONS}


@dataclass(frozen=True)
class Expressions:
    """Reads expressions over some columns, and writes them in a dialect.

    ``whole_division``: whole numbers are divided without a remainder, as PostgreSQL does.
    """

    columns: Columns
    dialect: Dialect
    whole_division: bool = False

    def condition(self, tree: exp.Expr) -> Condition:
        """What may stand behind WHERE, and behind WHEN."""
        read = CONDITIONS.get(type(tree))
        if read is None:
            advice = None
            if type(tree) in _VALUES:
                advice = "Compare it with a value, such as member = 'true'."
            raise refusal(tree, "is no condition that is supported", advice)
        return read(self, tree)

    def operand(self, tree: exp.Expr) -> Operand:
        """What may be compared."""
        read = _VALUES.get(type(tree))
        if read is None:
            advice = None
            if isinstance(tree, exp.Concat):
                advice = "Join texts by ||."
            raise refusal(tree, advice=advice)
        return read(self, tree)

    def number(self, tree: exp.Expr) -> Operand:
        """An operand that is a number, or is read as one."""
        found = self.operand(tree)
        if found.number is None:
            raise refusal(tree, "is a text where a number is wanted", "CAST(… AS DOUBLE) reads a text.")
        return replace(found, text=None)

    def text(self, tree: exp.Expr) -> Operand:
        """An operand that is a text, or is read as one."""
        found = self.operand(tree)
        if found.text is None:
            raise refusal(tree, "is a number where a text is wanted", "CAST(… AS VARCHAR) writes a number.")
        return replace(found, number=None)

    def compared(self, tree: exp.Expr, *parts: exp.Expr) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Operands in the one reading that they are compared in, and the columns that they name."""
        operands = [self.operand(part) for part in parts]
        reading = common_reading(operands)
        if reading is None:
            raise refusal(
                tree,
                "compares cells that may be texts or numbers",
                "Say which: CAST(… AS DOUBLE) or CAST(… AS VARCHAR) of one of them.",
            )
        return tuple(operand.read_as(reading) for operand in operands), named_by(operands)
