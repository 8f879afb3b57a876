"""The order of trials: every feature that a registry declares occurs within one cycle.

A trial's seed determines its turn (``seed % TURNS``) and all other draws: one number repeats it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from discreet.model.identifiers.methods import known_methods
from discreet.model.request import RowOrder
from discreet.model.table_spec import NullPolicy
from discreet.spec.hierarchy_tables import HIERARCHY_TABLES
from discreet.verbs.models.model_registry import MODELS
from tests.fuzz import conditions, model_options
from tests.fuzz.cases import HOSTILE, LEVELS, NEGOTIATED, Trial
from tests.fuzz.columns import RULES
from tests.fuzz.definitions import DEFINED
from tests.fuzz.files import missing_formats, release_formats, source_formats
from tests.fuzz.journeys import JOURNEYS, OWN_TABLES
from tests.fuzz.mutations import FORGERIES, ROWS, features_of_mutations
from tests.fuzz.trial_drawing import Wants, trial_of

TURNS = 1000
"""An upper bound of a cycle's length."""
_FIRST = (NEGOTIATED, LEVELS, "full-domain")
_OTHERS = tuple(name for name in JOURNEYS if name not in ("publish", HOSTILE))
_CRITERIA = sorted(conditions.features_of_criteria(), key=lambda name: name.count(" "))
_MODELS = sorted(model_options.features_of_models(), key=lambda name: name.count(" "))
_WAYS = tuple(known_methods())
_JOURNEY_EVERY = 5
CYCLE = 2 * len(_MODELS) * _JOURNEY_EVERY // (_JOURNEY_EVERY - 1) + 1
"""Number of trials that cover every feature, unless one is refused."""


def wants_of(turn: int) -> Wants:
    """Return the plan's choices for a turn; every fifth turn takes another journey than to publish."""
    block, place = divmod(turn % CYCLE, _JOURNEY_EVERY)
    if place == _JOURNEY_EVERY - 1:
        return _choices(block) | {"journey": _OTHERS[block % len(_OTHERS)]}
    return _choices(block * (_JOURNEY_EVERY - 1) + place)


def _choices(turn: int) -> dict[str, str]:
    """Take turns among all lists; their lengths differ, so that every two entries meet in time."""
    round_of, odd = divmod(turn, 2)
    wants = {"criterion": _CRITERIA[(round_of + odd * len(_CRITERIA) // 2) % len(_CRITERIA)]}
    wants["model"] = _MODELS[round_of % len(_MODELS)] if odd else f"model {_FIRST[round_of % len(_FIRST)]}"
    wants["hierarchy"] = list(RULES)[turn % len(RULES)]
    wants["evaluator"] = "kernels" if turn % 7 in (1, 4) else "twin"
    if turn % 3 == 1:
        wants["source"] = source_formats()[turn // 3 % len(source_formats())]
    if turn % 3 == 0:
        wants["release"] = release_formats()[turn // 3 % len(release_formats())]
    wants["mutation"], wants["forgery"] = list(ROWS)[turn % len(ROWS)], list(FORGERIES)[turn % len(FORGERIES)]
    wants["suppressed"] = ("drop", "star", "drop")[turn % 3]
    wants["order"] = str(list(RowOrder)[turn // 2 % len(RowOrder)])
    wants["nulls"] = str(list(NullPolicy)[turn // 3 % len(NullPolicy)])
    return wants | _people(turn)


def _people(turn: int) -> dict[str, str]:
    """Choose identifiers, subjects, shifted dates, weights and the command line."""
    found = {}
    if turn % 5 in (1, 3):
        found["way"] = _WAYS[turn // 5 % len(_WAYS)]
    if turn % 12 == 2 or turn % 10 == 6:
        found |= {"subject": "yes", "shift": "yes"}
    if turn % 10 in (0, 4):
        found["people"] = "yes"
    if turn % 7 == 2:
        found["weight"] = "yes"
    if turn % 7 == 5:
        found["command"] = "yes"
    if turn % 7 == 3:
        found["survey"] = "yes"
    return found


def planned(seed: int) -> Trial:
    """Return the trial of a seed."""
    return trial_of(seed, wants_of(seed % TURNS))


def seeds(base: int) -> Iterator[int]:
    """Yield seeds turn by turn, each cycle with other draws."""
    while True:
        yield from range(base * TURNS, base * TURNS + CYCLE)
        base += 1


def declared() -> list[str]:
    """List every feature that the registries, the engines and the spec declare."""
    return [
        *conditions.features_of_criteria(),
        *model_options.features_of_models(),
        *(f"release {name}" for name in release_formats()),
        *(f"source {name}" for name in source_formats()),
        *(f"hierarchy {name}" for name in ("none", *HIERARCHY_TABLES)),
        *(f"way {name}" for name in _WAYS),
        *(f"order {name}" for name in RowOrder),
        *(f"nulls {name}" for name in NullPolicy),
        *(f"suppressed {name}" for name in ("drop", "star")),
        *(f"evaluator {name}" for name in ("kernels", "twin")),
        *(f"journey {name}" for name in JOURNEYS if name != HOSTILE),
        *features_of_mutations(),
        *("subject", "shift", "weight", "survey", "population", "command"),
    ]


def undrawable() -> list[str]:
    """Name each declared feature for which the fuzz has no value, no definition, or no format."""
    kinds = [f"hierarchy {name}" for name in HIERARCHY_TABLES if name not in RULES]
    defined = [f"definition of {name}" for name in conditions.VALUES if name not in DEFINED]
    found = [*conditions.missing_values(), *model_options.missing_options(), *missing_formats()]
    return [*found, *kinds, *defined]


def features_of(trial: Trial) -> list[str]:
    """List the features of a trial."""
    if trial.journey in OWN_TABLES:
        return [f"journey {trial.journey}"]
    found = [feature for condition in trial.conditions for feature in conditions.features_of(condition)]
    if trial.journey == "publish":
        found += model_options.features_of_options(trial.model, trial.options)
    kinds = [column.hierarchy["kind"] if column.hierarchy else "none" for column in trial.keys]
    found += [f"hierarchy {kind}" for kind in kinds]
    found += [f"release {trial.release}", f"source {trial.source}", f"journey {trial.journey}"]
    found += [f"order {trial.order}", f"nulls {'drop' if trial.drop_nulls else 'value'}"]
    found += [f"suppressed {'star' if trial.star else 'drop'}"]
    found += [f"evaluator {'kernels' if trial.kernels else 'twin'}"]
    for column in trial.columns:
        found += (
            [f"way {column.more['pseudonymization']['method']}"] if "pseudonymization" in column.more else []
        )
        found += [name for name in ("date_shift", "weight") if name in column.more]
    found += ["subject"] if trial.subject is not None else []
    found += ["population"] if trial.people else []
    found += ["survey"] if trial.survey else []
    return found + (["command"] if trial.command else [])


def uncovered(covered: Iterable[str]) -> list[str]:
    """Name each declared feature that no published trial has."""
    done = set(covered)
    return [feature for feature in declared() if feature not in done]


def _writer_of(release: str) -> str:
    """Return the first model that writes a format."""
    return next((model.name for model in MODELS if f".{release}" in model.formats), _FIRST[0])


def seed_for(feature: str, number: int) -> tuple[int, Wants]:
    """Return a further seed, and wants, for a feature that a cycle has not covered."""
    kind, _, rest = feature.partition(" ")
    wants = dict(wants_of(number))
    if kind in ("criterion", "model"):
        wants |= {"criterion": "criterion k", "model": f"model {_FIRST[number % 2]}", kind: feature}
        wants.pop("journey", None)
    elif rest:
        wants[kind] = rest
        if kind == "release":
            wants["model"] = f"model {_writer_of(rest)}"
    else:
        wants[{"population": "people"}.get(kind, kind)] = "yes"
    return number, wants
