"""Colours of the lattice: they differ in lightness, also with red-green colour blindness."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

import discreet.web

TOKENS = (Path(discreet.web.__file__).parent / "static" / "style" / "tokens.css").read_text(encoding="utf-8")
Colour = tuple[float, float, float]
# Deuteranopia on linear light (Machado, Oliveira and Fernandes 2009, severity 1.0).
_DEUTERANOPIA = (
    (0.367322, 0.860646, -0.227968),
    (0.280085, 0.672501, 0.047413),
    (-0.011820, 0.042940, 0.968881),
)


def token(name: str, theme: int) -> Colour:
    """Return a theme's colour on linear light."""
    found = re.search(rf"--{name}: light-dark\((#\w{{6}}), (#\w{{6}})\)", TOKENS)
    assert found, name
    red, green, blue = (int(found[theme + 1][at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (red, green, blue)
    ]
    return (linear[0], linear[1], linear[2])


def seen(colour: Colour) -> Colour:
    """Simulate a colour as seen with deuteranopia."""
    red, green, blue = (
        min(1.0, max(0.0, sum(part * light for part, light in zip(row, colour, strict=True))))
        for row in _DEUTERANOPIA
    )
    return (red, green, blue)


def contrast(one: Colour, other: Colour) -> float:
    """Return the contrast ratio of two colours as WCAG defines it."""
    light = [0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05 for red, green, blue in (one, other)]
    return max(light) / min(light)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_colours_of_the_lattice_differ_in_lightness(theme: int) -> None:
    """The steps go from the most detailed solution to total loss; the answer contrasts with all of them."""
    steps = ("frontier", "meets", "over-near", "over-far")
    for convert in (lambda colour: colour, seen):
        found = [convert(token(name, theme)) for name in steps]
        assert [contrast(*pair) > 1.8 for pair in pairwise(found)] == [True] * 3
        assert contrast(found[1], found[2]) > 2
        assert contrast(convert(token("answer", theme)), convert(token("paper", theme))) > 3
