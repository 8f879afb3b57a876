"""Charts: deterministic bytes, texts as texts, a title, no external resources."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ElementTree

import pytest

from discreet.errors import InputError
from papers.charts import (
    COLOURS,
    AxisScale,
    Panel,
    PanelMark,
    PartitionBox,
    Series,
    bar_panel,
    draw_chart,
    draw_lines,
    draw_scatter,
)

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


def test_equal_charts_are_equal_bytes() -> None:
    assert falling() == falling()


def test_a_log_axis_of_counts_has_a_place_for_zero() -> None:
    assert {"0", "1", "10", "100"} <= set(texts(falling()))


def test_panels_share_colours_by_name_and_one_legend() -> None:
    one = Panel((FALLING[0],), "height", "rows", title="left")
    both = Panel((FALLING[1], FALLING[0]), "height", "rows", title="right")
    svg = draw_chart("Two panels", [one, both])
    assert [text for text in texts(svg) if text in ("left", "right")] == ["left", "right"]
    assert texts(svg).count("average & least") == 1
    assert COLOURS[0].lower() in svg
    assert COLOURS[1].lower() in svg
    assert COLOURS[2].lower() not in svg


def test_bars_have_their_categories() -> None:
    panel = bar_panel(
        ["QI 3", "QI 4"],
        {"ours": [1, 20], "printed": [3, 4]},
        x_label="size",
        y_label="s",
        y_scale=AxisScale.LOG,
    )
    assert {"QI 3", "QI 4", "ours", "printed"} <= set(texts(draw_chart("Times", [panel])))


def test_a_printed_series_is_hatched() -> None:
    values = {"ours": [1, 20], "printed": [3, 4]}
    plain, hatched = (
        draw_chart("Times", [bar_panel(["a", "b"], values, x_label="", y_label="s", dashed=dashed)])
        for dashed in ((), ("printed",))
    )
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


def test_a_series_has_as_many_x_as_y() -> None:
    with pytest.raises(InputError, match="3 x and 2 y"):
        Series.of("odd", [1, 2, 3], [1, 2])


def test_a_chart_has_a_panel() -> None:
    with pytest.raises(InputError, match="has no panel"):
        draw_chart("Nothing", [])


def test_without_matplotlib_the_advice_is_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError) as raised:
        falling()
    assert "matplotlib" in raised.value.message
    assert "pip install matplotlib" in (raised.value.advice or "")
