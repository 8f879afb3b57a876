"""The columns of a trial: quasi-identifiers for every kind of hierarchy, and sensitive columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from tests.fuzz.cases import ROW, SECRET, Column
from tests.fuzz.conditions import ILL, WAGE, WEIGHT

Rule = Mapping[str, Any]

ILLNESSES = (("flu", "lungs", "*"), ("asthma", "lungs", "*"), ("ulcer", "stomach", "*"))
ILLNESSES += (("gastritis", "stomach", "*"), ("eczema", "skin", "*"))
PATHS = {ILL: {row[0]: row for row in ILLNESSES}}
"""The ancestors of each sensitive value that has any."""

_TOWNS = [["Bonn", "West", "*"], ["Kiel", "North", "*"], ["Jena", "East", "*"], ["Gera", "East", "*"]]
_DEEP = [["Bonn", "West", "Old", "*"], ["Kiel", "North", "Old", "*"], ["Jena", "East", "New", "*"]]
_DEEP += [["Gera", "East", "New", "*"]]
_TREE = {"Office": ["clerk", {"Law": ["judge", "lawyer"]}], "Trade": {"Craft": ["baker", "smith"]}}
_GRADES = ["none", "low", "middle", "high", "extreme"]
_NAMES_OF_TOWNS = ("Bonn", "Jena", "Kiel", "Gera")
_DAYS = ("1999-12-31", "2000-01-01", "2000-02-29", "2004-07-01", "2004-12-30")

RULES: Mapping[str, Sequence[Rule | None]] = {
    "none": (None,),
    "file": ({"rows": _TOWNS}, {"rows": _DEEP}),
    "levels": ({"rows": _TOWNS}, {"rows": _DEEP}),
    "intervals": (
        {"widths": [5, 10]},
        {"width": 10},
        {"widths": [5, 20], "anchor": 2},
        {"breaks": [[20, 30, 45], [30]]},
        {"widths": [10], "lower": 25, "upper": 45},
        {"breaks": [30, 50]},
    ),
    "mask": (
        {},
        {"from": "left", "character": "#"},
        {"steps": 2},
        {"steps": [1, 2], "pad": True, "length": 5},
        {"from": "left", "steps": [1, 1]},
    ),
    "dates": (
        {},
        {"levels": ["month", "year"]},
        {"levels": ["quarter", "year", "decade"]},
        {"levels": ["day", "week"]},
        {"levels": ["half-year", "five-years"]},
    ),
    "age": tuple(
        {"reference": "2026-11-23"} | cuts
        for cuts in ({}, {"widths": [10, 20]}, {"widths": [20], "upper": 90}, {"breaks": [18, 65]})
    ),
    "builtin": (
        {"name": "age"},
        {"name": "date", "levels": ["quarter", "year"]},
        {"name": "country"},
        {"name": "icd10"},
    ),
    "taxonomy": ({"tree": _TREE},),
    "order": tuple(
        {"values": list(_GRADES)} | sizes
        for sizes in ({"sizes": [2, 4]}, {"fanout": 2}, {"fanout": 2, "label": "set"})
    ),
    "auto": ({"by": "order"}, {"by": "frequency"}),
}
"""The rules that are drawn, by kind; ``none`` is a column without a hierarchy."""

_POOLS: Mapping[str, Sequence[Sequence[str]]] = {
    **dict.fromkeys(("none", "file", "levels"), (_NAMES_OF_TOWNS,)),
    "intervals": (("21", "24", "28", "33", "47", "52"),),
    "mask": (("0213", "0217", "0141", "0241", "0242"),),
    "dates": (_DAYS,),
    "age": (("1985-11-23", "1985-11-24", "2004-02-29", "1921-05-06"),),
    "builtin age": (("23", "27", "41", "90", "97"),),
    "builtin date": (_DAYS,),
    "builtin country": (("DE", "FR", "KE", "JP"),),
    "builtin icd10": (("E11.9", "E10.1", "J45.0", "J40"),),
    "taxonomy": (("clerk", "judge", "lawyer", "baker", "smith"),),
    "order": (tuple(_GRADES),),
    "auto": (("21", "24", "28", "33", "47"), tuple("abcde")),
}
"""The values that are drawn, by kind, and by name of a built-in hierarchy."""


def rule_of(random: Random, kind: str) -> Rule | None:
    """Draw a rule of a kind of hierarchy."""
    found = _one_of(random, RULES[kind])
    return None if found is None else {"kind": kind} | dict(found)


def pool_of(random: Random, rule: Rule | None) -> Sequence[str]:
    """Draw the values of a column with a rule."""
    kind = "none" if rule is None else rule["kind"]
    return _one_of(random, _POOLS[f"builtin {rule['name']}" if rule and kind == "builtin" else kind])


def _one_of(random: Random, choices: Sequence[Any]) -> Any:
    return random.choice(choices) if len(choices) > 1 else choices[0]


def key_column(random: Random, kind: str, place: int, number: int, nulls: float) -> Column:
    """Draw a quasi-identifier with few distinct values, so that classes have several rows."""
    rule = rule_of(random, kind)
    pool = list(pool_of(random, rule))
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
    return Column("name", "identifier", "text", cells, None, {} if way is None else {"pseudonymization": way})


def subject_column(random: Random, number: int, way: Mapping[str, Any] | None = None) -> Column:
    """Draw the people, some of them with several rows."""
    most = random.choice((3, 4, 5, max(number // 3, 1)))
    people = [random.randrange(most) for _ in range(number)]
    cells = tuple(f"{SECRET}person-{i}" for i in people)
    return Column(
        "person_id", "subject", "text", cells, None, {} if way is None else {"pseudonymization": way}
    )
