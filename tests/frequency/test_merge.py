import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discreet.frequency.encoding import build_value_sets, pack_columns, sort_rows

WIDTHS = st.lists(st.sampled_from([1, 2, 5, 2**20, 2**40]), min_size=1, max_size=6)


@given(
    WIDTHS.flatmap(
        lambda w: st.tuples(
            st.just(w), st.lists(st.tuples(*(st.integers(0, n - 1) for n in w)), min_size=1, max_size=20)
        )
    )
)
def test_packed_columns_compare_as_rows(case: tuple[list[int], list[tuple[int, ...]]]) -> None:
    """Packed keys compare as rows do, also for rows of more than 64 bits."""
    sizes, rows = case
    keys = pack_columns([np.array(column) for column in zip(*rows, strict=True)], sizes).tolist()
    for a, key in zip(rows, keys, strict=True):
        for b, other in zip(rows, keys, strict=True):
            assert (a < b) == (key < other)


def test_sorted_equal_rows_are_adjacent() -> None:
    order, starts = sort_rows([np.array([1, 0, 1, 0, 2]), np.array([5, 5, 5, 4, 0])], [3, 6])
    assert starts.tolist() == [0, 1, 2, 4]
    assert [part.tolist() for part in np.split(order, starts[1:])] == [[3], [1], [0, 2], [4]]


@given(st.lists(st.tuples(*[st.integers(0, 2**31 - 1) | st.just(7)] * 2), min_size=1, max_size=40))
def test_sorted_wide_keys_are_in_order(rows: list[tuple[int, int]]) -> None:
    """A key of 62 bits leaves no room for the row position, and is sorted like narrow keys."""
    order, starts = sort_rows([np.array(column) for column in zip(*rows, strict=True)], [2**31, 2**31])
    assert order.tolist() == sorted(range(len(rows)), key=lambda i: rows[i])
    assert len(starts) == len(set(rows))


def test_value_sets_are_distinct_per_row_type() -> None:
    sets = build_value_sets("s", np.array([0, 0, 2, 0]), np.array([1, 0, 1, 1]), types=4)
    assert sets.size == 2
    assert sets.offsets.tolist() == [0, 2, 2, 3, 3]
    assert sets.codes.tolist() == [0, 1, 1]
    assert sets.subjects is None


def test_value_sets_without_entries_are_empty() -> None:
    none = np.empty(0, dtype=np.int64)
    sets = build_value_sets("s", none, none, types=2, subjects=none)
    assert (sets.size, sets.offsets.tolist(), sets.codes.tolist()) == (0, [0, 0, 0], [])
