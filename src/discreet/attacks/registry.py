"""Registry of attacks, and the selection of attacks and options by name.

Attack modules are imported when the registry is first read, so that commands without an attack do not load
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from discreet.attacks.declaration import Attack
from discreet.errors import InputError
from discreet.model.option import option_names
from discreet.model.registry import Registry

AttackSelection: TypeAlias = str | Attack | Sequence[str | Attack] | None
"""Attacks as a user selects them: one name or instance, or several."""

ALL_ATTACKS = "all"
"""Name that selects every attack that can be tried."""

REPORT_ATTACKS = "reported"
"""Name that selects every attack that a report tries by default (``Attack.in_report``)."""


def _builtin_attacks() -> Iterable[type[Attack]]:
    from discreet.attacks.attribute_disclosure import BackgroundKnowledge, Skewness
    from discreet.attacks.column_sets import ColumnSets
    from discreet.attacks.composition import Intersection
    from discreet.attacks.control_set import ControlSet
    from discreet.attacks.downcoding import Downcoding
    from discreet.attacks.households import Households
    from discreet.attacks.minimality import Minimality
    from discreet.attacks.population_risk import PopulationUniques, SurveyWeights
    from discreet.attacks.probabilistic_linkage import LinkageWithErrors
    from discreet.attacks.suda import Suda

    return (
        ColumnSets,
        Suda,
        PopulationUniques,
        SurveyWeights,
        Skewness,
        BackgroundKnowledge,
        Minimality,
        Downcoding,
        Households,
        ControlSet,
        LinkageWithErrors,
        Intersection,
    )


ATTACKS: Registry[type[Attack]] = Registry("attack", "discreet.attacks", Attack, _builtin_attacks)
"""Attack classes by name."""


def select_attacks(
    selection: AttackSelection, options: Mapping[str, object] | None = None
) -> tuple[tuple[Attack, ...], bool]:
    """Return the selected attacks, with options by name, and whether each was selected by name.

    ``all`` selects every attack, ``reported`` those of a report. Raise ``InputError`` for a name that no
    attack has, and for an option that no selected attack has.
    """
    listed = [selection] if isinstance(selection, str | Attack) else list(selection or ())
    values = {name: value for name, value in (options or {}).items() if value is not None}
    words = {each for each in listed if isinstance(each, str)} & {ALL_ATTACKS, REPORT_ATTACKS}
    kinds: list[Attack | type[Attack]] = []
    if words:
        kinds += [kind for kind in ATTACKS if ALL_ATTACKS in words or kind.in_report]
    kinds += [
        each if isinstance(each, Attack) else ATTACKS.named(each)
        for each in listed
        if isinstance(each, Attack) or each not in words
    ]
    known = {each.name for kind in kinds for each in kind.options()}
    strange = next((name for name in values if name not in known), None)
    if strange is not None:
        raise InputError(
            f"'{strange.replace('_', '-')}' does not apply to {_join_names(kinds)}",
            allowed=option_names(sorted(known)),
        )
    found: dict[str, Attack] = {}
    for kind in kinds:
        found[kind.name] = kind if isinstance(kind, Attack) else _create_attack(kind, values)
    return tuple(found.values()), not words


def _create_attack(kind: type[Attack], values: Mapping[str, object]) -> Attack:
    return kind(**{each.name: values[each.name] for each in kind.options() if each.name in values})


def _join_names(kinds: Sequence[Attack | type[Attack]]) -> str:
    return ", ".join(kind.name for kind in kinds) or "an attack without a name of its own"
