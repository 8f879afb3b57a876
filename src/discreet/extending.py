"""Registration of additional models, metrics, costs, attacks and engines from a script or a package.

``docs/extending.md`` has a recipe for each.

Registered objects appear everywhere: in ``--help``, in Python, in forms, pages and reports. An installed
package is found by an entry point in the group ``discreet.models``, ``discreet.metrics``, ``discreet.costs``,
``discreet.attacks`` or ``discreet.engines``. The entry point refers to the object to register, or to the
module that registers it. ``discreet.engines`` contains the building blocks of an engine;
``discreet.criteria`` registers criteria.
"""

from __future__ import annotations

from typing import TypeVar

from discreet.attacks import finding
from discreet.attacks.declaration import Attack, AttackInput, AttackRequirement
from discreet.attacks.finding import Finding, FoundTable
from discreet.attacks.registry import ATTACKS
from discreet.engines.declaration import EngineDeclaration
from discreet.engines.registry import register_engine
from discreet.frequency.class_summary import Summary, classes_to_recoding
from discreet.measures.cost_registry import COSTS
from discreet.measures.generalized_table import ReleasePair
from discreet.measures.metrics import METRICS, Better, Metric
from discreet.measures.named_costs import NamedCost, node_cost
from discreet.measures.node_statistics import NodesStatistics, NodeStatistics
from discreet.model.class_recoding import SUPPRESSED, ClassRecoding
from discreet.model.option import Option, OptionKind, option
from discreet.verbs.models.model_registry import MODELS
from discreet.verbs.models.recoding_model import Found, Model, Task

__all__ = [
    "SUPPRESSED",
    "Attack",
    "AttackInput",
    "AttackRequirement",
    "Better",
    "ClassRecoding",
    "EngineDeclaration",
    "Finding",
    "Found",
    "FoundTable",
    "Metric",
    "Model",
    "NamedCost",
    "NodeStatistics",
    "NodesStatistics",
    "Option",
    "OptionKind",
    "ReleasePair",
    "Summary",
    "Task",
    "classes_to_recoding",
    "finding",
    "node_cost",
    "option",
    "register_attack",
    "register_cost",
    "register_engine",
    "register_metric",
    "register_model",
]

AnyAttack = TypeVar("AnyAttack", bound=type[Attack])
AnyModel = TypeVar("AnyModel", bound=type[Model])


def register_model(model: AnyModel) -> AnyModel:
    """Add a recoding model and return it, so that this function can be used as a class decorator.

    Raises ``InputError`` if the name or an alias is taken.
    """
    MODELS.register(model)
    return model


def register_metric(metric: Metric) -> Metric:
    """Add a metric of releases; raise ``InputError`` if its name is taken."""
    return METRICS.register(metric)


def register_cost(cost: NamedCost) -> NamedCost:
    """Add a cost of searches; raise ``InputError`` if its name is taken."""
    return COSTS.register(cost)


def register_attack(attack: AnyAttack) -> AnyAttack:
    """Add an attack and return it, so that this function can be used as a class decorator.

    Raises ``InputError`` if the name is taken.
    """
    ATTACKS.register(attack)
    return attack
