"""Columns of a permuted release as numbers: where they may be, and without a zero's sign.

A text becomes a number only where it is just what the number reads as, so that nothing is lost: ``02138``
stays a text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from discreet.engines.base import Engine
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.recoding.columns import PublishedColumn
from discreet.sql import permuted as sql
from discreet.sql.cells import in_parts

STORED = re.compile(r"\bo[0-9]+\b")
"""A column of the held table."""

_WHOLE = re.compile(r"-?[1-9][0-9]{0,17}|0")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)\.([0-9]+)")
_NEGATIVE_ZERO = re.compile(r"-0\.0+")
_MOST_DIGITS = 18


def without_negative_zeros(column: PublishedColumn) -> PublishedColumn:
    """A column of floating-point numbers whose negative zeros are kept as the zero."""
    assert column.stored is not None
    return replace(column, stored=sql.without_negative_zero(column.stored, as_text=_is_text(column)))


def with_plain_numbers(
    engine: Engine,
    held: str,
    columns: Sequence[PublishedColumn],
    hierarchies: Sequence[GeneralizationHierarchy],
    node: Sequence[int],
) -> tuple[PublishedColumn, ...]:
    """Columns of a held table, those of texts as numbers where each text is just what its number reads as.

    Cost: a statement turns as many columns into rows at once as ``sql.cells`` has them.
    """
    texts = {column.name: column for column in columns if _is_text(column)}
    types = {
        hierarchy.attribute: plain_number_type(hierarchy.labels[level])
        for hierarchy, level in zip(hierarchies, node, strict=True)
        if hierarchy.attribute in texts
    }
    for part in in_parts([column for column in texts.values() if column.stored is not None]):
        query = sql.other_texts(engine.dialect, held, [stored_name(column) for column in part])
        types |= {part[place].name: None if other else "BIGINT" for place, other in engine.fetch_rows(query)}

    def typed(column: PublishedColumn) -> PublishedColumn:
        number = types.get(column.name)
        if number is None:
            return column
        return replace(column, published=engine.dialect.cast(column.published, number))

    return tuple(map(typed, columns))


def plain_number_type(texts: Sequence[str]) -> str | None:
    """The house type of numbers that read as just these texts, or None where there is none.

    >>> plain_number_type(["7", "-12"]), plain_number_type(["1.50", "2.25"]), plain_number_type(["07"])
    ('BIGINT', 'DECIMAL(18, 2)', None)
    """
    if not texts:
        return None
    if all(_WHOLE.fullmatch(text) for text in texts):
        return "BIGINT"
    matches = [_DECIMAL.fullmatch(text) for text in texts]
    scales = {len(match.group(1)) if match else -1 for match in matches}
    widest = max(len(text.lstrip("-")) - 1 for text in texts)
    if len(scales) > 1 or -1 in scales or widest > _MOST_DIGITS:
        return None
    if any(_NEGATIVE_ZERO.fullmatch(text) for text in texts):
        return None
    return f"DECIMAL({_MOST_DIGITS}, {scales.pop()})"


def stored_name(column: PublishedColumn) -> str:
    """The held table's column that a published column is made of."""
    found = STORED.search(column.counted_text)
    assert found is not None
    return found.group()


def _is_text(column: PublishedColumn) -> bool:
    """Whether a column is published as its text."""
    return column.published == column.published_text
