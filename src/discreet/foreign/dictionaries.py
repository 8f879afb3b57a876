"""The arguments of anjana's and pycanon's functions, as a spec's mapping and as an audit's keywords."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from discreet.errors import InputError
from discreet.foreign.hierarchy_rows import ForeignHierarchy, with_one_top
from discreet.hierarchy.messages import listed, shown
from discreet.model.table_spec import AttributeRole

Levels = Mapping[int, Iterable[object]]
"""The levels of one column: of each, a value per row of the table, or per distinct value."""


def anjana(
    quasi_ident: Sequence[str],
    hierarchies: Mapping[str, Levels],
    *,
    ident: Sequence[str] = (),
    sens_att: str | Sequence[str] | None = None,
    k: int | None = None,
    l_div: int | None = None,
    supp_level: float | None = None,
) -> dict[str, Any]:
    """The spec of what anjana's functions are given, for ``discreet.open(frame, …)``.

    The arguments have anjana's names: ``hierarchies`` maps a column to its levels, each a list as long as the
    first, ``supp_level`` is a percentage from 0 to 100. A column rises to the highest level that anjana knows
    of it, and stays as it is where it has none. ``InputError`` for columns with two roles, and for levels
    that contradict each other.

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
                raise InputError(f"column {shown(name)} is named twice", allowed="one role for each column")
            attributes[str(name)] = {"role": str(role)}
    max_level = {str(name): 0 for name in quasi_ident}
    for name, levels in hierarchies.items():
        if name in max_level:
            found = _hierarchy(name, levels)
            attributes[name]["hierarchy"] = {"kind": "levels", "rows": [list(row) for row in found.rows]}
            max_level[name] = found.highest
    request = {
        "k": k,
        "l": l_div,
        "max_suppressed": None if supp_level is None else f"{supp_level}%",
        "max_level": max_level,
    }
    asked = {key: value for key, value in request.items() if value is not None}
    return {"attributes": attributes, "request": asked}


def pycanon(quasi_ident: Sequence[str], sens_att: Sequence[str] = ()) -> dict[str, list[str]]:
    """What pycanon's functions are given, as keywords of ``discreet.audit`` and ``discreet.attack``.

    >>> pycanon(["age", "sex"], ["disease"])
    {'quasi_identifiers': ['age', 'sex'], 'sensitive': ['disease']}
    """
    return {
        "quasi_identifiers": [str(name) for name in quasi_ident],
        "sensitive": [str(name) for name in sens_att],
    }


def _hierarchy(column: str, levels: Levels) -> ForeignHierarchy:
    """The levels as rows, each once; ``InputError`` where a value has two."""
    if not levels or sorted(levels) != list(range(len(levels))):
        raise InputError(
            f"levels {listed(sorted(levels))} of {shown(column)}", allowed="0, 1, 2, … without a gap"
        )
    values = [list(levels[level]) for level in range(len(levels))]
    if len({len(level) for level in values}) > 1:
        lengths = ", ".join(f"{len(level):,}" for level in values)
        raise InputError(f"levels of {shown(column)} with {lengths} values", allowed="as many in each level")
    rows: dict[str, tuple[str, ...]] = {}
    for row in zip(*values, strict=True):
        if not _is_missing(row[0]):
            texts = tuple(str(value) for value in row)
            if rows.setdefault(texts[0], texts) != texts:
                raise InputError(
                    f"column {shown(column)}: the value {shown(texts[0])} becomes "
                    f"{listed(rows[texts[0]][1:])} in one row and {listed(texts[1:])} in another",
                    allowed="one path of each value",
                )
    if not rows:
        raise InputError(f"the hierarchy of {shown(column)} has no value")
    return with_one_top(list(rows.values()))


def _is_missing(value: object) -> bool:
    return value is None or value != value
