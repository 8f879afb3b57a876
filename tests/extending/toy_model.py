"""A recoding model: cut the rows, in the order of their values, into slices of at least k rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from discreet.errors import InputError, NoSolution
from discreet.extending import (
    Found,
    Model,
    OptionKind,
    Summary,
    Task,
    classes_to_recoding,
    option,
    register_model,
)


@register_model
@dataclass(frozen=True, kw_only=True)
class Slices(Model):
    """Fill a class with row types in order until it has enough rows, then begin the next class."""

    name = "ordered-slices"
    aliases = ("slices",)
    title = "Slices"
    text = "The rows, in the order of their values, are cut into slices of at least k rows."
    takes_l = False
    takes_suppression = False

    times: int | None = option(
        kind=OptionKind.WHOLE,
        least=1,
        most=100,
        metavar="N",
        in_spec=True,
        shown="1",
        help="a slice has at least N times k rows",
        label="Rows per slice, in multiples of k",
    )
    summary: str | None = option(
        choices=(Summary.RANGES, Summary.SETS),
        in_spec=True,
        shown="ranges",
        help="values shown for a slice",
        label="Shown values",
    )
    slicing: str | Path | None = option(
        kind=OptionKind.OPTIONS, metavar="FILE", help="these options from a TOML file"
    )

    def search(self, task: Task) -> Found:
        """Cut the row types, in order, into slices; a rest of fewer than k rows joins the last slice."""
        if task.requirement.l is not None:
            raise InputError("slices do not support l", advice="Require only k.")
        counted, k = task.frequency_set, task.requirement.k or 1
        if counted.rows < k:
            raise NoSolution(f"{task.requirement}: the table has {counted.rows} rows")
        summary, size = Summary(self.summary or Summary.RANGES), k * (self.times or 1)
        classes = np.zeros(counted.row_types, dtype=np.int64)
        current, filled = 0, 0
        for row_type in np.lexsort(counted.codes.T[::-1]):
            if filled >= size:
                current, filled = current + 1, 0
            classes[row_type] = current
            filled += int(counted.counts[row_type])
        if filled < k:
            classes[classes == current] = current - 1
        recoding = classes_to_recoding(counted, classes, task.requirement, self.name, summary)
        return Found(recoding, str(summary), (("rows required per slice", f"{size:,}"),))
