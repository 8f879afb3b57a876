"""Recoding models for ``Table.recode`` and ``Table.publish``; each is an immutable value with its options.

::

    table.publish(Mondrian(summary="sets"), "release.csv", k=10)

``docs/model-options.md`` lists every option. A model's name selects the model with its defaults. ``named``
returns the class of a model by name, including models of other packages.
"""

from __future__ import annotations

from discreet.verbs.models.generalization_models import (
    AttributeSuppression,
    CellSuppression,
    FullDomain,
    FullSubgraph,
    FullSubtree,
    Local,
    Mondrian,
    OrderedSingle,
    RelaxedMondrian,
    UnrestrictedMulti,
    UnrestrictedSingle,
)
from discreet.verbs.models.model_registry import MODELS
from discreet.verbs.models.pattern_model import Patterns
from discreet.verbs.models.permutation_model import Permutation
from discreet.verbs.models.recoding_model import Model

__all__ = [
    "AttributeSuppression",
    "CellSuppression",
    "FullDomain",
    "FullSubgraph",
    "FullSubtree",
    "Local",
    "Model",
    "Mondrian",
    "OrderedSingle",
    "Patterns",
    "Permutation",
    "RelaxedMondrian",
    "UnrestrictedMulti",
    "UnrestrictedSingle",
    "named",
    "names",
]


def named(name: str) -> type[Model]:
    """Return the model of a name or short name; ``InputError`` lists the existing names."""
    return MODELS.named(name)


def names() -> tuple[str, ...]:
    """Return the name of every model, including those of other packages."""
    return MODELS.names()
