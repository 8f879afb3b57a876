"""Costs and optima of Adult, compared with those that ARX asserts in its own tests.

Its privacy models are judged here by plain arrays (``plain_models``), over all 4,320 nodes of eight
quasi-identifiers; the costs are discreet's. Score and node of a row are thus checked by two independent
paths. Open rows are listed with their reasons in ``rival_optima``. discreet's own path is checked as well:
criterion, evaluated lattice, search, and a research subset with the whole table as its population.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.frequency.rollup import attach_population
from discreet.lattice import size_counter
from discreet.lattice.evaluation import evaluate_lattice
from discreet.measures.cell_sums import cost_at
from discreet.measures.cost_kinds import ClassSizeCost, Cost
from discreet.measures.cost_registry import cost_over
from discreet.measures.node_statistics import NodeStatistics
from discreet.model.criteria.entropy_diversity import EntropyDiversity
from discreet.model.criteria.k_anonymity import KAnonymity
from discreet.model.criterion_inputs import SensitiveAttribute
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from discreet.model.search_result import cost_parts
from discreet.search import search_problem
from discreet.search.node_counts import StatisticsCounter
from discreet.search.optimal import optimal
from discreet.search.search_problem import SearchProblem
from discreet.settings import Settings
from tests.golden.adult_rows import NINE, SENSITIVE, Adult, Rows
from tests.golden.plain_models import Judge, Judged, grassberger, judged, judges_of, seen_at
from tests.golden.rival_optima import OF_RELEASE, OPEN, SLOW, Golden, criteria_of, golden_rows
from tests.oracle.plain_tables import frequency_set_of_rows

ANY = Requirement(k=1)
SETTINGS = Settings(memory_limit=2 * 10**9, threads=1, private_log=Path("unused"))


@dataclass(frozen=True)
class Case:
    """A golden row with its subset, its models, and its position among all judged rows."""

    golden: Golden
    rows: Rows
    judges: dict[str, Judge]
    place: int


@dataclass(frozen=True)
class Bench:
    """All rows that can be judged, judged at all nodes in one walk."""

    adult: Adult
    tables: dict[bytes, FrequencySet] = field(default_factory=dict)

    @cached_property
    def rows(self) -> list[Golden]:
        return golden_rows(self.adult.folder)

    @cached_property
    def cases(self) -> dict[str, Case]:
        subsets: dict[object, Rows] = {None: self.adult.everyone, "file": self.adult.research_subset}
        places: dict[tuple[int, str], int] = {}
        found = {}
        for row in self.rows:
            judges = None if row.name in OPEN else judges_of(row.models, self.adult)
            if judges is None:
                continue
            if row.drawn is not None and row.drawn not in subsets:
                subsets[row.drawn] = self.adult.drawn_subset(row.drawn)
            rows = subsets[row.drawn or ("file" if row.has_research_subset else None)]
            models = " & ".join(sorted(row.models.split(" & ")))
            found[row.name] = Case(row, rows, judges, places.setdefault((id(rows), models), len(places)))
        return found

    @cached_property
    def judged(self) -> Judged:
        by_place = {case.place: (case.rows, case.judges) for case in self.cases.values()}
        return judged(self.adult, [by_place[place] for place in range(len(by_place))])

    def cases_by_criteria(self) -> dict[tuple[str, int], list[Case]]:
        """Group the rows whose models are criteria of discreet by these and the subset."""
        found: dict[tuple[str, int], list[Case]] = {}
        for case in self.cases.values():
            criteria = criteria_of(case.golden)
            if criteria is not None:
                found.setdefault((str(criteria), id(case.rows)), []).append(case)
        return found

    def published(self, rows: Rows) -> FrequencySet:
        """Return the row types of a subset with the whole table as its population."""
        return attach_population(self.with_occupations(rows), self.table(self.adult.everyone), "Adult")

    def with_occupations(self, rows: Rows) -> FrequencySet:
        """Return the row types of a subset with the sensitive attribute and its hierarchy."""
        hierarchies, sensitive = self.adult.hierarchies, self.adult.hierarchy(SENSITIVE)
        kept = [row for row, held in zip(self.adult.rows, rows.tolist(), strict=True) if held]
        table = frequency_set_of_rows(kept, hierarchies, [SENSITIVE])
        values = sorted({row[SENSITIVE] for row in kept})
        of_value = Counter(row[SENSITIVE] for row in kept)
        counted = np.array([of_value[value] for value in values], dtype=np.int64)
        attribute = SensitiveAttribute.of(values, counted, sensitive)
        return replace(table, sensitive=(replace(table.sensitive[0], of=attribute),))

    def table(self, rows: Rows) -> FrequencySet:
        """Return the row types of a subset, counted once."""
        key = rows.tobytes()
        if key not in self.tables:
            self.tables[key] = self._counted(rows)
        return self.tables[key]

    def _counted(self, rows: Rows) -> FrequencySet:
        codes, counts = np.unique(self.adult.codes[rows], axis=0, return_counts=True)
        return FrequencySet(tuple(self.adult.hierarchies), codes, counts.astype(np.int64))

    def statistics(self, case: Case, node: LatticeNode) -> NodeStatistics:
        """Return the classes of a node, counted from the rows."""
        keys = np.zeros(len(self.adult.rows), dtype=np.int64)
        for i, (hierarchy, level) in enumerate(zip(self.adult.hierarchies, node, strict=True)):
            keys = keys * len(hierarchy.labels[level]) + hierarchy.ancestors[level][self.adult.codes[:, i]]
        _, first, classes = np.unique(keys, return_index=True, return_inverse=True)
        values = int(self.adult.occupations.max()) + 1
        counts = np.bincount(
            classes[case.rows] * values + self.adult.occupations[case.rows], minlength=len(first) * values
        ).reshape(-1, values)
        people = np.bincount(classes).astype(np.float64)
        reference = counts.sum(axis=0) / counts.sum()
        held = counts.any(axis=1)
        seen = seen_at(counts[held], people[held], reference)
        fails = np.zeros(len(seen.sizes), dtype=np.bool_)
        for judge in case.judges.values():
            fails |= judge(seen)
        codes = self.adult.codes[first[held]]
        sizes = seen.sizes.astype(np.int64)
        return NodeStatistics(node, tuple(self.adult.hierarchies), ANY, sizes, fails, lambda at: codes[at])


@pytest.fixture(scope="module")
def bench(data_dir: Path) -> Bench:
    return Bench(Adult(data_dir))


def cheapest(bench: Bench, case: Case, cost: Cost) -> float:
    """Return the least cost within the limit: over all nodes if class sizes suffice, else by bounds."""
    nodes, suppressed = bench.judged.nodes, bench.judged.suppressed[case.place]
    within = np.flatnonzero(suppressed <= case.golden.limit * case.rows.sum() + 1e-9)
    if isinstance(cost, ClassSizeCost) and not cost.of_all:
        sizes = (bench.judged.classes[case.place, within], bench.judged.squares[case.place, within])
        return float(cost.of_sizes(*sizes, suppressed[within]).min())
    if isinstance(cost, ClassSizeCost):
        return float(bench.judged.all_squares[case.place, within].min())
    bounds = cost.lower_bounds(nodes[within], suppressed[within])
    best: float | None = None
    for position in _ascending(bounds):
        if best is not None and cost_at(bounds, position) > best + 1e-9:
            break
        found = cost.of(bench.statistics(case, _node(nodes[within[position]])))
        best = found if best is None or found < best else best
    assert best is not None
    return best


def _ascending(bounds: NDArray[np.float64]) -> list[int]:
    columns = bounds if bounds.ndim == 2 else bounds[:, None]
    order: list[int] = np.lexsort(columns.T[::-1]).tolist()
    return order


def _node(levels: NDArray[np.int64]) -> LatticeNode:
    return tuple(levels.tolist())


def test_every_benchmark_row_is_judged_or_open_with_a_reason(bench: Bench) -> None:
    assert len(bench.rows) == 104
    assert {row.name for row in bench.rows} == set(bench.cases) | set(OPEN)


def test_costs_equal_the_rivals_scores(bench: Bench) -> None:
    for name, case in bench.cases.items():
        found = cost_of(bench, case).of(bench.statistics(case, case.golden.node))
        assert arx_cost(case, found) == pytest.approx(case.golden.score, rel=1e-9, abs=2e-10), name


@pytest.mark.slow
def test_cheapest_nodes_equal_the_rivals(bench: Bench) -> None:
    assert_cheapest(bench, sorted(set(bench.cases) - SLOW))


@pytest.mark.slow
def test_cheapest_nodes_equal_the_rivals_where_all_must_be_counted(bench: Bench) -> None:
    assert_cheapest(bench, sorted(SLOW))


def assert_cheapest(bench: Bench, names: list[str]) -> None:
    """Check that no node within the limit costs less than ARX's."""
    known: dict[object, float] = {}
    for name in names:
        case = bench.cases[name]
        row, cost = case.golden, cost_of(bench, case)
        request = (case.place, row.cost, tuple(row.weights.items()), row.limit)
        if request not in known:
            known[request] = cheapest(bench, case, cost)
        theirs = arx_cost(case, cost.of(bench.statistics(case, row.node)))
        assert arx_cost(case, known[request]) == pytest.approx(theirs, rel=1e-9, abs=2e-10), name


def cost_of(bench: Bench, case: Case) -> Cost:
    """Return the cost that a row minimizes, over its subset."""
    return cost_over(case.golden.cost, bench.table(case.rows), ANY, case.golden.weights)


def is_theirs(row: Golden, node: LatticeNode) -> bool:
    """Return True if a node is ARX's, or a lower one where all cost nothing."""
    return node == row.node or (sum(node) < sum(row.node) and not any(row.score))


def arx_cost(case: Case, cost: float) -> tuple[float, ...]:
    """Return a cost as ARX reports it: some of its scores are sums over the rows where ours are means."""
    return tuple(part * (int(case.rows.sum()) if case.golden.is_a_sum else 1) for part in cost_parts(cost))


@pytest.mark.slow
def test_search_by_the_programs_own_criteria_finds_the_rivals_optima(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole path of criterion, evaluated lattice and search finds them; ties follow the tie rule."""
    found = set()
    for _, cases in sorted(bench.cases_by_criteria().items()):
        criteria = criteria_of(cases[0].golden) or ()
        table = bench.published(cases[0].rows)
        lattice = evaluate_lattice(table, SETTINGS, diversity=False, criteria=criteria)
        monkeypatch.setattr(search_problem, "evaluate_lattice", lambda *_, found=lattice, **__: found)
        for case in cases:
            row = case.golden
            request = Request.of(criteria=criteria, max_suppressed=f"{row.limit:%}")
            task = SearchProblem.of(table, request, SETTINGS, cost=row.cost, weights=row.weights)
            (best,) = optimal(task).solutions
            assert best.cost is not None
            found.add(row.name)
            assert arx_cost(case, best.cost) == pytest.approx(row.score, rel=1e-9, abs=2e-10), row.name
            assert is_theirs(row, best.node), row.name
    assert found == set(bench.cases)


def test_search_by_stages_finds_the_rivals_optima_of_k_anonymity(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The compiled staged search, which skips most nodes, finds those of k-anonymity.

    It never evaluates the whole lattice.
    """
    monkeypatch.setattr(size_counter, "are_kernels_ready", lambda *_, **__: True)
    monkeypatch.setattr(search_problem, "evaluate_lattice", None)
    found = 0
    for name, case in bench.cases.items():
        row, criteria = case.golden, criteria_of(case.golden) or ()
        if not criteria or any(type(each) is not KAnonymity for each in criteria):
            continue
        request = Request.of(criteria=criteria, max_suppressed=f"{row.limit:%}")
        table = bench.table(case.rows)
        task = SearchProblem.of(table, request, SETTINGS, cost=row.cost, weights=row.weights)
        result = optimal(task)
        (best,) = result.solutions
        assert best.cost is not None
        assert arx_cost(case, best.cost) == pytest.approx(row.score, rel=1e-9, abs=2e-10), name
        assert is_theirs(row, best.node), name
        assert result.nodes_checked < task.lattice.size, name
        found += 1
    assert found == 8


def test_sum_stopped_early_fails_a_passing_class(bench: Bench) -> None:
    """ARX's Grassberger score is between the complete sum's and that with negative terms last.

    A sum that is stopped early fails classes that pass.
    """
    row = next(row for row in bench.rows if row.name == "EntropyLDiversity-3")
    least, most = (
        arx_cost(case, cost_of(bench, case).of(bench.statistics(case, row.node)))[0]
        for case in (
            Case(row, bench.adult.everyone, {"": grassberger(3.0, early=early)}, 0) for early in (False, True)
        )
    )
    assert (round(least, 2), round(most, 2)) == (178_621.14, 183_850.32)
    assert least < row.score[0] < most
    own = EntropyDiversity(3.0, SENSITIVE, estimator="grassberger")
    table = bench.with_occupations(bench.adult.everyone)
    statistics = StatisticsCounter(table, Requirement(criteria=[own]), 10**9).count(row.node)
    cost = cost_over(row.cost, table, Requirement(criteria=[own]))
    assert cost.of(statistics) * table.rows == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("name", OF_RELEASE)
def test_rival_suppresses_some_classes_of_the_last_size(bench: Bench, name: str) -> None:
    """Of the last class size, ARX suppresses only some classes.

    Its score is between those without the smaller classes and without all of the last size.
    """
    row = next(row for row in bench.rows if row.name == name)
    table = frequency_set_of_rows(bench.adult.rows, [bench.adult.hierarchy(each) for each in NINE])

    def at_its_node(requirement: Requirement) -> tuple[float, int]:
        found = StatisticsCounter(table, requirement, 10**9).count(row.node)
        cost = cost_over(row.cost, table, requirement).of(found)
        return cost * (table.rows if row.is_a_sum else 1), int(found.suppressed_sizes.max(initial=0))

    all_gone, last = at_its_node(Requirement(criteria=[OF_RELEASE[name]]))
    smaller_gone, _ = at_its_node(Requirement(last))
    assert smaller_gone < row.score[0] < all_gone
