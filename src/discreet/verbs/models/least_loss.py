"""The nodes that may lose least, for the models that begin with the node that does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from discreet.measures.detail_cost import detail_cost
from discreet.model.frequency_set import FrequencySet
from discreet.search.contenders import Levels, Rows, contenders
from discreet.search.task import SearchTask
from discreet.verbs.models.base import Task


def least_loss(
    task: Task, frequency_set: FrequencySet, *, within_levels: bool
) -> Callable[[], tuple[Levels, Rows] | None]:
    """Looked up where the session has the lattice, else found by stages when they are asked for.

    ``frequency_set`` is the task's, perhaps without sensitive values that nothing is asked of;
    ``within_levels``: whether the request's limits of levels bind the model.
    """
    request = task.request if within_levels else replace(task.request, min_level=(), max_level=())

    def found() -> tuple[Levels, Rows] | None:
        known = task.table.known_lattice_for(task.requirement)
        search = SearchTask.of(
            frequency_set,
            request,
            task.settings,
            known=None if known is None else known.evaluated,
        )
        return contenders(search, detail_cost(frequency_set, task.weights))

    return found
