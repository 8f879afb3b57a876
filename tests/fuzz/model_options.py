"""The options of every recoding model: a plausible setting for each option that a model declares."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from discreet.model.option import OptionKind
from discreet.verbs.models.model_registry import MODELS
from tests.fuzz.cases import LEVELS, NEGOTIATED, Column
from tests.fuzz.conditions import ILL, WAGE

EXEMPT = {
    ("patterns", "class_test"): "publish refuses it, since no manifest records it",
    ("patterns", "patterns"): "a file of the other options",
}
"""Options that no release can be made with, each with the reason."""


Setting = Callable[[Random, list[str]], Mapping[str, Any]]
"""Function of a generator and the names of the quasi-identifiers that returns options."""


def _any_pattern(pattern: Any) -> bool:
    return len(pattern.starred) >= 0


def _vectors(_: Random, keys: list[str]) -> Mapping[str, Any]:
    width = len(keys)
    return {"pattern": ["." * width, "*" * width, "." * (width - 1) + "*"], "max_stars": None}


SETTINGS: Mapping[tuple[str, str], Setting] = {
    ("ordered-multi-dimension", "workload"): lambda *_: {"workload": "workload.toml"},
    ("relaxed-multi-dimension", "workload"): lambda *_: {"workload": "workload.toml"},
    ("cell-generalization", "effort"): lambda random, _: {"effort": random.choice(("fast", 1, 2))},
    ("cell-generalization", "seed"): lambda *_: {"effort": 2, "seed": 7},
    ("cell-generalization", "time_budget"): lambda *_: {"effort": 3, "time_budget": 5.0},
    ("patterns", "pattern"): _vectors,
    ("patterns", "max_stars"): lambda random, _: {"max_stars": random.choice((1, 1, 2))},
    ("patterns", "keep"): lambda _, keys: {"keep": keys[-1:]},
    ("patterns", "always_generalize"): lambda _, keys: {"always_generalize": keys[-1:]},
    ("patterns", "generalize_together"): lambda _, keys: (
        {"generalize_together": [keys[:2]]} if len(keys) > 1 else {}
    ),
    ("patterns", "exclusive"): lambda _, keys: {"exclusive": [keys[:2]]} if len(keys) > 1 else {},
    ("patterns", "custom"): lambda *_: {"custom": _any_pattern},
    ("patterns", "time_limit"): lambda *_: {"method": "exact", "time_limit": 20.0},
    ("patterns", "weights"): lambda _, keys: {"weights": {keys[0]: 2.0}},
    ("permutation", "e"): lambda random, _: {"e": random.choice((1, 2, 5)), "sensitive": WAGE},
    ("permutation", "sensitive"): lambda random, _: {"sensitive": random.choice((ILL, WAGE))},
    ("permutation", "cut_along"): lambda _, keys: {"partition": "qi-aware", "near": keys[:1]},
    ("permutation", "level"): lambda _, keys: {"level": {keys[0]: 1}},
    ("permutation", "first_group"): lambda *_: {"first_group": (3, 1), "sensitive": WAGE},
    ("permutation", "recoding"): lambda *_: {"partition": "recoding", "recoding": "mondrian"},
    ("permutation", "merge_failing"): lambda *_: {"partition": "recoding", "merge_failing": True},
    ("ordered-single-dimension", "time_limit"): lambda *_: {
        "method": "optimal",
        "time_limit": 20.0,
    },
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


def options_of(random: Random, feature: str, columns: Sequence[Column]) -> dict[str, Any]:
    """Return the options that cover a feature: only a model, one of its options, or a choice."""
    _, model, *rest = feature.split(" ")
    own = {"sensitive": random.choice((ILL, WAGE))} if model == "permutation" else {}
    if not rest:
        return own
    name, _, choice = rest[0].partition("=")
    if choice:
        return own | {name: choice} | dict(_WITH.get((model, name, choice), {}))
    keys = [column.name for column in columns if column.role == "quasi-identifier"]
    found = own | dict(SETTINGS[model, name](random, keys))
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
