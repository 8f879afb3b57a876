"""Recount of a recoded release in plain Python, only from its file and the source.

Whether a published cell covers a source value is an independent reading of hierarchies and of labels.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any

from tests.fuzz.cases import ROW, Column, Trial, number_of
from tests.fuzz.files import Record, text_of

Texts = dict[str, str | None]


class Wrong(AssertionError):
    """A release that breaks a rule; ``args[0]`` names the rule, the rest the details."""


def demand(holds: bool, rule: str, *facts: object) -> None:
    """Raise ``Wrong`` unless the rule holds."""
    if not holds:
        raise Wrong(rule, *facts)


def source_texts(trial: Trial, columns: Sequence[Column]) -> list[Texts]:
    """Return the kept source rows, with cells as texts."""
    return [{c.name: text_of(c.value(row), c.kind) for c in columns} for row in trial.kept]


def published_texts(records: Sequence[Record], columns: Sequence[Column]) -> list[Texts]:
    """Return the published rows, with cells as texts."""
    return [{c.name: text_of(record[c.name], c.kind) for c in columns} for record in records]


def matched(trial: Trial, rows: Sequence[Texts]) -> Iterator[tuple[Texts, int]]:
    """Return each published row with the number of its source row, if the table contains it."""
    kept = set(trial.kept)
    seen: set[int] = set()
    for row in rows:
        number = int(str(row[ROW]).removeprefix("row-"))
        demand(number in kept and number not in seen, "each row once, and none that was dropped", number)
        seen.add(number)
        yield row, number


def check_recoded(trial: Trial, records: list[Record], suppressed: int) -> None:
    """Raise ``Wrong`` if the file is not a release of the table that meets the request."""
    shown = trial.published
    if records:
        demand(list(records[0]) == [c.name for c in shown], "the published columns", list(records[0]))
    rows = published_texts(records, shown)
    starred = [row for row in rows if set(row.values()) == {"*"}] if trial.star else []
    starred = starred[:suppressed]
    for row in starred:
        rows.remove(row)
    demand(suppressed <= trial.most_suppressed, "no more suppressed than allowed", suppressed, trial.limit)
    demand(len(starred) == (suppressed if trial.star else 0), "the starred rows", len(starred), suppressed)
    demand(len(rows) == len(trial.kept) - suppressed, "the number of rows", len(rows), suppressed)
    demand(bool(rows), "a release has rows")
    exact = [c for c in shown if c.role != "quasi-identifier"]
    found = Counter(tuple(row[c.name] for c in exact) for row in rows)
    expected = Counter(tuple(row.values()) for row in source_texts(trial, exact))
    demand(found <= expected, "sensitive and insensitive cells are the source's", list(found - expected)[:3])
    if any(c.name == ROW for c in trial.columns):
        _check_cells(trial, shown, rows)
    _check_classes(trial, rows)


def _check_cells(trial: Trial, shown: Sequence[Column], rows: Sequence[Texts]) -> None:
    texts: dict[str, list[str | None]] = {
        c.name: [text_of(c.value(row), c.kind) for row in range(trial.rows)] for c in shown
    }
    for row, number in matched(trial, rows):
        for column in shown:
            value, cell = texts[column.name][number], row[column.name]
            exact = column.role != "quasi-identifier"
            holds = value == cell if exact else covers(column, texts[column.name], value, cell)
            demand(holds, f"a {column.role}'s cell stands for its value", column.name, value, cell)


def _check_classes(trial: Trial, rows: Sequence[Texts]) -> None:
    """Check k and l by the published cells of the classes; by subjects if the rows are known."""
    names = [column.name for column in trial.keys]
    classes: dict[tuple[str | None, ...], list[Texts]] = defaultdict(list)
    for row in rows:
        classes[tuple(row[name] for name in names)].append(row)
    for cells, members in classes.items():
        people = _people(trial, members)
        demand(len(set(people)) >= trial.k, "k", cells, len(set(people)))
        for column in trial.of("sensitive") if trial.l is not None else ():
            pairs = [(row[column.name], person) for row, person in zip(members, people, strict=True)]
            found = diversity([(value, person) for value, person in pairs if value is not None])
            demand(found >= (trial.l or 0), "l", cells, column.name, found)


def _people(trial: Trial, members: Sequence[Texts]) -> list[Any]:
    """Return the person of each row of a class: the subject if named and known, else the row itself."""
    if trial.subject is None or any(ROW not in row for row in members):
        return list(range(len(members)))
    cells = trial.subject.cells
    return [cells[int(str(row[ROW]).removeprefix("row-"))] for row in members]


def diversity(pairs: Sequence[tuple[Any, Any]]) -> int:
    """Return the most values that as many different persons can have: a matching, by augmenting paths."""
    of_value: dict[Any, list[Any]] = defaultdict(list)
    for value, person in pairs:
        of_value[value].append(person)
    holder: dict[Any, Any] = {}

    def place(value: Any, tried: set[Any]) -> bool:
        for person in of_value[value]:
            if person not in tried:
                tried.add(person)
                if person not in holder or place(holder[person], tried):
                    holder[person] = value
                    return True
        return False

    return sum(place(value, set()) for value in of_value)


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
