"""Results of a search are published for their request; unpublishable results are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.errors import DiscreetError, InputError, NoSolution
from discreet.model.search_result import Solution
from discreet.settings import Settings
from discreet.verbs.table import Table
from tests.cli.conftest import CITIES, PEOPLE, SPEC


@pytest.fixture
def table(tmp_path: Path, settings: Settings) -> Table:
    for name, text in (("people.csv", PEOPLE), ("city.csv", CITIES), ("discreet.toml", SPEC)):
        (tmp_path / name).write_text(text, "utf-8")
    return discreet.open(tmp_path / "discreet.toml", settings=settings)


@pytest.mark.parametrize("algorithm", ["optimal", "exhaustive", "incognito"])
def test_best_solution_is_published_for_the_request_of_the_search(
    table: Table, algorithm: str, tmp_path: Path
) -> None:
    found = table.search(algorithm, k=2, l=2, max_suppressed=2)
    release = table.publish(found, tmp_path / "r.csv")
    assert release.release.levels == found.levels
    assert release.answer is not None
    assert (release.answer.k, release.answer.answer.requirement.l) == (2, 2)
    assert discreet.audit(tmp_path / "r.csv").passed


def test_each_solution_is_published_for_the_given_request(table: Table, tmp_path: Path) -> None:
    found = table.search("exhaustive", k=2, max_suppressed=2)
    assert len(found.solutions) > 1
    for number, solution in enumerate(found.solutions):
        release = table.publish(solution, tmp_path / f"{number}.csv", k=2, max_suppressed=2)
        assert tuple(release.release.levels.values()) == solution.node
        assert release.release.suppressed == solution.suppressed


def test_solution_without_a_request_is_refused(table: Table, tmp_path: Path) -> None:
    (solution, *_) = table.search("optimal", k=2, max_suppressed=2).solutions
    with pytest.raises(InputError, match=r"such as k=10"):
        table.publish(solution, tmp_path / "r.csv")
    assert not (tmp_path / "r.csv").exists()


def test_solution_of_another_table_is_refused(table: Table) -> None:
    with pytest.raises(InputError, match=r"3 levels.*2 quasi-identifiers"):
        table.publish(Solution((0, 0, 0), 0, minimal=True), k=2)
    with pytest.raises(DiscreetError, match="9"):
        table.publish(Solution((9, 0), 0, minimal=True), k=2)


def test_request_with_a_search_result_is_refused(table: Table) -> None:
    found = table.search("optimal", k=2, max_suppressed=2)
    with pytest.raises(InputError, match="'k' applies to levels and models"):
        table.publish(found, k=3)


def test_publication_of_a_search_without_solution_is_refused(table: Table) -> None:
    with pytest.raises(NoSolution, match="found no node that meets k=8"):
        table.publish(table.search("optimal", k=8, l=4))


@pytest.mark.parametrize("kind", ["negotiation", "inspection", "table", "path", "number", "list", "function"])
def test_unpublishable_values_raise_input_error(table: Table, kind: str, tmp_path: Path) -> None:
    things: dict[str, Any] = {
        "negotiation": table.negotiate(k=2, max_suppressed=2),
        "inspection": table.inspect(),
        "table": table,
        "path": tmp_path / "people.csv",
        "number": 3,
        "list": [1, 2],
        "function": len,
    }
    with pytest.raises(InputError, match=r"expected an answer to publish, not a.*a search"):
        table.publish(things[kind], tmp_path / "r.csv", k=2)
