"""Candidate nodes of least loss, for the models that start from the node of least loss.

Loaded on demand, since it imports the searches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from discreet.measures.standard_costs import detail_cost
from discreet.model.frequency_set import FrequencySet
from discreet.search.candidate_nodes import CandidateLevels, CandidateRows, find_candidate_nodes
from discreet.search.search_problem import SearchProblem
from discreet.verbs.models.recoding_model import Task


def find_least_loss_candidates(
    task: Task, frequency_set: FrequencySet, *, within_levels: bool
) -> Callable[[], tuple[CandidateLevels, CandidateRows] | None]:
    """Return a function that finds the candidate nodes: from a cached lattice, else by a staged search.

    ``frequency_set`` is the task's, possibly without sensitive values that the requirement does not read.
    ``within_levels``: the request's level bounds apply to the model.
    """
    request = task.request if within_levels else replace(task.request, min_level=(), max_level=())

    def find() -> tuple[CandidateLevels, CandidateRows] | None:
        known = task.table.known_lattice_for(task.requirement)
        search = SearchProblem.of(
            frequency_set,
            request,
            task.settings,
            known=None if known is None else known.evaluated,
        )
        return find_candidate_nodes(search, detail_cost(frequency_set, task.weights))

    return find
