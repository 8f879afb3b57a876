"""The registry of full-domain searches by name.

Each algorithm's module is imported when the algorithm is first requested, so that a command loads one
search.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

from discreet.errors import InputError
from discreet.model.registry import suggest_name
from discreet.model.search_result import SearchResult
from discreet.search.search_problem import SearchProblem

SearchAlgorithm = Callable[[SearchProblem], SearchResult]
"""The signature of every algorithm."""

_FUNCTIONS = {
    "samarati": ("samarati", "samarati"),
    "bottom-up": ("breadth_first", "bottom_up"),
    "bottom-up-rollup": ("breadth_first", "bottom_up_rollup"),
    "incognito": ("incognito", "incognito"),
    "incognito-superroots": ("incognito", "incognito_superroots"),
    "incognito-cube": ("incognito", "incognito_cube"),
    "exhaustive": ("exhaustive", "exhaustive"),
    "optimal": ("optimal", "optimal"),
    "anytime": ("anytime", "anytime"),
}

ALGORITHMS = tuple(_FUNCTIONS)
"""The names of the algorithms, from the simplest to the most elaborate."""

IN_DATABASE = tuple(name for name in ALGORITHMS if name not in ("optimal", "anytime"))
"""The algorithms that can leave the table in the database."""

EVERY_SOLUTION = ("bottom-up", "bottom-up-rollup", "incognito", "incognito-superroots", "incognito-cube")
"""The searches that find every solution without evaluating the lattice, as ``exhaustive`` does."""


def load_algorithm(name: str) -> SearchAlgorithm:
    """Return the function of a named algorithm; raise ``InputError`` for an unknown name."""
    if name not in _FUNCTIONS:
        raise InputError(
            f"the search algorithm '{name}'",
            allowed=", ".join(ALGORITHMS),
            advice=suggest_name(name, ALGORITHMS),
        )
    module, function = _FUNCTIONS[name]
    return cast(SearchAlgorithm, getattr(import_module(f"discreet.search.{module}"), function))
