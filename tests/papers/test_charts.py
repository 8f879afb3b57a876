"""Charts: deterministic bytes, texts as texts, a title, no external resources, one style per series."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ElementTree
from itertools import product

import pytest

from discreet.errors import InputError
from papers.charts import (
    COLOURS,
    SERIES_GROUPS,
    SERIES_STYLES,
    AxisScale,
    Panel,
    PanelMark,
    PartitionBox,
    Series,
    bar_panel,
    draw_chart,
    draw_lines,
    draw_scatter,
    series_styles,
)
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


def test_a_chart_is_an_svg_with_title_and_texts_that_loads_nothing() -> None:
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


def test_a_log_axis_of_counts_has_a_place_for_zero() -> None:
    assert {"0", "1", "10", "100"} <= set(texts(falling()))
    assert falling() == falling()


def test_panels_share_colours_by_name_and_one_legend() -> None:
    one = Panel((FALLING[0],), "height", "rows", title="left")
    both = Panel((FALLING[1], FALLING[0]), "height", "rows", title="right")
    svg = draw_chart("Two panels", [one, both])
    assert [text for text in texts(svg) if text in ("left", "right")] == ["left", "right"]
    assert texts(svg).count("average & least") == 1
    assert COLOURS[0].lower() in svg
    assert COLOURS[1].lower() in svg
    assert COLOURS[2].lower() not in svg


def test_a_printed_series_is_hatched() -> None:
    values = {"ours": [1, 20], "printed": [3, 4]}
    plain, hatched = (
        draw_chart("Times", [bar_panel(["a", "b"], values, x_label="", y_label="s", dashed=dashed)])
        for dashed in ((), ("printed",))
    )
    assert {"a", "b", "ours", "printed"} <= set(texts(plain))
    assert "<pattern" not in plain
    assert "<pattern" in hatched


def test_whole_numbers_get_whole_ticks_and_a_short_log_axis_more_than_one() -> None:
    series = [Series.of("a", range(19), [10.0 + 2 * i for i in range(19)])]
    svg = draw_lines("Ticks", series, x_label="x", y_label="y", y_scale=AxisScale.LOG)
    assert {"0", "5", "10", "15", "20"} <= set(texts(svg))
    assert "3" not in texts(svg)
    assert "2.5" not in texts(svg)


def test_points_and_boxes() -> None:
    points = Series.of("a row", [1, 2, 3], [3, 1, 2])
    plain = draw_scatter("Points", [points], x_label="x", y_label="y")
    boxed = draw_chart(
        "Partition",
        [Panel((points,), "x", "y", mark=PanelMark.BOXES, boxes=(PartitionBox(0.5, 0.5, 3.5, 1.5),))],
    )
    assert "opacity: 0.12" in boxed
    inked = re.compile(r'fill: #222222; stroke: #222222"')
    assert inked.search(boxed)  # small and dark, or a thousand points hide the boxes
    assert not inked.search(plain)
    assert "opacity" not in plain
    assert texts(plain).count("a row") == 0  # one series needs no legend


def test_series_of_unequal_length_and_chart_without_panel_are_refused() -> None:
    with pytest.raises(InputError, match="3 x and 2 y"):
        Series.of("odd", [1, 2, 3], [1, 2])
    with pytest.raises(InputError, match="has no panel"):
        draw_chart("Nothing", [])
    with pytest.raises(InputError, match="has no node"):
        draw_lattice_diagram("L", {})


def test_without_matplotlib_the_advice_is_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_lines_lead_up_to_direct_generalizations() -> None:
    lines = list(ElementTree.fromstring(draw_lattice_diagram("L", NOTES)).iter(f"{SVG}line"))
    assert len(lines) == 7  # 2 * 2 along the first attribute, 3 * 1 along the second
    assert all(float(line.get("y1", 0)) > float(line.get("y2", 0)) for line in lines)


def test_marked_nodes_are_framed_and_named_and_those_within_are_shaded() -> None:
    root = ElementTree.fromstring(
        draw_lattice_diagram("L", NOTES, within=[(0, 0), (1, 0)], marked={"asked": (1, 0), "answer": (2, 1)})
    )
    boxes = list(root.iter(f"{SVG}rect"))[1:]
    assert [box.get("fill") != "#FFFFFF" for box in boxes] == [True, False, True, False, False, False]
    framed = {box.get("stroke") for box in boxes if box.get("stroke-width") == "2.5"}
    assert framed == {COLOURS[1], COLOURS[2]}
    assert node_texts(root)[-2:] == ["■ asked", "■ answer"]


def test_a_name_stands_in_one_group_and_a_group_has_room() -> None:
    names = [name for group in SERIES_GROUPS for name in group]
    assert len(names) == len(set(names)) == len(SERIES_STYLES)
    for group in SERIES_GROUPS:
        assert len({SERIES_STYLES[name] for name in group}) == len(group) <= len(COLOURS)


def test_a_series_looks_the_same_whatever_stands_beside_it() -> None:
    alone = series_styles(["incognito"])["incognito"]
    beside = series_styles(["samarati", "incognito", "exhaustive"])
    assert beside["incognito"] == alone
    assert len(set(beside.values())) == 3


@pytest.mark.parametrize("name", ["incognito, printed", "incognito, QID 5", "incognito, QID 12"])
def test_the_same_thing_printed_or_of_one_size_looks_the_same(name: str) -> None:
    assert series_styles([name])[name] == SERIES_STYLES["incognito"]


def test_names_of_no_group_take_what_is_free() -> None:
    found = series_styles(["mine", "samarati", "yours, printed"])
    assert found["samarati"] == SERIES_STYLES["samarati"]
    assert len(set(found.values())) == 3
    assert series_styles(["a", "b"])["a"].colour == COLOURS[0]
    many = [f"series {place}" for place in range(11)]
    assert len(set(series_styles(many).values())) == len(COLOURS)


def test_a_chart_draws_the_look() -> None:
    def drawn(*names: str) -> str:
        return draw_lines("T", [Series.of(n, [1, 2], [1, 2]) for n in names], x_label="x", y_label="y")

    colour = SERIES_STYLES["random"].colour.lower()
    assert colour in drawn("random")
    assert colour in drawn("min-sum", "random")
    assert colour not in drawn("min-sum")
