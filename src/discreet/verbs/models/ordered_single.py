"""Ordered single-dimension recoding: each column is cut into intervals, by a greedy or at least cost."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.errors import InputError
from discreet.model.class_recoding import RecodingModel
from discreet.model.option import OptionKind, option
from discreet.taxonomy.class_costs import ClassCost
from discreet.verbs.models.base import Found, Model, Task
from discreet.verbs.models.taxonomy import search_taxonomy

GREEDY, OPTIMAL = "greedy", "optimal"
_COST_NAMES = {ClassCost.C_DM: "C_DM", ClassCost.C_AVG: "C_AVG"}


@dataclass(frozen=True, kw_only=True)
class OrderedSingle(Model):
    """Each column is cut into intervals, the same in every row (Bayardo and Agrawal 2005).

    ``method`` is a greedy of least loss, or the least C_DM or C_AVG, proven or with a proven gap.
    """

    name = str(RecodingModel.ORDERED_SINGLE)
    title = "Ordered, one dimension"
    text = "Each column is cut into intervals, the same in every row."

    method: str = option(
        GREEDY,
        choices=(GREEDY, OPTIMAL),
        help="how cuts are found: of least loss, or of least cost with a proof",
        label="Cuts are found by",
        hint="least loss, or least cost proven",
    )
    cost: str | None = option(
        None,
        choices=ClassCost,
        shown=str(ClassCost.C_DM),
        help="by the method optimal, what is made least",
        label="Optimal cuts have the least",
        hint="empty: c-dm, the squares of the class sizes",
    )
    time_limit: float | None = option(
        None,
        kind=OptionKind.DECIMAL,
        unit="seconds",
        metavar="SECONDS",
        shown="60",
        help="end the method optimal after so long, with a proven gap",
        label="Seconds of the optimal cuts at most",
        hint="60 where empty",
    )

    def search(self, task: Task) -> Found:
        """By the greedy of least loss, or at the least C_DM or C_AVG."""
        if self.method == GREEDY:
            beside = next((name for name in ("cost", "time_limit") if getattr(self, name) is not None), None)
            if beside is not None:
                raise InputError(
                    f"'{beside.replace('_', '-')}' does not apply to the method 'greedy', which looks for "
                    "the least loss",
                    advice="Ask for the method 'optimal'.",
                )
            return search_taxonomy(RecodingModel.ORDERED_SINGLE, task)
        return self._optimal(task)

    def _optimal(self, task: Task) -> Found:
        from discreet.taxonomy.optimal_single import TIME_LIMIT, Budget, optimal_single

        with task.reporter.stage("Dividing at least cost") as advance:
            found = optimal_single(
                task.frequency_set,
                task.requirement,
                limit=task.limit,
                cost=ClassCost(self.cost or ClassCost.C_DM),
                budget=Budget(seconds=TIME_LIMIT if self.time_limit is None else self.time_limit),
                progress=advance,
                notice=task.reporter.notice,
            )
        work = (
            ("method", OPTIMAL),
            ("status", found.status),
            (_COST_NAMES[found.cost], f"{found.value:,.10g}"),
            ("no recoding of the model has less than", f"{found.bound:,.10g}"),
            ("nodes visited", f"{found.nodes:,}"),
        )
        return Found(found.recoding, work=work, told={"evidence": found.as_json()})
