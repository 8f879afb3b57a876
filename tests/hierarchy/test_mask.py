"""Masks: levels nest for values of any lengths, from either end."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.hierarchy.character_mask import MaskHierarchy
from tests.hierarchy.soundness import assert_sound, paths


def test_from_the_right_character_by_character() -> None:
    hierarchy = MaskHierarchy().build("zip", ["02174", "02138", "17042"])
    assert paths(hierarchy) == [
        "02138;0213*;021**;02***;0****;*",
        "02174;0217*;021**;02***;0****;*",
        "17042;1704*;170**;17***;1****;*",
    ]
    assert (hierarchy.origin, hierarchy.from_data) == ("mask from the right", False)


def test_from_the_left() -> None:
    hierarchy = MaskHierarchy("left", character="#").build("x", ["abc", "xbc", "abd"])
    assert paths(hierarchy) == ["abc;#bc;##c;*", "xbc;#bc;##c;*", "abd;#bd;##d;*"]


def test_unequal_lengths_stay_apart() -> None:
    hierarchy = MaskHierarchy().build("zip", ["217", "219", "02174"])
    assert paths(hierarchy) == [
        "217;21*;2**;*;*;*",
        "219;21*;2**;*;*;*",
        "02174;0217*;021**;02***;0****;*",
    ]


def test_padding_counts_positions_from_the_other_end() -> None:
    source = MaskHierarchy(pad=True)
    hierarchy = source.build("icd", ["E11", "E11.9", "E1"])
    assert paths(hierarchy) == [
        "E1;E1***;E1***;E1***;E****;*",
        "E11;E11**;E11**;E1***;E****;*",
        "E11.9;E11.*;E11**;E1***;E****;*",
    ]
    assert source.from_data
    fixed = MaskHierarchy(pad=True, length=6, side="left").build("n", ["7", "1234"])
    assert paths(fixed) == [
        "7;*****7;*****7;*****7;*****7;*****7;*",
        "1234;**1234;**1234;***234;****34;*****4;*",
    ]
    assert not fixed.from_data


def test_steps() -> None:
    assert paths(MaskHierarchy(steps=2).build("x", ["12345"])) == ["12345;123**;1****;*"]
    assert paths(MaskHierarchy(steps=(1, 3)).build("x", ["12345"])) == ["12345;1234*;1****;*"]
    assert paths(MaskHierarchy(steps=(1, 4, 2)).build("x", ["12345"])) == ["12345;1234*;*"]
    assert paths(MaskHierarchy(steps=9).build("x", ["12345"])) == ["12345;*"]


def test_one_character_and_no_value() -> None:
    assert paths(MaskHierarchy().build("x", ["a", "b"])) == ["a;*", "b;*"]
    assert MaskHierarchy().build("x", []).height == 1


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"side": "top"}, "mask from 'top'"),
        ({"character": ""}, "mask character ''"),
        ({"character": "**"}, "mask character '**'"),
        ({"steps": 0}, "mask step 0"),
        ({"steps": ()}, "mask step none"),
        ({"steps": (1, -1)}, "mask step -1"),
        ({"length": 0, "pad": True}, "mask length 0"),
        ({"length": 5}, "length but without pad"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], part: str) -> None:
    with pytest.raises(InputError) as caught:
        MaskHierarchy(**options)  # type: ignore[arg-type]
    assert part in str(caught.value)


def test_values_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match=r"attribute 'x': '1234567' of the data has 7 characters.*at most 5"):
        MaskHierarchy(pad=True, length=5).build("x", ["1", "1234567"])
    with pytest.raises(InputError, match=r"a mask of 100 levels.*at most 64.*steps"):
        MaskHierarchy().build("x", ["y" * 100])
    assert MaskHierarchy(steps=2).build("x", ["y" * 100]).height == 50
    with pytest.raises(InputError, match="empty text"):
        MaskHierarchy().build("x", ["y", ""])


STEPS = [None, 2, (1, 2), (2, 1, 3)]


@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("side", ["right", "left"])
def test_all_short_values_nest_at_once(side: str, pad: bool) -> None:
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
