"""Experiments of the pattern paper and its quality measures (Bredereck, Nichterlein and Niedermeier 2013).

An experiment is one table of the paper: rows, patterns, numeric attributes, values of k. The order of
patterns with equal cost is not printed; Tables 1 to 4 and 6 follow with the last attributes starred first,
Table 7 with the first, Table 8 with an order found by search. Quality is usefulness and sizes of row types
(section 3.3); suppressed rows count as one more type, which a release does not have.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any

from discreet.measures.recoding_metrics import (
    OriginalMembers,
    compute_usefulness,
    numeric_values,
)
from discreet.model.class_recoding import ClassRecoding, PatternConstraints, PatternMask, TieBreak
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.mondrian.mondrian_options import Cut, MondrianOptions
from discreet.mondrian.partition import partition_table
from discreet.patterns.exact import solve_exactly
from discreet.patterns.greedy_assignment import solve_greedily
from discreet.patterns.masks import build_mask_from_constraints, build_mask_from_vectors
from papers.comparison import read_figures
from papers.reproduction import Context


@dataclass(frozen=True)
class RecodingQuality:
    """Usefulness, number of output row types, and their average and largest size in rows."""

    usefulness: float
    types: int
    average: float
    maximum: int


def measure_quality(
    frequency_set: FrequencySet, recoding: ClassRecoding, numeric: Collection[str] = ()
) -> RecodingQuality:
    """Compute the paper's measures of a recoding; suppressed rows count as one more type.

    ``numeric`` names the attributes whose range counts; ``InputError`` if their values are not numbers.
    """
    members = OriginalMembers.of_recoding(recoding)
    if not members.number:
        return RecodingQuality(0.0, 0, 0.0, 0)
    sizes = members.sizes(recoding.rows)
    numbers = numeric_values(
        frequency_set.hierarchies, {name: name in numeric for name in frequency_set.attributes}
    )
    return RecodingQuality(
        usefulness=compute_usefulness(frequency_set, members, numbers),
        types=members.number,
        average=float(sizes.mean()),
        maximum=int(sizes.max()),
    )


_QUICK_KS = (10, 25, 100)
_USER_PATTERNS = (
    *(".........", ".......*.", "...*.....", "*........", "......*..", ".....*...", "...*...*."),
    *(".*..*....", "*......*.", "*..*.....", "...*.*...", ".....*.*.", "......**.", "...*..*.."),
)
_NUMERIC_ATTRIBUTES = ("age", "education_num", "capital_gain", "capital_loss", "hours_per_week")
_ALL_PATTERNS = PatternConstraints()

ExperimentFigures = dict[str, float]
"""Columns of the paper: ``s`` stars, ``u`` usefulness, ``types``, ``average``, ``maximum``, ``r`` seconds."""


@dataclass(frozen=True)
class PatternExperiment:
    """One table of the paper: its name among the figures, the rows, the patterns, and the numeric attributes.

    A quick run computes the optimum only for k from ``exact_from`` on.
    """

    name: str
    title: str
    folder: str
    file: str
    patterns: PatternConstraints | tuple[str, ...] = _ALL_PATTERNS
    tie: TieBreak = TieBreak.LAST_COLUMN_FIRST
    numeric: tuple[str, ...] = ()
    without: str = ""
    exact_from: int = 2

    @property
    def number(self) -> str:
        """Number of the table, such as ``Table 3``."""
        return self.title.partition(": ")[0]

    @property
    def heading(self) -> str:
        """Title without the table's number."""
        return self.title.partition(": ")[2]


AGAINST_MONDRIAN = (
    PatternExperiment("nursery", "Table 3: Nursery, all patterns", "nursery", "nursery.csv"),
    PatternExperiment("cmc", "Table 4: CMC, all patterns", "cmc", "cmc.csv"),
    PatternExperiment(
        "adult_2", "Table 2: Adult-2, all patterns", "adult", "adult2_32561.csv", numeric=("age",)
    ),
    PatternExperiment(
        "adult",
        "Table 1: Adult, all 16,384 patterns",
        "adult",
        "adult_32561.csv",
        numeric=_NUMERIC_ATTRIBUTES,
        without="fnlwgt",
    ),
)
AGAINST_OPTIMUM = (
    PatternExperiment(
        "nursery_exact",
        "Table 6: Nursery, all patterns, and the least number of stars",
        "nursery",
        "nursery.csv",
    ),
    PatternExperiment(
        "cmc_exact",
        "Table 7: CMC, at most two stars, and the least number of stars",
        "cmc",
        "cmc.csv",
        PatternConstraints(max_stars=2),
        TieBreak.FIRST_COLUMN_FIRST,
        numeric=("wife_age", "number_of_children"),
    ),
    PatternExperiment(
        "adult_2_exact",
        "Table 8: Adult-2, the user's fifteen patterns, and the least number of stars",
        "adult",
        "adult2_32561.csv",
        _USER_PATTERNS,
        TieBreak.AS_GIVEN,
        numeric=("age",),
        exact_from=50,
    ),
)


@dataclass(frozen=True)
class PreparedExperiment:
    """Experiment with its table, its patterns, the printed figures, and the values of k."""

    experiment: PatternExperiment
    context: Context
    table: FrequencySet
    mask: PatternMask
    numeric: tuple[str, ...]
    figures: Mapping[str, Any]
    ks: tuple[int, ...]

    @classmethod
    def of(cls, context: Context, experiment: PatternExperiment) -> PreparedExperiment:
        """Open the table of an experiment; the spec declares which attributes are numeric."""
        path = context.file(experiment.folder, experiment.file)
        with path.open(encoding="utf-8") as text:
            names = [name for name in text.readline().strip().split(",") if name != experiment.without]
        attributes = {
            name: {"role": "quasi-identifier", "numeric": name in experiment.numeric} for name in names
        }
        opened = context.table(path, attributes)
        table, asked = opened.frequency_set, experiment.patterns
        if isinstance(asked, PatternConstraints):
            mask = build_mask_from_constraints(table, asked, context.settings)
        else:
            mask = build_mask_from_vectors(table, asked, context.settings)
        figures = read_figures("patterns")[experiment.name]
        ks = _QUICK_KS if context.quick else tuple(int(row[0]) for row in figures["heuristic"])
        numeric = tuple(name for name, yes in opened.spec.numeric.items() if yes)
        return cls(experiment, context, table, mask, numeric, figures, ks)

    def printed(self, side: str, k: int) -> dict[str, Any]:
        """Return the printed figures of ``heuristic``, ``mondrian`` or the ``exact`` program for one k."""
        row = next(row for row in self.figures[side] if row[0] == k)
        return dict(zip(self.figures["columns"], row, strict=True))

    def heuristic(self, k: int) -> ExperimentFigures:
        """Run Algorithm 1."""
        tie, settings = self.experiment.tie, self.context.settings
        found = solve_greedily(self.table, self.mask, Requirement(k), settings, tie=tie, bound=False)
        return {"s": int(found.cost), **self._measured(found.recoding), "r": found.seconds}

    def optimum(self, k: int) -> ExperimentFigures | None:
        """Solve the integer program; None if a quick run skips it."""
        if self.context.quick and k < self.experiment.exact_from:
            return None
        found = solve_exactly(self.table, self.mask, Requirement(k), self.context.settings)
        return {"s": int(found.cost), **self._measured(found.recoding), "r": found.seconds}

    def mondrian(self, k: int) -> ExperimentFigures:
        """Run Mondrian with median cuts on the same rows."""
        begun = monotonic()
        options = MondrianOptions(cut=Cut.MEDIAN)
        recoding = partition_table(self.table, Requirement(k), self.context.settings, options)
        seconds = monotonic() - begun
        return {**self._measured(recoding), "r": seconds}

    def _measured(self, recoding: ClassRecoding) -> ExperimentFigures:
        found = measure_quality(self.table, recoding, self.numeric)
        return {
            "u": found.usefulness,
            "types": found.types,
            "average": found.average,
            "maximum": found.maximum,
        }
