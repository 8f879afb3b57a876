"""The publisher's order of leaves is kept where groups interleave, for every kind of hierarchy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from discreet.hierarchy import FileHierarchy, LevelsHierarchy, MaskHierarchy, OrderHierarchy
from discreet.hierarchy.csv_file import format_hierarchy_csv
from discreet.hierarchy.draft import HierarchyDraft
from discreet.hierarchy.level_table import hierarchy_from_rows
from discreet.model.criterion_inputs import SensitiveAttribute
from discreet.model.hierarchy import GeneralizationHierarchy, order_leaves, order_leaves_by_tree

ROWS = (("v1", "X", "*"), ("v2", "Y", "*"), ("v3", "X", "*"), ("v4", "Y", "*"))


def build(rows: Sequence[Sequence[str]] = ROWS) -> GeneralizationHierarchy:
    return hierarchy_from_rows("s", rows, origin="a table")


def in_order(hierarchy: GeneralizationHierarchy) -> list[str]:
    """Return the leaves by their position in the order, without NULL."""
    return [hierarchy.leaves[code] for code in order_leaves(hierarchy).code[:-1].tolist()]


def test_groups_that_interleave_leave_the_order_of_the_lines() -> None:
    found = build()
    assert found.leaves == ("v1", "v3", "v2", "v4")
    assert found.leaf_ranks is not None
    assert found.leaf_ranks.tolist() == [0, 2, 1, 3]
    assert in_order(found) == ["v1", "v2", "v3", "v4"]
    assert order_leaves_by_tree(found).code.tolist() == [0, 1, 2, 3, 4]
    assert order_leaves(found).rank.tolist() == [0, 2, 1, 3, 4]


def test_depth_first_order_needs_no_ranks() -> None:
    assert build([("v1", "X", "*"), ("v3", "X", "*"), ("v2", "Y", "*")]).leaf_ranks is None
    assert build([("b", "*"), ("a", "*")]).leaf_ranks is None


def test_numbers_are_ordered_by_size() -> None:
    assert in_order(build([("3", "X", "*"), ("10", "Y", "*"), ("-1", "X", "*")])) == ["-1", "3", "10"]
    mixed = [("20", "X", "*"), ("90+", "Y", "*"), ("3", "X", "*")]
    assert in_order(build(mixed)) == ["20", "90+", "3"]


def test_digest_depends_on_the_order() -> None:
    other = [ROWS[0], ROWS[2], ROWS[1], ROWS[3]]
    assert build().labels == build(other).labels
    assert build().digest != build(other).digest


def test_repeated_line_counts_at_its_first_place() -> None:
    assert in_order(build([*ROWS[:3], ROWS[0], ROWS[3]])) == ["v1", "v2", "v3", "v4"]


def from_file(folder: Path) -> GeneralizationHierarchy:
    path = folder / "s.csv"
    path.write_text("".join(";".join(row) + "\n" for row in ROWS), encoding="utf-8")
    return FileHierarchy(path).build("s", ["v1"])


SOURCES: dict[str, Callable[[Path], GeneralizationHierarchy]] = {
    "a file": from_file,
    "rows": lambda _: LevelsHierarchy.of(ROWS).build("s", ["v1"]),
    "a mapping": lambda _: LevelsHierarchy.of({row[0]: row[1:] for row in ROWS}).build("s", ["v1"]),
    "an order": lambda _: OrderHierarchy(("v1", "v2", "v3", "v4"), fanout=2).build("s", ["v1"]),
    "a mask from the left": lambda _: MaskHierarchy("left").build("s", ["v4", "v2", "v3", "v1"]),
    "its own text": lambda _: build([line.split(";") for line in format_hierarchy_csv(build()).splitlines()]),
    "a draft": lambda _: build(HierarchyDraft.of(build()).rows),
    "a grouped draft": lambda _: build(HierarchyDraft(ROWS).group(1, ["X"], "Z").rows),
    "a moved value": lambda _: build(HierarchyDraft(ROWS).move(0, ["v3"], "Y").rows),
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_keeps_the_publishers_order(source: str, tmp_path: Path) -> None:
    assert in_order(SOURCES[source](tmp_path)) == ["v1", "v2", "v3", "v4"]


def test_codes_masked_from_the_left_are_ordered_by_text() -> None:
    found = MaskHierarchy("left").build("s", ["A1", "A2", "B1", "B2"])
    assert found.leaves == ("A1", "B1", "A2", "B2")
    assert in_order(found) == ["A1", "A2", "B1", "B2"]


def test_sensitive_values_have_the_publishers_places() -> None:
    values = ("v4", "v3", "v2")
    found = SensitiveAttribute.of(values, np.array([1, 1, 1]), build())
    assert found.ranks.tolist() == [2, 1, 0]
    assert found.levels is not None
    assert found.levels[1].tolist() == [1, 0, 1]
