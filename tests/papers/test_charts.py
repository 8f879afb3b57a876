"""Charts: deterministic bytes, texts as texts, a title, no external resources, one style per series."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ElementTree
from itertools import product

import pytest

from discreet.errors import InputError
from papers.charts import COLOURS, SERIES_STYLES, AxisScale, Series, bar_panel, draw_chart, draw_lines
from papers.lattice_diagram import draw_lattice_diagram

SVG = "{http://www.w3.org/2000/svg}"
FALLING = (
    Series.of("average & least", range(5), [554.0, 208.7, 56.5, 4.0, 0.0]),
    Series.of("printed <QI 3>", range(5), [554, 209, 56, 4, 0], dashed=True),
)


def texts(svg: str) -> list[str]:
    return [(text.text or "").strip() for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def falling() -> str:
    return draw_lines(
        "Suppressed rows & height", FALLING, x_label="height", y_label="rows", y_scale=AxisScale.COUNTS
    )


def test_chart_is_a_self_contained_svg_with_title_and_texts() -> None:
    svg = draw_lines("A < B & C", FALLING, x_label="height", y_label="rows", description="It falls \\1.")
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    assert [child.text for child in root][:2] == ["A < B & C", "It falls \\1."]
    assert [child.tag for child in root][:2] == [f"{SVG}title", f"{SVG}desc"]
    assert {"height", "rows", "average & least", "printed <QI 3>"} <= set(texts(svg))
    assert "A < B & C" not in texts(svg)  # the page around the picture shows it, once
    # References within the picture are fine; any other one would load a resource.
    assert re.findall(r"(?:href|src)=[\"'](?!#)|url\((?!#)|@import|@font-face|<script|<!DOCTYPE", svg) == []
    assert re.findall(r"<dc:date|Created with", svg) == []


def test_log_axis_of_counts_shows_zero() -> None:
    assert {"0", "1", "10", "100"} <= set(texts(falling()))
    assert falling() == falling()


def test_printed_series_is_hatched() -> None:
    values = {"ours": [1, 20], "printed": [3, 4]}
    plain, hatched = (
        draw_chart("Times", [bar_panel(["a", "b"], values, x_label="", y_label="s", dashed=dashed)])
        for dashed in ((), ("printed",))
    )
    assert {"a", "b", "ours", "printed"} <= set(texts(plain))
    assert "<pattern" not in plain
    assert "<pattern" in hatched


def test_whole_numbers_get_whole_ticks() -> None:
    series = [Series.of("a", range(19), [10.0 + 2 * i for i in range(19)])]
    svg = draw_lines("Ticks", series, x_label="x", y_label="y", y_scale=AxisScale.LOG)
    assert {"0", "5", "10", "15", "20"} <= set(texts(svg))
    assert "3" not in texts(svg)
    assert "2.5" not in texts(svg)


def test_series_of_unequal_length_and_chart_without_panel_are_refused() -> None:
    with pytest.raises(InputError, match="3 x and 2 y"):
        Series.of("odd", [1, 2, 3], [1, 2])
    with pytest.raises(InputError, match="has no panel"):
        draw_chart("Nothing", [])
    with pytest.raises(InputError, match="has no node"):
        draw_lattice_diagram("L", {})


def test_missing_matplotlib_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError) as raised:
        falling()
    assert "matplotlib" in raised.value.message
    assert "pip install matplotlib" in (raised.value.advice or "")


NOTES = {node: f"{10 - sum(node)} <rows" for node in product(range(3), range(2))}


def node_texts(root: ElementTree.Element) -> list[str]:
    return ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]


def test_every_node_has_its_levels_and_its_note() -> None:
    svg = draw_lattice_diagram("A & B", NOTES, description="Notes.")
    root = ElementTree.fromstring(svg)
    assert [child.text for child in root][:2] == ["A & B", "Notes."]
    found = node_texts(root)
    assert found[::2] == ["00", "01", "10", "11", "20", "21"]
    assert found[1::2] == ["10 <rows", "9 <rows", "9 <rows", "8 <rows", "8 <rows", "7 <rows"]
    assert svg == draw_lattice_diagram("A & B", NOTES, description="Notes.")


def test_marked_nodes_are_framed_and_named_and_those_within_are_shaded() -> None:
    root = ElementTree.fromstring(
        draw_lattice_diagram("L", NOTES, within=[(0, 0), (1, 0)], marked={"asked": (1, 0), "answer": (2, 1)})
    )
    boxes = list(root.iter(f"{SVG}rect"))[1:]
    assert [box.get("fill") != "#FFFFFF" for box in boxes] == [True, False, True, False, False, False]
    framed = {box.get("stroke") for box in boxes if box.get("stroke-width") == "2.5"}
    assert framed == {COLOURS[1], COLOURS[2]}
    assert node_texts(root)[-2:] == ["■ asked", "■ answer"]


def test_chart_uses_the_style_of_each_series() -> None:
    def drawn(*names: str) -> str:
        return draw_lines("T", [Series.of(n, [1, 2], [1, 2]) for n in names], x_label="x", y_label="y")

    colour = SERIES_STYLES["random"].colour.lower()
    assert colour in drawn("random")
    assert colour in drawn("min-sum", "random")
    assert colour not in drawn("min-sum")
