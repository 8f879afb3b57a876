"""A recoding model: the rows in the order of their values, cut into slices of k rows or more."""

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
    """Row types in the order of their values fill a class until it has enough rows; then the next begins."""

    name = "ordered-slices"
    aliases = ("slices",)
    title = "Slices"
    text = "The rows in the order of their values, cut into slices of k rows or more."
    takes_l = False
    takes_suppression = False

    times: int | None = option(
        kind=OptionKind.WHOLE,
        least=1,
        most=100,
        metavar="N",
        in_spec=True,
        shown="1",
        help="a slice has N times k rows, or more",
        label="Slices of so many times k rows",
    )
    summary: str | None = option(
        choices=(Summary.RANGES, Summary.SETS),
        in_spec=True,
        shown="ranges",
        help="what a slice shows",
        label="A slice shows",
    )
    slicing: str | Path | None = option(
        kind=OptionKind.OPTIONS, metavar="FILE", help="these options from a TOML file"
    )

    def search(self, task: Task) -> Found:
        """Cut the row types, in order, into slices; what is left at the end joins the last one."""
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
        return Found(recoding, str(summary), (("rows asked of a slice", f"{size:,}"),))
