"""The decision of a search that is not full-domain: equivalence classes and what each of them shows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from discreet.model.cells import Cells
from discreet.model.class_test import ClassTest
from discreet.model.pattern import PatternCount
from discreet.model.recoding import SuppressionPolicy
from discreet.model.requirement import Requirement

SUPPRESSED = -1
"""The class of rows that are suppressed."""


class RecodingModel(StrEnum):
    """The taxonomy of recoding models (LeFevre et al. 2005, section 5), by the field's names."""

    FULL_DOMAIN = "full-domain"
    ATTRIBUTE_SUPPRESSION = "attribute-suppression"
    FULL_SUBTREE = "full-subtree"
    UNRESTRICTED_SINGLE = "unrestricted-single-dimension"
    ORDERED_SINGLE = "ordered-single-dimension"
    FULL_SUBGRAPH = "full-subgraph"
    UNRESTRICTED_MULTI = "unrestricted-multi-dimension"
    ORDERED_MULTI = "ordered-multi-dimension"
    RELAXED_MULTI = "relaxed-multi-dimension"
    CELL_SUPPRESSION = "cell-suppression"
    CELL_GENERALIZATION = "cell-generalization"


@dataclass(frozen=True, eq=False)
class ClassRecoding:
    """Every row belongs to an equivalence class; a class shows one cell per quasi-identifier.

    ``model`` is the recoding model's name.
    It speaks of the row types of one frequency set, by their position there. Part ``p`` says that
    ``rows[p]`` rows of row type ``row_types[p]`` belong to class ``classes[p]`` (``SUPPRESSED``: to none).
    Parts ascend by row type and then class, and each row type's parts add up to its count; a global recoding
    has one part per row type. Which rows of a row type go to which of its parts is drawn when it is applied.
    Class c shows ``cells[i].labels[shown[c, i]]`` for attribute i; ``shown`` has shape ``(classes,
    quasi-identifiers)``. Two classes may show the same: in the release they are one. Where patterns guided
    the search, ``patterns`` says how much of the release each has. ``class_test`` was asked beside the
    requirement: no manifest records it and no audit counts it, so such a recoding is not published.
    """

    model: str
    attributes: tuple[str, ...]
    requirement: Requirement
    cells: tuple[Cells, ...]
    shown: NDArray[np.int64]
    row_types: NDArray[np.int64]
    classes: NDArray[np.int64]
    rows: NDArray[np.int64]
    suppression: SuppressionPolicy = SuppressionPolicy.DROP
    warnings: tuple[str, ...] = ()
    patterns: tuple[PatternCount, ...] = ()
    class_test: ClassTest | None = None

    @property
    def class_count(self) -> int:
        """The number of classes."""
        return len(self.shown)

    @property
    def suppressed(self) -> int:
        """Rows that belong to no class."""
        return int(self.rows[self.classes == SUPPRESSED].sum())

    def class_rows(self) -> NDArray[np.int64]:
        """Rows of each class, shape ``(classes,)``."""
        kept = self.classes != SUPPRESSED
        sizes = np.zeros(self.class_count, dtype=np.int64)
        np.add.at(sizes, self.classes[kept], self.rows[kept])
        return sizes
