"""Views of a lattice and of its nodes, against plain counting of the rows."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest

from discreet.model.requirement import Requirement
from discreet.results.node_rows import preview_rows
from discreet.results.node_summary import summarize_node
from discreet.screens.lattice_view import LatticeView
from discreet.settings import Settings
from discreet.spec.spec_reader import load_spec, spec_from_mapping
from discreet.verbs.table import Table
from tests.web.negotiation import PEOPLE, write_philosophers

REQUIREMENTS = [Requirement.of(3), Requirement.of(4), Requirement.of(2, 2), Requirement.of(None, 3)]


@pytest.fixture
def table(tmp_path: Path, settings: Settings) -> Table:
    """Return the philosophers."""
    return Table(load_spec(write_philosophers(tmp_path)), settings)


def plain_classes(table: Table, node: tuple[int, ...]) -> dict[tuple[str, ...], list[str]]:
    """Return the sensitive values of each class, grouped by the generalized values."""
    found: dict[tuple[str, ...], list[str]] = {}
    for line in PEOPLE.splitlines()[1:]:
        _, *values, hours = line.split(",")
        shown = tuple(
            h.path(h.code_of_leaf[value])[level]
            for h, value, level in zip(table.frequency_set.hierarchies, values, node, strict=True)
        )
        found.setdefault(shown, []).append(hours)
    return found


def fails(hours: list[str], requirement: Requirement) -> bool:
    """Return whether a class is suppressed."""
    l = requirement.l if isinstance(requirement.l, int) else 1
    return len(hours) < (requirement.k or 1) or len(set(hours)) < l


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=str)
def test_every_node_summary_equals_plain_counting(table: Table, requirement: Requirement) -> None:
    lattice = table.lattice()
    for node in product(range(5), range(4), range(3)):
        classes = plain_classes(table, node)
        kept = [hours for hours in classes.values() if not fails(hours, requirement)]
        found = summarize_node(lattice, node, requirement)
        assert (found.classes, found.kept) == (len(classes), len(kept))
        assert found.suppressed == 10 - sum(map(len, kept)) == lattice.suppressed(node, requirement)
        assert found.smallest == min(map(len, kept), default=None)
        assert found.largest == max(map(len, kept), default=None)
        least = found.least_distinct["hours_per_week"]
        assert least == min((len(set(hours)) for hours in kept), default=None)
        assert sum(b.kept + b.suppressed for b in found.sizes) == 10
        assert sum(b.classes or 0 for b in found.sizes) == len(classes)
        by_bin = Counter({b.first: b.suppressed for b in found.sizes if b.suppressed})
        assert sum(by_bin.values()) == found.suppressed
        for b in found.sizes:
            inside = [len(h) for h in classes.values() if b.first <= len(h) <= b.last]
            assert sum(inside) == b.kept + b.suppressed


def test_bins_have_no_gap(table: Table) -> None:
    top = summarize_node(table.lattice(), (4, 3, 2), Requirement.of(1))
    assert [(b.first, b.last) for b in top.sizes] == [(10, 19)]
    assert "10–19" in str(top)
    low = summarize_node(table.lattice(), (3, 2, 1), Requirement.of(1))
    ends = [(b.first, b.last) for b in low.sizes]
    assert all(last + 1 == first for (_, last), (first, _) in pairwise(ends))


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=str)
def test_preview_shows_rows_of_the_table_before_and_after(table: Table, requirement: Requirement) -> None:
    node = (1, 1, 1)
    classes = plain_classes(table, node)
    found = preview_rows(table.frequency_set, node, requirement, 20)
    lines = Counter(tuple(line.split(",")[1:4]) for line in PEOPLE.splitlines()[1:])
    assert {row.before: row.rows for row in found.rows} == dict(lines)
    for row in found.rows:
        hours = classes[row.after]  # type: ignore[index]
        assert (row.size, row.distinct["hours_per_week"]) == (len(hours), len(set(hours)))
        assert row.suppressed == fails(hours, requirement)
    other = preview_rows(table.frequency_set, (2, 2, 1), requirement, 5)
    assert len(other.rows) == 5
    assert [r.before for r in other.rows] == [
        r.before for r in preview_rows(table.frequency_set, node, requirement, 5).rows
    ], "the same rows at every node"


def test_positions_are_ordered_by_height_and_loss_and_invertible(table: Table) -> None:
    lattice = table.lattice()
    view = LatticeView.of(lattice)
    heights = view.levels.sum(axis=1)
    assert (np.diff(heights) >= 0).all()
    classes = [len(plain_classes(table, tuple(node))) for node in view.levels.tolist()]
    assert (np.diff(classes)[np.diff(heights) == 0] >= 0).all()
    for position, node in enumerate(map(tuple, view.levels.tolist())):
        assert view.position(node) == position
    requirement = Requirement.of(4)
    suppressed = view.suppression(requirement)
    assert suppressed.tolist() == [lattice.suppressed(tuple(n), requirement) for n in view.levels.tolist()]
    assert [tuple(view.levels[p].tolist()) for p in view.frontier(requirement)] == [
        (0, 0, 0),
        (1, 0, 1),
        (2, 2, 1),
    ]


@pytest.mark.parametrize("requirement", REQUIREMENTS[:3], ids=str)
def test_partial_view_shows_counted_nodes_and_their_frontier(table: Table, requirement: Requirement) -> None:
    partial = table.partial_lattice("40%")
    view = LatticeView.of(partial)
    assert view.is_partial
    assert view.is_current
    assert view.nodes == partial.partial.size
    suppressed = view.suppression(requirement).tolist()
    nodes = [tuple(node) for node in view.levels.tolist()]
    assert suppressed == [partial.suppressed(node, requirement) for node in nodes]
    triples = [
        (sum(n), round(float(x), 12), s) for n, x, s in zip(nodes, view.losses, suppressed, strict=True)
    ]
    beaten = {
        i
        for i, one in enumerate(triples)
        if any(other != one and all(b <= a for a, b in zip(one, other, strict=True)) for other in triples)
    }
    assert view.frontier(requirement) == [i for i in range(len(nodes)) if i not in beaten]
    unknown = next(node for node in lattice_nodes() if view.position(node) is None)
    partial.suppressed(unknown, requirement)
    assert not view.is_current
    assert LatticeView.of(partial).position(unknown) is not None
    assert (
        summarize_node(partial, unknown, requirement).as_json()
        == summarize_node(table.lattice(), unknown, requirement).as_json()
    )


def lattice_nodes() -> list[tuple[int, ...]]:
    """Return all nodes."""
    return list(product(range(5), range(4), range(3)))


def test_distinct_values_are_of_the_counted_attribute(tmp_path: Path, settings: Settings) -> None:
    rows = ["age,ill,wage", "30,flu,low", "30,flu,high", "30,flu,mean", "31,flu,low", "31,cold,low"]
    (tmp_path / "people.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    roles = {"age": "quasi-identifier", "ill": "sensitive", "wage": "sensitive"}
    document = {"source": {"path": "people.csv"}, "attributes": {n: {"role": r} for n, r in roles.items()}}
    table = Table(spec_from_mapping(document, base=tmp_path, label="the spec"), settings)
    for lattice in (table.lattice(sensitive=["wage"]), table.partial_lattice("100%", sensitive=["wage"])):
        found = lattice.node({"age": 0}, l={"wage": 3})
        assert found.least_distinct["wage"] == 3
        assert found.least_distinct.get("ill") is None
        assert not found.distinct.get("ill")
        assert found.suppressed == 2
