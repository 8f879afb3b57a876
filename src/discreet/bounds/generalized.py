"""Bounds from cells that may stand for several values (Zhang et al. 2007, Theorem 2).

Each row shows labels; a row meets the condition surely where every combination of values that its labels may
stand for does, possibly where some do. Which of a group's sensitive values the rows have that meet it is not
known in a permuted release; in a release of equivalence classes rows with equal labels are a group, of which
all rows or none meet it surely. Both are one case (``bounds.value_groups``), so for one partition these
bounds contain those of the permuted release.

A row belongs to a key's group surely or possibly in the same way: the condition AND key = value. Every group
that some row may belong to is answered. Suppressed rows are left out.

Estimates spread each row evenly over the values that its labels stand for, independently
(``workload.answer``).
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from discreet.bounds.answer import BoundRow, Key
from discreet.bounds.opening import OpenRelease
from discreet.bounds.regions import Evaluator, check_groups
from discreet.bounds.units import Units, units_of
from discreet.bounds.value_groups import Bounds
from discreet.engines.scratch import TemporaryTables
from discreet.model.leaf_order import decimal_of
from discreet.queries.asked import AskedQuery
from discreet.queries.condition import Condition
from discreet.queries.parting import parted
from discreet.queries.region import Box

_Line = tuple[tuple[Key, ...], str, Bounds]


def answer_by_cells(release: OpenRelease, asked: AskedQuery) -> tuple[tuple[BoundRow, ...], tuple[str, ...]]:
    """The answers of a query whose columns were read as texts, and what was taken for granted for them.

    Keys are in ascending order, NULL last. Raises ``InputError`` for a generalized column whose labels do not
    tell what is asked, an aggregate of texts that are no numbers, a comparison of too many combinations of
    values, or a key of too many values.
    """
    units = units_of(release, asked)
    with TemporaryTables(release.engine) as tables:
        evaluator = Evaluator(release.engine, tables, units.domains)
        answers = _of_rows if units.permuted is None else _of_both
        found = list(answers(units, asked, evaluator))
    numbers = {group: place for place, group in enumerate(_in_order({line[0] for line in found}, asked))}
    rows = tuple(
        BoundRow.of(group, title, *bounds)
        for group, title, bounds in sorted(found, key=lambda line: numbers[line[0]])
    )
    notes = tuple(meaning.note for meaning in units.meanings.values() if meaning.note is not None)
    return rows, notes


def _of_rows(units: Units, asked: AskedQuery, evaluator: Evaluator) -> Iterator[_Line]:
    """The answers where what rows show says whether they meet the condition, or may."""
    for group, part in evaluator.by_key(_region(evaluator, asked.condition), asked.keys):
        selected, meeting = units.selected(part), units.meeting(part)
        most = int(selected.possible.sum()) if meeting is None else meeting.counts[1]
        if asked.keys and not most:
            continue
        for aggregate in asked.aggregates:
            yield group, aggregate.title, units.bounds(aggregate, part, selected, meeting)


def _of_both(units: Units, asked: AskedQuery, evaluator: Evaluator) -> Iterator[_Line]:
    """The answers where the condition or a key names the permuted column too."""
    values = units.permuted
    assert values is not None
    shown, hidden = parted(asked, values.name)
    regions = list(evaluator.by_key(_region(evaluator, shown.condition), shown.keys))
    of_values = list(evaluator.by_key(_region(evaluator, hidden.condition), hidden.keys))
    check_groups(len(regions) * len(of_values))
    for own, part in regions:
        selected = units.selected(part)
        for other, region in of_values:
            meets = values.meeting(region)
            if asked.keys and not values.selected(selected, meets).possible.any():
                continue
            keys = dict(zip((*shown.places, *hidden.places), (*own, *other), strict=True))
            group = tuple(keys[place] for place in range(len(keys)))
            for aggregate in asked.aggregates:
                yield group, aggregate.title, units.hidden_bounds(aggregate, part, selected, meets)


def _region(evaluator: Evaluator, condition: Condition | None) -> list[Box]:
    return [{}] if condition is None else evaluator.region(condition)


def _in_order(groups: set[tuple[Key, ...]], asked: AskedQuery) -> list[tuple[Key, ...]]:
    """Groups in the order asked, then by their keys; NULL last."""
    found = sorted(groups, key=lambda group: [(key is None, _comparable(key)) for key in group])
    for place, descends in reversed(asked.order):
        known = [group for group in found if group[place] is not None]
        nulls = [group for group in found if group[place] is None]
        known.sort(key=lambda group, place=place: _comparable(group[place]), reverse=descends)  # type: ignore[misc]
        found = [*known, *nulls]
    return found


def _comparable(key: Key) -> tuple[bool, Decimal, str]:
    """Numbers by what they are, as texts too, before other texts."""
    number = decimal_of(key) if isinstance(key, str) else Decimal(key or 0)
    return (number is None, number or Decimal(0), key if isinstance(key, str) else "")
