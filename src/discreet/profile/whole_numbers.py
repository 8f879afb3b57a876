"""Whole numbers that went through a float, as texts: ``53711.0``, ``5.00``, the day ``20230401.0``."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence

from discreet.model.written_form import WrittenForm
from discreet.profile.columns import ColumnProfile

PACKED_DAYS = 18_000_101, 21_001_231
"""The first and the last day that eight digits are read as."""

_SHAPE = re.compile(r"[-+]?0+([.]0{1,2})?")


def whole_number_forms(
    columns: Sequence[ColumnProfile],
    shapes_of: Callable[[Sequence[str]], Mapping[str, Collection[str]]],
    fits: Callable[[str, WrittenForm], int],
) -> dict[str, WrittenForm]:
    """Return the forms of the columns whose numbers are all whole and written with a decimal of 0.

    ``shapes_of`` gives the shapes of columns by name, ``fits`` the rows of a column that have a form. With
    three zeros behind the point, the point may part thousands: such columns have no form here.
    """
    whole = [c for c in columns if c.numbers and c.points and not (c.fractions or c.zeros)]
    shapes = shapes_of([c.name for c in whole])
    found = {}
    first, last = PACKED_DAYS
    for column in whole:
        if all(_SHAPE.fullmatch(shape) for shape in shapes.get(column.name, ("",))):
            day = WrittenForm(dates=("%Y%m%d.0",))
            is_day = first <= column.lowest and column.highest <= last
            is_day = is_day and fits(column.name, day) >= column.filled
            found[column.name] = day if is_day else WrittenForm(decimal=".")
    return found
