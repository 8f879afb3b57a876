"""The options of every recoding model: a plausible setting for each option that a model declares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from discreet.model.option import OptionKind
from discreet.verbs.models.model_registry import MODELS
from tests.fuzz.cases import Column
from tests.fuzz.conditions import ILL, WAGE

NEGOTIATED, LEVELS = "negotiated", "levels"
"""Requests that are published without a model: a negotiation's answer, and levels by attribute."""
Columns = list[Column]
Setting = Callable[[Random, Columns], Mapping[str, Any]]

EXEMPT = {
    ("patterns", "class_test"): "publish refuses it, since no manifest records it",
    ("patterns", "patterns"): "a file of the other options",
}
"""Options that no release can be made with, each with the reason."""


def _names(columns: Columns) -> list[str]:
    return [column.name for column in columns if column.role == "quasi-identifier"]


def _vectors(random: Random, columns: Columns) -> Mapping[str, Any]:
    width = len(_names(columns))
    return {"pattern": ["." * width, "*" * width, "." * (width - 1) + "*"], "max_stars": None}


def _always(**options: Any) -> Setting:
    """Return the same options for all draws."""

    def setting(random: Random, columns: Columns) -> Mapping[str, Any]:
        return options

    return setting


def _one_of(name: str, values: tuple[Any, ...], **more: Any) -> Setting:
    """Return one of some values, and further options."""

    def setting(random: Random, columns: Columns) -> Mapping[str, Any]:
        return {name: random.choice(values), **more}

    return setting


def _group(name: str) -> Setting:
    def setting(random: Random, columns: Columns) -> Mapping[str, Any]:
        names = _names(columns)
        return {name: [names[:2]]} if len(names) > 1 else {}

    return setting


def _one(name: str) -> Setting:
    def setting(random: Random, columns: Columns) -> Mapping[str, Any]:
        return {name: [_names(columns)[-1]]}

    return setting


def _exact(random: Random, columns: Columns) -> Mapping[str, Any]:
    return {"method": "exact", "time_limit": 20.0}


def _any_pattern(pattern: Any) -> bool:
    return len(pattern.starred) >= 0


def _custom(random: Random, columns: Columns) -> Mapping[str, Any]:
    return {"custom": _any_pattern}


def _weights(random: Random, columns: Columns) -> Mapping[str, Any]:
    return {"weights": {_names(columns)[0]: 2.0}}


def _near(random: Random, columns: Columns) -> Mapping[str, Any]:
    return {"partition": "qi-aware", "near": _names(columns)[:1]}


def _level(random: Random, columns: Columns) -> Mapping[str, Any]:
    return {"level": {_names(columns)[0]: 1}}


SETTINGS: Mapping[tuple[str, str], Setting] = {
    ("ordered-multi-dimension", "workload"): _always(workload="workload.toml"),
    ("relaxed-multi-dimension", "workload"): _always(workload="workload.toml"),
    ("cell-generalization", "effort"): _one_of("effort", ("fast", 1, 2)),
    ("cell-generalization", "seed"): _always(effort=2, seed=7),
    ("cell-generalization", "time_budget"): _always(effort=3, time_budget=5.0),
    ("patterns", "pattern"): _vectors,
    ("patterns", "max_stars"): _one_of("max_stars", (1, 1, 2)),
    ("patterns", "never"): _one("never"),
    ("patterns", "required"): _one("required"),
    ("patterns", "together"): _group("together"),
    ("patterns", "at_most_one"): _group("at_most_one"),
    ("patterns", "custom"): _custom,
    ("patterns", "time_limit"): _exact,
    ("patterns", "weights"): _weights,
    ("permutation", "e"): _one_of("e", (1, 2, 5), sensitive=WAGE),
    ("permutation", "sensitive"): _one_of("sensitive", (ILL, WAGE)),
    ("permutation", "near"): _near,
    ("permutation", "level"): _level,
    ("permutation", "first_group"): _always(first_group=(3, 1), sensitive=WAGE),
    ("permutation", "recoding"): _always(partition="recoding", recoding="mondrian"),
    ("permutation", "merge_failing"): _always(partition="recoding", merge_failing=True),
    ("ordered-single-dimension", "time_limit"): _always(method="optimal", time_limit=20.0),
}
"""Options that are not choices, by model and option."""

_WITH: Mapping[tuple[str, str, str], Mapping[str, Any]] = {
    ("ordered-single-dimension", "cost", "c-dm"): {"method": "optimal"},
    ("ordered-single-dimension", "cost", "c-avg"): {"method": "optimal"},
    ("permutation", "partition", "recoding"): {"merge_failing": True},
    ("permutation", "partition", "contiguous-min-max"): {"sensitive": WAGE},
    ("patterns", "tie", "as-given"): {},
}
"""Other options that a choice needs."""


def features_of_models() -> list[str]:
    """List every model, every option, and every choice."""
    found = [f"model {NEGOTIATED}", f"model {LEVELS}"]
    for model in MODELS:
        found.append(f"model {model.name}")
        for option in model.options():
            if (model.name, option.name) in EXEMPT:
                continue
            if option.kind is OptionKind.CHOICE:
                found += [f"model {model.name} {option.name}={choice}" for choice in option.choices]
            else:
                found.append(f"model {model.name} {option.name}")
    return found


def missing_options() -> list[str]:
    """Name each option of a model for which this module has no setting."""
    known = {*SETTINGS, *EXEMPT}
    return [
        f"model {model.name} {option.name}"
        for model in MODELS
        for option in model.options()
        if option.kind is not OptionKind.CHOICE and (model.name, option.name) not in known
    ]


def options_of(random: Random, feature: str, columns: Columns) -> dict[str, Any]:
    """Return the options that cover a feature: only a model, one of its options, or a choice."""
    _, model, *rest = feature.split(" ")
    own = {"sensitive": random.choice((ILL, WAGE))} if model == "permutation" else {}
    if not rest:
        return own
    name, _, choice = rest[0].partition("=")
    if choice:
        return own | {name: choice} | dict(_WITH.get((model, name, choice), {}))
    found = own | dict(SETTINGS[model, name](random, columns))
    return {key: value for key, value in found.items() if value is not None}


def features_of_options(model: str, options: Mapping[str, Any]) -> list[str]:
    """List the features that a published model with its options covers."""
    found = [f"model {model}"]
    if model in (NEGOTIATED, LEVELS):
        return found
    for option in MODELS.named(model).options():
        if option.kind is OptionKind.CHOICE:
            found.append(f"model {model} {option.name}={options.get(option.name, option.default)}")
        elif option.name in options:
            found.append(f"model {model} {option.name}")
    return found
