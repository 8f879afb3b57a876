"""Bounds from labels without a hierarchy equal those of enumerating the tables that labels may represent.

Values are tried from sufficiently rich lists: for each range its ends and numbers between and outside them;
for each mask the texts that conditions name and others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.bounds.queryable_release import open_release
from discreet.bounds.release_answer import answer_release_query
from discreet.engines.base import Engine
from discreet.errors import InputError
from discreet.model.published_cells import LabelForm, LabelKind
from tests.bounds.releases import SETTINGS, write_classes
from tests.drawing import some_of
from tests.oracle import possible_worlds as asked_worlds

Row = Mapping[str, str | None]
ASKED = "COUNT(*), COUNT(salary), SUM(salary), AVG(salary), MIN(salary), MAX(salary)"
ROUNDING = 1e-9
"""Allowance for averages, which are doubles."""
AGGREGATES = ("ROWS", "COUNT", "SUM", "AVG", "MIN", "MAX")
"""The aggregates of ``ASKED``, by the names of the oracle."""
ANYTHING = (None, "unknown")


@dataclass(frozen=True)
class Column:
    """A column's labels with the values they represent, and conditions and keys with their meaning.

    Bounds of conditions in ``wider`` are certain, but may be wider than those of all tables.
    """

    form: LabelForm | None
    covers: Mapping[str, Sequence[str | None]]
    conditions: Mapping[str, Callable[[str | None], bool | None]]
    keys: Mapping[str, Callable[[str | None], object]]
    summary: str | None = None
    wider: tuple[str, ...] = ()


def number(text: str | None) -> Decimal | None:
    try:
        return None if text is None else Decimal(text)
    except ArithmeticError:
        return None


def numbers(holds: Callable[[Decimal], bool | str]) -> Callable[[str | None], object]:
    """Return a function of the number that a text contains; NULL if it contains none."""
    return lambda text: None if (n := number(text)) is None else holds(n)


WHOLE = Column(
    LabelForm(LabelKind.INTERVALS),
    {
        "20-22": ("20", "21", "22"),
        "23-24": ("23", "24"),
        "25": ("25",),
        "≥26": ("26", "27", "40"),
        "*": ("19", "20", "21", "21.7", "22", "22.5", "23", "24", "25", "26", "27", "40", *ANYTHING),
    },
    {
        "c = 21": numbers(lambda n: n == 21),
        "c > 22": numbers(lambda n: n > 22),
        "c BETWEEN 21 AND 24": numbers(lambda n: 21 <= n <= 24),
        "c > 20 AND c < 22": numbers(lambda n: 20 < n < 22),
        "c IN (20, 24, 27) OR c IS NULL": lambda t: t is None or number(t) in (20, 24, 27),
        "NOT (c <= 21.5)": numbers(lambda n: n > Decimal("21.5")),
        "c <> 25": numbers(lambda n: n != 25),
    },
    {
        "c >= 23": numbers(lambda n: n >= 23),
        "CASE WHEN c < 22 THEN 'low' WHEN c < 26 THEN 'middle' ELSE 'other' END": lambda t: (
            "other" if (n := number(t)) is None or n >= 26 else "low" if n < 22 else "middle"
        ),
    },
)
LISTED = Column(
    LabelForm(LabelKind.INTERVALS),
    {"20-22": ("20", "21", "22"), "23-24": ("23", "24"), "25": ("25",)},
    {"c % 2 = 1": numbers(lambda n: n % 2 == 1), "c * 2 - 4 >= 38": numbers(lambda n: n * 2 - 4 >= 38)},
    {"c": lambda t: t, "c / 2 > 11": numbers(lambda n: n / 2 > 11)},
)
REAL = Column(
    LabelForm(LabelKind.INTERVALS),
    {
        "[-1, 0.5[": ("-1", "-0.6", "-0.5", "-0.2", "0", "0.2", "0.4"),
        "[0.5, 2[": ("0.5", "0.7", "1", "1.3", "1.5", "1.7"),
        "<-1": ("-2", "-1.1"),
        "unknown": ("unknown",),
        "*": (
            "-2",
            "-1",
            "-0.7",
            "-0.5",
            "-0.2",
            "0",
            "0.2",
            "0.5",
            "1",
            "1.3",
            "1.5",
            "1.7",
            "3",
            *ANYTHING,
        ),
    },
    {
        "c = 1": numbers(lambda n: n == 1),
        "c >= 0.5": numbers(lambda n: n >= Decimal("0.5")),
        "c BETWEEN -0.5 AND 1.5": numbers(lambda n: Decimal("-0.5") <= n <= Decimal("1.5")),
        "c < 0 OR c > 1": numbers(lambda n: n < 0 or n > 1),
        "c IS NOT NULL": lambda t: t is not None,
    },
    {"c < 0": numbers(lambda n: n < 0)},
)
RANGES = Column(
    None,
    {
        "2 … 4": ("2", "2.5", "3", "3.5", "4"),
        "4 … 6": ("4", "4.5", "5", "6"),
        "3": ("3",),
        "*": ("1", "2", "2.5", "3", "3.5", "4", "4.5", "5", "5.5", "6", "7", *ANYTHING),
    },
    {
        "c = 4": numbers(lambda n: n == 4),
        "c <= 4": numbers(lambda n: n <= 4),
        "c > 2 AND c < 5": numbers(lambda n: 2 < n < 5),
    },
    {"c > 3": numbers(lambda n: n > 3)},
    "ranges",
)
MASK = Column(
    LabelForm(LabelKind.MASK),
    {
        "53*": ("531", "532", "53x"),
        "5**": ("531", "532", "53x", "541", "5yy"),
        "54": ("54",),
        "*": ("531", "532", "53x", "541", "5yy", "54", "53", "5", "zzz", *ANYTHING),
    },
    {
        "c = '531'": lambda t: None if t is None else t == "531",
        "c IN ('531', '541')": lambda t: None if t is None else t in ("531", "541"),
        "c LIKE '53%'": lambda t: None if t is None else t.startswith("53"),
        "c LIKE '53%' AND c <> '532'": lambda t: None if t is None else t.startswith("53") and t != "532",
        "c NOT LIKE '5%'": lambda t: None if t is None else not t.startswith("5"),
    },
    {"c LIKE '53%'": lambda t: None if t is None else t.startswith("53")},
)
DAYS = ("2023-01-15", "2023-02-10", "2023-02-15", "2023-02-15T08:00:00", "2023-02-20", "2023-03-31T23:59")
DATES = Column(
    LabelForm(LabelKind.DATES),
    {
        "2023-Q1": ("2023-01-01", *DAYS),
        "2023-02": ("2023-02-01", *DAYS[1:5]),
        "2023-02-15": DAYS[2:4],
        "2020-2029": ("2020-01-01", *DAYS, "2029-12-31"),
        "*": ("1999-01-01", *DAYS, "2050-01-01", *ANYTHING),
    },
    {
        "c < '2023-02-15'": lambda t: None if t is None else t < "2023-02-15",
        "c <= '2023-02-15'": lambda t: None if t is None else t <= "2023-02-15",
        "c >= '2023-01-01' AND c < '2023-04-01'": lambda t: (
            None if t is None else "2023-01-01" <= t < "2023-04-01"
        ),
        "c LIKE '2023-02%'": lambda t: None if t is None else t.startswith("2023-02"),
    },
    {"c < '2023-02-15'": lambda t: None if t is None else t < "2023-02-15"},
    wider=("c LIKE '2023-02%'",),
)
VALUES = Column(
    LabelForm(LabelKind.VALUES),
    {"Bonn": ("Bonn",), "7": ("7",), "*": ("Bonn", "7", "8", "Aa", "Zz", *ANYTHING)},
    {
        "c = 'Bonn'": lambda t: None if t is None else t == "Bonn",
        "c >= 'Bonn'": lambda t: None if t is None else t >= "Bonn",
        "c < 8": numbers(lambda n: n < 8),
    },
    {"c IS NULL": lambda t: t is None},
)
COLUMNS = {
    "whole": WHOLE,
    "listed": LISTED,
    "real": REAL,
    "ranges": RANGES,
    "mask": MASK,
    "dates": DATES,
    "values": VALUES,
}


def tables(column: Column) -> st.SearchStrategy[list[tuple[str | None, str | None]]]:
    labels = st.sampled_from([*column.covers, None])
    amounts = st.sampled_from([None, "-3", "0.5", "2"])
    return st.lists(st.tuples(labels, amounts), min_size=1, max_size=3)


@pytest.mark.parametrize("name", COLUMNS)
def test_bounds_are_those_of_all_tables(shared_engine: Engine, name: str) -> None:
    column = COLUMNS[name]
    conditions = {"TRUE": lambda _: True, **column.conditions}
    keys = {"": lambda _: (), **column.keys}

    @given(tables(column), st.sampled_from([*conditions]), st.sampled_from([*keys]))
    @settings(max_examples=some_of(25), deadline=None)
    def holds(rows: list[tuple[str | None, str | None]], condition: str, key: str) -> None:
        if column.summary is not None:
            labels = [label for label, _ in rows]
            assume(all(labels.count(label) > 1 for label in labels if " … " in (label or "")))
        text = f"SELECT {ASKED} FROM people WHERE {condition}" + (f" GROUP BY {key}" if key else "")
        values = [None if v is None else Fraction(Decimal(v)) for _, v in rows]
        worlds = asked_worlds.recoded(
            iter([[({"c": label}, value) for (label, _), value in zip(rows, values, strict=True)]]),
            lambda _, label: (None,) if label is None else column.covers[label],
        )
        wanted = asked_worlds.bounds(
            (world for world in worlds if column.summary is None or ends_occur(rows, world)),
            lambda row: conditions[condition](row["c"]) is True,
            lambda row: () if not key else (keys[key](row["c"]),),
        )
        found = answers(shared_engine, column, rows, text)
        if condition in column.wider:
            assert all(contain(found[group], ends) for group, ends in wanted.items())
        else:
            assert found == expected(wanted, key)

    holds()


def ends_occur(rows: Sequence[tuple[str | None, str | None]], world: asked_worlds.World) -> bool:
    """Return whether both ends of each range are values of rows with that range."""
    occurring: dict[str, set[str | None]] = {}
    for (label, _), (row, _) in zip(rows, world, strict=True):
        if label is not None and " … " in label:
            occurring.setdefault(label, set()).add(row["c"])
    return all({*label.split(" … ")} <= values for label, values in occurring.items())


def answers(
    engine: Engine, column: Column, rows: Sequence[tuple[str | None, str | None]], text: str
) -> dict[object, list[tuple[object, object]]]:
    with TemporaryDirectory() as folder:
        path = write_classes(
            Path(folder),
            ("c",),
            [(label,) for label, _ in rows],
            [v for _, v in rows],
            levels={"c": None},
            forms={"c": column.form},
            summary=column.summary,
        )
        with open_release(engine, path, SETTINGS) as release:
            found: dict[object, list[tuple[object, object]]] = {}
            for row in answer_release_query(release, text).rows:
                found.setdefault(row.group, []).append((row.lower, row.upper))
                if row.estimate is not None:
                    assert row.lower <= row.estimate <= row.upper
            return found


def contain(
    found: Sequence[tuple[Any, Any]], wanted: Mapping[str, tuple[Fraction | None, Fraction | None]]
) -> bool:
    """Return whether each pair of bounds contains that of all tables; a bound that no table has is NULL."""
    pairs = zip(found, (wanted[name] for name in AGGREGATES), strict=True)
    return all(
        least is None
        or most is None
        or (low is not None and low - ROUNDING <= least and most <= high + ROUNDING)
        for (low, high), (least, most) in pairs
    )


def expected(
    wanted: Mapping[object, Mapping[str, tuple[Fraction | None, Fraction | None]]], key: str
) -> dict[object, list[tuple[object, object]]]:
    if not key and not wanted:
        return {(): [(0, 0), (0, 0), *[(None, None)] * 4]}
    return {
        group: [
            tuple(None if end is None else pytest.approx(float(end)) for end in of_group[name])  # type: ignore[misc]
            for name in AGGREGATES
        ]
        for group, of_group in wanted.items()
    }


@pytest.mark.parametrize(
    ("column", "condition"),
    [
        (WHOLE, "c % 2 = 0"),
        (WHOLE, "c = '20'"),
        (REAL, "c + 1 > 2"),
        (REAL, "c LIKE '2%'"),
        (MASK, "c > '53'"),
        (MASK, "c = 531"),
        (MASK, "length(c) = 3"),
        (DATES, "c > 2023"),
        (DATES, "left(c, 4) = '2023'"),
        (Column(None, {"north": ()}, {}, {}), "c = 'Kiel'"),
        (Column(LabelForm(LabelKind.DATES, format="%d.%m.%Y"), {"2023-02": ()}, {}, {}), "c > '2023'"),
    ],
)
def test_conditions_that_labels_cannot_decide_are_refused(
    shared_engine: Engine, column: Column, condition: str
) -> None:
    rows = [(label, "1") for label in column.covers]
    with pytest.raises(InputError, match="'c' is generalized; labels such as") as error:
        answers(shared_engine, column, rows, f"SELECT COUNT(*) FROM people WHERE {condition}")
    assert "hierarchies={'c': FILE}" in str(error.value)
    assert "label(c)" in str(error.value)


def test_labels_of_a_custom_hierarchy_are_read_with_a_note(shared_engine: Engine, tmp_path: Path) -> None:
    path = write_classes(tmp_path, ("age",), [("20-29",), ("30-39",)], ["1", "2"], levels={"age": 1})
    with open_release(shared_engine, path, SETTINGS) as release:
        found = answer_release_query(release, "SELECT COUNT(*) FROM people WHERE age < 30")
    assert [(row.lower, row.upper) for row in found.rows] == [(1, 1)]
    assert "'age' is interpreted by its labels, such as 20-29" in found.warnings[0]
