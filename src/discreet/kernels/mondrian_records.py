"""What Mondrian's kernels work on: fields of words, needs of a class, work arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

Array = NDArray[Any]
Whole = Any
"""A whole number of 64 bits: the compiler tells them apart by value, not by Python's type."""


class Fields(NamedTuple):
    """Where each attribute lies in the words, attributes in the order that decides ties.

    ``values`` and ``strengths`` run over all attributes' places, attribute j's from ``offsets[j]``;
    ``nested[j]`` says that only the strongest boundaries of a class may be cut.
    """

    words: Array
    masks: Array
    shifts: Array
    offsets: Array
    values: Array
    spans: Array
    strengths: Array
    nested: Array


class Needs(NamedTuple):
    """The least rows of a class, and the least distinct codes of each sensitive attribute.

    Row type t has the codes ``codes[offsets[t]:offsets[t + 1]]``, those of attribute a being
    ``attribute[code] == a``. ``least`` is empty where only rows count. ``best`` asks for the nearest
    allowable cut instead of the median alone.
    """

    k: int
    best: bool
    least: Array
    offsets: Array
    codes: Array
    attribute: Array


class Scratch(NamedTuple):
    """One thread's work arrays: rows by place, smallest and largest places, and when a code was last seen."""

    rows: Array
    low: Array
    high: Array
    widths: Array
    seen: Array
    short: Array


class ClassColumn(NamedTuple):
    """One attribute of the row types of a class: masked words, rows and numbers."""

    keys: Array
    counts: Array
    mask: Whole
    shift: Whole
