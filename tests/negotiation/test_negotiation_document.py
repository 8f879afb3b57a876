"""Every figure of ``docs/negotiation.md``, computed from the table and spec on that page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from discreet.measures.loss import LossTables
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from discreet.negotiation.alternatives import find_neighbours, suppress_attributes
from discreet.negotiation.frontier import compute_frontier
from discreet.negotiation.negotiator import Negotiator
from discreet.spec.spec_reader import load_spec
from tests.oracle.brute_lattice import BruteLattice
from tests.oracle.plain_tables import frequency_set_of_rows, read_rows

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "negotiation.md"
HELD = {"age": 1, "work_class": 1, "education": 1}


def block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```$", DOCUMENT.read_text(encoding="utf-8"), re.M | re.S)
    assert found is not None
    return found.group(1)


def rows_below(heading: str) -> list[list[str]]:
    """Return the first table below a heading, without its header."""
    section = DOCUMENT.read_text(encoding="utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def text_of(node: LatticeNode) -> str:
    return "".join(str(level) for level in node)


@pytest.fixture(scope="module")
def philosophers(tmp_path_factory: pytest.TempPathFactory) -> FrequencySet:
    folder = tmp_path_factory.mktemp("document")
    (folder / "philosophers.csv").write_text(block("csv"), encoding="utf-8")
    (folder / "philosophers.toml").write_text(block("toml"), encoding="utf-8")
    spec = load_spec(folder / "philosophers.toml")
    people = read_rows(folder / "philosophers.csv")
    hierarchies = [
        a.hierarchy.build(a.name, sorted({person[a.name] for person in people}))
        for a in spec.quasi_identifiers
        if a.hierarchy is not None
    ]
    return frequency_set_of_rows(people, hierarchies, [a.name for a in spec.sensitive])


@pytest.fixture(scope="module")
def lattice(philosophers: FrequencySet) -> BruteLattice:
    return BruteLattice(philosophers)


def test_documented_lattice_has_sixty_nodes(lattice: BruteLattice) -> None:
    assert lattice.lattice.size == 60
    assert [h + 1 for h in lattice.lattice.heights] == [5, 4, 3]
    assert lattice.histogram((1, 1, 1)) == {(4, 3): 4, (3, 3): 6}


def test_documented_suppressed_rows_are_counted(lattice: BruteLattice) -> None:
    table = rows_below("The example")
    assert len(table) == 4
    for node, *suppressed in table:
        levels = tuple(int(level) for level in node)
        assert [lattice.suppressed(levels, Requirement(k=k)) for k in (3, 4)] == [int(s) for s in suppressed]


def test_documented_request_is_answered(lattice: BruteLattice) -> None:
    found = Negotiator(lattice).negotiate(Request.of(k=4, max_level=HELD)).as_json()
    assert {**found, "warnings": []} == json.loads(block("json"))


def test_documented_frontier_is_computed(lattice: BruteLattice, philosophers: FrequencySet) -> None:
    points = compute_frontier(lattice, Requirement(k=4), LossTables.of(philosophers))
    assert rows_below("The frontier") == [
        [text_of(p.node), f"{p.height}", f"{p.loss:.3f}", f"{p.suppressed}"] for p in points
    ]


def test_documented_neighbours_are_computed(lattice: BruteLattice, philosophers: FrequencySet) -> None:
    found = find_neighbours(lattice, (1, 1, 1), Requirement(k=4), LossTables.of(philosophers))
    assert rows_below("The neighbours") == [
        [n.attribute, f"{n.step:+d}", text_of(n.node), f"{n.suppressed}", f"{n.suppressed_change:+d}"]
        for n in found
    ]


def test_documented_attributes_at_their_top_are_computed(lattice: BruteLattice) -> None:
    found = suppress_attributes(lattice, Request.of(k=4, max_level=HELD))
    assert rows_below("Giving up an attribute") == [
        [
            p.attribute,
            "yes" if p.meets else "no",
            f"{p.suppressed}",
            text_of(p.node),
            f"{p.height}",
            f"{p.height_without}",
        ]
        for p in found
    ]
