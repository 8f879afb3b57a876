"""Automatic hierarchies: numbers, dates, names, frequencies."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from discreet.hierarchy.automatic import AutoHierarchy
from tests.hierarchy.soundness import assert_sound, paths, paths_of


def test_numbers_get_intervals_of_nice_widths() -> None:
    hierarchy = AutoHierarchy().build("age", [str(age) for age in range(17, 91)])
    assert paths_of(hierarchy, "17", "90") == ["17;15-19;10-19;0-49;*", "90;90-94;90-99;50-99;*"]
    assert (hierarchy.origin, hierarchy.from_data) == ("automatic, by order", True)
    thousandths = AutoHierarchy().build("x", [f"{n / 1000}" for n in range(-50, 50)])
    assert paths_of(thousandths, "-0.05", "0.049") == [
        "-0.05;[-0.05, -0.045[;[-0.05, -0.04[;[-0.05, 0[;*",
        "0.049;[0.045, 0.05[;[0.04, 0.05[;[0, 0.05[;*",
    ]


def test_few_texts_among_numbers_keep_their_own_labels() -> None:
    values = [str(n) for n in range(40)]
    hierarchy = AutoHierarchy().build("x", [*values, "unknown"])
    assert paths_of(hierarchy, "7", "unknown") == ["7;5-9;0-9;*", "unknown;unknown;unknown;*"]
    text = AutoHierarchy().build("x", ["1", "2", "3", "unknown"])
    assert paths(text)[0] == "1;1 … 2;*"


def test_names_are_grouped_with_neighbours_evenly() -> None:
    hierarchy = AutoHierarchy().build("x", [f"v{n}" for n in range(41)])
    sizes = [Counter(hierarchy.ancestors[level].tolist()) for level in range(hierarchy.height + 1)]
    assert [len(counter) for counter in sizes] == [41, 14, 5, 2, 1]
    assert set(sizes[1].values()) == {2, 3}
    assert paths_of(hierarchy, "v2", "v10")[0] == "v2;v2 … v4;v0 … v4;v0 … v13;*"


def test_rare_values_are_grouped_first_by_frequency() -> None:
    rows = {"a": 1000, "b": 500, "c": 30, "d": 30, "e": 20, "f": 10, "g": 1, "h": 1}
    hierarchy = AutoHierarchy("frequency").build("x", list(rows), list(rows.values()))
    assert paths(hierarchy) == [
        "a;a;a;*",
        "b;b;{b, c, d, e, f, g, h};*",
        "c;{c, d};{b, c, d, e, f, g, h};*",
        "d;{c, d};{b, c, d, e, f, g, h};*",
        "e;{e, f, g, h};{b, c, d, e, f, g, h};*",
        "f;{e, f, g, h};{b, c, d, e, f, g, h};*",
        "g;{e, f, g, h};{b, c, d, e, f, g, h};*",
        "h;{e, f, g, h};{b, c, d, e, f, g, h};*",
    ]
    assert (hierarchy.origin, hierarchy.from_data) == ("automatic, by frequency", True)


def test_columns_of_adult_get_sound_hierarchies(data_dir: Path) -> None:
    with (data_dir / "adult" / "adult_30162.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    heights = {}
    for column in rows[0]:
        counts = Counter(row[column] for row in rows)
        for by in ("order", "frequency"):
            hierarchy = AutoHierarchy(by).build(column, list(counts), list(counts.values()))  # type: ignore[arg-type]
            assert_sound(hierarchy, counts)
            heights[column, by] = hierarchy.height
    assert all(1 <= height <= 6 for height in heights.values())
    assert heights["age", "order"] == 4
    assert heights["fnlwgt", "order"] == 5


@given(st.dictionaries(st.text("ab1", min_size=1, max_size=5), st.integers(0, 50), min_size=1, max_size=40))
def test_any_frequencies_nest(rows: dict[str, int]) -> None:
    hierarchy = AutoHierarchy("frequency").build("x", list(rows), list(rows.values()))
    assert_sound(hierarchy, rows)
    ordered = [rows[leaf] for leaf in hierarchy.leaves]
    assert ordered == sorted(ordered, reverse=True)
    assert [len(level) for level in hierarchy.labels] == sorted(map(len, hierarchy.labels), reverse=True)
