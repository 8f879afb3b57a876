"""Local recoding: rows that agree may be generalized differently, cell by cell (``local.recode``)."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.local.result import FAST, Shown
from discreet.model.class_recoding import RecodingModel
from discreet.model.option import OptionKind, option
from discreet.verbs.models.base import Found, Model, Task


@dataclass(frozen=True, kw_only=True)
class Local(Model):
    """Cell generalization: each cell shows any ancestor of its value, and keeps as much as was found.

    ``effort`` is ``"fast"`` or a number of rounds of improvement, which ``time_budget`` (seconds) ends early.
    """

    name = str(RecodingModel.CELL_GENERALIZATION)
    aliases = ("local",)
    title = "Local recoding"
    text = "Rows that agree may be generalized differently, cell by cell. Keeps the most detail."
    main = True
    takes_levels = True

    effort: int | str = option(
        FAST,
        kind=OptionKind.WHOLE,
        choices=(FAST,),
        metavar="fast|N",
        help="N rounds of improvement after the first",
        label="Rounds of improvement",
        hint="fast, or a whole number of rounds",
    )
    seed: int = option(
        0,
        kind=OptionKind.WHOLE,
        metavar="N",
        help="the same seed gives the same classes",
        label="Seed",
        hint="the same seed gives the same classes",
    )
    time_budget: float | None = option(
        None,
        kind=OptionKind.DECIMAL,
        unit="seconds",
        metavar="SECONDS",
        help="end the rounds after so many seconds",
        label="Seconds at most",
        hint="ends the rounds early",
    )
    summary: str = option(Shown.LCA, choices=Shown, help="what a class shows", label="A class shows")

    def search(self, task: Task) -> Found:
        """By the greedy, and rounds of improvement."""
        from discreet.lattice.evaluate import lattice_of
        from discreet.local.recode import recode

        lattice = lattice_of(task.frequency_set)
        with task.reporter.stage("Recoding locally") as advance:
            found = recode(
                task.frequency_set,
                task.requirement,
                task.settings,
                effort=self.effort,
                seed=self.seed,
                time_budget=self.time_budget,
                min_node=lattice.node_of(task.request.min_level, lattice.bottom),
                max_node=lattice.node_of(task.request.max_level, lattice.top),
                limit=task.limit,
                shown=self.summary,
                weights=task.weights,
                progress=advance,
                notice=task.reporter.notice,
            )
        work = (("rounds of improvement", f"{found.rounds:,}"),)
        return Found(found.recoding, str(self.summary), work)
