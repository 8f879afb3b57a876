"""The named algorithms; each is loaded when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

from discreet.errors import InputError
from discreet.model.closest import closest
from discreet.model.search_result import SearchResult
from discreet.search.task import SearchTask

Search = Callable[[SearchTask], SearchResult]
"""What every algorithm is."""

_FUNCTIONS = {
    "samarati": ("samarati", "samarati"),
    "bottom-up": ("bottom_up", "bottom_up"),
    "bottom-up-rollup": ("bottom_up", "bottom_up_rollup"),
    "incognito": ("incognito", "incognito"),
    "incognito-superroots": ("incognito", "incognito_superroots"),
    "incognito-cube": ("incognito", "incognito_cube"),
    "exhaustive": ("exhaustive", "exhaustive"),
    "optimal": ("optimal", "optimal"),
    "anytime": ("anytime", "anytime"),
}

ALGORITHMS = tuple(_FUNCTIONS)
"""The names, the simplest first."""

IN_DATABASE = tuple(name for name in ALGORITHMS if name not in ("optimal", "anytime"))
"""Those that can leave the table in the database."""

EVERY_SOLUTION = ("bottom-up", "bottom-up-rollup", "incognito", "incognito-superroots", "incognito-cube")
"""The searches that find every solution by themselves; ``exhaustive`` does so by evaluating the lattice."""


def algorithm_named(name: str) -> Search:
    """The function of a named algorithm; ``InputError`` for a name that none has."""
    if name not in _FUNCTIONS:
        raise InputError(
            f"the search algorithm '{name}'", allowed=", ".join(ALGORITHMS), advice=closest(name, ALGORITHMS)
        )
    module, function = _FUNCTIONS[name]
    return cast(Search, getattr(import_module(f"discreet.search.{module}"), function))
