"""The verb hierarchies: every built-in hierarchy, in a terminal, as JSON and from Python."""

from __future__ import annotations

import json

import discreet
from discreet.hierarchy.builtin.builder import BUILTINS
from tests.cli.conftest import Run


def test_every_hierarchy_is_listed(run: Run) -> None:
    found = run("list", "hierarchies")
    assert found.status == 0
    words = found.out.split()
    assert [name for name in BUILTINS if name not in words] == []
    assert "World Health Organization" in " ".join(words)
    assert 'hierarchy = {kind = "builtin", name = "icd10"}' in found.out


def test_hierarchies_in_json_equal_those_of_python(run: Run) -> None:
    document = json.loads(run("list", "hierarchies", "--json").out)
    assert document == discreet.hierarchies().as_json()
    assert [each["name"] for each in document["hierarchies"]] == list(BUILTINS)
    country = next(each for each in document["hierarchies"] if each["name"] == "country")
    assert country["levels"] == ["sub-region", "region"]
    assert country["example"] == ["Germany", "Western Europe", "Europe"]
    assert "2023" in country["source"]
