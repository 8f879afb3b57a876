"""Counting classes of row types: which of them fail a requirement."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, NoSolution
from discreet.frequency.class_facts import FactCounter
from discreet.frequency.merge import pack
from discreet.frequency.population import people_of_classes
from discreet.model.class_recoding import RecodingModel
from discreet.model.frequency_set import FrequencySet
from discreet.model.judge import failing
from discreet.model.lattice import LatticeNode
from discreet.model.monotone import is_growing, is_monotone, require_growing, require_monotone
from discreet.model.requirement import Requirement


class ClassCounts:
    """Judges classes of a frequency set's row types.

    ``InputError`` where subjects have several rows, or a criterion is asked of what is not sensitive.
    """

    def __init__(self, frequency_set: FrequencySet, requirement: Requirement) -> None:
        subjects = frequency_set.subjects
        if subjects is not None and subjects.size != frequency_set.rows:
            raise InputError(
                f"{subjects.size:,} subjects have {frequency_set.rows:,} rows, but this model needs one row "
                "per subject",
                allowed="a table with one row per subject, or levels that are negotiated (no --model)",
            )
        self.rows = frequency_set.counts
        self.requirement = requirement
        self._facts = FactCounter.of(frequency_set, requirement)

    def failing(
        self, class_of: NDArray[np.int64], classes: int, types: NDArray[np.int64] | None = None
    ) -> NDArray[np.bool_]:
        """The classes that fail, shape ``(classes,)``; one without rows does not.

        ``class_of`` names the class of each row type in ``types``, or of all. O(row types + their values).
        """
        facts = self._facts.facts(class_of, classes, types)
        return failing(self._facts.bound, facts) & (facts.sizes > 0)

    def suppressed(self, class_of: NDArray[np.int64], classes: int) -> NDArray[np.bool_]:
        """The classes that go, of classes of all row types: the release's criteria are looked at, too."""
        return self._facts.suppressed(class_of, classes)

    @property
    def asks_for_levels(self) -> bool:
        """Whether a criterion asks who matches a class, or what all show: of classes of levels alone."""
        return self._facts.of_population or self.requirement.of_cells is not None

    def suppressed_at(
        self, node: LatticeNode, class_of: NDArray[np.int64], shown: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """The classes of a node that go; ``shown`` (shape ``(classes, attributes)``) is what each shows."""
        facts = self._facts
        people = people_of_classes(facts.table, node, shown) if facts.of_population else None
        cells = shown if self.requirement.of_cells is not None else None
        return facts.suppressed(class_of, len(shown), people, cells)

    def failing_types(
        self, class_of: NDArray[np.int64], types: NDArray[np.int64] | None = None
    ) -> NDArray[np.bool_]:
        """Whether each row type is in a failing class."""
        return self.failing(class_of, int(class_of.max(initial=-1)) + 1, types)[class_of]

    def failing_rows(self, class_of: NDArray[np.int64], types: NDArray[np.int64] | None = None) -> int:
        """The rows of failing classes."""
        rows = self.rows if types is None else self.rows[types]
        return int(rows[self.failing_types(class_of, types)].sum())

    def require_merging(self, model: RecodingModel, limit: int) -> None:
        """Raise ``InputError`` for a criterion that may fail where the model's search merges classes.

        With a limit of suppressed rows, rows of failing classes join others. ``local`` recoding takes care of
        that, and full-domain recoding takes any criterion.
        """
        who = f"the {model} model"
        advice = "Use the full-domain model, which judges every node by itself."
        require_monotone(self.requirement, who, advice=advice)
        if limit or model is RecodingModel.CELL_SUPPRESSION:
            which = f"{who} with up to {limit:,} rows suppressed" if limit else who
            other = "Use the cell-generalization or the full-domain model"
            advice = f"{other}, or let no row be suppressed." if limit else f"{other}."
            require_growing(self.requirement, which, advice=advice)

    def require_solution(self, limit: int) -> None:
        """Raise ``NoSolution`` where even one class of all rows fails and may not be suppressed.

        Where that says nothing of smaller classes (``model.monotone``), it is not asked.
        """
        rows = int(self.rows.sum())
        everything = np.zeros(len(self.rows), dtype=np.int64)
        told = is_growing(self.requirement) or (limit == 0 and is_monotone(self.requirement))
        if not rows or (told and self.failing_rows(everything) > limit):
            raise NoSolution(
                f"not even one class of all {rows:,} rows meets {self.requirement}",
                allowed="a k of at most the rows, and an l of at most the sensitive values",
                advice="Ask for less. Nothing was written.",
            )


def classes_of_columns(columns: Sequence[NDArray[np.int64]], sizes: Sequence[int]) -> NDArray[np.int64]:
    """The class of each row type: those that agree in every column, numbered from 0."""
    return np.unique(pack(columns, sizes), return_inverse=True)[1]
