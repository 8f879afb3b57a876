"""Recount of a recoded release in plain Python, only from its file and the source."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from tests.fuzz.cases import ROW, Case, Column
from tests.fuzz.covering import covers
from tests.fuzz.files import Record, text_of

Texts = dict[str, str | None]


class Wrong(AssertionError):
    """A release that breaks a rule; ``args[0]`` names the rule, the rest the details."""


def demand(holds: bool, rule: str, *facts: object) -> None:
    """Raise ``Wrong`` unless the rule holds."""
    if not holds:
        raise Wrong(rule, *facts)


def source_texts(case: Case, columns: Sequence[Column]) -> list[Texts]:
    """Return the kept source rows, with cells as texts."""
    return [{c.name: text_of(c.value(row), c.kind) for c in columns} for row in case.kept]


def published_texts(records: Sequence[Record], columns: Sequence[Column]) -> list[Texts]:
    """Return the published rows, with cells as texts."""
    return [{c.name: text_of(record[c.name], c.kind) for c in columns} for record in records]


def matched(case: Case, rows: Sequence[Texts]) -> Iterator[tuple[Texts, int]]:
    """Return each published row with the number of its source row, if the table contains it."""
    kept = set(case.kept)
    seen: set[int] = set()
    for row in rows:
        number = int(str(row[ROW]).removeprefix("row-"))
        demand(number in kept and number not in seen, "each row once, and none that was dropped", number)
        seen.add(number)
        yield row, number


def check_recoded(case: Case, records: list[Record], suppressed: int, limit: int) -> None:
    """Raise ``Wrong`` if the file is not a release of the table that meets the request."""
    shown = [c for c in case.columns if c.role not in ("identifier", "subject")]
    if records:
        demand(list(records[0]) == [c.name for c in shown], "the published columns", list(records[0]))
    rows = published_texts(records, shown)
    starred = [row for row in rows if set(row.values()) == {"*"}] if case.star else []
    starred = starred[:suppressed]
    for row in starred:
        rows.remove(row)
    demand(suppressed <= limit, "no more suppressed than allowed", suppressed, limit)
    demand(len(starred) == (suppressed if case.star else 0), "the starred rows", len(starred), suppressed)
    demand(len(rows) == len(case.kept) - suppressed, "the number of rows", len(rows), suppressed)
    demand(bool(rows), "a release has rows")
    exact = [c for c in shown if c.role != "quasi-identifier"]
    found = Counter(tuple(row[c.name] for c in exact) for row in rows)
    expected = Counter(tuple(row.values()) for row in source_texts(case, exact))
    demand(found <= expected, "sensitive and insensitive cells are the source's", list(found - expected)[:3])
    if any(c.name == ROW for c in case.columns):
        _check_cells(case, shown, rows)
    _check_classes(case, rows)


def _check_cells(case: Case, shown: Sequence[Column], rows: Sequence[Texts]) -> None:
    texts: dict[str, list[str | None]] = {
        c.name: [text_of(c.value(row), c.kind) for row in range(case.rows)] for c in shown
    }
    for row, number in matched(case, rows):
        for column in shown:
            value, cell = texts[column.name][number], row[column.name]
            exact = column.role != "quasi-identifier"
            holds = value == cell if exact else covers(column, texts[column.name], value, cell)
            demand(holds, f"a {column.role}'s cell stands for its value", column.name, value, cell)


def _check_classes(case: Case, rows: Sequence[Texts]) -> None:
    """Check k and l by the published cells of the classes; by subjects if the rows are known."""
    names = [column.name for column in case.of("quasi-identifier")]
    classes: dict[tuple[str | None, ...], list[Texts]] = defaultdict(list)
    for row in rows:
        classes[tuple(row[name] for name in names)].append(row)
    for cells, members in classes.items():
        people = _people(case, members)
        demand(len(set(people)) >= case.k, "k", cells, len(set(people)))
        for column in case.of("sensitive") if case.l is not None else ():
            pairs = [(row[column.name], person) for row, person in zip(members, people, strict=True)]
            found = diversity([(value, person) for value, person in pairs if value is not None])
            demand(found >= (case.l or 0), "l", cells, column.name, found)


def _people(case: Case, members: Sequence[Texts]) -> list[Any]:
    """Return the person of each row of a class: the subject if named and known, else the row itself."""
    if case.subject is None or any(ROW not in row for row in members):
        return list(range(len(members)))
    cells = case.subject.cells
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
