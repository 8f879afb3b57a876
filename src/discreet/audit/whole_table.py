"""What an audit tells criteria of a sensitive attribute as a whole: by the publisher, or by the release.

Some criteria compare a class with the whole table. That table is the publisher's input, which an audit does
not see by itself. Where the publisher's count is handed over, it is taken; else the distribution is that of
the published rows: the same where no row is suppressed. Numbers are ordered by themselves; a hierarchy is
only in the publisher's spec.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from discreet.audit.counts import PublishedRows
from discreet.engines.base import Engine
from discreet.engines.scratch import TemporaryTables
from discreet.errors import InputError
from discreet.model.criteria.base import Bound
from discreet.model.criteria.whole_table import Asks, WholeTable, require_known
from discreet.model.sensitive_attribute import SensitiveAttribute
from discreet.sql import verify_criteria as by_criteria
from discreet.sql.names import identifier

KnownAttributes = Mapping[str, SensitiveAttribute]
"""The publisher's count of sensitive attributes, by name."""


def whole_tables(
    engine: Engine,
    tables: TemporaryTables,
    published: PublishedRows,
    bound: Sequence[Bound],
    known: KnownAttributes,
) -> dict[int, WholeTable]:
    """The relations that criteria may ask, by the place of the attribute; of those that compare.

    ``InputError`` for a criterion that asks for what nobody told of its attribute.
    """
    found: dict[int, WholeTable] = {}
    told = dict(known)
    for one in bound:
        if one.place is None or not one.criterion.compares:
            continue
        name = published.sensitive[one.place]
        if name not in told:
            told[name] = attribute_at(engine, published, one.place)
        attribute = told[name]
        _require(one, name, attribute, told=name in known)
        if one.place not in found:
            found[one.place] = _loaded(tables, attribute)
    return found


def compared_with_release(
    bound: Sequence[Bound], sensitive: Sequence[str], known: KnownAttributes
) -> list[str]:
    """A warning for each criterion that was compared with the published rows, for want of the input's."""
    return [
        f"{one.criterion.label} compares classes with the whole table. The publisher's is not known here: "
        "the distribution of the published rows was taken, which differs where rows are suppressed."
        for one in bound
        if one.place is not None
        and one.criterion.compares
        and one.criterion.by_distribution
        and sensitive[one.place] not in known
    ]


def _require(one: Bound, name: str, attribute: SensitiveAttribute, *, told: bool) -> None:
    asks = one.criterion.asks
    unordered = asks is Asks.ORDER and bool(attribute.values) and not attribute.ordered
    if not told and (asks is Asks.HIERARCHY or unordered):
        what = "the hierarchy" if asks is Asks.HIERARCHY else "an order"
        raise InputError(
            f"{one.criterion} needs {what} of '{name}', which the release does not hold",
            advice="Name the publisher's spec, too: --spec discreet.toml.",
        )
    require_known(str(one.criterion), one.criterion.asks, name, attribute)


def attribute_at(engine: Engine, published: PublishedRows, place: int) -> SensitiveAttribute:
    """What the published rows tell of the sensitive attribute at a place; starred rows tell nothing."""
    found = sorted(engine.fetch_rows(by_criteria.rows_by_value(published.query, place)))
    rows = np.array([int(rows) for _, rows in found], dtype=np.int64)
    return SensitiveAttribute.of([str(value) for value, _ in found], rows)


def _loaded(tables: TemporaryTables, attribute: SensitiveAttribute) -> WholeTable:
    """The two relations, as tables; numbers are 0 where the values are none, as nobody asks then."""
    count = len(attribute.values)
    numbers, millionths = attribute.numbers, attribute.millionths
    values = tables.load(
        {
            "value": list(attribute.values),
            "held": attribute.rows,
            "place": attribute.ranks,
            "number": np.zeros(count) if numbers is None else numbers,
            "millionths": np.zeros(count, np.int64) if millionths is None else millionths,
        }
    )
    levels = np.zeros((1, 0), np.int64) if attribute.levels is None else attribute.levels
    below = levels[:-1]
    texts = list(attribute.values) * len(below)
    parts = tables.load(
        {
            "value": texts,
            "level": np.repeat(np.arange(len(below)), below.shape[1]),
            "part": below.ravel(),
        }
    )
    return WholeTable(identifier(values), identifier(parts), None if attribute.levels is None else len(below))
