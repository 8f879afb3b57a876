"""Columns of few different texts, which the embedded engine writes as places in a list of them.

A text is hashed again for each row of a file of columns; its place in a list is not: 20 million rows of one
text of forty take a sixth of the time. The list stands in the file, so it has the texts of rows that are
published and no others. Whether there is one depends on the published rows alone, as the file does
(docs/decisions/0014), and not on how they lay in the source.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from discreet.engines.base import Engine
from discreet.recoding.columns import PublishedColumn
from discreet.recoding.shown_classes import ShownClasses
from discreet.sql import recode_classes as sql
from discreet.sql.recode import other_name
from discreet.sql.source import is_text

_MOST = 2000
_MOST_BYTES = 1 << 14
"""The list stands in each row group of a file, some hundred thousand rows."""
_FROM_ROWS = 100_000
"""Below, to ask takes as long as it saves."""
_FIRST_ROWS = 20_000


def few_texts(texts: Iterable[str | None]) -> list[str] | None:
    """The different texts in ascending order, which says nothing of the rows; None where they are many."""
    known = sorted({text for text in texts if text is not None})
    return known if 0 < len(known) <= _MOST and not any("\0" in text for text in known) else None


def listed_cells(
    engine: Engine,
    coded: str,
    types: Sequence[str],
    columns: Sequence[PublishedColumn],
    decided: ShownClasses,
) -> dict[str, str]:
    """The expression, over the coded rows ``t``, of each column that is written as places, by its name.

    ``types`` are those of the columns that ``coded`` stores beside the class: of rows that are published, and
    all of those. Columns are looked at in the first classes, and those of few texts there in all rows.
    """
    if engine.dialect.few_texts is None or decided.kept < _FROM_ROWS:
        return {}
    kept = [column for column in columns if column.stored is not None]
    places = [i for i, kind in enumerate(types) if is_text(kind)]
    if not places:
        return {}
    last = int(np.searchsorted(np.cumsum(decided.class_rows), _FIRST_ROWS))
    names = [other_name(i) for i in places]
    numbers = engine.fetch_rows(sql.different_cells(coded, names, last))[0]
    found = {}
    for place, name, number in zip(places, names, numbers, strict=True):
        if number > _MOST:
            continue
        texts = few_texts(row[0] for row in engine.fetch_rows(sql.some_cells(coded, name, _MOST + 1)))
        if texts is not None and sum(len(text.encode()) for text in texts) <= _MOST_BYTES:
            found[kept[place].name] = sql.listed(engine.dialect, kept[place].published, texts)
    return found
