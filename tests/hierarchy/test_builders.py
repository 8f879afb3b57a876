"""Properties common to all builders: sound, total, independent of value order, with low memory use."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.hierarchy import (
    AgeHierarchy,
    AutoHierarchy,
    BuiltinHierarchy,
    DateHierarchy,
    FlatHierarchy,
    IntervalHierarchy,
    LevelsHierarchy,
    MaskHierarchy,
    OrderHierarchy,
    TaxonomyHierarchy,
)
from discreet.hierarchy.nested_groups import TaxonomyGroup
from discreet.model.hierarchy import GeneralizationHierarchy, HierarchySource
from tests.hierarchy.soundness import assert_sound

TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6)
NUMBERS = st.one_of(st.integers(-(10**12), 10**12).map(str), st.decimals(-999, 999, places=2).map(str))
DATES = st.one_of(st.dates().map(str), st.datetimes().map(str))
LETTERS = tuple("abcdefgh")

Source = tuple[HierarchySource, st.SearchStrategy[str]]
SOURCES: dict[str, Source] = {
    "flat": (FlatHierarchy(), TEXTS),
    "levels": (LevelsHierarchy.of([[c, "A", "*"] for c in LETTERS]), st.sampled_from(LETTERS)),
    "intervals": (IntervalHierarchy.of(["0.25", 1, 5], anchor="0.1"), NUMBERS),
    "intervals with ends": (IntervalHierarchy.of([5, 50], lower=-20, upper=500), NUMBERS),
    "intervals, ends from the data": (IntervalHierarchy.of([5, 50], lower="data", upper="data"), NUMBERS),
    "intervals with others": (
        IntervalHierarchy.of(10, others=["?", "n/a"]),
        st.one_of(NUMBERS, st.sampled_from(["?", "n/a"])),
    ),
    "intervals at bounds": (IntervalHierarchy.of([5], breaks=[[-20, 5, 40], [5]], lower=-100), NUMBERS),
    "coding alone": (IntervalHierarchy.of(lower=0, upper=100), NUMBERS),
    "mask": (MaskHierarchy(), TEXTS),
    "mask from the left, padded": (MaskHierarchy("left", pad=True, steps=2), TEXTS),
    "dates": (DateHierarchy(), DATES),
    "days and weeks": (DateHierarchy(("day", "week")), DATES),
    "ages": (
        AgeHierarchy(date(2026, 11, 23), IntervalHierarchy.of([5], breaks=[20, 65], upper=90)),
        st.dates(max_value=date(2026, 11, 23)).map(str),
    ),
    "built in": (
        BuiltinHierarchy("icd10", others=("?",)),
        st.sampled_from(["?", "A09", "E11.9", "e119", "C50", "S72.0", "T98.9", "U07.1", "Z99.9"]),
    ),
    "taxonomy": (TaxonomyHierarchy.of({"A": LETTERS[:3], "B": [*LETTERS[3:]]}), st.sampled_from(LETTERS)),
    "order": (OrderHierarchy(fanout=2), TEXTS),
    "explicit order": (OrderHierarchy(LETTERS, sizes=(3, 6), label="set"), st.sampled_from(LETTERS)),
    "auto": (AutoHierarchy(), st.one_of(NUMBERS, TEXTS)),
    "auto for numbers": (AutoHierarchy(), NUMBERS),
    "auto for dates": (AutoHierarchy(), DATES),
    "auto by frequency": (AutoHierarchy("frequency"), TEXTS),
}


def same(one: GeneralizationHierarchy, other: GeneralizationHierarchy) -> bool:
    arrays = zip(one.ancestors, other.ancestors, strict=True)
    return (
        one.labels == other.labels
        and all(a.tolist() == b.tolist() for a, b in arrays)
        and (one.origin, one.from_data, one.notes) == (other.origin, other.from_data, other.notes)
    )


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_is_sound_and_blind_to_order(name: str) -> None:
    source, strategy = SOURCES[name]

    @given(st.lists(strategy, unique=True, max_size=20), st.randoms(use_true_random=False))
    def check(values: list[str], rng: random.Random) -> None:
        counts = [rng.randrange(1, 9) for _ in values]
        hierarchy = source.build("x", values, counts)
        assert_sound(hierarchy, values)
        assert hierarchy.from_data == source.from_data
        assert hierarchy.origin == source.origin
        pairs = list(zip(values, counts, strict=True))
        rng.shuffle(pairs)
        assert same(hierarchy, source.build("x", [v for v, _ in pairs], [c for _, c in pairs]))

    check()


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_is_a_value(name: str) -> None:
    source = SOURCES[name][0]
    assert hash(source) == hash(source)
    with pytest.raises(AttributeError):
        source.origin = "elsewhere"  # type: ignore[misc]


LARGE: dict[str, tuple[HierarchySource, Callable[[int], str]]] = {
    "flat": (FlatHierarchy(), str),
    "intervals": (IntervalHierarchy.of([5, 100, 10_000]), str),
    "mask": (MaskHierarchy(), str),
    "order": (OrderHierarchy(fanout=20), "item {}".format),
    "auto": (AutoHierarchy(), "item {}".format),
}


@pytest.mark.parametrize("name", LARGE)
def test_fifty_thousand_values_nest_quickly(name: str) -> None:
    source, text = LARGE[name]
    values: Sequence[str] = [text(n) for n in range(50_000)]
    hierarchy = source.build("x", values)
    assert len(hierarchy.leaves) == 50_000
    assert hierarchy.ancestors[-1].max() == 0


def test_import_of_the_room_is_light() -> None:
    command = "import sys, discreet.hierarchy; print({'pydantic', 'duckdb', 'numba'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


STEPS = [None, 2, (1, 2), (2, 1, 3)]


@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("side", ["right", "left"])
def test_all_short_values_nest_together(side: str, pad: bool) -> None:
    """All 120 texts of at most four of the characters ``a b *`` nest together."""
    values = ["".join(t) for n in range(1, 5) for t in itertools.product("ab*", repeat=n)]
    for steps in STEPS:
        assert_sound(MaskHierarchy(side, steps=steps, pad=pad).build("x", values), values)  # type: ignore[arg-type]


@given(
    st.sets(st.text(st.sampled_from("ab*é"), min_size=1, max_size=7), max_size=25),
    st.sampled_from(["right", "left"]),
    st.sampled_from(STEPS),
    st.sampled_from([(False, None), (True, None), (True, 9)]),
    st.sampled_from("*ax"),
)
def test_any_values_nest(
    values: set[str], side: str, steps: object, padding: tuple[bool, int | None], character: str
) -> None:
    source = MaskHierarchy(side, character, steps, *padding)  # type: ignore[arg-type]
    assert_sound(source.build("x", sorted(values)), values)


def test_parsed_tree_is_a_value() -> None:
    tree = TaxonomyHierarchy.of({"A": ["x", {"B": ["y"]}]})
    assert tree.members == (TaxonomyGroup("A", ("x", TaxonomyGroup("B", ("y",)))),)
    assert hash(tree) == hash(TaxonomyHierarchy(tree.members))


NAMES = st.integers(0, 10**6).map("n{}".format)
TREES = st.recursive(
    st.lists(NAMES, min_size=1, max_size=4),
    lambda inner: st.one_of(
        st.lists(st.one_of(NAMES, inner), min_size=1, max_size=4),
        st.dictionaries(NAMES, inner, min_size=1, max_size=4),
    ),
    max_leaves=15,
)


@given(TREES)
def test_any_tree_is_sound_or_refused(tree: Any) -> None:
    try:
        hierarchy = TaxonomyHierarchy.of(tree).build("x", [])
    except InputError:
        return
    assert_sound(hierarchy)
