"""What evaluating a lattice would take, known before work begins."""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt

from discreet.errors import LimitReached
from discreet.kernels.histograms import SMALL_LIMIT
from discreet.kernels.plan import words_of
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import Lattice
from discreet.settings import Settings, memory_text

_LISTED_AT_MOST = 1024
_TABLED = 33 * 34 // 2
_BLOCK = 4
_SIGNATURES, _AT_ONCE = 1 << 17, 1024
_OF_SCORES = 6 * _SIGNATURES * 4 + 5 * (1 << 18)
"""Tables of small classes at their largest, and classes that are remembered (``kernels.evaluate``)."""
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
    words = sum(words_of(s.size) for s in frequency_set.sensitive[:sensitive])
    beside = 0
    if further and _words_of_rows(frequency_set) <= _MOST_WORDS:
        words = _words_of_rows(frequency_set)
        values = max(s.size for s in frequency_set.sensitive)
        beside = _OF_SCORES + _AT_ONCE * (8 * words + 16 * values) + 48 * min(_SIGNATURES, 2 * types)
    return histograms + (buffer_bytes(types, len(lattice.heights), number, words) + beside) * threads


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
    """Raise ``LimitReached`` with the estimate and what to do, where it is above the limit."""
    needed = estimate_memory(lattice, frequency_set, sensitive, settings.threads, further)
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
