"""Every figure of the philosophers in ``docs/search.md`` and its subpages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import discreet
from discreet.model.requirement import Requirement
from discreet.search.algorithms import ALGORITHMS
from discreet.verbs.table import Table

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "search.md").read_text(encoding="utf-8")
AGE_KEPT = {"age": 2}


@pytest.fixture(scope="module")
def philosophers(tmp_path_factory: pytest.TempPathFactory) -> Table:
    folder = tmp_path_factory.mktemp("document")
    text = (DOCS / "negotiation.md").read_text(encoding="utf-8")
    for language in ("csv", "toml"):
        found = re.search(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)
        assert found is not None
        (folder / f"philosophers.{language}").write_text(found.group(1), encoding="utf-8")
    return discreet.open(folder / "philosophers.toml")


def rows_below(heading: str) -> list[list[str]]:
    section = PAGE.split(heading)[1]
    lines = section[section.index("|") :].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_page_lists_every_algorithm_and_each_has_a_page() -> None:
    named = [row[0] for row in rows_below("A *solution*")]
    assert named == [f"[`{name}`](search/{name}.md)" for name in ALGORITHMS]
    for name in ALGORITHMS:
        page = (DOCS / "search" / f"{name}.md").read_text(encoding="utf-8")
        assert page.startswith(f"# {name}\n")
        assert {"## Idea", "## Cost", "## When to use"} <= set(page.splitlines()) or name in (
            "optimal",
            "anytime",
        )


def test_plane_of_the_example_equals_the_lattice(philosophers: Table) -> None:
    evaluated = philosophers.lattice().evaluated
    drawn = re.findall(r"^ +(\d) \|(.*)$", PAGE, re.M)
    for education, cells in drawn:
        expected = [evaluated.suppressed((2, work, int(education)), Requirement(4)) for work in range(4)]
        assert [int(number) for number in re.findall(r"\d+", cells)] == expected
        assert cells.count("●") == expected.count(0)
    assert len(drawn) == 3


def test_counts_of_the_example_equal_the_search(philosophers: Table) -> None:
    counts = rows_below("221 is the minimal solution")
    assert [row[0] for row in counts] == [f"`{name}`" for name in ALGORITHMS[:7]]
    for name, *documented in counts:
        found = philosophers.search(name.strip("`"), k=4, min_level=AGE_KEPT, max_level=AGE_KEPT)
        result = found.result
        assert [result.nodes_checked, result.nodes_marked, result.scans] == list(map(int, documented)), name
        nodes = ["".join(map(str, s.node)) for s in found.solutions]
        assert nodes == (["221"] if name == "`samarati`" else ["221", "222", "231", "232"])
        assert [s.minimal for s in found.solutions] == [True, False, False, False][: len(nodes)]
