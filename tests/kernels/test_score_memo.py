"""A memoized class score equals the computed one, also where slots are few and reused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from discreet.kernels.score_tallies import look_up_signatures, make_score_cache, store_signatures
from tests.drawing import some_of


def signature(words: np.ndarray) -> int:
    """Return a number that differs between all classes of the test."""
    return int(sum(int(word) * 7**place for place, word in enumerate(words.ravel())))


@pytest.mark.parametrize("blocks", [1, 3])
@examples(max_examples=some_of(60), deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([4, 64]))
def test_what_is_remembered_was_told(blocks: int, seed: int, places: int) -> None:
    random = np.random.default_rng(seed)
    kept = make_score_cache(blocks, places)
    asked = known = 0
    for _ in range(6):
        classes = int(random.integers(0, 20))
        # Only one word is not 0, so that there are few classes and they recur.
        held = np.zeros((20, 1, blocks, 4), np.uint64)
        held[np.arange(20), 0, random.integers(0, blocks, 20), random.integers(0, 4, 20)] = random.integers(
            0, 3, 20
        )
        expected = [signature(held[c]) for c in range(classes)]
        packed, fresh = np.zeros(20, np.uint64), np.zeros(20, np.uint64)
        missed, at = np.zeros(20, np.int64), np.zeros(20, np.int64)
        number = look_up_signatures(held, classes, kept, packed, missed, at)
        for n in range(number):
            fresh[n] = signature(held[n])
        store_signatures(held, number, fresh, kept, packed, missed, at)
        assert packed[:classes].tolist() == expected
        asked, known = asked + classes, known + classes - number
    # Classes of three blocks share one slot where four were requested: they may never recur in it.
    assert known > 0 or asked < 60 or len(kept.packed) == 1


def test_a_class_without_values_is_unknown_at_first() -> None:
    kept = make_score_cache(1)
    held, nothing = np.zeros((1, 1, 1, 4), np.uint64), np.zeros(1, np.int64)
    assert look_up_signatures(held, 1, kept, np.zeros(1, np.uint64), nothing, nothing.copy()) == 1
