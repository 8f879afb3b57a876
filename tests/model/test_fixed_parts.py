"""Additional fields of a criterion are options: declared, or derived from the type of their default."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.model.criteria.base import Criterion, Need, Parameter, changed_parameters, fixed_parameters
from discreet.model.criteria.registry import register
from discreet.model.criterion_inputs import ClassValues
from discreet.model.option import OptionKind, option


class Size(StrEnum):
    """The size of a cup."""

    BIG = "big"
    SMALL = "small"


@dataclass(frozen=True)
class Tea(Criterion):
    """A criterion that requires nothing."""

    kind: str = option("green", choices=("green", "black"), help="which leaves")
    spoons: int = option(2, kind=OptionKind.WHOLE, least=1, most=9, help="how many")
    warm_water: float = 0.5
    size: Size = Size.BIG
    milk: bool = False
    word: str = "please"

    name: ClassVar[str] = "green_tea"
    title: ClassVar[str] = "tea"
    citation: ClassVar[str] = "of this test"
    parameter: ClassVar[Parameter] = Parameter("cups")
    need: ClassVar[Need] = Need.SIZE

    def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
        """Return a score of 0 for every class."""
        del values
        return np.zeros_like(sizes)


def test_each_fixed_part_is_an_option_with_a_flag_after_the_criterion_s() -> None:
    parts = fixed_parameters(Tea)
    assert [(part.name, part.kind, part.default, part.flag) for part in parts] == [
        ("kind", OptionKind.CHOICE, "green", "--green-tea-kind"),
        ("spoons", OptionKind.WHOLE, 2, "--green-tea-spoons"),
        ("warm_water", OptionKind.DECIMAL, 0.5, "--green-tea-warm-water"),
        ("size", OptionKind.CHOICE, "big", "--green-tea-size"),
        ("milk", OptionKind.FLAG, False, "--green-tea-milk"),
        ("word", OptionKind.TEXT, "please", "--green-tea-word"),
    ]
    assert parts[3].choices == ("big", "small")
    assert parts[2].help == "warm water"


def test_parts_are_judged_and_kept_in_their_own_types() -> None:
    assert Tea(1, size=Size.SMALL).score == Tea(2, size="small").score  # type: ignore[arg-type]
    assert Tea(1, warm_water=1).score == Tea(1, warm_water=np.float32(1)).score  # type: ignore[arg-type]
    assert Tea(1, spoons=np.int64(3)).score == Tea(1, spoons=3).score != Tea(1).score  # type: ignore[arg-type]
    assert isinstance(Tea(1, spoons=np.int64(3)).spoons, int)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("parts", "allowed"),
    [
        ({"kind": "red"}, "green, black"),
        ({"kind": 1}, "green, black"),
        ({"spoons": 0}, "a whole number from 1 to 9"),
        ({"spoons": 2.5}, "a whole number"),
        ({"spoons": 2.0}, "a whole number"),
        ({"spoons": True}, "a whole number"),
        ({"spoons": "2"}, "a whole number"),
        ({"spoons": None}, "a whole number"),
        ({"warm_water": "0.5"}, "a number"),
        ({"warm_water": float("nan")}, "a number"),
        ({"warm_water": float("inf")}, "a number"),
        ({"size": "huge"}, "big, small"),
        ({"milk": 1}, "true, false"),
        ({"word": 1}, "a text"),
    ],
)
def test_invalid_parts_are_refused(parts: dict[str, Any], allowed: str) -> None:
    with pytest.raises(InputError, match=f"{next(iter(parts)).replace('_', '-')} '") as error:
        Tea(1, "cup", **parts)
    assert allowed in (error.value.allowed or "")
    assert "green_tea of cup" in error.value.message


def test_label_contains_parts_that_are_not_defaults() -> None:
    assert Tea(1).label == "green_tea"
    assert str(Tea(1, "cup")) == "green_tea(cup)=1"
    assert Tea(1, "cup", spoons=3, milk=True).label == "green_tea(cup, spoons=3, milk=True)"
    assert str(Tea(3, warm_water=0.25)) == "green_tea(warm_water=0.25)=3"


def test_documents_have_every_part_where_one_is_not_the_default() -> None:
    assert changed_parameters(Tea(1)) == {}
    document = {
        "kind": "green",
        "spoons": 3,
        "warm_water": 0.5,
        "size": "big",
        "milk": False,
        "word": "please",
    }
    assert changed_parameters(Tea(1, spoons=3)) == document


@pytest.mark.parametrize(
    ("kind", "default"),
    [(tuple[str, ...], ()), (str | None, None), (object, option(None, kind=OptionKind.PYTHON))],
)
def test_field_without_a_text_form_is_not_registered(kind: object, default: Any) -> None:
    @dataclass(frozen=True)
    class Other(Tea):
        """A second criterion, with one more field."""

        __annotations__ = {"further": kind}
        further: Any = field(default=default) if isinstance(default, tuple) else default

        name: ClassVar[str] = "other_tea"

    with pytest.raises(InputError, match="the field 'further' of the criterion 'other_tea'"):
        register(Other)
