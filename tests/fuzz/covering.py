"""Whether a published cell covers a source value: an independent reading of hierarchies and of labels."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from contextlib import suppress
from decimal import Decimal

from tests.fuzz.cases import Column
from tests.fuzz.values import number_of

_DECADE = re.compile(r"(\d{3}0)-(\d{3}9)")


def covers(column: Column, texts: Collection[str | None], value: str | None, shown: str | None) -> bool:
    """Test whether ``shown`` covers ``value``, one of the column's ``texts``."""
    if shown == value or shown == "*":
        return True
    if value is None or shown is None:
        return False
    hierarchy = column.hierarchy or {"kind": "none"}
    kind = hierarchy["kind"]
    if kind == "levels" and any(row[0] == value and shown in row for row in hierarchy["rows"]):
        return True
    if kind == "mask" and _masked(value, shown, hierarchy.get("character", "*")):
        return True
    if kind in ("intervals", "auto") and _in_interval(value, shown):
        return True
    if kind in ("dates", "auto") and _in_period(value, shown):
        return True
    leaves = [*texts, *(row[0] for row in hierarchy.get("rows", ()))]
    numbered = re.sub(r" \(\d+\)$", "", shown)
    return any(_in_group(leaves, value, label) for label in dict.fromkeys((shown, numbered)))


def _masked(value: str, shown: str, character: str) -> bool:
    return len(value) == len(shown) and all(b in (a, character) for a, b in zip(value, shown, strict=True))


def _in_interval(value: str, shown: str) -> bool:
    number = number_of(value)
    if number is None:
        return False
    if found := re.fullmatch(r"(\d+)-(\d+)", shown):
        return Decimal(found[1]) <= number <= Decimal(found[2])
    if found := re.fullmatch(r"\[(\S+), (\S+)\[", shown):
        return Decimal(found[1]) <= number < Decimal(found[2])
    if found := re.fullmatch(r"([<≥])(\S+)", shown):
        return number < Decimal(found[2]) if found[1] == "<" else number >= Decimal(found[2])
    return False


def _in_period(value: str, shown: str) -> bool:
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        return False
    if found := _DECADE.fullmatch(shown):
        return found[1] <= value[:4] <= found[2]
    quarter = f"{value[:4]}-Q{(int(value[5:7]) + 2) // 3}"
    return shown in (value[:7], value[:4], quarter)


def _in_group(texts: Collection[str | None], value: str, shown: str) -> bool:
    """Test a set that contains the value, or a range whose ends are values of the column."""
    if shown.startswith("{") and shown.endswith("}"):
        return value in shown or json.dumps(value, ensure_ascii=False)[1:-1] in shown or "… (" in shown
    if found := re.fullmatch(r"\S+ \((.* … .*)\)", shown, re.DOTALL):
        shown = found[1]
    parts = shown.split(" … ")
    for cut in range(1, len(parts)):
        first, last = _end(" … ".join(parts[:cut])), _end(" … ".join(parts[cut:]))
        if first in texts and last in texts and _between(texts, value, first, last):
            return True
    return False


def _end(text: str) -> str:
    """Return an end of a range, which is quoted if it contains the sign itself."""
    if re.fullmatch(r'".*"', text, re.DOTALL):
        with suppress(ValueError):
            return str(json.loads(text))
    return text


def _between(texts: Collection[str | None], value: str, first: str, last: str) -> bool:
    """Compare by value if all values are numbers; a range does not define the order of others."""
    if any(text is not None and number_of(text) is None for text in texts):
        return True
    number, low, high = number_of(value), number_of(first), number_of(last)
    return number is not None and low is not None and high is not None and low <= number <= high
