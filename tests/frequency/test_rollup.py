from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InternalError
from discreet.frequency.rollup import generalize_codes, roll_up
from discreet.model.lattice import Lattice
from tests.oracle.random_tables import random_frequency_set


@given(st.integers(0, 2**32))
def test_rollup_equals_plain_counting(seed: int) -> None:
    random = np.random.default_rng(seed)
    table = random_frequency_set(random, attributes=3, height=3, leaves=6, rows=30, sensitive=2, subjects=5)
    if not table.row_types:
        return
    lattice = Lattice(table.attributes, tuple(h.height for h in table.hierarchies))
    node = lattice.node(int(random.integers(lattice.size)))
    plain: Counter[tuple[int, ...]] = Counter()
    members: dict[tuple[int, ...], list[int]] = {}
    for number, (codes, rows) in enumerate(zip(table.codes.tolist(), table.counts.tolist(), strict=True)):
        key = tuple(
            int(h.level_map(level)[c]) for h, level, c in zip(table.hierarchies, node, codes, strict=True)
        )
        plain[key] += rows
        members.setdefault(key, []).append(number)
        assert tuple(generalize_codes(table, node)[number]) == key
    classes = roll_up(table, node)
    keys = [tuple(codes) for codes in classes.codes.tolist()]
    assert dict(zip(keys, classes.counts.tolist(), strict=True)) == plain
    assert keys == sorted(keys)
    assert [keys[c] for c in classes.class_of] == [
        tuple(row) for row in generalize_codes(table, node).tolist()
    ]
    assert table.subjects is not None
    for sets in (*table.sensitive, table.subjects):
        expected = [
            len({c for n in members[key] for c in sets.codes[sets.offsets[n] : sets.offsets[n + 1]].tolist()})
            for key in keys
        ]
        assert classes.distinct(sets).tolist() == expected


def test_rollup_to_a_node_of_another_lattice_is_an_internal_error() -> None:
    table = random_frequency_set(
        np.random.default_rng(1), attributes=1, height=1, leaves=3, rows=9, sensitive=0
    )
    with pytest.raises(InternalError):
        roll_up(table, (0, 0, 0, 0))
