"""Counting the people of groups again, before their values change places: afterwards nobody could.

What is counted are the people and values of the source, by a matching that shares nothing with the one that
found the groups.
"""

from __future__ import annotations

import numpy as np

from discreet.audit.representatives import most_representatives
from discreet.errors import RequirementNotMet
from discreet.model.permutation import GroupRequirement
from discreet.release.held import Chosen, HeldRows
from discreet.sql import permuted as sql

_PERSON = "person"


def count_people(held: HeldRows, chosen: Chosen, requirement: GroupRequirement) -> None:
    """Raise ``RequirementNotMet`` where a group has no k people with k different values.

    Nothing is counted where each row is a person.
    """
    if held.subject is None:
        return
    rows = np.arange(held.rows) if chosen.rows is None else chosen.rows
    groups = chosen.partition.groups
    grouped = held.tables.load({sql.ROW: rows, sql.GROUP: groups, sql.CODE: held.sensitive.codes[rows]})
    found = held.engine.fetch_arrays(sql.carriers_of_groups(held.table, grouped, held.subject, _PERSON))
    held.tables.drop(grouped)
    persons: dict[int, dict[int, list[int]]] = {}
    triples = zip(*(found[name].tolist() for name in (sql.GROUP, sql.CODE, _PERSON)), strict=True)
    for group, value, person in triples:
        persons.setdefault(group, {}).setdefault(person, []).append(value)
    met = sum(
        most_representatives(list(of.values()), requirement.k) >= requirement.k for of in persons.values()
    )
    count = len(np.unique(groups))
    if met < count:
        raise RequirementNotMet(
            f"{count - met} of {count} groups have fewer than {requirement.k} people with different values",
            advice="Nothing was published. Please report this, with the spec if you may show it.",
        )
