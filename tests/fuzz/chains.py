"""Generalization in plain Python: the labels of a value, level by level, by the documented rules.

Nothing here is the program's. ``chain_of`` returns None for a hierarchy whose labels this module cannot
derive: those that depend on the whole column (``auto``) and most of the built-in ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from fractions import Fraction
from itertools import accumulate
from typing import Any

TOP = "*"
Chain = tuple[str, ...]
"""The labels of a value from level 0 to the top."""
Rule = Mapping[str, Any]
"""A hierarchy as written in the spec."""

CALENDAR = ("month", "quarter", "year", "decade")
_AGES = {"kind": "intervals", "widths": [5, 10, 20], "upper": 90}
_CUTS = ("width", "widths", "breaks", "lower", "upper", "anchor")


def chain_of(rule: Rule | None, values: Sequence[str]) -> dict[str, Chain] | None:
    """Return the chain of every value of a column; ``values`` are its distinct texts without NULL."""
    known = dict.fromkeys(values)
    if rule is None:
        return {value: (value, TOP) for value in known}
    build = _BUILDERS.get(rule["kind"])
    return None if build is None else build(rule, list(known))


def leaves_of(rule: Rule | None, values: list[str]) -> list[str]:
    """Return the leaves of a hierarchy: those that it lists, else the values of the table."""
    kind = "none" if rule is None else rule["kind"]
    if rule is None or kind not in ("file", "levels", "taxonomy", "order"):
        return values
    if kind == "taxonomy":
        return list(_paths(rule["tree"]))
    listed: list[str] = rule["values"] if kind == "order" else [row[0] for row in rule["rows"]]
    return listed


def shown_at(chains: Mapping[str, Chain], value: str | None, level: int) -> str | None:
    """Return the published cell of a value at a level; NULL stays NULL below the top."""
    if value is not None:
        return chains[value][level]
    height = len(next(iter(chains.values()))) - 1 if chains else 1
    return TOP if level == height else None


def _rows(rule: Rule, values: list[str]) -> dict[str, Chain]:
    rows = rule["rows"] if "rows" in rule else [[leaf, *above] for leaf, above in rule["leaves"].items()]
    listed = {row[0]: tuple(row) for row in rows}
    return {value: listed[value] for value in values}


def _intervals(rule: Rule, values: list[str]) -> dict[str, Chain]:
    numbers = {value: Fraction(value) for value in values}
    widths = [rule["width"]] if "width" in rule else rule.get("widths", [])
    breaks = rule.get("breaks", [])
    breaks = [breaks] if breaks and not isinstance(breaks[0], list) else breaks
    found = {value: [value] for value in values}
    levels = [[_regular(n, rule, width) for n in numbers.values()] for width in widths]
    levels += [[_irregular(n, bounds) for n in numbers.values()] for bounds in breaks]
    lows = [low for level in levels for low, _ in level if low is not None]
    dashed = all(n.denominator == 1 for n in numbers.values()) and min(lows, default=0) >= 0
    for level in levels or [[(None, None)] * len(values)]:
        for (value, number), ends in zip(numbers.items(), level, strict=True):
            found[value].append(_interval(value, number, ends, rule, dashed=dashed))
    return {value: (*labels, TOP) for value, labels in found.items()}


Ends = tuple[Fraction | None, Fraction | None]


def _regular(number: Fraction, rule: Rule, width: Any) -> Ends:
    step, anchor = Fraction(str(width)), Fraction(str(rule.get("anchor", 0)))
    low = anchor + (number - anchor) // step * step
    high = low + step
    if "lower" in rule and number >= rule["lower"]:
        low = max(low, Fraction(rule["lower"]))
    if "upper" in rule and number < rule["upper"]:
        high = min(high, Fraction(rule["upper"]))
    return low, high


def _irregular(number: Fraction, bounds: Sequence[Any]) -> Ends:
    below = [Fraction(str(bound)) for bound in bounds if Fraction(str(bound)) <= number]
    above = [Fraction(str(bound)) for bound in bounds if Fraction(str(bound)) > number]
    return (below[-1] if below else None), (above[0] if above else None)


def _interval(value: str, number: Fraction, ends: Ends, rule: Rule, *, dashed: bool) -> str:
    if "lower" in rule and number < rule["lower"]:
        return f"<{rule['lower']}"
    if "upper" in rule and number >= rule["upper"]:
        return f"≥{rule['upper']}"
    low, high = ends
    if low is None:
        return value if high is None else f"<{_number(high)}"
    if high is None:
        return f"≥{_number(low)}"
    if dashed:
        last = int(high) - 1
        return str(int(low)) if last == low else f"{int(low)}-{last}"
    return f"[{_number(low)}, {_number(high)}["


def _number(number: Fraction) -> str:
    return str(int(number)) if number.denominator == 1 else str(float(number))


def _mask(rule: Rule, values: list[str]) -> dict[str, Chain]:
    character, left = rule.get("character", "*"), rule.get("from") == "left"
    longest = rule.get("length") or max(map(len, values), default=0)
    steps = rule.get("steps", 1)
    masked = list(accumulate(steps)) if isinstance(steps, list) else list(range(steps, longest, steps))
    masked = [number for number in masked if number < longest]
    found = {}
    for value in values:
        fill = character * (longest - len(value)) if rule.get("pad") else ""
        text = fill + value if left else value + fill
        found[value] = (value, *(_masked(text, n, character, left=left) for n in masked), TOP)
    return found


def _masked(text: str, number: int, character: str, *, left: bool) -> str:
    if number >= len(text):
        return TOP
    return character * number + text[number:] if left else text[: len(text) - number] + character * number


def period(day: str, granularity: str) -> str:
    """Return the calendar period of an ISO date."""
    found = date.fromisoformat(day[:10])
    year, month = found.year, found.month
    week = found.isocalendar()
    return {
        "day": day[:10],
        "week": f"{week.year:04}-W{week.week:02}",
        "month": f"{year:04}-{month:02}",
        "quarter": f"{year:04}-Q{(month + 2) // 3}",
        "half-year": f"{year:04}-H{(month + 5) // 6}",
        "year": f"{year:04}",
        "five-years": f"{year // 5 * 5:04}-{year // 5 * 5 + 4:04}",
        "decade": f"{year // 10 * 10:04}-{year // 10 * 10 + 9:04}",
    }[granularity]


def _dates(rule: Rule, values: list[str]) -> dict[str, Chain]:
    levels = rule.get("levels", CALENDAR)
    return {value: (value, *(period(value, level) for level in levels), TOP) for value in values}


def _ages(rule: Rule, values: list[str]) -> dict[str, Chain]:
    today = date.fromisoformat(rule["reference"])
    ages = {}
    for value in values:
        born = date.fromisoformat(value)
        before = (today.month, today.day) < (born.month, born.day)
        ages[value] = str(today.year - born.year - before)
    cuts = {"kind": "intervals"} | {key: rule[key] for key in _CUTS if key in rule}
    if len(cuts) == 1:
        return {value: (value, age, TOP) for value, age in ages.items()}
    chains = _intervals(cuts, list(dict.fromkeys(ages.values())))
    ends = {key: cuts[key] for key in ("lower", "upper") if key in cuts}
    if ends:
        coded = _intervals({"kind": "intervals", **ends}, list(chains))
        chains = {age: (coded[age][1], *chain[1:]) for age, chain in chains.items()}
    return {value: (value, *chains[age]) for value, age in ages.items()}


def _builtin(rule: Rule, values: list[str]) -> dict[str, Chain] | None:
    if rule["name"] == "date":
        return _dates({"levels": rule.get("levels", CALENDAR)}, values)
    if rule["name"] != "age":
        return None
    chains = _intervals(_AGES, values)
    names = ("5-years", "10-years", "20-years")
    chosen = [names.index(name) + 1 for name in rule.get("levels", names)]
    return {value: (value, *(chain[place] for place in chosen), TOP) for value, chain in chains.items()}


def _paths(tree: Any) -> dict[str, list[str]]:
    """Return the names above each leaf of a tree, itself first."""
    paths: dict[str, list[str]] = {}

    def walk(node: Any, above: list[str]) -> None:
        if isinstance(node, dict):
            for name, inner in node.items():
                walk(inner, [name, *above])
        elif isinstance(node, list):
            for inner in node:
                walk(inner, above)
        else:
            paths[node] = [node, *above]

    walk(tree, [])
    return paths


def _taxonomy(rule: Rule, values: list[str]) -> dict[str, Chain]:
    paths = _paths(rule["tree"])
    depth = max(map(len, paths.values()))
    filled = {leaf: [leaf] * (depth - len(path)) + path for leaf, path in paths.items()}
    return {value: (*filled[value], TOP) for value in values}


def _order(rule: Rule, values: list[str]) -> dict[str, Chain] | None:
    listed = rule.get("values")
    if listed is None:
        return None
    sizes = list(rule.get("sizes", ()))
    if not sizes:
        size = 1
        while size * rule["fanout"] < len(listed):
            size *= rule["fanout"]
            sizes.append(size)
    sizes = [size for size in sizes if size < len(listed)]
    chains = {value: [value] for value in listed}
    for size in sizes:
        for start in range(0, len(listed), size):
            group = listed[start : start + size]
            label = group[0] if len(group) == 1 else f"{group[0]} … {group[-1]}"
            if rule.get("label") == "set" and len(group) > 1:
                label = "{" + ", ".join(group) + "}"
            for value in group:
                chains[value].append(label)
    return {value: (*chains[value], TOP) for value in values}


_BUILDERS: Mapping[str, Callable[[Rule, list[str]], dict[str, Chain] | None]] = {
    "file": _rows,
    "levels": _rows,
    "intervals": _intervals,
    "mask": _mask,
    "dates": _dates,
    "age": _ages,
    "builtin": _builtin,
    "taxonomy": _taxonomy,
    "order": _order,
}
UNKNOWN = ("auto",)
"""Kinds of hierarchies without a chain here; a test requires that every other kind has one."""
