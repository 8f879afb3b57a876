"""Permuting sensitive values within groups, and numbering groups, by orders that nobody can draw again.

One random order of all rows is drawn from the operating system's generator, which keeps no seed, and cut into
groups: the order of a group's rows in it is uniform among all orders, and independent of other groups'. The
rows of a group, taken as they come, get the values of its rows in that order. Three sorts of the rows. Of
millions of rows a compiled loop shuffles each group by itself, in a third of that, by words of the generator.
"""

from __future__ import annotations

import numpy as np

from discreet.frequency.kernel_choice import choose_kernels
from discreet.frequency.placed_sort import sort_with_places
from discreet.permutation.draw import Draw, draw_order, random_words
from discreet.permutation.narrow import Whole, narrow

_PART = "permutation-shuffle"
_MANY, _WORTH, _MOST = 1 << 20, 1 << 22, 1 << 31


def permute_within(groups: Whole, draw: Draw = draw_order) -> Whole:
    """From which row each row gets its value, shape ``(rows,)``: a random permutation within each group."""
    rows = len(groups)
    many = draw is draw_order and _MANY <= rows < _MOST
    if many and choose_kernels([_PART], "permutation", worth=rows > _WORTH):
        return _shuffled(groups)
    order = draw(rows)
    order = order[by_group(groups[order])]
    sources = np.empty_like(order)
    sources[by_group(groups)] = order
    return sources


def _shuffled(groups: Whole) -> Whole:
    """The same by the compiled loop. A spare word for every 64th row is more than unlikely to be too few."""
    from discreet.kernels.group_shuffle import shuffle_groups
    from discreet.kernels.readiness import mark_compiled

    rows = len(groups)
    sources = np.empty(rows, dtype=narrow(rows + 1))
    while not shuffle_groups(groups, int(groups.max()) + 1, random_words(rows + rows // 64), sources):
        pass
    mark_compiled(_PART)
    return sources


def by_group(groups: Whole) -> Whole:
    """The order of rows by group, and in a group as they come."""
    keys = groups.astype(np.uint64)
    places = sort_with_places(keys)
    if places is None:
        return np.argsort(groups, kind="stable")
    keys &= np.uint64((1 << places) - 1)
    return keys.view(np.int64)


def random_numbers(groups: int, draw: Draw = draw_order) -> Whole:
    """The published number of each group, 1, 2, …, in a random order: they carry no order of the groups."""
    return draw(groups) + 1


def keeps_groups(groups: Whole, sources: Whole) -> bool:
    """Whether every row's value goes to exactly one row, and to one of its own group."""
    used = np.zeros(len(groups), dtype=np.bool_)
    used[sources] = True
    return bool(len(sources) == len(groups) and used.all() and (groups[sources] == groups).all())
