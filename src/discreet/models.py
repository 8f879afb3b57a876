"""The recoding models: each is a frozen value of its options, for ``Table.recode`` and ``Table.publish``.

::

    table.publish(Mondrian(summary="sets"), "release.csv", k=10)

``docs/model-options.md`` lists every option. A model's name stands for the model with its defaults;
``named`` gives the model of a name, of another package's too.
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
from discreet.verbs.models.pattern_model import Patterns
from discreet.verbs.models.permutation_model import Permutation
from discreet.verbs.models.recoding_model import MODELS, Model

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
    """The model of a name or shorter name; ``InputError`` lists the names there are."""
    return MODELS.named(name)


def names() -> tuple[str, ...]:
    """The name of every model, other packages' included."""
    return MODELS.names()
