"""Arguments of anjana's and pycanon's functions as a spec's mapping and as keywords of an audit.

Hierarchies of other tools may end in several values; ``add_top`` then appends ``*``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.errors import InputError
from discreet.hierarchy.messages import quote_value, quote_values
from discreet.model.hierarchy import TOP
from discreet.model.table_spec import AttributeRole


@dataclass(frozen=True)
class ForeignHierarchy:
    """Rows, leaf first, that end in one value; ``highest`` is the other tool's last level.

    ``top_added`` is true if the last value was added here, so that the other tool never generalizes to it.
    """

    rows: tuple[tuple[str, ...], ...]
    highest: int
    top_added: bool


def add_top(rows: Sequence[Sequence[str]]) -> ForeignHierarchy:
    """Append ``*`` to rows of equal length, unless they already end in one value above the leaves.

    >>> add_top([("23", "20-29"), ("41", "40-49")]).rows
    (('23', '20-29', '*'), ('41', '40-49', '*'))
    """
    highest = len(rows[0]) - 1
    if highest > 0 and len({row[-1] for row in rows}) == 1:
        return ForeignHierarchy(tuple(map(tuple, rows)), highest, top_added=False)
    return ForeignHierarchy(tuple((*row, TOP) for row in rows), highest, top_added=True)


ColumnLevels = Mapping[int, Iterable[object]]
"""Levels of one column; each has a value per row of the table, or per distinct value."""


def anjana(
    quasi_ident: Sequence[str],
    hierarchies: Mapping[str, ColumnLevels],
    *,
    ident: Sequence[str] = (),
    sens_att: str | Sequence[str] | None = None,
    k: int | None = None,
    l_div: int | None = None,
    supp_level: float | None = None,
) -> dict[str, Any]:
    """Return the spec of arguments of anjana's functions, for ``discreet.open(frame, …)``.

    The arguments have anjana's names: ``hierarchies`` maps a column to its levels, each a list as long as the
    first, ``supp_level`` is a percentage from 0 to 100. A column is generalized at most to the highest level
    that anjana knows, and is unchanged if it has none. Raises ``InputError`` for columns with two roles, and
    for levels that contradict each other.

    >>> anjana(["sex"], {"sex": {0: ["F", "M"], 1: ["*", "*"]}}, k=2, supp_level=5)["request"]
    {'k': 2, 'max_suppressed': '5%', 'max_level': {'sex': 1}}
    """
    sensitive = [sens_att] if isinstance(sens_att, str) else list(sens_att or ())
    attributes: dict[str, dict[str, Any]] = {}
    for role, names in (
        (AttributeRole.IDENTIFIER, ident),
        (AttributeRole.QUASI_IDENTIFIER, quasi_ident),
        (AttributeRole.SENSITIVE, sensitive),
    ):
        for name in names:
            if name in attributes:
                raise InputError(
                    f"column {quote_value(name)} is named twice", allowed="one role for each column"
                )
            attributes[str(name)] = {"role": str(role)}
    max_level = {str(name): 0 for name in quasi_ident}
    for name, levels in hierarchies.items():
        if name in max_level:
            found = _hierarchy_of_levels(name, levels)
            attributes[name]["hierarchy"] = {"kind": "levels", "rows": [list(row) for row in found.rows]}
            max_level[name] = found.highest
    request = {
        "k": k,
        "l": l_div,
        "max_suppressed": None if supp_level is None else f"{supp_level}%",
        "max_level": max_level,
    }
    entry = {key: value for key, value in request.items() if value is not None}
    return {"attributes": attributes, "request": entry}


def pycanon(quasi_ident: Sequence[str], sens_att: Sequence[str] = ()) -> dict[str, list[str]]:
    """Return arguments of pycanon's functions as keywords of ``discreet.audit`` and ``discreet.attack``.

    >>> pycanon(["age", "sex"], ["disease"])
    {'quasi_identifiers': ['age', 'sex'], 'sensitive': ['disease']}
    """
    return {
        "quasi_identifiers": [str(name) for name in quasi_ident],
        "sensitive": [str(name) for name in sens_att],
    }


def _hierarchy_of_levels(column: str, levels: ColumnLevels) -> ForeignHierarchy:
    """Return the levels as distinct rows; raise ``InputError`` if a value has two."""
    if not levels or sorted(levels) != list(range(len(levels))):
        raise InputError(
            f"levels {quote_values(sorted(levels))} of {quote_value(column)}",
            allowed="0, 1, 2, … without a gap",
        )
    values = [list(levels[level]) for level in range(len(levels))]
    if len({len(level) for level in values}) > 1:
        lengths = ", ".join(f"{len(level):,}" for level in values)
        raise InputError(
            f"levels of {quote_value(column)} with {lengths} values", allowed="as many in each level"
        )
    rows: dict[str, tuple[str, ...]] = {}
    for row in zip(*values, strict=True):
        if not _is_missing(row[0]):
            texts = tuple(str(value) for value in row)
            if rows.setdefault(texts[0], texts) != texts:
                raise InputError(
                    f"column {quote_value(column)}: the value {quote_value(texts[0])} becomes "
                    f"{quote_values(rows[texts[0]][1:])} in one row and {quote_values(texts[1:])} in another",
                    allowed="one path of each value",
                )
    if not rows:
        raise InputError(f"the hierarchy of {quote_value(column)} has no value")
    return add_top(list(rows.values()))


def _is_missing(value: object) -> bool:
    return value is None or value != value
