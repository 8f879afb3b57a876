"""Group shuffles by random words: plain Python agrees, also where words run out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discreet.kernels.group_kernels import shuffle_groups

WORDS = st.one_of(st.integers(0, 3), st.integers(0, 2**32 - 1), st.sampled_from([2**31, 2**32 - 1]))


def below(choices: int, words: Iterator[int]) -> int:
    """Draw one of ``choices`` numbers, accepting only words that are equally many for each number."""
    for word in words:
        number, rest = divmod(word * choices, 2**32)
        if rest >= 2**32 % choices:
            return number
    raise IndexError


def shuffled(groups: list[int], words: Iterator[int]) -> list[int]:
    sources = [0] * len(groups)
    for group in range(max(groups) + 1):
        rows = [row for row, of in enumerate(groups) if of == group]
        moved = rows.copy()
        for place in range(len(rows) - 1, 0, -1):
            other = below(place + 1, words)
            moved[place], moved[other] = moved[other], moved[place]
        for row, source in zip(rows, moved, strict=True):
            sources[row] = source
    return sources


@given(st.lists(st.integers(0, 3), min_size=1, max_size=30), st.lists(WORDS, max_size=60))
def test_kernel_shuffles_like_plain_python(groups: list[int], words: list[int]) -> None:
    try:
        expected = shuffled(groups, iter(words))
    except IndexError:
        expected = None
    sources = np.empty(len(groups), dtype=np.int32)
    whole = shuffle_groups(
        np.array(groups, dtype=np.int32), max(groups) + 1, np.array(words, dtype=np.uint32), sources
    )
    assert (sources.tolist() if whole else None) == expected


def test_every_choice_has_equally_many_words() -> None:
    """The same rule on words of 4 bits, which can be enumerated, gives each choice equally many words."""
    for choices in range(1, 16):
        taken = [divmod(word * choices, 16) for word in range(16)]
        numbers = [number for number, rest in taken if rest >= 16 % choices]
        assert {numbers.count(number) for number in range(choices)} == {16 // choices}
