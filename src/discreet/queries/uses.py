"""How a query uses its columns: what it compares their cells with, or whether it needs the values themselves.

Of a column whose labels tell a range (``[20, 30[``), no list of values is known. Where a query does no more
than compare it with constants, none is needed: between two constants all values answer alike. Any other use
(arithmetic, a function, a comparison with another column, a bare key) needs each value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlglot import exp

from discreet.model.leaf_order import decimal_of
from discreet.queries.labels import is_label

_EQUAL = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.In)
_ORDERED = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)


@dataclass(frozen=True)
class Use:
    """What the cells of a column are compared with.

    ``numbers`` and ``texts`` are constants, ``prefixes`` those of ``LIKE 'prefix%'``. ``ordered`` says that a
    text is compared by order, ``wholly`` that the values themselves are needed, ``measured`` that their
    numbers are aggregated.
    """

    numbers: frozenset[Decimal] = frozenset()
    texts: frozenset[str] = frozenset()
    prefixes: frozenset[str] = frozenset()
    ordered: bool = False
    wholly: bool = False
    measured: bool = False

    def joined(self, other: Use) -> Use:
        """Both uses."""
        return Use(
            self.numbers | other.numbers,
            self.texts | other.texts,
            self.prefixes | other.prefixes,
            self.ordered or other.ordered,
            self.wholly or other.wholly,
            self.measured or other.measured,
        )


def uses_of(trees: Sequence[exp.Expr], name_of: Callable[[exp.Column], str]) -> dict[str, Use]:
    """The use of each column that conditions and keys name; ``name_of`` spells one as the release does."""
    found: dict[str, Use] = {}
    for tree in trees:
        for column in tree.find_all(exp.Column):
            if is_label(column.parent):
                continue
            name = name_of(column)
            found[name] = found.get(name, Use()).joined(_use(column))
    return found


def _use(column: exp.Column) -> Use:
    inner: exp.Expr = column
    while isinstance(inner.parent, exp.Paren):
        inner = inner.parent
    around = inner.parent
    if isinstance(around, exp.Is):
        return Use()
    if isinstance(around, exp.Like) and around.this is inner:
        return _like(around.expression)
    if not isinstance(around, _EQUAL + _ORDERED):
        return Use(wholly=True)
    others = [_constant(part) for part in _others(around, inner)]
    if None in others:
        return Use(wholly=True)
    return Use(
        frozenset(other for other in others if isinstance(other, Decimal)),
        texts := frozenset(other for other in others if isinstance(other, str)),
        ordered=bool(texts) and isinstance(around, _ORDERED),
    )


def _others(around: exp.Expr, inner: exp.Expr) -> list[exp.Expr]:
    """The operands of a comparison beside one of them."""
    if isinstance(around, exp.In):
        return list(around.expressions)
    parts = [around.this, around.args.get("expression"), around.args.get("low"), around.args.get("high")]
    return [part for part in parts if part is not None and part is not inner]


def _like(pattern: exp.Expr) -> Use:
    text = pattern.this if isinstance(pattern, exp.Literal) and pattern.is_string else "%_"
    prefix = text.removesuffix("%")
    if "%" in prefix or "_" in prefix:
        return Use(wholly=True)
    return Use(texts=frozenset([text])) if prefix == text else Use(prefixes=frozenset([prefix]))


def _constant(tree: exp.Expr) -> Decimal | str | bool | None:
    """A constant: a number, a text, or True for NULL, with which nothing compares; None for all else."""
    inner = tree.unnest()
    if isinstance(inner, exp.Null):
        return True
    if isinstance(inner, exp.Literal):
        return str(inner.this) if inner.is_string else decimal_of(inner.this)
    if isinstance(inner, exp.Neg):
        number = _constant(inner.this)
        return number.copy_negate() if isinstance(number, Decimal) else None
    return None
