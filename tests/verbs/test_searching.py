"""``Table.search``: results, refusals, and the fallback when memory is short."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pyarrow
import pytest

import discreet
from discreet.settings import Settings
from discreet.verbs.run_context import Advance
from discreet.verbs.table import Table

ROWS, LIMIT = 320_000, 15
SPEC = {
    "attributes": {
        "a": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [10, 100]}},
        "b": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [10]}},
    }
}


class Listener:
    """A reporter that collects the notices."""

    def __init__(self) -> None:
        self.notices: list[str] = []
        self.stages: list[str] = []

    @contextmanager
    def stage(self, title: str) -> Iterator[Advance]:
        self.stages.append(title)
        yield lambda _done, _total: None

    def notice(self, text: str) -> None:
        self.notices.append(text)


@pytest.fixture(scope="module")
def distinct_rows() -> pyarrow.Table:
    """Return as many row types as rows: every pair of 800 and 400 values once."""
    columns = {"a": [str(i // 400) for i in range(ROWS)], "b": [str(i % 400) for i in range(ROWS)]}
    return pyarrow.table(columns)


@pytest.fixture(scope="module")
def in_memory(distinct_rows: pyarrow.Table, tmp_path_factory: pytest.TempPathFactory) -> Table:
    """Return the same table with sufficient memory, counted once."""
    folder = tmp_path_factory.mktemp("in_memory")
    enough = Settings(memory_limit=2 * 10**9, threads=2, private_log=folder / "log.jsonl")
    return discreet.open(distinct_rows, SPEC, settings=enough)


def small(settings: Settings, megabytes: int) -> Settings:
    return replace(settings, memory_limit=megabytes * 10**6, threads=1)


@pytest.mark.parametrize("algorithm", ["bottom-up-rollup", "samarati"])
def test_table_above_the_memory_limit_is_searched_in_the_database(
    algorithm: str, distinct_rows: pyarrow.Table, in_memory: Table, settings: Settings
) -> None:
    listener = Listener()
    table = discreet.open(distinct_rows, SPEC, settings=small(settings, LIMIT), reporter=listener)
    with pytest.raises(discreet.LimitReached):
        table.lattice()
    found = table.search(algorithm, k=40)
    assert listener.notices == [
        "the row types exceed the memory limit; the search goes on in the database, on disk"
    ]
    expected = in_memory.search(algorithm, k=40)
    assert found.solutions == expected.solutions != ()
    assert (found.result.nodes_checked, found.result.scans) == (
        expected.result.nodes_checked,
        expected.result.scans,
    )


@pytest.mark.parametrize("algorithm", ["incognito", "incognito-cube"])
def test_frequency_sets_above_the_limit_are_searched_in_the_database(
    algorithm: str, in_memory: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    listener = Listener()
    assert in_memory.frequency_set.row_types == ROWS
    expected = in_memory.search(algorithm, k=40)
    monkeypatch.setattr(in_memory, "settings", small(in_memory.settings, LIMIT))
    monkeypatch.setattr(in_memory, "_reporter", listener)
    found = in_memory.search(algorithm, k=40)
    assert found.solutions == expected.solutions
    assert [notice.split(" exceed")[0] for notice in listener.notices] == ["the search's frequency sets"]


def test_search_with_a_cost_is_not_moved_to_the_database(
    distinct_rows: pyarrow.Table, settings: Settings
) -> None:
    table = discreet.open(distinct_rows, SPEC, settings=small(settings, LIMIT))
    with pytest.raises(discreet.LimitReached):
        table.search("incognito", k=40, cost="loss")


@pytest.fixture
def people(settings: Settings) -> Table:
    rows = {"a": ["1", "1", "2", "3", "25"], "b": ["1", "1", "3", "4", "4"]}
    return discreet.open(pyarrow.table(rows), SPEC, settings=settings)


def test_printed_outcome_names_the_levels_to_publish(people: Table) -> None:
    found = people.search("incognito", k=2, max_suppressed=1)
    text = str(found)
    assert text.startswith("incognito: ")
    assert "nodes checked" in text
    assert found.levels == people.search("samarati", k=2, max_suppressed=1).levels
    assert found.levels == people.lattice().negotiate(k=2, max_suppressed=1).exact.levels
    assert "levels: a b" in found.document()[1].text
    assert len(found.every_solution()[-1].rows) == len(found.solutions)


def test_costs_of_all_solutions(people: Table) -> None:
    found = people.search("exhaustive", k=2, max_suppressed=1, cost="height")
    assert [s.cost for s in found.solutions] == [float(sum(s.node)) for s in found.solutions]
    assert people.search("incognito", k=2, max_suppressed=1, cost="height").solutions == found.solutions
    loss = people.search("exhaustive", k=2, max_suppressed=1, cost="loss").solutions
    (best,) = people.search("optimal", k=2, max_suppressed=1, cost="loss").solutions
    assert best.cost == pytest.approx(min(s.cost for s in loss if s.cost is not None))
    own = people.search("exhaustive", k=2, cost=lambda statistics: float(statistics.height))
    assert [s.cost for s in own.solutions] == [float(sum(s.node)) for s in own.solutions]


def test_no_solution_is_reported(people: Table) -> None:
    found = people.search("bottom-up", k=6)
    assert found.solutions == ()
    assert found.levels is None
    assert "No solution: no node meets k=6 with at most 0 (0%) of the rows suppressed." in str(found)


def test_bounds_of_the_search(people: Table) -> None:
    found = people.search("incognito", k=2, min_level={"a": 1}, max_level={"a": 2, "b": 1})
    assert found.solutions
    assert all(1 <= s.node[0] <= 2 and s.node[1] <= 1 for s in found.solutions)
    with pytest.raises(discreet.InputError, match="least level"):
        people.search("incognito", k=2, min_level={"a": 2}, max_level={"a": 1})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": "dfs"}, "the search algorithm 'dfs'"),
        ({"algorithm": "incognito", "marking": "some"}, "the marking 'some'"),
        ({"algorithm": "optimal", "in_database": True}, "the algorithm 'optimal' does not apply"),
        ({"algorithm": "incognito", "in_database": True, "cost": "loss"}, "a cost does not apply"),
        ({"algorithm": "incognito", "cost": "beauty"}, "the cost 'beauty'"),
        ({"algorithm": "incognito", "cube_budget": 10}, "a cube budget was given to 'incognito'"),
        ({"algorithm": "incognito-cube", "cube_budget": -1}, "a cube budget of -1"),
        ({"algorithm": "samarati", "time_budget": 1.0}, "a time budget was given"),
        ({"algorithm": "anytime", "node_budget": 0}, "a node budget of 0"),
        ({"algorithm": "incognito", "l": 2}, "no attribute is sensitive"),
    ],
)
def test_invalid_search_options_are_refused(options: dict[str, object], message: str, people: Table) -> None:
    with pytest.raises(discreet.InputError, match=message):
        people.search(**{"k": 2, **options})  # type: ignore[arg-type]


def test_long_search_node_by_node_is_announced(in_memory: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    listener = Listener()
    monkeypatch.setattr(in_memory, "_reporter", listener)
    monkeypatch.setattr("discreet.verbs.table_search._SECONDS_OF_NODE", 1.0)
    in_memory.search("incognito", k=40)
    assert len(listener.notices) == 1
    assert listener.notices[0].startswith(
        "this search counts up to 12 nodes of 320,000 row types one by one: up to "
    )
    assert "--algorithm optimal" in listener.notices[0]
    in_memory.search("optimal", k=40)
    assert len(listener.notices) == 1
