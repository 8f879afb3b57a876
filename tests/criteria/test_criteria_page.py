"""The page that lists where each criterion works matches the program."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.model.criteria.registry import CRITERIA
from discreet.search.algorithms import ALGORITHMS
from discreet.verbs.models.model_registry import MODELS
from docs import criteria_page
from docs.criteria_page import ASKED, asked, cell, line, published, table_in


def cells() -> dict[str, list[str]]:
    """Return the cells of each criterion from both tables, side by side; columns follow ``criterion``."""
    found: dict[str, list[str]] = {}
    for text in criteria_page.PAGE.read_text(encoding="utf-8").splitlines():
        name, *parts = (part.strip(" `") for part in text.strip("|").split(" | "))
        if len(parts) > 1 and name != "---":
            found.setdefault(name, []).extend(parts)
    return found


def test_every_criterion_search_and_model_is_there() -> None:
    page = cells()
    own = [kind.name for kind in CRITERIA.all() if kind.__module__.startswith("discreet.")]
    assert [*page] == ["criterion", *own] == ["criterion", *ASKED]
    assert page["criterion"][3:] == [*ALGORITHMS, *(model.name for model in MODELS.all())]
    assert {len(line) for line in page.values()} == {len(page["criterion"])}


@pytest.mark.parametrize("name", ["epsilon_m", "k_map"])
def test_line_of_the_page_matches_the_program(name: str, tmp_path: Path) -> None:
    """A criterion's line of the page matches the program; the slow test writes the whole page."""
    (tmp_path / "subjects").mkdir()
    table, subjects = table_in(tmp_path), table_in(tmp_path / "subjects", of_subjects=True)
    (criterion,) = (one for one in asked() if one.name == name)
    assert line(table, subjects, criterion, tmp_path) == cells()[name]


@pytest.mark.slow
def test_page_matches_the_program() -> None:
    """The page equals the output of ``python docs/criteria_page.py``."""
    assert criteria_page.PAGE.read_text(encoding="utf-8") == criteria_page.page()


def test_unexplained_refusal_raises(tmp_path: Path) -> None:
    table, (criterion, *_) = table_in(tmp_path), asked()
    with pytest.raises(RuntimeError, match="no reason here explains"):
        cell(lambda limit: published(table, criterion, "nonsense", tmp_path, limit))
