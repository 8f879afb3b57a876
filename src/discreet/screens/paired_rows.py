"""The original and what is published of it, row by row: each row of the one beside its row of the other.

What links them is the recoding, or, of a release that is read back, its classes where they tell which rows
they were made of (``ReleasePair.members``); where nothing tells, a release has no pairs. Rows stand by what
they show, row type by row type, and never in the order of the file. Real values stand in a page: it is for
the owner alone. Persons who are suppressed are in a page only where they are asked for.

Cost: one sort of the row types; a page is found by halving.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.measures.comparison import ReleasePair
from discreet.model.cells import Cells
from discreet.model.class_recoding import SUPPRESSED, ClassRecoding
from discreet.model.frequency_set import FrequencySet

Whole = NDArray[np.int64]
WHICH = ("all", "changed", "left-out")


@dataclass(frozen=True, eq=False)
class PairedRows:
    """Entry ``e`` stands for ``rows[e]`` rows of row type ``types[e]``, in class ``classes[e]`` (or none).

    ``shown`` has shape ``(classes, attributes)``: codes of ``cells``. ``sizes`` are the classes' rows.
    """

    table: FrequencySet
    types: Whole
    rows: Whole
    classes: Whole
    shown: Whole
    cells: tuple[Cells, ...]
    sizes: Whole
    changed: NDArray[np.bool_]

    @classmethod
    def of_recoding(cls, table: FrequencySet, recoding: ClassRecoding) -> PairedRows:
        """The pairs of a recoding."""
        return cls._of(
            table, recoding.row_types, recoding.rows, recoding.classes, recoding.shown, recoding.cells
        )

    @classmethod
    def of_release(cls, pair: ReleasePair) -> PairedRows | None:
        """The pairs of a release that was read; None where its classes do not tell their rows."""
        members, table = pair.members, pair.frequency_set
        if members is None:
            return None
        classes = np.where(members.classes < pair.release.groups, members.classes, SUPPRESSED)
        rows = table.counts[members.row_types]
        return cls._of(table, members.row_types, rows, classes, pair.release.shown, pair.release.cells)

    @classmethod
    def _of(
        cls,
        table: FrequencySet,
        types: Whole,
        rows: Whole,
        classes: Whole,
        shown: Whole,
        cells: tuple[Cells, ...],
    ) -> PairedRows:
        place = np.empty(table.row_types, dtype=np.int64)
        place[np.lexsort(table.codes.T[::-1])] = np.arange(table.row_types)
        order = np.lexsort((classes, place[types]))
        types, rows, classes = types[order], rows[order], classes[order]
        kept = classes != SUPPRESSED
        sizes = np.bincount(classes[kept], rows[kept], minlength=len(shown)).astype(np.int64)
        changed = np.zeros(len(types), dtype=np.bool_)
        for i, column in enumerate(cells):
            if len(shown):
                exact = (column.sizes() == 1)[shown[classes, i]]
                changed |= kept & ~exact
        return cls(table, types, rows, classes, shown, cells, sizes, changed)

    @property
    def left_out(self) -> int:
        """Rows that belong to no class."""
        return int(self.rows[self.classes == SUPPRESSED].sum())

    def chosen(self, which: str, *, with_left_out: bool) -> Whole:
        """The entries of a view: all rows, the changed ones, or those left out (``WHICH``)."""
        out = self.classes == SUPPRESSED
        found = {"all": ~out | with_left_out, "changed": self.changed, "left-out": out & with_left_out}
        return np.flatnonzero(np.broadcast_to(found[which], out.shape))

    def page(
        self, first: int, number: int, which: str = "all", *, with_left_out: bool = False
    ) -> dict[str, Any]:
        """``number`` rows from ``first`` on: cells before and after, and which of them differ.

        ``after`` is None of a row that is left out, and ``alike`` then counts the rows of its row type.
        """
        entries = self.chosen(which, with_left_out=with_left_out)
        ends = np.cumsum(self.rows[entries])
        total = int(ends[-1]) if len(ends) else 0
        found = []
        for at in range(first, min(first + number, total)):
            found.append(self._row(int(entries[np.searchsorted(ends, at, side="right")])))
        return {"first": first, "total": total, "rows": found}

    def _row(self, entry: int) -> dict[str, Any]:
        type_, class_ = int(self.types[entry]), int(self.classes[entry])
        before = [
            h.leaves[code] if (code := int(self.table.codes[type_, i])) < len(h.leaves) else None
            for i, h in enumerate(self.table.hierarchies)
        ]
        if class_ == SUPPRESSED:
            return {"before": before, "after": None, "alike": int(self.table.counts[type_])}
        codes = self.shown[class_].tolist()
        after = [column.labels[code] for column, code in zip(self.cells, codes, strict=True)]
        return {"before": before, "after": after, "size": int(self.sizes[class_])}
