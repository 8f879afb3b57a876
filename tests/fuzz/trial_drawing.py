"""Drawing of a trial: the plan's choices are fixed, and everything else follows from the seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any

from discreet.model.criteria.registry import CRITERIA
from discreet.verbs.models.model_registry import MODELS
from tests.fuzz.cases import LEVELS, NEGOTIATED, PERMUTATION, Column, Trial
from tests.fuzz.columns import RULES, key_column, name_column, row_column, sensitive_columns, subject_column
from tests.fuzz.conditions import VALUES, condition_of
from tests.fuzz.files import FRAMES, WITHOUT_NULL
from tests.fuzz.model_options import options_of
from tests.fuzz.mutations import FORGERIES, ROWS

LATER = ("apply", "lock", "after")
"""Journeys of several releases, which are published by levels."""
GIVEN = ("file", "levels", "intervals", "dates", "taxonomy", "order")
"""Hierarchies that do not depend on the data, so that their levels mean the same for other rows."""

PLAIN = ("protected", "faulty")
"""Journeys of plain files."""

BY_LEVELS = (NEGOTIATED, LEVELS, "full-domain")
"""Models that support every criterion, and a population."""
_OF_K = ("exact", "fixed-parameter", "matching", "optimal")
"""Methods that support only k."""
_NOTHING_SUPPRESSED = ("full-subtree", "ordered-single-dimension", "unrestricted-single-dimension")
"""Models that support criteria that are not growing only if no row may be suppressed."""

Wants = Mapping[str, str]
"""The plan's choices: features by ``criterion``, ``model``, ``release``, ``source``, ``hierarchy``, …"""


def trial_of(seed: int, wants: Wants) -> Trial:
    """Draw the trial of a seed."""
    random = Random(f"{seed} {sorted(wants.items())}")
    model = wants.get("model", f"model {NEGOTIATED}").split(" ")[1]
    journey = wants.get("journey", "publish")
    later = journey in LATER
    model = LEVELS if later else model
    source = "csv"
    if not later and journey not in PLAIN:
        source = wants.get("source") or random.choice(("csv", "csv", "csv", "parquet", "jsonl"))
    crowded = bool(wants.get("subject"))
    number = random.choice((24, 30) if crowded else (8, 12, 16, 20, 24, 30))
    release = "csv" if journey in PLAIN else _release(random, wants, model)
    nulls = 0.0 if source in WITHOUT_NULL or release in WITHOUT_NULL else random.choice((0.0, 0.1, 0.2))
    nulls = 0.0 if source == "tsv" or crowded else nulls
    first = "file" if journey == "protected" else wants.get("hierarchy") or random.choice(list(RULES))
    kinds = [random.choice(GIVEN) if later and first not in GIVEN else first]
    kinds = ["dates" if kind == "age" and model not in BY_LEVELS else kind for kind in kinds]
    kinds += random.choices(
        ("levels", "intervals", "taxonomy", *(() if later else ("none",))),
        k=0 if crowded else 1 if model == "full-domain" else random.choice((0, 1, 1, 2)),
    )
    keys = [key_column(random, kind, i, number, nulls) for i, kind in enumerate(kinds)]
    columns = [*keys, *sensitive_columns(random, number, nulls), row_column(number)]
    trial = Trial(
        seed=seed,
        columns=tuple(columns),
        source=source,
        release=release,
        model=model,
        k=random.choice((2, 3, 3) if model == PERMUTATION else (2, 2, 2, 3)),
        limit=number * random.choice((0, 20, 40, 60, 80, 90)) // 100,
        drop_nulls=wants.get("nulls", random.choice(("value", "drop"))) == "drop",
        star=wants.get("suppressed", random.choice(("drop", "drop", "star"))) == "star",
        order=wants.get("order", random.choice(("sorted", "sorted", "random"))),
        journey=journey,
        kernels=wants.get("evaluator", "twin") == "kernels",
        options=options_of(random, wants.get("model", f"model {NEGOTIATED}"), columns),
    )
    if model == "full-domain":
        trial = replace(trial, limit=number * random.choice((60, 80, 90)) // 100)
    trial = _with_request(random, trial, wants)
    trial = _with_people(random, trial, wants)
    trial = _with_mutations(random, trial, wants)
    if later:
        few = tuple(c for c in trial.further if c.name in ("alpha", "p_sensitive") and journey != "after")
        limit = number * random.choice((30, 70, 90)) // 100
        trial = _with_levels(random, replace(trial, further=few, k=trial.k or 2, limit=limit, people=()))
    elif model == LEVELS:
        levels = {c.name: int(random.random() < 0.6) for c in trial.keys}
        trial = replace(trial, more=dict(trial.more) | {"levels": levels})
    order = list(trial.columns)
    random.shuffle(order)
    trial = replace(trial, columns=tuple(order))
    return replace(trial, command=bool(wants.get("command")) and _has_command(trial))


def _has_command(trial: Trial) -> bool:
    """Test whether the command line can publish a trial."""
    in_files = trial.source not in FRAMES and trial.release != "memory" and trial.journey == "publish"
    texts = all(isinstance(option, str | int | float) for option in trial.options.values())
    return in_files and texts and trial.levels == ({}, {}) and "workload" not in trial.options


def _release(random: Random, wants: Wants, model: str) -> str:
    wanted = wants.get("release") or random.choice(("csv", "csv", "parquet"))
    kind = MODELS.named(model if model in MODELS else "full-domain")
    formats = [name.lstrip(".") for name in kind.formats]
    if wanted == "memory" and model == PERMUTATION:
        return "csv"
    return wanted if wanted in (*formats, "memory") else "csv"


def _with_request(random: Random, trial: Trial, wants: Wants) -> Trial:
    """Draw the conditions, as many as the model supports, and the bounds of levels."""
    name, _, part = wants.get("criterion", "").removeprefix("criterion ").partition(" ")
    names = [name] if name and (trial.model in BY_LEVELS or random.random() < 0.5) else []
    if not names or random.random() < 0.4:
        names.append(random.choice(list(VALUES)))
    taken = _together(trial, [each for each in dict.fromkeys(names) if takes(trial.model, each)])
    wanted: dict[str, Any] = {}
    if part:
        key, _, value = part.partition("=")
        wanted = {key: _typed(name, key, value)}
    further = [
        condition_of(random, each, wanted if each == name else None)
        for each in taken
        if each not in ("k", "l")
    ]
    if trial.model not in BY_LEVELS:
        further = [c for c in further if not c.criterion.of_population]
    plain = trial.model == "full-domain" and random.random() < 0.5
    if trial.options.get("method") in _OF_K or trial.model == PERMUTATION or plain:
        further = []
    often = 0.7 if wants.get("subject") else 0.2
    l = (
        random.choice((2, 3, 4) if wants.get("subject") else (2, 3))
        if "l" in taken or random.random() < often
        else None
    )
    l = None if trial.options.get("method") in _OF_K or not takes(trial.model, "l") else l
    keep_k = trial.model not in BY_LEVELS or random.random() < 0.8 or not further
    trial = replace(trial, further=tuple(further), l=l, k=trial.k if keep_k else 0)
    trial = replace(trial, **_limits(trial))
    if trial.model == NEGOTIATED and random.random() < 0.4:
        low = {c.name: 1 for c in trial.keys[:1] if random.random() < 0.5}
        high = {c.name: 1 for c in trial.keys if random.random() < 0.7}
        trial = replace(trial, levels=(low, high))
    return trial


def _together(trial: Trial, names: list[str]) -> list[str]:
    """Return the criteria without a second one that suppresses classes that the first relies on."""
    of_rest = [name for name in names if CRITERIA.named(name).of_release or name == "delta_presence"]
    return [name for name in names if name not in of_rest[1:]]


def _limits(trial: Trial) -> dict[str, Any]:
    """Return the limits of k and of suppression of a model, or of its method."""
    growing = all(CRITERIA.named(c.name).growing for c in trial.conditions)
    found: dict[str, Any] = {}
    if trial.options.get("method") == "matching":
        found["k"] = 2
    if trial.options.get("cost") == "c-avg" or (trial.model in _NOTHING_SUPPRESSED and not growing):
        found["limit"] = 0
    if trial.model == "cell-suppression":
        found["further"] = tuple(c for c in trial.further if CRITERIA.named(c.name).growing)
    return found


def _typed(name: str, part: str, text: str) -> Any:
    """Convert a part's value from its text in a feature."""
    proposed = getattr(condition_of(Random(0), name).criterion, part)
    return type(proposed)(text) if isinstance(proposed, int | float) else text


def takes(model: str, name: str) -> bool:
    """Test whether a model supports a criterion at all, by the criterion's declaration."""
    kind = CRITERIA.named(name)
    if model in BY_LEVELS:
        return True
    if model in (PERMUTATION, "relaxed-multi-dimension"):
        return name == "k" or (model != PERMUTATION and name == "l")
    if model == "attribute-suppression":
        return name not in ("lkc", "k_map", "delta_presence")
    return not kind.of_release and name not in ("k_map", "delta_presence", "epsilon_m")


def _with_people(random: Random, trial: Trial, wants: Wants) -> Trial:
    """Add a population if a criterion needs one; subjects and identifiers if the plan wants them."""
    columns = list(trial.columns)
    needs = any(c.criterion.of_population for c in trial.further)
    way = _way(wants.get("way"))
    if needs or (wants.get("people") and not wants.get("subject")):
        presence = any(c.name == "delta_presence" for c in trial.further)
        number = random.choice((2, 3)) * trial.rows if presence else random.choice((6, 12, 30))
        people = tuple(
            {
                c.name: random.choice([cell for cell in c.cells if cell is not None] or [None])
                for c in trial.keys
            }
            for _ in range(number)
        )
        trial = replace(trial, people=people)
    elif wants.get("subject") and trial.model in (NEGOTIATED, LEVELS, PERMUTATION):
        only = tuple(c for c in trial.further if c.name in ("highest_risk", "attack_gain"))
        subject = subject_column(random, trial.rows, way if way and way["method"] != "mask" else None)
        columns.append(subject)
        trial = replace(trial, further=only, k=min(trial.k, 2), limit=9 * trial.rows // 10)
        if wants.get("shift") and trial.model != PERMUTATION:
            columns.append(_shifted(random, trial.rows))
    if way and (not wants.get("subject") or trial.model not in BY_LEVELS):
        columns.append(name_column(trial.rows, way))
    elif random.random() < 0.4:
        columns.append(name_column(trial.rows))
    trial = replace(trial, survey=bool(wants.get("survey")))
    if wants.get("weight") or (trial.model == "full-domain" and random.random() < 0.8):
        first = trial.keys[0]
        heavy = replace(first, more={"weight": random.choice((0.05, 20.0))})
        columns = [heavy if c is first else c for c in columns]
    return replace(trial, columns=tuple(columns))


def _way(name: str | None) -> dict[str, Any] | None:
    if name is None:
        return None
    found: dict[str, Any] = {"method": name}
    if name in ("keyed-hash", "pseudonym"):
        found["key"] = "people-key.csv"
    return found | ({"keep": 2, "end": "end"} if name == "mask" else {})


def _shifted(random: Random, number: int) -> Column:
    days = tuple(f"2024-0{random.randrange(1, 10)}-1{random.randrange(10)}" for _ in range(number))
    return Column(
        "seen", "insensitive", "text", days, None, {"date_shift": {"days": 90, "key": "shift-key.csv"}}
    )


def _with_mutations(random: Random, trial: Trial, wants: Wants) -> Trial:
    rows = wants.get("mutation") or random.choice(list(ROWS))
    forgery = wants.get("forgery") or random.choice(list(FORGERIES))
    drawn = [f"{random.choice(list(ROWS))}+honest", f"{rows}+{forgery}"]
    return replace(trial, mutations=tuple(dict.fromkeys([f"{rows}+honest", *drawn])))


def _with_levels(random: Random, trial: Trial) -> Trial:
    """Return the trial with levels to publish at, without the bounds that have no meaning then."""
    chains = trial.chains()
    heights = {name: len(next(iter(chain.values()))) - 1 for name, chain in chains.items() if chain}
    levels = {
        name: random.randint(int(height > 2), height - (random.random() < 0.7))
        for name, height in heights.items()
    }
    return replace(trial, model=LEVELS, more=dict(trial.more) | {"levels": levels})
