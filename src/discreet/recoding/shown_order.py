"""Classes numbered in the order of what they show, so that sorting by their numbers tells nothing more.

A search numbers classes as it finds them, or by hierarchies in which values of suppressed rows are. A class's
number must say neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.model.class_recoding import SUPPRESSED
from discreet.recoding.shown_classes import ShownClasses, rows_of
from discreet.sql.recode import STAR


def in_shown_order(decided: ShownClasses, attributes: Sequence[str]) -> ShownClasses:
    """The same classes numbered by their texts in the order of ``attributes``, by code points and NULL last.

    Classes that show the same become one. Cost: a sort of the classes.
    """
    places = {hierarchy.attribute: i for i, hierarchy in enumerate(decided.hierarchies)}
    keys = [
        _ranks(decided.labels[place])[decided.shown[:, place]]
        for place in map(places.__getitem__, attributes)
    ]
    order = np.lexsort(keys[::-1])
    new = np.zeros(len(order), dtype=np.bool_)
    new[:1] = True
    for key in keys:
        new[1:] |= np.diff(key[order]) != 0
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.cumsum(new) - 1
    class_of = decided.class_of.copy()
    kept = class_of != SUPPRESSED
    class_of[kept] = number[class_of[kept]]
    return replace(
        decided,
        class_of=class_of,
        shown=decided.shown[order[new]],
        class_rows=rows_of(number, decided.class_rows, int(new.sum())),
    )


def class_of_stars(decided: ShownClasses) -> int:
    """The class that shows what suppressed rows do, all stars; ``SUPPRESSED`` where there is none."""
    stars = np.ones(len(decided.shown), dtype=np.bool_)
    for i, labels in enumerate(decided.labels):
        stars &= np.array([text == STAR for text in labels], dtype=np.bool_)[decided.shown[:, i]]
    found = np.flatnonzero(stars)
    return int(found[0]) if len(found) else SUPPRESSED


def _ranks(labels: Sequence[str | None]) -> NDArray[np.int64]:
    """The place of each text among the different ones, NULL last."""
    ordered = sorted({text for text in labels if text is not None})
    places: dict[str | None, int] = {text: place for place, text in enumerate(ordered)}
    return np.array([places.get(text, len(ordered)) for text in labels], dtype=np.int64)
