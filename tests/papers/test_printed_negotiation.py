"""The paper's algorithm, node by node: answers equal the vectorised ones; visits are counted by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.model.request import Request
from discreet.negotiation.negotiator import Negotiator
from discreet.negotiation.partial_lattice import prepare_partial_lattice
from discreet.negotiation.partial_negotiation import PartialNegotiator
from papers.printed_negotiation import negotiate_as_printed
from tests.drawing import some_of
from tests.negotiation.conftest import table_and_request
from tests.oracle.brute_lattice import BruteLattice
from tests.oracle.random_tables import frequency_set_of, random_hierarchy


def test_walk_and_lookup_answer_alike_on_random_tables() -> None:
    seen = set()
    for seed in range(some_of(150)):
        table, request = table_and_request(seed, subjects=seed % 7 == 0)
        brute = BruteLattice(table)
        found = negotiate_as_printed(brute, request)
        assert found.negotiation.answers == Negotiator(brute).negotiate(request).answers, seed
        seen |= {None if a.relaxed is None else str(a.relaxed) for a in found.negotiation.answers}
    assert seen == {None, "max_suppressed", "height", "k", "l"}


@settings(max_examples=some_of(80), deadline=None)
@given(st.integers(0, 2**32), st.booleans())
def test_walk_over_a_partial_lattice_differs_only_in_height(seed: int, runtime: bool) -> None:
    table, request = table_and_request(seed)
    partial = prepare_partial_lattice(table, "15%")
    walked = negotiate_as_printed(partial, request, runtime=runtime)
    looked_up = PartialNegotiator(partial, runtime=runtime).negotiate(request)
    for part in ("max_suppressed", "k", "l"):
        assert walked.negotiation.relaxation(part) == looked_up.relaxation(part)
    assert walked.negotiation.exact == looked_up.exact
    lower, found = looked_up.relaxation("height"), walked.negotiation.relaxation("height")
    assert lower is not None or found is None
    if found is not None and lower is not None:
        assert sum(found.node) >= sum(lower.node)
    assert sum(number for _, number in walked.visits) == walked.visited


@pytest.fixture(scope="module")
def square() -> BruteLattice:
    """Return the four combinations of two attributes of height 1: k=2 suppresses 4, 0, 0, 0 rows."""
    import numpy as np

    hierarchies = [random_hierarchy(np.random.default_rng(0), name, 2, 1) for name in ("age", "sex")]
    rows = [((a, b), ()) for a in range(2) for b in range(2)]
    return BruteLattice(frequency_set_of(hierarchies, rows))


def test_visits_of_an_exact_answer_are_arrivals(square: BruteLattice) -> None:
    """The visits are 11, its children 01 and 10, which satisfy the request, and 00 once from each."""
    found = negotiate_as_printed(square, Request.of(k=2))
    assert found.visits == (("exact", 5),)
    assert found.negotiation.exact is not None
    assert found.negotiation.exact.node == (1, 0)


def test_visits_of_relaxations(square: BruteLattice) -> None:
    """At k=3 only 11 satisfies the request.

    10 fails: max_suppressed visits only this node, since it suppresses all four rows. Heights 1 to 2: the
    middle, 1, is searched in vain (two nodes), then 2 (one), and once more for its best node. k relaxes to 2,
    at which 10 satisfies the request and 00 does not.
    """
    found = negotiate_as_printed(square, Request.of(k=3, max_level={"sex": 0}))
    assert found.visits == (("exact", 1), ("max_suppressed", 1), ("height", 4), ("k", 2))
    assert [(str(a.relaxed), a.node) for a in found.negotiation.answers] == [
        ("height", (1, 1)),
        ("k", (1, 0)),
    ]


def test_marked_node_is_not_searched_twice(square: BruteLattice) -> None:
    """Every node satisfies k = 1, and the search leaves each of the four nodes only once."""
    found = negotiate_as_printed(square, Request.of(k=1))
    assert found.visits == (("exact", 5),)
    assert found.negotiation.exact is not None
    assert found.negotiation.exact.node == (0, 0)


def test_refusals_of_the_walk_equal_the_negotiators(square: BruteLattice) -> None:
    with pytest.raises(InputError, match="'zip' is not a quasi-identifier"):
        negotiate_as_printed(square, Request.of(k=2, max_level={"zip": 1}))
    with pytest.raises(InputError, match="no attribute is sensitive"):
        negotiate_as_printed(square, Request.of(l=2))
