"""The lattice diagram: each node with its note, lines to direct generalizations, named marked nodes."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from itertools import product

import pytest

from discreet.errors import InputError
from papers.charts import COLOURS
from papers.lattice_diagram import draw_lattice_diagram

SVG = "{http://www.w3.org/2000/svg}"
NOTES = {node: f"{10 - sum(node)} <rows" for node in product(range(3), range(2))}


def texts(root: ElementTree.Element) -> list[str]:
    return ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]


def test_every_node_has_its_levels_and_its_note() -> None:
    svg = draw_lattice_diagram("A & B", NOTES, description="Notes.")
    root = ElementTree.fromstring(svg)
    assert [child.text for child in root][:2] == ["A & B", "Notes."]
    found = texts(root)
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
    assert texts(root)[-2:] == ["■ asked", "■ answer"]


def test_a_lattice_has_a_node() -> None:
    with pytest.raises(InputError, match="has no node"):
        draw_lattice_diagram("L", {})
