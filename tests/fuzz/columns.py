"""The columns of a trial: quasi-identifiers for every kind of hierarchy, and sensitive columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.fuzz.cases import ROW, Column
from tests.fuzz.conditions import ILL, WAGE, WEIGHT
from tests.fuzz.trial import SECRET

Rule = Mapping[str, Any]

ILLNESSES = (("flu", "lungs", "*"), ("asthma", "lungs", "*"), ("ulcer", "stomach", "*"))
ILLNESSES += (("gastritis", "stomach", "*"), ("eczema", "skin", "*"))
PATHS = {ILL: {row[0]: row for row in ILLNESSES}}
"""The ancestors of each sensitive value that has any."""


@dataclass(frozen=True)
class KeyKind:
    """A kind of hierarchy: functions that draw its rules and its values, and the name of the column."""

    name: str
    rules: Callable[[Random], Rule | None]
    values: Callable[[Random, Rule | None], Sequence[str]]


def _towns(random: Random, rule: Rule | None) -> Sequence[str]:
    return ("Bonn", "Jena", "Kiel", "Gera")


_TOWNS = [["Bonn", "West", "*"], ["Kiel", "North", "*"], ["Jena", "East", "*"], ["Gera", "East", "*"]]
_DEEP = [["Bonn", "West", "Old", "*"], ["Kiel", "North", "Old", "*"], ["Jena", "East", "New", "*"]]
_DEEP += [["Gera", "East", "New", "*"]]
_TREE = {"Office": ["clerk", {"Law": ["judge", "lawyer"]}], "Trade": {"Craft": ["baker", "smith"]}}
_GRADES = ["none", "low", "middle", "high", "extreme"]


def _interval_rules(random: Random) -> Rule:
    found = random.choice(
        (
            {"widths": [5, 10]},
            {"width": 10},
            {"widths": [5, 20], "anchor": 2},
            {"breaks": [[20, 30, 45], [30]]},
            {"widths": [10], "lower": 25, "upper": 45},
            {"breaks": [30, 50]},
        )
    )
    return {"kind": "intervals"} | found


def _mask_rules(random: Random) -> Rule:
    found = random.choice(
        (
            {},
            {"from": "left", "character": "#"},
            {"steps": 2},
            {"steps": [1, 2], "pad": True, "length": 5},
            {"from": "left", "steps": [1, 1]},
        )
    )
    return {"kind": "mask"} | found


def _codes(random: Random, rule: Rule | None) -> Sequence[str]:
    return ("0213", "0217", "0141", "0241", "0242")


def _date_rules(random: Random) -> Rule:
    levels = (("month", "year"), ("quarter", "year", "decade"), ("day", "week"), ("half-year", "five-years"))
    chosen = random.choice((None, *levels))
    return {"kind": "dates"} | ({} if chosen is None else {"levels": list(chosen)})


def _days(random: Random, rule: Rule | None) -> Sequence[str]:
    return ("1999-12-31", "2000-01-01", "2000-02-29", "2004-07-01", "2004-12-30")


def _age_rules(random: Random) -> Rule:
    cuts = random.choice(({}, {"widths": [10, 20]}, {"widths": [20], "upper": 90}, {"breaks": [18, 65]}))
    return {"kind": "age", "reference": "2026-11-23"} | cuts


def _builtin_rules(random: Random) -> Rule:
    return random.choice(
        (
            {"kind": "builtin", "name": "age"},
            {"kind": "builtin", "name": "date", "levels": ["quarter", "year"]},
            {"kind": "builtin", "name": "country"},
            {"kind": "builtin", "name": "icd10"},
        )
    )


def _known_to(random: Random, rule: Rule | None) -> Sequence[str]:
    assert rule is not None
    return {
        "age": ("23", "27", "41", "90", "97"),
        "date": _days(random, rule),
        "country": ("DE", "FR", "KE", "JP"),
        "icd10": ("E11.9", "E10.1", "J45.0", "J40"),
    }[rule["name"]]


def _order_rules(random: Random) -> Rule:
    found = random.choice(({"sizes": [2, 4]}, {"fanout": 2}, {"fanout": 2, "label": "set"}))
    return {"kind": "order", "values": list(_GRADES)} | found


def _auto_rules(random: Random) -> Rule:
    return {"kind": "auto", "by": random.choice(("order", "frequency"))}


def _auto_values(random: Random, rule: Rule | None) -> Sequence[str]:
    return random.choice((("21", "24", "28", "33", "47"), ("a", "b", "c", "d", "e")))


def _table_rules(kind: str) -> Callable[[Random], Rule]:
    def rules(random: Random) -> Rule:
        return {"kind": kind, "rows": random.choice((_TOWNS, _DEEP))}

    return rules


def _no_rule(random: Random) -> None:
    return None


def _tree_rule(random: Random) -> Rule:
    return {"kind": "taxonomy", "tree": _TREE}


def _of(*values: str) -> Callable[[Random, Rule | None], Sequence[str]]:
    """Return the same values for any rule."""

    def pool(random: Random, rule: Rule | None) -> Sequence[str]:
        return values

    return pool


KEY_KINDS: Mapping[str, KeyKind] = {
    kind.name: kind
    for kind in (
        KeyKind("none", _no_rule, _towns),
        KeyKind("file", _table_rules("file"), _towns),
        KeyKind("levels", _table_rules("levels"), _towns),
        KeyKind("intervals", _interval_rules, _of("21", "24", "28", "33", "47", "52")),
        KeyKind("mask", _mask_rules, _codes),
        KeyKind("dates", _date_rules, _days),
        KeyKind("age", _age_rules, _of("1985-11-23", "1985-11-24", "2004-02-29", "1921-05-06")),
        KeyKind("builtin", _builtin_rules, _known_to),
        KeyKind("taxonomy", _tree_rule, _of("clerk", "judge", "lawyer", "baker", "smith")),
        KeyKind("order", _order_rules, _of(*_GRADES)),
        KeyKind("auto", _auto_rules, _auto_values),
    )
}
"""By the kind of the spec; ``none`` is a column without a hierarchy."""


def key_column(random: Random, kind: str, place: int, number: int, nulls: float) -> Column:
    """Draw a quasi-identifier with few distinct values, so that classes have several rows."""
    found = KEY_KINDS[kind]
    rule = found.rules(random)
    pool = list(found.values(random, rule))
    some = random.sample(pool, min(len(pool), random.choice((2, 3, 4, 5))))
    cells = tuple(None if random.random() < nulls else random.choice(some) for _ in range(number))
    return Column(f"q{place}_{kind}", "quasi-identifier", "text", cells, rule)


def sensitive_columns(random: Random, number: int, nulls: float) -> list[Column]:
    """Draw an illness with a hierarchy, a wage, and the weight of each row in a survey."""
    ills = random.sample([row[0] for row in ILLNESSES], random.choice((2, 3, 4, 5)))
    wages = random.sample(("3", "5", "7.5", "8", "10", "20", "40"), random.choice((2, 3, 5)))

    def cells(pool: Sequence[str]) -> tuple[str | None, ...]:
        weights = [random.choice((1, 1, 2, 4)) for _ in pool]
        drawn = random.choices(pool, weights, k=number)
        return tuple(None if random.random() < nulls else cell for cell in drawn)

    rows = [list(row) for row in ILLNESSES]
    return [
        Column(ILL, "sensitive", "text", cells(ills), {"kind": "levels", "rows": rows}),
        Column(WAGE, "sensitive", "text", cells(wages)),
        Column(WEIGHT, "sensitive", "text", cells(("1", "2.5", "4", "0.3334"))),
    ]


def row_column(number: int) -> Column:
    """Build the insensitive column that identifies the source row of a published row."""
    return Column(ROW, "insensitive", "text", tuple(f"row-{i}" for i in range(number)))


def name_column(number: int, way: Mapping[str, Any] | None = None) -> Column:
    """Build an identifier, left out or published in another form."""
    cells = tuple(f"{SECRET}{i // 2 if way else i}" for i in range(number))
    return Column("name", "identifier", "text", cells, None, {} if way is None else {"way": way})


def subject_column(random: Random, number: int, way: Mapping[str, Any] | None = None) -> Column:
    """Draw the people, some of them with several rows."""
    most = random.choice((3, 4, 5, max(number // 3, 1)))
    people = [random.randrange(most) for _ in range(number)]
    cells = tuple(f"{SECRET}person-{i}" for i in people)
    return Column("person_id", "subject", "text", cells, None, {} if way is None else {"way": way})
