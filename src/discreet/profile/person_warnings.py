"""Warnings and comments about columns that identify persons: one wording for every verb."""

from __future__ import annotations

import json
from collections.abc import Sequence

from discreet.model.coded_warning import FEW_PEOPLE, CodedWarning
from discreet.profile.person_keys import PersonKey, PersonKeys


def warnings_of_people(people: PersonKeys) -> list[str]:
    """What to know before there is a spec: which column becomes the subject, or could be it."""
    person = people.person
    found = []
    if person is not None and person.can_be_subject:
        found.append(
            f"{_repeats(person)} {_same(person)} the same within each value, so it identifies people: the "
            f"spec says subject = {_toml(person.column)} in [source], and k counts people and not rows."
        )
    elif person is not None:
        found.append(_incomplete(person))
    if people.units:
        groups = "groups" if len(people.units) == 1 else "group"
        found.append(
            f"{_in_words(people.units)} {groups} people, as households do: who finds one member has found "
            "the others. discreet attack --by households measures that."
        )
    return found + [repeating_key(key) for key in people.suspected]


def repeating_key(key: PersonKey) -> CodedWarning:
    """That a column repeats and nothing says whether its values or the rows are people."""
    if not key.can_be_subject:
        return _incomplete(key)
    if key.by_rows:
        told = f"{_repeats(key)} {_same(key)} the same within each value, so it identifies people: set"
    else:
        told = f"{_repeats(key)} If it names the person, set"
    return CodedWarning(
        FEW_PEOPLE,
        f"{told} subject = {_toml(key.column)} in [source], so that k counts people and not rows. Where each "
        "row is a person, set rows_are_people = true there.",
    )


def people_not_counted(key: PersonKey, why: str) -> CodedWarning:
    """That nobody counted how many different values of a key the groups contain."""
    return CodedWarning(FEW_PEOPLE, f"{repeating_key(key)} Groups were not counted by it: {why}.")


def comments_of_people(people: PersonKeys) -> dict[str, tuple[str, ...]]:
    """Comments of a spec, by the key of ``[source]`` above which they stand; "" is behind the last key."""
    person, first = people.person, people.first
    if person is not None and person.can_be_subject:
        told = (
            f"The person: {person.filled:,} rows have {person.values:,} values, {_same(person)} the same "
            "within each.",
            "k counts people. Where each row is a person, write rows_are_people = true, and the reason.",
        )
        return {"subject": told}
    if first is None:
        return {}
    known = (
        f"'{first.column}' repeats: {first.filled:,} rows have {first.values:,} values. Say who a person is:",
        f"subject = {_toml(first.column)}",
        "rows_are_people = true",
    )
    return {"": known}


def _incomplete(key: PersonKey) -> CodedWarning:
    return CodedWarning(
        FEW_PEOPLE,
        f"{_repeats(key)} It identifies people, and {key.nulls:,} rows have no value of it: fill or remove "
        f"these, then set subject = {_toml(key.column)} in [source], so that k counts people and not rows.",
    )


def _repeats(key: PersonKey) -> str:
    counted = f"{key.filled:,} rows have {key.values:,} values, one of them {key.most:,} times"
    return f"'{key.column}' repeats: {counted}."


def _same(key: PersonKey) -> str:
    return f"{_in_words(key.traits)} {'is' if len(key.traits) == 1 else 'are'}"


def _toml(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


def _in_words(names: Sequence[str]) -> str:
    quoted = [f"'{name}'" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
