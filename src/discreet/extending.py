"""What a script or a package adds a model, a metric, a cost, an attack or an engine with.

``docs/extending.md`` has a recipe of each.

What is registered is everywhere: in ``--help``, in Python, in forms, pages and reports. An installed package
is found by an entry point in the group ``discreet.models``, ``discreet.metrics``, ``discreet.costs``,
``discreet.attacks`` or ``discreet.engines``; its object is what is registered, or the module that registers
it. What an engine is made of lies in ``discreet.engines``; criteria have ``discreet.criteria``.
"""

from __future__ import annotations

from typing import TypeVar

from discreet.attacks import finding
from discreet.attacks.declaration import Attack, Grounds, Need
from discreet.attacks.finding import Finding, FoundTable
from discreet.attacks.registry import ATTACKS
from discreet.engines.declaration import EngineDeclaration
from discreet.engines.registry import register_engine
from discreet.frequency.class_summary import Summary, classes_to_recoding
from discreet.measures.generalized_table import ReleasePair
from discreet.measures.metrics import METRICS, Better, Metric
from discreet.measures.named_costs import COSTS, NamedCost, node_cost
from discreet.measures.node_statistics import NodesStatistics, NodeStatistics
from discreet.model.class_recoding import SUPPRESSED, ClassRecoding
from discreet.model.option import Option, OptionKind, option
from discreet.verbs.models.recoding_model import MODELS, Found, Model, Task

__all__ = [
    "SUPPRESSED",
    "Attack",
    "Better",
    "ClassRecoding",
    "EngineDeclaration",
    "Finding",
    "Found",
    "FoundTable",
    "Grounds",
    "Metric",
    "Model",
    "NamedCost",
    "Need",
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
    """Add a recoding model, which is returned: it can stand above the class as a decorator.

    ``InputError`` where its name or an alias is taken.
    """
    MODELS.register(model)
    return model


def register_metric(metric: Metric) -> Metric:
    """Add a metric of releases; ``InputError`` where its name is taken."""
    return METRICS.register(metric)


def register_cost(cost: NamedCost) -> NamedCost:
    """Add a cost of searches; ``InputError`` where its name is taken."""
    return COSTS.register(cost)


def register_attack(attack: AnyAttack) -> AnyAttack:
    """Add an attack, which is returned: it can stand above the class as a decorator.

    ``InputError`` where its name is taken.
    """
    ATTACKS.register(attack)
    return attack
