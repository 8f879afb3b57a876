"""Suppressed rows against plain counting, on small random tables."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product
from pathlib import Path

import pytest

from discreet.results.table_lattice import TableLattice
from discreet.settings import Settings
from discreet.spec.spec_reader import spec_from_mapping
from discreet.verbs.table import Table

Rows = list[tuple[str | None, str | None]]


def random_table(seed: int, folder: Path, settings: Settings) -> tuple[Table, Rows]:
    """Return two quasi-identifiers of few values, some NULL."""
    chance = random.Random(seed)
    rows: Rows = [
        (chance.choice(["1", "2", "3", "4", None]), chance.choice(["a", "b", "c"])) for _ in range(24)
    ]
    lines = ["age,town", *(f"{age or ''},{town}" for age, town in rows)]
    (folder / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    document = {
        "source": {"path": "people.csv"},
        "attributes": {
            "age": {
                "role": "quasi-identifier",
                "hierarchy": {"kind": "intervals", "widths": [2], "anchor": 1},
            },
            "town": {"role": "quasi-identifier"},
        },
    }
    return Table(spec_from_mapping(document, base=folder, label="the spec"), settings), rows


def lost_rows(table: Table, rows: Rows, node: tuple[int, ...], k: int) -> Rows:
    """Return the rows whose class has fewer than k rows, grouped by the generalized values."""

    def shown(row: tuple[str | None, ...]) -> tuple[str, ...]:
        hierarchies = table.frequency_set.hierarchies
        return tuple(
            ("*" if level == h.height else "NULL") if value is None else h.path(h.code_of_leaf[value])[level]
            for h, level, value in zip(hierarchies, node, row, strict=True)
        )

    sizes = Counter(map(shown, rows))
    return [row for row in rows if sizes[shown(row)] < k]


@pytest.mark.parametrize("seed", range(3))
def test_left_out_values_equal_a_plain_count(seed: int, tmp_path: Path, settings: Settings) -> None:
    table, rows = random_table(seed, tmp_path, settings)
    lattice = table.lattice()
    assert isinstance(lattice, TableLattice)
    heights = lattice.lattice.heights
    for node in product(*(range(height + 1) for height in heights)):
        found = lattice.left_out(dict(zip(lattice.lattice.attributes, node, strict=True)), k=4)
        lost = lost_rows(table, rows, node, 4)
        assert (found.rows, found.suppressed) == (24, len(lost))
        costs = []
        for i, attribute in enumerate(found.attributes):
            counted = Counter(row[i] for row in lost)
            assert {value.value: value.left_out for value in attribute.values} == counted
            assert all(value.rows == sum(r[i] == value.value for r in rows) for value in attribute.values)
            top = lost_rows(table, rows, (*node[:i], heights[i], *node[i + 1 :]), 4)
            assert attribute.costs == max(0, len(lost) - len(top))
            costs.append(attribute.costs)
        costliest = found.costliest
        assert (costliest is None) == (not any(costs))
        if costliest is not None:
            assert costliest.costs == max(costs)
            assert found.sentence().startswith(f"{costliest.name} costs most")
        else:
            assert found.sentence().startswith("No ")


def test_left_out_values_are_printed_with_a_sentence(tmp_path: Path, settings: Settings) -> None:
    table, _ = random_table(1, tmp_path, settings)
    found = table.lattice().left_out({}, k=4)
    words = str(found)
    assert found.sentence() in words
    assert f"Suppressed: {found.suppressed}" in words
    assert found.as_json()["suppressed"] == found.suppressed
