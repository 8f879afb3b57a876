"""The lattice drawn for notebooks: every node with its count, no script, no data of rows."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from itertools import product

import numpy as np
import pandas
import pytest

import discreet
from discreet.model.lattice import Lattice
from discreet.printing.lattice_picture import draw_lattice_html

HOSTILE = "<script>alert(1)</script>"


def svg_of(html: str) -> ElementTree.Element:
    found = re.search(r"<svg.*</svg>", html, re.DOTALL)
    assert found is not None
    return ElementTree.fromstring(found.group())


def titles(html: str) -> list[str]:
    return [node.find("title").text or "" for node in svg_of(html).iter("circle")]  # type: ignore[union-attr]


def test_every_node_is_a_dot_titled_with_levels_and_rows() -> None:
    lattice = Lattice(("age", "city"), (2, 1))
    suppressed = np.array([100, 50, 5, 4, 1, 0])
    titles_of_nodes = titles(draw_lattice_html(lattice, suppressed, 100))
    nodes = list(product(range(3), range(2)))
    expected = {
        f"age {a}, city {c}: {n} rows suppressed" for (a, c), n in zip(nodes, suppressed, strict=True)
    }
    assert {title.rpartition(" (")[0] for title in titles_of_nodes} == expected
    drawn = svg_of(draw_lattice_html(lattice, suppressed, 100))
    heights = {int(c.attrib["cy"]) for c in drawn.iter("circle")}
    assert len(heights) == 4
    assert len(list(drawn.iter("line"))) == 7  # the edges of a 3 by 2 grid


@pytest.mark.parametrize(("suppressed", "bucket"), [(0, 0), (1, 1), (2, 2), (5, 2), (10, 3), (11, 4)])
def test_lattice_picture_dims_nodes_above_the_limit(suppressed: int, bucket: int) -> None:
    html = draw_lattice_html(Lattice(("age",), (0,)), np.array([suppressed]), 100)
    assert f'class="b{bucket}"' in html
    dimming = re.findall(r"-(\d):checked~svg \.b(\d)", html)
    assert {int(limit) for limit, above in dimming if int(above) == bucket} == set(range(min(bucket, 4)))


def test_large_lattice_reports_omitted_nodes() -> None:
    lattice = Lattice(("a", "b", "c", "d"), (9, 9, 9, 9))
    html = draw_lattice_html(lattice, np.zeros(10_000, dtype=np.int64), 10)
    drawn = len(titles(html))
    assert drawn < 37 * 60
    assert f"{10_000 - drawn:,} omitted" in html
    assert len(html) < 600_000
    assert draw_lattice_html(Lattice(("a",), (200_000,)), np.zeros(200_001, dtype=np.int64), 10) == ""


def test_picture_escapes_labels_and_contains_no_row() -> None:
    people = pandas.DataFrame({HOSTILE: ["secret-a", "secret-b"] * 4, "city": ["Köln", "Bonn"] * 4})
    roles = {name: {"role": "quasi-identifier"} for name in people}
    shown = discreet.open(people, {"attributes": roles}).lattice().suppression(k=2)._repr_html_()
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown
    assert "secret" not in shown
    assert re.findall(r"\son[a-z]+=|https?:|url\(|@import", shown) == []
