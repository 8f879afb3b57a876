"""The paper's tables as experiments: rows, patterns, which attributes are numbers, and what each k gives.

The order of patterns of equal cost is not told in the paper. With the last attributes starred first Tables
1 to 4 and 6 come out, with the first ones Table 7. For Table 8 an order that gives its figures was found by
search. Which attributes count as numbers is not told either: in Tables 1, 2, 7 and 8 some do, elsewhere none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any

from discreet.model.class_recoding import ClassRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.model.pattern import PatternConstraints, PatternMask, Tie
from discreet.model.requirement import Requirement
from discreet.mondrian.options import Cut, MondrianOptions
from discreet.mondrian.partition import partition
from discreet.patterns.exact import solve_exactly
from discreet.patterns.greedy import greedy
from discreet.patterns.masks import mask_of_constraints, mask_of_vectors
from discreet.patterns.quality import quality
from discreet.reproduce.context import Context
from discreet.reproduce.printed import printed

_QUICK = (10, 25, 100)
_USER = (
    *(".........", ".......*.", "...*.....", "*........", "......*..", ".....*...", "...*...*."),
    *(".*..*....", "*......*.", "*..*.....", "...*.*...", ".....*.*.", "......**.", "...*..*.."),
)
_NUMBERS = ("age", "education_num", "capital_gain", "capital_loss", "hours_per_week")
_ALL_PATTERNS = PatternConstraints()

Figures = dict[str, float]
"""The paper's columns: ``s`` stars, ``u`` usefulness, ``types``, ``average``, ``maximum``, ``r`` seconds."""


@dataclass(frozen=True)
class Experiment:
    """One table of the paper: its name among the figures, the rows, the patterns, what counts as a number.

    The optimum is asked in a quick run from ``exact_from`` on.
    """

    name: str
    title: str
    folder: str
    file: str
    patterns: PatternConstraints | tuple[str, ...] = _ALL_PATTERNS
    tie: Tie = Tie.LAST_COLUMN_FIRST
    numeric: tuple[str, ...] = ()
    without: str = ""
    exact_from: int = 2

    @property
    def number(self) -> str:
        """``Table 3``."""
        return self.title.partition(": ")[0]

    @property
    def heading(self) -> str:
        """The title without the table's number."""
        return self.title.partition(": ")[2]


AGAINST_MONDRIAN = (
    Experiment("nursery", "Table 3: Nursery, all patterns", "nursery", "nursery.csv"),
    Experiment("cmc", "Table 4: CMC, all patterns", "cmc", "cmc.csv"),
    Experiment("adult_2", "Table 2: Adult-2, all patterns", "adult", "adult2_32561.csv", numeric=("age",)),
    Experiment(
        "adult",
        "Table 1: Adult, all 16,384 patterns",
        "adult",
        "adult_32561.csv",
        numeric=_NUMBERS,
        without="fnlwgt",
    ),
)
AGAINST_OPTIMUM = (
    Experiment(
        "nursery_exact",
        "Table 6: Nursery, all patterns, and the least number of stars",
        "nursery",
        "nursery.csv",
    ),
    Experiment(
        "cmc_exact",
        "Table 7: CMC, at most two stars, and the least number of stars",
        "cmc",
        "cmc.csv",
        PatternConstraints(max_stars=2),
        Tie.FIRST_COLUMN_FIRST,
        numeric=("wife_age", "number_of_children"),
    ),
    Experiment(
        "adult_2_exact",
        "Table 8: Adult-2, the user's fifteen patterns, and the least number of stars",
        "adult",
        "adult2_32561.csv",
        _USER,
        Tie.AS_GIVEN,
        numeric=("age",),
        exact_from=50,
    ),
)


@dataclass(frozen=True)
class Prepared:
    """An experiment with its table, its patterns, what is printed of it, and the k that are asked."""

    experiment: Experiment
    context: Context
    table: FrequencySet
    mask: PatternMask
    numeric: tuple[str, ...]
    figures: Mapping[str, Any]
    ks: tuple[int, ...]

    @classmethod
    def of(cls, context: Context, experiment: Experiment) -> Prepared:
        """The table is opened by a spec, which says of every attribute whether it counts as a number."""
        path = context.file(experiment.folder, experiment.file)
        with path.open(encoding="utf-8") as text:
            names = [name for name in text.readline().strip().split(",") if name != experiment.without]
        attributes = {
            name: {"role": "quasi-identifier", "numeric": name in experiment.numeric} for name in names
        }
        opened = context.table(path, attributes)
        table, asked = opened.frequency_set, experiment.patterns
        if isinstance(asked, PatternConstraints):
            mask = mask_of_constraints(table, asked, context.settings)
        else:
            mask = mask_of_vectors(table, asked, context.settings)
        figures = printed("patterns")[experiment.name]
        ks = _QUICK if context.quick else tuple(int(row[0]) for row in figures["heuristic"])
        numeric = tuple(name for name, yes in opened.spec.numeric.items() if yes)
        return cls(experiment, context, table, mask, numeric, figures, ks)

    def printed(self, side: str, k: int) -> dict[str, Any]:
        """What the paper prints for one k: of the ``heuristic``, ``mondrian``, or the ``exact`` program."""
        row = next(row for row in self.figures[side] if row[0] == k)
        return dict(zip(self.figures["columns"], row, strict=True))

    def heuristic(self, k: int) -> Figures:
        """Algorithm 1."""
        tie, settings = self.experiment.tie, self.context.settings
        found = greedy(self.table, self.mask, Requirement(k), settings, tie=tie, bound=False)
        return {"s": int(found.cost), **self._measured(found.recoding), "r": found.seconds}

    def optimum(self, k: int) -> Figures | None:
        """The integer program; None where a quick run leaves it out."""
        if self.context.quick and k < self.experiment.exact_from:
            return None
        found = solve_exactly(self.table, self.mask, Requirement(k), self.context.settings)
        return {"s": int(found.cost), **self._measured(found.recoding), "r": found.seconds}

    def mondrian(self, k: int) -> Figures:
        """Mondrian at the median on the same rows."""
        begun = monotonic()
        options = MondrianOptions(cut=Cut.MEDIAN)
        recoding = partition(self.table, Requirement(k), self.context.settings, options)
        seconds = monotonic() - begun
        return {**self._measured(recoding), "r": seconds}

    def _measured(self, recoding: ClassRecoding) -> Figures:
        found = quality(self.table, recoding, self.numeric)
        return {
            "u": found.usefulness,
            "types": found.types,
            "average": found.average,
            "maximum": found.maximum,
        }
