"""Searches over the first n quasi-identifiers of a table; each runs once and its result is cached."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from discreet.model.frequency_set import FrequencySet
from discreet.model.request import Request
from discreet.model.search_result import SearchResult
from discreet.search.algorithms import load_algorithm
from discreet.search.search_problem import SearchProblem
from papers.charts import AxisScale, Panel, Series
from papers.comparison import Comparison, Verdict, read_figures
from papers.reproduction import Context
from papers.section import Cell, ComparedTable

INCOGNITO_FIGURES: Mapping[str, Any] = read_figures("incognito")
INCOGNITO_QUASI_IDENTIFIERS: tuple[str, ...] = tuple(INCOGNITO_FIGURES["quasi_identifiers"])
INCOGNITO_KS: tuple[int, ...] = tuple(INCOGNITO_FIGURES["charts"]["ks"])
SIZES_KS: tuple[int, ...] = tuple(INCOGNITO_FIGURES["charts"]["sizes_k"])

SEARCHES = (
    "samarati",
    "bottom-up",
    "bottom-up-rollup",
    "incognito",
    "incognito-superroots",
    "incognito-cube",
)
REFERENCE = "exhaustive"
_SHORT, _REPETITIONS = 0.5, 3
_TITLES = {"bottom-up-rollup": "rollup", "incognito-superroots": "superroots", "incognito-cube": "cube"}


@dataclass
class SearchStudy:
    """Searches of one table by number of quasi-identifiers.

    ``count`` returns the frequency set of the first n. A search of less than half a second runs three times
    (once in a quick run); the median of its seconds is reported.
    """

    context: Context
    name: str
    count: Callable[[int], FrequencySet]
    _counted: dict[int, FrequencySet] = field(default_factory=dict)
    _found: dict[tuple[str, int, int], SearchResult] = field(default_factory=dict)
    _seconds: dict[tuple[str, int, int], tuple[float, float]] = field(default_factory=dict)

    def frequency_set(self, size: int) -> FrequencySet:
        """Return the frequency set of the first ``size`` quasi-identifiers."""
        if size not in self._counted:
            self._counted[size] = self.count(size)
        return self._counted[size]

    def search(self, algorithm: str, size: int, k: int) -> SearchResult:
        """Run one search without suppression, or return its cached result."""
        key = (algorithm, size, k)
        if key not in self._found:
            task = SearchProblem.of(self.frequency_set(size), Request.of(k=k), self.context.settings)
            with self.context.reporter.stage(f"{self.name}: {algorithm}, QID {size}, k = {k}"):
                results = [load_algorithm(algorithm)(task)]
                repetitions = 1 if self.context.quick else _REPETITIONS
                while results[0].seconds < _SHORT and len(results) < repetitions:
                    results.append(load_algorithm(algorithm)(task))
            self._found[key] = results[0]
            self._seconds[key] = (
                median(r.seconds for r in results),
                median(r.build_seconds or 0.0 for r in results),
            )
        return self._found[key]

    def seconds(self, algorithm: str, size: int, k: int) -> float:
        """Return the seconds of one search, including the building of a cube."""
        self.search(algorithm, size, k)
        return self._seconds[algorithm, size, k][0]

    def build_seconds(self, algorithm: str, size: int, k: int) -> float:
        """Return the seconds of a search that built the cube."""
        self.search(algorithm, size, k)
        return self._seconds[algorithm, size, k][1]

    def agree(self, size: int, k: int, algorithms: Sequence[str] = SEARCHES) -> bool:
        """Return whether all algorithms find the solutions of the evaluated lattice.

        Samarati's single solution must be one of them, at the least height.
        """
        true = self.search(REFERENCE, size, k).solutions
        nodes = {s.node: (s.suppressed, s.minimal) for s in true}
        lowest = min((sum(node) for node in nodes), default=None)
        for algorithm in algorithms:
            found = self.search(algorithm, size, k).solutions
            if algorithm == "samarati":
                if [sum(s.node) for s in found] != ([] if lowest is None else [lowest]):
                    return False
                if any(s.node not in nodes for s in found):
                    return False
            elif {s.node: (s.suppressed, s.minimal) for s in found} != nodes:
                return False
        return True


def agreement_cell(cell: str, agree: bool) -> Comparison:
    """Build a cell on the agreement of the searches; a disagreement is a difference without a reason."""
    return Comparison(cell, "yes" if agree else "no", verdict=Verdict.NONE if agree else Verdict.DIFFERENT)


def times_table(
    study: SearchStudy,
    name: str,
    title: str,
    sizes: Sequence[int],
    k: int,
    searches: Sequence[str] = SEARCHES,
) -> ComparedTable:
    """Build the table of seconds: searches in columns, numbers of quasi-identifiers in rows."""
    rows: list[tuple[Cell, ...]] = []
    for size in sizes:
        cells = (
            Comparison(f"k = {k}, QID {size}, {search}", study.seconds(search, size, k))
            for search in searches
        )
        rows.append((str(size), *cells))
    return ComparedTable(name, title, ("QID", *search_titles(searches)), tuple(rows))


def search_titles(searches: Sequence[str]) -> tuple[str, ...]:
    """Return the names of searches, shortened for the columns of a table."""
    return tuple(_TITLES.get(search, search) for search in searches)


def times_panel(
    study: SearchStudy, sizes: Sequence[int], k: int, searches: Sequence[str] = SEARCHES
) -> Panel:
    """Build the panel of seconds by number of quasi-identifiers, one line per search."""
    series = tuple(
        Series.of(search, sizes, [study.seconds(search, size, k) for size in sizes]) for search in searches
    )
    return Panel(
        series,
        "quasi-identifiers",
        "seconds",
        title=f"{study.name}, k = {k}",
        y_scale=AxisScale.LOG,
        x_ticks=tuple(sizes),
    )
