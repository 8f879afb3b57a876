"""Matching of persons and values, checked against exhaustive search."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from discreet.audit.recount import match_representatives
from tests.oracle.brute_lattice import most_pairs

PAIRS = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=12)


@given(pairs=PAIRS, most=st.integers(1, 6))
def test_most_representatives_equal_an_exhaustive_search(pairs: set[tuple[int, int]], most: int) -> None:
    persons: dict[int, list[int]] = {}
    for value, person in sorted(pairs):
        persons.setdefault(person, []).append(value)
    expected = min(most, most_pairs(sorted(pairs)))
    assert match_representatives(list(persons.values()), most) == expected


def test_long_chain_needs_no_deep_recursion() -> None:
    """A chain in which each new person moves all earlier ones by one value needs no deep recursion."""
    number = 5000
    persons = [[i, i + 1] for i in range(number)] + [[0]]
    assert match_representatives(persons, 2 * number) == number + 1
