"""Negotiation, checked against the oracle, and requests that are refused."""

from __future__ import annotations

import gc
import threading
import weakref
from itertools import product

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from discreet.model.search_result import Negotiation
from discreet.negotiation.negotiator import Negotiator
from tests.drawing import some_of
from tests.oracle.brute_lattice import BruteLattice
from tests.oracle.naive_negotiation import NaiveAnswer, naive_negotiation
from tests.oracle.random_tables import frequency_set_of, random_frequency_set, random_hierarchy


def plain(negotiation: Negotiation) -> list[NaiveAnswer]:
    return [
        (None if a.relaxed is None else str(a.relaxed), a.node, a.suppressed, a.requirement)
        for a in negotiation.answers
    ]


def random_brute(seed: int) -> tuple[np.random.Generator, BruteLattice]:
    random = np.random.default_rng(seed)
    table = random_frequency_set(random, attributes=3, height=3, leaves=5, rows=24, sensitive=2)
    return random, BruteLattice(table)


def random_request(random: np.random.Generator, brute: BruteLattice) -> Request:
    names = brute.sensitive_attributes
    l: int | dict[str, int] | None = None
    if names:
        one = {str(random.choice(names)): int(random.integers(1, 7))}
        every = {name: int(random.integers(1, 7)) for name in names}
        l = [None, int(random.integers(1, 7)), one, every][int(random.integers(0, 4))]
    k = int(random.integers(1, 15)) if l is None or random.random() < 0.6 else None
    heights = dict(zip(brute.lattice.attributes, brute.lattice.heights, strict=True))
    highest = {a: int(random.integers(0, h + 1)) for a, h in heights.items() if random.random() < 0.7}
    lowest = {
        a: int(random.integers(0, highest.get(a, h) + 1)) for a, h in heights.items() if random.random() < 0.3
    }
    rows = int(random.integers(0, max(brute.rows // 2, 1)))
    limit = [0, rows, f"{random.integers(0, 40)}%"][int(random.integers(0, 3))]
    scope = str(random.choice(["above", "global"]))
    return Request.of(k=k, l=l, max_suppressed=limit, max_level=highest, min_level=lowest, scope=scope)


def test_answers_on_random_lattices_equal_the_oracle() -> None:
    relaxed = set()
    for seed in range(some_of(1200)):
        random, brute = random_brute(seed)
        negotiator = Negotiator(brute)
        for _ in range(3):
            request = random_request(random, brute)
            expected = naive_negotiation(brute, request)
            assert plain(negotiator.negotiate(request)) == expected, (seed, request)
            relaxed |= {answer[0] for answer in expected}
    assert relaxed == {None, "max_suppressed", "height", "k", "l"}


@pytest.fixture(scope="module")
def brute() -> BruteLattice:
    """Return a lattice of two quasi-identifiers of height 2 and eight rows in seven row types."""
    random = np.random.default_rng(7)
    hierarchies = [random_hierarchy(random, name, 4, 2) for name in ("age", "race")]
    rows = [((a, b), (a % 3, b % 2)) for a, b in product(range(4), (0, 1))]
    return BruteLattice(frequency_set_of(hierarchies, rows, ("disease", "wage"), (3, 2)))


@pytest.mark.parametrize(
    ("request_", "fact"),
    [
        (Request.of(k=2, max_level={"zip": 1}), "'zip' is not a quasi-identifier"),
        (Request.of(k=2, max_level={"age": 3}), "level 3 of 'age'"),
        (Request.of(k=2, min_level={"age": -1}), "level -1 of 'age'"),
        (
            Request.of(k=2, min_level={"age": 2}, max_level={"age": 1}),
            "the least level of 'age', 2, is above its greatest, 1",
        ),
        (Request.of(l={"zip": 2}), "l was given for 'zip', which is not a sensitive attribute"),
        (Request(Requirement()), "no privacy criterion was given"),
    ],
)
def test_invalid_request_is_refused(brute: BruteLattice, request_: Request, fact: str) -> None:
    with pytest.raises(InputError) as error:
        Negotiator(brute).negotiate(request_)
    assert error.value.message == fact
    assert error.value.allowed


def test_several_l_are_lowered_together(brute: BruteLattice) -> None:
    relaxed = Negotiator(brute).negotiate(Request.of(l={"disease": 9, "wage": 2})).relaxation("l")
    assert relaxed.requirement.l == (("disease", 3), ("wage", 2))
    assert relaxed.as_json(brute.lattice)["l"] == {"disease": 3, "wage": 2}


def test_empty_table_suppresses_nothing() -> None:
    random = np.random.default_rng(0)
    empty = BruteLattice(frequency_set_of([random_hierarchy(random, "age", 4, 2)], []))
    assert Negotiator(empty).negotiate(Request.of(k=5, max_suppressed="10%")).exact.node == (0,)


def test_hundred_attributes_without_levels_are_negotiated() -> None:
    random = np.random.default_rng(0)
    single = [random_hierarchy(random, f"q{i}", 1, 0) for i in range(100)]
    choice = random_hierarchy(random, "age", 4, 1)
    rows = [((*(0,) * 50, a, *(0,) * 50), ()) for a in range(4)]
    brute = BruteLattice(frequency_set_of([*single[:50], choice, *single[50:]], rows))
    assert sum(Negotiator(brute).negotiate(Request.of(k=4)).exact.node) == 1


def test_document_has_the_contracts_keys(brute: BruteLattice) -> None:
    document = Negotiator(brute).negotiate(Request.of(k=4)).as_json()
    assert document == {
        "outcome": "exact",
        "rows": 8,
        "answers": [
            {
                "relaxed": None,
                "levels": {"age": 2, "race": 0},
                "height": 2,
                "k": 4,
                "l": None,
                "suppressed": 0,
            }
        ],
    }


def test_threads_share_a_negotiator() -> None:
    random, brute = random_brute(3)
    negotiator = Negotiator(brute)
    requests = [random_request(random, brute) for _ in range(60)]
    expected = [plain(Negotiator(brute).negotiate(request)) for request in requests]
    found: dict[int, list[list[NaiveAnswer]]] = {}

    def negotiate_all(number: int) -> None:
        found[number] = [plain(negotiator.negotiate(request)) for request in requests]

    threads = [threading.Thread(target=negotiate_all, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(found.values()) == [expected] * 4


def test_negotiator_releases_its_lattice() -> None:
    _, brute = random_brute(5)
    alive = weakref.ref(brute)
    Negotiator(brute).negotiate(Request.of(k=2))
    del brute
    gc.collect()
    assert alive() is None
