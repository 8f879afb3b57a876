"""Hierarchies in a spec: every kind with every key, and a table of refused specs."""

from __future__ import annotations

import tomllib
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from discreet.errors import InputError
from discreet.hierarchy import (
    AgeHierarchy,
    AutoHierarchy,
    BuiltinHierarchy,
    DateHierarchy,
    FileHierarchy,
    IntervalHierarchy,
    LevelsHierarchy,
    MaskHierarchy,
    OrderHierarchy,
    TaxonomyHierarchy,
)
from discreet.model.hierarchy import HierarchySource
from discreet.spec.attribute_section import HierarchyReader
from discreet.spec.hierarchy_tables import HIERARCHY_TABLES


def read(text: str) -> HierarchySource:
    value = tomllib.loads(f"hierarchy = {text}", parse_float=Decimal)["hierarchy"]
    reader = HierarchyReader(Path("base"), "s.toml", objects=False)
    return reader.read(value, ("attributes", "x", "hierarchy"))


GOOD: dict[str, HierarchySource] = {
    '"h/x.csv"': FileHierarchy(Path("base/h/x.csv")),
    '"/h/x.csv"': FileHierarchy(Path("/h/x.csv")),
    '{kind = "file", path = "x", delimiter = "|", encoding = "cp1252"}': FileHierarchy(
        Path("base/x"), "|", "cp1252"
    ),
    '{kind = "levels", rows = [["a", "*"]]}': LevelsHierarchy((("a", "*"),)),
    '{kind = "levels", leaves = {a = ["*"]}}': LevelsHierarchy((("a", "*"),)),
    '{kind = "intervals", width = 5}': IntervalHierarchy.of(5),
    '{kind = "intervals", widths = [0.5, 1], anchor = -0.25, lower = 0, upper = "data", others = ["?"]}': (
        IntervalHierarchy(
            (Decimal("0.5"), Decimal(1)),
            anchor=Decimal("-0.25"),
            lower=Decimal(0),
            upper="data",
            others=("?",),
        )
    ),
    '{kind = "intervals", breaks = [18, 35.5], upper = 90}': IntervalHierarchy.of(
        breaks=[18, "35.5"], upper=90
    ),
    '{kind = "intervals", width = 5, breaks = [[20, 40], [20]]}': IntervalHierarchy.of(
        5, breaks=[[20, 40], [20]]
    ),
    '{kind = "intervals", lower = 1.50}': IntervalHierarchy.of(lower="1.5"),
    '{kind = "mask"}': MaskHierarchy(),
    '{kind = "mask", from = "left", character = "#", steps = 2, pad = true, length = 9}': MaskHierarchy(
        "left", "#", 2, pad=True, length=9
    ),
    '{kind = "mask", steps = [1, 2]}': MaskHierarchy(steps=(1, 2)),
    '{kind = "dates"}': DateHierarchy(),
    '{kind = "dates", levels = ["day", "week"], format = "%d.%m.%Y", others = ["never"]}': DateHierarchy(
        ("day", "week"), "%d.%m.%Y", ("never",)
    ),
    '{kind = "age", reference = "2026-11-23"}': AgeHierarchy(date(2026, 11, 23)),
    '{kind = "age", reference = 2026-11-23, width = 5, upper = 90, format = ["%d.%m.%Y"], others = ["?"]}': (
        AgeHierarchy(date(2026, 11, 23), IntervalHierarchy.of(5, upper=90), ("%d.%m.%Y",), ("?",))
    ),
    '{kind = "builtin", name = "nace2"}': BuiltinHierarchy("nace2"),
    '{kind = "builtin", name = "icd10", levels = ["block"], others = ["?"]}': BuiltinHierarchy(
        "icd10", ("block",), ("?",)
    ),
    '{kind = "taxonomy", tree = {A = ["a", {B = ["b"]}]}}': TaxonomyHierarchy.of({"A": ["a", {"B": ["b"]}]}),
    '{kind = "order", fanout = 2}': OrderHierarchy(fanout=2),
    '{kind = "order", values = ["a", "b"], sizes = [2], label = "set"}': OrderHierarchy(
        ("a", "b"), (2,), label="set"
    ),
    '{kind = "order", fanout = [3, 2]}': OrderHierarchy(fanout=(3, 2)),
    '{kind = "auto"}': AutoHierarchy(),
    '{kind = "auto", by = "frequency"}': AutoHierarchy("frequency"),
}


@pytest.mark.parametrize("text", GOOD)
def test_hierarchy_is_read(text: str) -> None:
    assert read(text) == GOOD[text]


def test_every_kind_is_read() -> None:
    assert {kind for kind in HIERARCHY_TABLES for text in GOOD if f'"{kind}"' in text} == set(
        HIERARCHY_TABLES
    )


KEY = "s.toml: attributes.x.hierarchy"
BAD: dict[str, list[str]] = {
    '""': [f"{KEY} = ''"],
    '[["a", "*"]]': [f"{KEY} = "],
    "{}": [f"{KEY}.kind is missing", "taxonomy"],
    "{kind = 3}": [f"{KEY}.kind = 3"],
    '{kind = "masks"}': [f"{KEY}.kind = 'masks'", "Did you mean 'mask'?"],
    '{kind = "file"}': [f"{KEY}.path is missing", "in quotes"],
    '{kind = "file", path = "x", encoding = "utf-9"}': [f"{KEY}: encoding 'utf-9' is not known"],
    '{kind = "levels"}': [f"{KEY}: levels with neither", "rows, leaves"],
    '{kind = "levels", rows = [["a", 1]]}': [f"{KEY}.rows[0][1] = 1", "leaf first"],
    '{kind = "levels", leaves = {"a b" = "*"}}': [
        f"{KEY}.leaves.\"a b\" = '*'",
        "from each leaf to its levels",
    ],
    '{kind = "intervals"}': [f"{KEY}: intervals without a width"],
    '{kind = "intervals", width = "5"}': [f"{KEY}.width = '5'", "a number above 0"],
    '{kind = "intervals", width = 5, widths = [5]}': [f"{KEY}: both width and widths"],
    '{kind = "intervals", widths = [5, "x"]}': [f"{KEY}.widths[1] = 'x'"],
    '{kind = "intervals", width = 5, lower = "low"}': [f"{KEY}.lower = 'low'", 'a number, or "data"'],
    '{kind = "intervals", width = 5, step = 1}': [f"{KEY} has an unknown key 'step'", "kind, width, widths"],
    '{kind = "intervals", top = 90}': [f"{KEY} has an unknown key 'top'", "Did you mean 'upper'?"],
    '{kind = "intervals", breaks = 18}': [f"{KEY}.breaks = 18", "a list of ascending numbers"],
    '{kind = "intervals", breaks = [18, "x"]}': [f"{KEY}.breaks[1] = 'x'"],
    '{kind = "intervals", breaks = [[18, 35], [18, true]]}': [f"{KEY}.breaks[1][1] = true"],
    '{kind = "intervals", breaks = [[18, 35], 35]}': [f"{KEY}.breaks[0] = "],
    '{kind = "age", width = 5}': [f"{KEY}.reference is missing", "2026-11-23"],
    '{kind = "age", reference = 2026-11-23T08:00:00}': [f"{KEY}.reference = 2026-11-23 08:00:00"],
    '{kind = "age", reference = "2026-11-23", anchor = 3}': [f"{KEY}: intervals without a width"],
    '{kind = "age", reference = "2026-11-23", width = 5, upper = "data"}': [f"{KEY}: ages with an end"],
    '{kind = "builtin"}': [f"{KEY}.name is missing", "icd10, isco08"],
    '{kind = "builtin", name = "icd11"}': [
        f"{KEY}: the built-in hierarchy 'icd11' does not exist",
        "Did you mean 'icd10'?",
    ],
    '{kind = "builtin", name = "icd10", levels = ["chapter", "block"]}': [f"{KEY}: levels of icd10", "order"],
    '{kind = "mask", from = "top"}': [f"{KEY}.from = 'top'", "right, left"],
    '{kind = "mask", side = "left"}': [f"{KEY} has an unknown key 'side'", "kind, from, character"],
    '{kind = "mask", steps = [1, 1.5]}': [f"{KEY}.steps[1] = 1.5"],
    '{kind = "mask", steps = 0}': [f"{KEY}: mask step 0"],
    '{kind = "dates", levels = []}': [f"{KEY}: dates without levels"],
    '{kind = "taxonomy"}': [f"{KEY}.tree is missing", "nested tables and lists"],
    '{kind = "taxonomy", tree = {A = [3]}}': [f"{KEY}: taxonomy, under * > A: '3' is not a text"],
    '{kind = "order"}': [f"{KEY}: an order without sizes or fanout"],
    '{kind = "order", fanout = true}': [f"{KEY}.fanout = true"],
    '{kind = "auto", by = "size"}': [f"{KEY}.by = 'size'", "order, frequency"],
}


@pytest.mark.parametrize("text", BAD)
def test_wrong_hierarchy_is_refused(text: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text)
    for part in BAD[text]:
        assert part in str(caught.value)
    assert caught.value.allowed
