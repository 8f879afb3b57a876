"""Effects of a node on readers, against plain counting on small random tables."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from discreet.model.requirement import Requirement
from discreet.screens.lattice_view import LatticeView
from discreet.screens.nearby_requests import find_nearby_requests
from discreet.screens.node_preview import TableEffects
from discreet.settings import Settings
from discreet.verbs.table import Table
from tests.results.test_left_out import lost_rows, random_table

QUESTION = {"age": ["2", "3"], "town": ["a", "b"]}
PlainRow = tuple[str | None, ...]


def group(table: Table, index: int, level: int, value: str | None) -> set[str | None]:
    """Return the values that a published cell may represent."""
    hierarchy = table.frequency_set.hierarchies[index]
    if value is None and level < hierarchy.height:
        return {None}
    if level == hierarchy.height:
        return {*hierarchy.leaves, None}
    shown = hierarchy.path(hierarchy.code_of_leaf[str(value)])[level]
    return {leaf for leaf in hierarchy.leaves if hierarchy.path(hierarchy.code_of_leaf[leaf])[level] == shown}


@pytest.mark.parametrize("seed", range(3))
def test_effects_equal_a_plain_count(seed: int, tmp_path: Path, settings: Settings) -> None:
    table, rows = random_table(seed, tmp_path, settings)
    held = table.frequency_set
    base = TableEffects(held)
    nodes = product(*(range(h.height + 1) for h in held.hierarchies))
    for node, k in product(nodes, (4, 2)):  # node after node, each with both k
        lost = lost_rows(table, rows, node, k)
        kept = [row for row in rows if row not in lost]
        effects = base.of_node(node, Requirement.of(k))
        answer = effects.answer(QUESTION)
        certain = possible = estimate = 0.0
        for row in kept:
            cells = [group(table, i, node[i], value) for i, value in enumerate(row)]
            queried = [{*values} for values in QUESTION.values()]
            real = [cell - ({None} if len(cell) > 1 else set()) for cell in cells]
            nulls = [any(other[i] is None for other in rows) for i in range(2)]
            certain += all(
                cell <= values and not (None in whole and has)
                for cell, values, whole, has in zip(real, queried, cells, nulls, strict=True)
            )
            possible += all(cell & values for cell, values in zip(cells, queried, strict=True))
            estimate += np.prod([len(c & v) / len(c) for c, v in zip(real, queried, strict=True)])
        truth = sum(row[0] in QUESTION["age"] and row[1] in QUESTION["town"] for row in rows)
        assert answer["truth"] == truth
        assert answer["low"] == certain
        assert answer["high"] == possible + len(lost)
        assert answer["low"] <= truth <= answer["high"]
        assert answer["estimate"] == pytest.approx(estimate)
        covered = [len(lost) * len(h.leaves) for h in held.hierarchies]
        for row in kept:
            for i, value in enumerate(row):
                covered[i] += len(group(table, i, node[i], value) - {None}) or 1
        losses = [
            (many - len(rows)) / (len(rows) * (len(h.leaves) - 1))
            for many, h in zip(covered, held.hierarchies, strict=True)
        ]
        assert effects.detail == pytest.approx(1 - sum(losses) / len(losses))
        published = effects.published()
        assert len(published) == sum(drawn.bins for drawn in base.attributes)
        ages = base.attributes[0]
        first = dict(zip((ages.hierarchy.leaves[c] for c in ages.order), published, strict=False))
        for leaf, found in first.items():
            cell = group(table, 0, node[0], leaf) - {None}
            assert found == pytest.approx(sum(row[0] in cell for row in kept) / len(cell))
        for one in effects.together("age", "2", "town"):
            of = [row for row in rows if one["label"] in (row[1], "*")]
            assert one["rows"] == len(of)
            assert one["truth"] == pytest.approx(sum(row[0] == "2" for row in of) / len(of))


@pytest.mark.parametrize("seed", range(3))
def test_offer_is_answered_exactly_by_its_node(seed: int, tmp_path: Path, settings: Settings) -> None:
    table, _ = random_table(seed, tmp_path, settings)
    lattice = table.lattice()
    view = LatticeView.of(lattice)
    request = lattice.negotiate(k=3, max_suppressed="20%").request
    answer = lattice.answer(request).exact
    assert answer is not None
    found = find_nearby_requests(view, request, answer.answer.node)
    assert found
    for offer in found:
        again = lattice.answer(offer.request).exact
        assert again is not None
        assert again.answer.node == offer.node
        assert offer.gain
        assert offer.price
        assert (offer.request.requirement.k or 0) >= 3
