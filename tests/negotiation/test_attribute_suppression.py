"""Suppression of one attribute (its top level), checked by repeating the request with that level."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.model.request import Request, node_bounds
from discreet.negotiation.alternatives import SuppressedAttribute, suppress_attributes
from discreet.negotiation.negotiator import Negotiator
from discreet.negotiation.partial_lattice import prepare_partial_lattice
from discreet.negotiation.partial_negotiation import PartialNegotiator
from tests.drawing import some_of
from tests.negotiation.conftest import table_and_request
from tests.oracle.brute_lattice import BruteLattice


def asked_again(brute: BruteLattice, request: Request) -> list[SuppressedAttribute]:
    """Return each attribute's answer with its level fixed at the top: exact, else fewest suppressed rows."""
    found = []
    for name, top in zip(brute.lattice.attributes, brute.lattice.heights, strict=True):
        other = replace(
            request,
            max_level=tuple({**dict(request.max_level), name: top}.items()),
            min_level=tuple({**dict(request.min_level), name: top}.items()),
        )
        negotiation = Negotiator(brute).negotiate(other)
        best = negotiation.exact or negotiation.relaxation("max_suppressed")
        # If every row must be suppressed, there is no such answer, and the lowest node suppresses as many.
        node = best.node if best else node_bounds(brute.lattice, other)[0]
        rows = best.suppressed if best else brute.rows
        met = negotiation.exact is not None
        found.append(SuppressedAttribute(name, node, rows, met, sum(node), sum(node) - top))
    return found


def test_on_random_tables() -> None:
    helped = 0
    for seed in range(70):
        table, request = table_and_request(seed, subjects=seed % 5 == 0)
        brute = BruteLattice(table)
        found = suppress_attributes(brute, request)
        assert list(found) == asked_again(brute, request), seed
        helped += Negotiator(brute).negotiate(request).exact is None and any(p.meets for p in found)
    assert helped > 5


@settings(max_examples=some_of(40), deadline=None)
@given(st.integers(0, 2**32))
def test_over_a_partial_lattice_the_rows_are_the_same(seed: int) -> None:
    table, request = table_and_request(seed)
    brute, partial = BruteLattice(table), prepare_partial_lattice(table, "1%")
    found = PartialNegotiator(partial).suppress_attributes(request)
    limit = request.max_suppressed.of(brute.rows)
    for ours, true in zip(found, suppress_attributes(brute, request), strict=True):
        assert (ours.attribute, ours.meets) == (true.attribute, true.meets)
        assert ours.suppressed == brute.suppressed(ours.node, request.requirement)
        assert ours.suppressed <= limit or ours.suppressed == true.suppressed
        assert ours.height >= true.height


def test_an_attribute_at_its_top_and_one_left_out_make_the_same_classes() -> None:
    """The classes of a node equal those of the table without the attributes at their top."""
    checked = 0
    for seed in range(40):
        table, request = table_and_request(seed)
        if len(table.hierarchies) < 2 or not table.rows:
            continue
        brute = BruteLattice(table)
        for i, proposal in enumerate(suppress_attributes(brute, request)):
            narrower = replace(
                table,
                hierarchies=(*table.hierarchies[:i], *table.hierarchies[i + 1 :]),
                codes=table.codes[:, [j for j in range(len(table.hierarchies)) if j != i]],
            )
            rest = (*proposal.node[:i], *proposal.node[i + 1 :])
            wish = request.requirement
            assert BruteLattice(narrower).suppressed(rest, wish) == proposal.suppressed
            assert proposal.height_without == sum(rest)
            checked += 1
        _, high = node_bounds(brute.lattice, request)
        assert brute.suppressed(high, request.requirement) >= proposal.suppressed or proposal.meets
    assert checked > 50
