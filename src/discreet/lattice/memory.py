"""What evaluating a lattice would take, known before work begins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import isqrt

import numpy as np

from discreet.errors import LimitReached
from discreet.kernels.histograms import SMALL_LIMIT, Histograms
from discreet.kernels.plan import words_of
from discreet.lattice.one_node import histogram_of
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import Lattice
from discreet.settings import Settings, memory_text

_LISTED_AT_MOST = 1024
_TABLED = 33 * 34 // 2
_TABLED_SIZES = 32
_LOOKED_AT = 32
_BLOCK = 4
_SIGNATURES, _AT_ONCE = 1 << 17, 1024
_REMEMBERED = 5 * (1 << 18)
"""Bytes of the classes whose scores are remembered (``kernels.evaluate``)."""
_MOST_WORDS = 64
"""The kernels take no more; then the twin serves, which keeps pairs in their place."""


def estimate_memory(
    lattice: Lattice, frequency_set: FrequencySet, sensitive: int, threads: int = 1, further: int = 0
) -> int:
    """Bytes that the histograms of all nodes and the rotation's buffers take at most, about.

    Sizes up to a limit are dense. Larger ones are listed, and summed where the list is long: there are no
    more of them than row types, than rows divided by the limit, or than distinct sizes, of which there are at
    most about the square root of twice the rows. With sensitive attributes small classes are listed too.
    With so many ``further`` scores of sensitive attributes buffers hold the rows of every value, and how many
    entries there will be is not known before they are counted (``room_in``).
    """
    rows, types = frequency_set.rows, frequency_set.row_types
    number = 8 if rows >= 2**32 else 4
    longest = max(_LISTED_AT_MOST, isqrt(2 * rows))
    listed = min(types, rows // SMALL_LIMIT + 1, longest)
    if sensitive:
        listed = min(types, 2 * listed + _TABLED) if sensitive == 1 else min(types, longest)
    histograms = lattice.size * ((SMALL_LIMIT + 1) + listed * (2 + sensitive)) * number
    words = words_in(frequency_set, sensitive)
    beside = 0
    if further and _words_of_rows(frequency_set) <= _MOST_WORDS:
        words = _words_of_rows(frequency_set)
        values = max(s.size for s in frequency_set.sensitive)
        # Tables of small classes, at their largest: of cell nodes, and of groups set apart by position.
        tables = (len(lattice.heights) + 4) * (4 * _SIGNATURES + 8 * min(_SIGNATURES, 2 * types))
        beside = _REMEMBERED + _AT_ONCE * (8 * words + 16 * values) + tables
    return histograms + (buffer_bytes(types, len(lattice.heights), number, words) + beside) * threads


def likely_memory(lattice: Lattice, frequency_set: FrequencySet, sensitive: int, threads: int = 1) -> int:
    """The same as it will be, about: from the histograms of some nodes, drawn by a generator with a seed.

    Rows must be counted. Cost: that of counting so many nodes one by one. What the others take is looked at
    as they are counted (``room_in``).
    """
    number = 8 if frequency_set.rows >= 2**32 else 4
    table = replace(frequency_set, sensitive=frequency_set.sensitive[:sensitive])
    drawn = np.random.default_rng(lattice.size).integers(0, lattice.size, min(_LOOKED_AT, lattice.size))
    listed = sum(_listed(histogram_of(table, lattice.node(int(node)), ())) for node in drawn) / len(drawn)
    small = lattice.size * (SMALL_LIMIT + 1 + 3 * 2) * number
    # In parts, and for a moment in one piece beside them.
    entries = 2 * int(lattice.size * listed * (2 + sensitive) * number)
    words = words_in(frequency_set, sensitive)
    buffers = buffer_bytes(frequency_set.row_types, len(lattice.heights), number, words)
    # States shrink from depth to depth, and what is not written to is not taken.
    return small + entries + buffers * threads // 2


def _listed(node: Histograms) -> int:
    """The entries that the kernels list of a node's classes (``kernels.tally_sizes``, ``tally_sets``)."""
    signatures = node.signatures
    large = signatures[:, signatures[0] > (SMALL_LIMIT if len(signatures) == 1 else _TABLED_SIZES)]
    found = len(large.T)
    if found > _LISTED_AT_MOST:
        found = len(np.unique(large, axis=1).T)
    if len(signatures) > 1:
        found += len(np.unique(signatures[:, signatures[0] <= _TABLED_SIZES], axis=1).T)
    return found


def words_in(frequency_set: FrequencySet, sensitive: int) -> int:
    """The words of 8 bytes in which a row type's values of so many attributes are bits."""
    return sum(words_of(s.size) for s in frequency_set.sensitive[:sensitive])


def buffer_bytes(types: int, attributes: int, number: int, words: int) -> int:
    """What one thread of the rotation keeps: states by depth, the tail's rows, and lists.

    ``number`` are the bytes of a count, ``words`` those of 8 bytes that hold a row type's values.
    """
    group = 8 + number + 8 * words
    return types * (group * (attributes + 2) + 2 * (8 + 4 * number + 32 * words) + 48)


def _words_of_rows(frequency_set: FrequencySet) -> int:
    """Words with a lane for every value, wide enough for its rows; in blocks (``kernels.value_rows``)."""
    sets = frequency_set.sensitive
    most = max((int(s.of.rows.max(initial=1)) for s in sets if s.of is not None), default=1)
    lanes = 64 // most.bit_length()
    return -(-sum(max(1, -(-s.size // lanes)) for s in sets) // _BLOCK) * _BLOCK


def check_memory(
    lattice: Lattice, frequency_set: FrequencySet, sensitive: int, settings: Settings, further: int = 0
) -> None:
    """Raise ``LimitReached`` with the estimate and what to do, where it is above the limit.

    What it takes at most is cheap to say, and often several times what it takes: where that is too much, some
    nodes are looked at.
    """
    needed = estimate_memory(lattice, frequency_set, sensitive, settings.threads, further)
    if needed <= settings.memory_limit:
        return
    if frequency_set.subjects is None and not further and words_in(frequency_set, sensitive) <= _MOST_WORDS:
        needed = likely_memory(lattice, frequency_set, sensitive, settings.threads)
    if needed <= settings.memory_limit:
        return
    raise _too_much(lattice, frequency_set, settings, f"would take about {memory_text(needed)}")


def room_in(lattice: Lattice, frequency_set: FrequencySet, settings: Settings) -> Callable[[int], None]:
    """What to call with the bytes that histograms take so far: raises ``LimitReached`` where they are many.

    How many entries a further score makes is not known before it is counted: nearly every class may be one.
    """

    def check(nbytes: int) -> None:
        if 2 * nbytes > settings.memory_limit:  # gathered in parts, then in one piece
            raise _too_much(lattice, frequency_set, settings, f"takes more than {memory_text(2 * nbytes)}")

    return check


def _too_much(lattice: Lattice, frequency_set: FrequencySet, settings: Settings, told: str) -> LimitReached:
    return LimitReached(
        f"the lattice has {lattice.size:,} nodes over {frequency_set.row_types:,} row types;"
        f" evaluating it {told}",
        allowed=f"{memory_text(settings.memory_limit)} (--memory-limit, DISCREET_MEMORY_LIMIT)",
        advice="Raise the limit, leave a quasi-identifier out, or give hierarchies fewer levels.",
    )
