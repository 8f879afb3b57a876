"""Bounds of classes whose ranges have occurring ends equal those of all tables with the same release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import discreet
from discreet.bounds.interval_aggregates import BoundRow
from discreet.bounds.queryable_release import open_release
from discreet.bounds.release_answer import answer_release_query
from discreet.engines.base import Engine
from discreet.hierarchy.level_table import hierarchy_from_rows
from discreet.model.hierarchy import TOP
from discreet.model.published_cells import LabelForm, LabelKind
from discreet.models import Local, Mondrian, RelaxedMondrian
from tests.bounds.releases import SETTINGS, write_classes
from tests.drawing import some_of
from tests.oracle import possible_worlds

Row = dict[str, str | None]
AGES = ("1", "2.5", "4", "7")
TOWNS = ("Bonn", "Kiel", "Linz")
"""Town names in the order of a file whose groups interleave."""
HIERARCHIES = {
    "age": hierarchy_from_rows("age", [(leaf, TOP) for leaf in AGES], origin="test"),
    "town": hierarchy_from_rows(
        "town", [("Bonn", "north", TOP), ("Kiel", "south", TOP), ("Linz", "north", TOP)], origin="test"
    ),
}
LEAVES = {"age": AGES, "town": TOWNS}
MOST_WORLDS = 6000
MODELS = {"mondrian": Mondrian, "relaxed-mondrian": RelaxedMondrian, "local": Local}
AGGREGATES = "COUNT(*), COUNT({of}), SUM({of}), AVG({of}), MIN({of}), MAX({of})"


def number(text: str | None) -> Fraction:
    return Fraction(text) if text is not None else Fraction(-1)


CONDITIONS: dict[str, Callable[[Row], bool]] = {
    "TRUE": lambda _: True,
    "age BETWEEN 2 AND 5": lambda r: 2 <= number(r["age"]) <= 5,
    "age > 1 AND age < 7": lambda r: 1 < number(r["age"]) < 7,
    "age >= 4": lambda r: number(r["age"]) >= 4,
    "age <> 2.5 AND age IS NOT NULL": lambda r: r["age"] not in ("2.5", None),
    "town = 'Kiel'": lambda r: r["town"] == "Kiel",
    "town IN ('Bonn', 'Linz')": lambda r: r["town"] in ("Bonn", "Linz"),
    "age < 4 AND town <> 'Linz'": lambda r: 0 <= number(r["age"]) < 4 and r["town"] in TOWNS[:2],
    "(age = 1 AND town = 'Bonn') OR (age = 7 AND town = 'Linz')": lambda r: (
        (r["age"], r["town"]) in (("1", "Bonn"), ("7", "Linz"))
    ),
    "NOT (age <= 2.5 OR town = 'Bonn')": lambda r: number(r["age"]) > 2.5 and r["town"] in TOWNS[1:],
    "age > 2 OR pay > 0": lambda r: number(r["age"]) > 2 or (r["pay"] is not None and int(r["pay"]) > 0),
    "pay = 1 AND town = 'Linz'": lambda r: r["pay"] == "1" and r["town"] == "Linz",
    "CASE WHEN town = 'Kiel' THEN age ELSE 8 - age END >= 4": lambda r: (
        r["age"] is not None and (number(r["age"]) if r["town"] == "Kiel" else 8 - number(r["age"])) >= 4
    ),
}
KEYS: dict[str, Callable[[Row], object]] = {
    "": lambda _: (),
    "town": lambda r: (r["town"],),
    "age > 3": lambda r: (None if r["age"] is None else number(r["age"]) > 3,),
    "pay, town": lambda r: (r["pay"], r["town"]),
}


def label(name: str, values: Sequence[str | None], summary: str) -> str | None:
    """Return the released label of a class."""
    held = sorted({v for v in values if v is not None}, key=LEAVES[name].index)
    if not held:
        return None
    if None in values:
        return TOP
    if len(held) == 1:
        return held[0]
    if summary == "sets":
        return "{" + ", ".join(held) + "}"
    return f"{held[0]} … {held[-1]}"


def covered(name: str, shown: str | None) -> tuple[Sequence[str | None], set[str]]:
    """Return the values that a label may represent, and those that occur in each class."""
    leaves = LEAVES[name]
    if shown is None or shown in leaves:
        return (shown,), set()
    if shown == TOP:
        return (*leaves, None), set()
    if shown.startswith("{"):
        members = shown[1:-1].split(", ")
        return members, set(members)
    first, last = shown.split(" … ")
    return leaves[leaves.index(first) : leaves.index(last) + 1], {first, last}


def worlds_of(rows: Sequence[Row], names: Sequence[str]) -> list[list[Row]]:
    """Return every assignment of values to the rows of one class in which each known value occurs."""
    known = {name: covered(name, rows[0][name]) for name in names}
    each = [dict(zip(names, values, strict=True)) for values in product(*(known[n][0] for n in names))]
    assume(len(each) ** len(rows) <= MOST_WORLDS)
    found = []
    for chosen in product(each, repeat=len(rows)):
        if all(needed <= {row[name] for row in chosen if row[name]} for name, (_, needed) in known.items()):
            found.append([{**row, **values} for row, values in zip(rows, chosen, strict=True)])
    return found


def distinct(
    worlds: list[list[Row]], condition: Callable[[Row], bool], key: Callable[[Row], object]
) -> list[list[Row]]:
    """Return the worlds that differ in the selected rows."""
    seen: dict[object, list[Row]] = {}
    for world in worlds:
        selected = tuple(
            sorted((str(key(row)), str(row["age"]), str(row["pay"])) for row in world if condition(row))
        )
        seen.setdefault(selected, world)
    return list(seen.values())


Cells = tuple[str | None, str | None, str | None]


def released(classes: Sequence[Sequence[Cells]], summary: str) -> list[list[Row]]:
    """Return the labels of each class, row by row; classes with equal labels become one."""
    found: dict[tuple[str | None, str | None], list[Row]] = {}
    for members in classes:
        age = label("age", [row[0] for row in members], summary)
        town = label("town", [row[1] for row in members], summary)
        found.setdefault((age, town), []).extend(
            {"age": age, "town": town, "pay": pay} for _, _, pay in members
        )
    return list(found.values())


def answers(engine: Engine, rows: Sequence[Row], text: str, summary: str) -> tuple[BoundRow, ...]:
    with TemporaryDirectory() as folder:
        path = write_classes(
            Path(folder),
            ("age", "town"),
            [(row["age"], row["town"]) for row in rows],
            [row["pay"] for row in rows],
            levels={"age": None, "town": None},
            sensitive="pay",
            summary=summary,
        )
        with open_release(engine, path, SETTINGS, HIERARCHIES) as release:
            return answer_release_query(release, text).rows


def wanted(
    classes: list[list[Row]], condition: str, key: str, of: str
) -> dict[object, dict[str, tuple[Fraction | None, Fraction | None]]]:
    holds, keyed = CONDITIONS[condition], KEYS[key]
    each = [distinct(worlds_of(rows, ("age", "town")), holds, keyed) for rows in classes]
    size = 1
    for worlds in each:
        assert worlds
        size *= len(worlds)
    assume(size <= MOST_WORLDS)
    joined = ([(row, None) for part in parts for row in part] for parts in product(*each))
    return possible_worlds.bounds(
        joined, holds, keyed, lambda row, _: None if row[of] is None else Fraction(str(row[of]))
    )


ages, towns = st.sampled_from([*AGES, *AGES, None]), st.sampled_from([*TOWNS, *TOWNS, None])
members = st.lists(st.tuples(ages, towns, st.sampled_from(["-2", "1", "3", None])), min_size=1, max_size=4)
tables = st.lists(members, min_size=1, max_size=3)
questions = st.tuples(
    st.sampled_from([*CONDITIONS]), st.sampled_from([*KEYS]), st.sampled_from(["age", "pay"])
)


@given(tables, questions, st.sampled_from(["ranges", "sets"]))
@example(
    [
        [("1", "Bonn", "1"), ("7", "Bonn", "1"), ("4", "Bonn", "1")],
        [("4", "Bonn", "1"), ("2.5", "Bonn", "1")],
    ],
    ("age BETWEEN 2 AND 5", "", "age"),
    "ranges",
)
@settings(max_examples=some_of(150), deadline=None)
def test_bounds_are_those_of_every_table(
    shared_engine: Engine,
    classes: list[list[Cells]],
    question: tuple[str, str, str],
    summary: str,
) -> None:
    condition, key, of = question
    shown = released(classes, summary)
    assume(any(row[of] not in (None, TOP) for rows in shown for row in rows))
    right = wanted(shown, condition, key, of)
    text = f"SELECT {AGGREGATES.format(of=of)} FROM people WHERE {condition}" + f" GROUP BY {key}" * bool(key)
    found = answers(shared_engine, [row for rows in shown for row in rows], text, summary)
    if not key and not right:
        assert [(row.lower, row.upper) for row in found] == [(0, 0)] * 2 + [(None, None)] * 4
        return
    assert {row.group for row in found} == set(right)
    names = ("ROWS", "COUNT", "SUM", "AVG", "MIN", "MAX")
    for place, row in enumerate(found):
        ends = right[row.group][names[place % 6]]
        expected = tuple(None if end is None else pytest.approx(float(end), rel=1e-9) for end in ends)
        assert (row.lower, row.upper) == expected, (row, ends, shown)
        if row.estimate is not None and row.lower is not None:
            assert row.lower <= row.estimate <= row.upper


def test_two_of_five_rows_are_surely_outside(shared_engine: Engine) -> None:
    """Two of ``1 … 7`` (three rows) and ``4 … 5`` (two rows), without a hierarchy, are surely outside."""
    rows = [("1 … 7", "Bonn")] * 3 + [("4 … 5", "Bonn")] * 2
    with TemporaryDirectory() as folder:
        path = write_classes(
            Path(folder),
            ("age", "town"),
            rows,
            ["1"] * 5,
            levels={"age": None, "town": None},
            sensitive="pay",
            summary="ranges",
        )
        with open_release(shared_engine, path, SETTINGS) as release:
            text = "SELECT COUNT(*), SUM(age), AVG(age), SUM(pay) FROM people WHERE age {}"
            between = answer_release_query(release, text.format("BETWEEN 2 AND 5")).rows
            strictly = answer_release_query(release, text.format("> 1 AND age < 7")).rows
            ends = answer_release_query(release, text.format("IN (1, 7)")).rows
    assert (between[0].lower, between[0].upper) == (2, 3)
    assert (between[1].lower, between[1].upper) == (9, 14)
    assert (between[2].lower, between[2].upper) == (pytest.approx(11 / 3), pytest.approx(14 / 3))
    assert (between[3].lower, between[3].upper) == (2, 3)
    assert (strictly[0].lower, strictly[0].upper) == (2, 3)
    assert (ends[0].lower, ends[0].upper) == (2, 3)
    assert (ends[1].lower, ends[1].upper) == (8, 15)


@pytest.mark.parametrize(
    ("condition", "ends"),
    [
        ("day < '2020-02-01'", (1, 2)),
        ("day <= '2020-01-05'", (1, 2)),
        ("day > '2020-01-05' AND day < '2020-03-01'", (0, 1)),
        ("day = '2020-03-01'", (1, 2)),
        ("day >= '2020-01-05'", (3, 3)),
        ("day > '2020-03-01'", (0, 0)),
    ],
)
def test_dates_are_bounded_from_labels(shared_engine: Engine, condition: str, ends: tuple[int, int]) -> None:
    """Three rows from ``2020-01-05 … 2020-03-01`` are bounded from their labels only."""
    with TemporaryDirectory() as folder:
        path = write_classes(
            Path(folder),
            ("day", "town"),
            [("2020-01-05 … 2020-03-01", "Bonn")] * 3,
            ["1"] * 3,
            levels={"day": None, "town": None},
            forms={"day": LabelForm(LabelKind.DATES)},
            summary="ranges",
        )
        with open_release(shared_engine, path, SETTINGS) as release:
            (count,) = answer_release_query(release, f"SELECT COUNT(*) FROM people WHERE {condition}").rows
    assert (count.lower, count.upper) == ends


@pytest.mark.parametrize("summary", ["ranges", "means", "sets"])
@pytest.mark.parametrize("model", ["mondrian", "relaxed-mondrian", "local"])
def test_truth_is_within_the_bounds_of_a_release(model: str, summary: str, tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    rows = [
        (str(random.integers(0, 90) / 10), str(random.choice(TOWNS)), str(random.integers(-3, 9)))
        for _ in range(60)
    ]
    with (tmp_path / "people.csv").open("w", encoding="utf-8") as file:
        file.write("age,town,pay\n" + "".join(",".join(row) + "\n" for row in rows))
    (tmp_path / "town.csv").write_text("Bonn;north;*\nKiel;south;*\nLinz;north;*\n", encoding="utf-8")
    attributes = {
        "age": {"role": "quasi-identifier"},
        "town": {"role": "quasi-identifier", "hierarchy": str(tmp_path / "town.csv")},
        "pay": {"role": "sensitive"},
    }
    if model == "local" and summary == "means":
        return
    table = discreet.open(tmp_path / "people.csv", {"attributes": attributes})
    release = table.publish(MODELS[model](summary=summary), tmp_path / "out.csv", k=3)
    exact = duckdb.connect()
    exact.execute(f"CREATE TABLE people AS FROM read_csv('{tmp_path / 'people.csv'}')")
    narrower = 0
    for condition in (
        "age BETWEEN 2 AND 5",
        "age < 4.5 AND town <> 'Kiel'",
        "town = 'Linz' OR pay > 3",
        "age > 1",
    ):
        text = (
            f"SELECT COUNT(*), SUM(age), AVG(age), MIN(age), MAX(age), SUM(pay) FROM people WHERE {condition}"
        )
        found = discreet.query(release.path, text, spec=table).rows
        truth = exact.execute(text).fetchone()
        assert truth is not None
        for row, value in zip(found, truth, strict=True):
            assert row.lower is not None
            assert row.upper is not None
            assert row.lower - 1e-9 <= float(value) <= row.upper + 1e-9, (condition, row, value)
        narrower += found[0].upper - found[0].lower < len(rows)
    assert narrower
