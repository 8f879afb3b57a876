"""SELECT query of a release: aggregates of sensitive values, by group, over rows that meet a condition.

``ColumnUse`` contains the comparisons of a column in a query: for a column whose labels are ranges no list
of values is known, and none is needed if the query only compares it with constants. A query of a permuted
release is split into the part on the permuted column and the part on all others, joined by AND (Zhang et
al. 2007), since the assignment of values to rows is hidden.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum

from sqlglot import exp

from discreet.errors import InputError
from discreet.model.hierarchy import parse_decimal
from discreet.queries.aggregate_query import Aggregate
from discreet.queries.sql_expression import (
    Condition,
    Conjunction,
    Disjunction,
    Negation,
    attributes_of_condition,
)
from discreet.queries.syntax import is_label

_EQUAL = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.In)
_ORDERED = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)


@dataclass(frozen=True)
class ColumnUse:
    """Comparisons of a column's cells in a query.

    ``numbers`` and ``texts`` are constants, ``prefixes`` those of ``LIKE 'prefix%'``. ``ordered`` is True
    if a text is compared by order, ``needs_values`` if the values themselves are needed, ``measured`` if
    their numbers are aggregated.
    """

    numbers: frozenset[Decimal] = frozenset()
    texts: frozenset[str] = frozenset()
    prefixes: frozenset[str] = frozenset()
    ordered: bool = False
    needs_values: bool = False
    measured: bool = False

    def joined(self, other: ColumnUse) -> ColumnUse:
        """Return the union of both uses."""
        return ColumnUse(
            self.numbers | other.numbers,
            self.texts | other.texts,
            self.prefixes | other.prefixes,
            self.ordered or other.ordered,
            self.needs_values or other.needs_values,
            self.measured or other.measured,
        )


def find_column_uses(trees: Sequence[exp.Expr], name_of: Callable[[exp.Column], str]) -> dict[str, ColumnUse]:
    """Find the use of each column in conditions and keys; ``name_of`` returns the release's spelling."""
    result: dict[str, ColumnUse] = {}
    for tree in trees:
        for column in tree.find_all(exp.Column):
            if is_label(column.parent):
                continue
            name = name_of(column)
            result[name] = result.get(name, ColumnUse()).joined(_use_of_column(column))
    return result


def _use_of_column(column: exp.Column) -> ColumnUse:
    inner: exp.Expr = column
    while isinstance(inner.parent, exp.Paren):
        inner = inner.parent
    around = inner.parent
    if isinstance(around, exp.Is):
        return ColumnUse()
    if isinstance(around, exp.Like) and around.this is inner:
        return _use_of_like(around.expression)
    if not isinstance(around, _EQUAL + _ORDERED):
        return ColumnUse(needs_values=True)
    others = [_constant_of(part) for part in _other_operands(around, inner)]
    if None in others:
        return ColumnUse(needs_values=True)
    return ColumnUse(
        frozenset(other for other in others if isinstance(other, Decimal)),
        texts := frozenset(other for other in others if isinstance(other, str)),
        ordered=bool(texts) and isinstance(around, _ORDERED),
    )


def _other_operands(around: exp.Expr, inner: exp.Expr) -> list[exp.Expr]:
    """Return the other operands of a comparison."""
    if isinstance(around, exp.In):
        return list(around.expressions)
    parts = [around.this, around.args.get("expression"), around.args.get("low"), around.args.get("high")]
    return [part for part in parts if part is not None and part is not inner]


def _use_of_like(pattern: exp.Expr) -> ColumnUse:
    text = pattern.this if isinstance(pattern, exp.Literal) and pattern.is_string else "%_"
    prefix = text.removesuffix("%")
    if "%" in prefix or "_" in prefix:
        return ColumnUse(needs_values=True)
    return ColumnUse(texts=frozenset([text])) if prefix == text else ColumnUse(prefixes=frozenset([prefix]))


def _constant_of(tree: exp.Expr) -> Decimal | str | bool | None:
    """Return a number or text; True for NULL, which equals nothing; None for other expressions."""
    inner = tree.unnest()
    if isinstance(inner, exp.Null):
        return True
    if isinstance(inner, exp.Literal):
        return str(inner.this) if inner.is_string else parse_decimal(inner.this)
    if isinstance(inner, exp.Neg):
        number = _constant_of(inner.this)
        return number.copy_negate() if isinstance(number, Decimal) else None
    return None


class KeyKind(StrEnum):
    """Type of the values of a group's key."""

    TEXT = "text"
    NUMBER = "number"
    TRUTH = "truth"


@dataclass(frozen=True)
class SelectedAggregate:
    """One aggregate after SELECT.

    ``measure`` None is ``COUNT(*)``. ``title`` is the aggregate as written, or its alias; ``name`` is a
    unique name for columns of the rewritten query.
    """

    aggregate: Aggregate
    measure: str | None
    title: str
    name: str


@dataclass(frozen=True)
class GroupKey:
    """Expression after GROUP BY: SQL text, and the columns that it names."""

    title: str
    sql: str
    attributes: tuple[str, ...]
    kind: KeyKind = KeyKind.TEXT


@dataclass(frozen=True)
class ReleaseQuery:
    """Query of the form ``SELECT aggregates FROM the release WHERE condition GROUP BY keys ORDER BY order``.

    ``order`` contains indices of keys, and whether they descend; ``uses`` contains the comparisons of the
    columns that condition and keys name.
    """

    aggregates: tuple[SelectedAggregate, ...]
    keys: tuple[GroupKey, ...] = ()
    condition: Condition | None = None
    order: tuple[tuple[int, bool], ...] = ()
    uses: Mapping[str, ColumnUse] = field(default_factory=dict)

    @property
    def measures(self) -> tuple[str, ...]:
        """Distinct aggregated columns, in order."""
        return tuple(dict.fromkeys(a.measure for a in self.aggregates if a.measure is not None))

    @property
    def attributes(self) -> tuple[str, ...]:
        """Distinct columns that the condition and the keys name, in order."""
        named = [] if self.condition is None else list(attributes_of_condition(self.condition))
        return tuple(dict.fromkeys([*named, *(name for key in self.keys for name in key.attributes)]))

    @property
    def column_names(self) -> tuple[str, ...]:
        """Columns of the rewritten query: keys, then lower, upper and estimate of each aggregate."""
        ends = ("lower", "upper", "estimate")
        bounds = [f"{a.name}_{end}" for a in self.aggregates for end in ends]
        return (*(key.title for key in self.keys), *bounds)


@dataclass(frozen=True)
class QueryPart:
    """Conditions and keys of a query that name one side's columns; ``places`` are the keys' indices."""

    condition: Condition | None
    keys: tuple[GroupKey, ...]
    places: tuple[int, ...]


def split_query(release_query: ReleaseQuery, permuted: str) -> tuple[QueryPart, QueryPart]:
    """Split a query into the part on all other columns and the part on the permuted column.

    Raises ``InputError`` if one comparison, or parts joined by OR, name both.
    """
    both = [] if release_query.condition is None else list(_iterate_conjuncts(release_query.condition))
    for names in (*map(attributes_of_condition, both), *(key.attributes for key in release_query.keys)):
        _check_separable(names, permuted)

    def side(of_permuted: bool) -> QueryPart:
        conditions = tuple(
            part for part in both if (permuted in attributes_of_condition(part)) is of_permuted
        )
        places = tuple(
            index
            for index, key in enumerate(release_query.keys)
            if (permuted in key.attributes) is of_permuted
        )
        keys = tuple(release_query.keys[index] for index in places)
        return QueryPart(Conjunction(conditions) if conditions else None, keys, places)

    return side(False), side(True)


def _iterate_conjuncts(condition: Condition, wanted: bool = True) -> Iterator[Condition]:
    """Yield the conditions whose conjunction is the condition, or its negation if ``wanted`` is False."""
    if isinstance(condition, Negation):
        yield from _iterate_conjuncts(condition.of, not wanted)
    elif isinstance(condition, Conjunction if wanted else Disjunction):
        for part in condition.parts:
            yield from _iterate_conjuncts(part, wanted)
    else:
        yield condition if wanted else Negation(condition)


def _check_separable(names: tuple[str, ...], permuted: str) -> None:
    others = [name for name in names if name != permuted]
    if permuted in names and others:
        raise InputError(
            f"the query uses '{permuted}' and '{others[0]}' together, but the assignment of '{permuted}' to "
            "rows is hidden",
            allowed=f"conditions on '{permuted}' and on others, joined by AND; keys of one or the other",
            advice="Query the parts of an OR separately.",
        )
