"""Aggregates of generalized columns: bounds equal those of all possible tables and of the class summaries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.bounds.interval_aggregates import BoundRow
from discreet.bounds.queryable_release import open_release
from discreet.bounds.release_answer import answer_release_query
from discreet.engines.base import Engine
from discreet.errors import InputError
from discreet.frequency.class_summary import Summary
from discreet.model.published_cells import LabelForm, LabelKind
from tests.bounds.releases import SETTINGS, write_classes
from tests.drawing import some_of
from tests.oracle import possible_worlds

Row = Mapping[str, str | None]
AGGREGATES = "COUNT(*), SUM(c), AVG(c), MIN(c), MAX(c)"
NAMES = ("ROWS", "SUM", "AVG", "MIN", "MAX")
WHOLE = {"3-5": ("3", "4", "5"), "6": ("6",), "7-8": ("7", "8"), "unknown": ("unknown",)}
REAL = {"[-2, 0.5]": ("-2", "-1.5", "0", "0.25", "0.5"), "1": ("1",)}
CONDITIONS: dict[str, Callable[[Row, str | None], bool]] = {
    "TRUE": lambda _row, _pay: True,
    "s = 'F'": lambda row, _pay: row["s"] == "F",
    "c >= 0": lambda row, _pay: (n := number(row["c"])) is not None and n >= 0,
    "c <= 4 OR s = 'M'": lambda row, _pay: (
        row["s"] == "M" or ((n := number(row["c"])) is not None and n <= 4)
    ),
    "salary >= 2": lambda _row, pay: pay is not None and Decimal(pay) >= 2,
    "salary IS NULL AND NOT c = 4": lambda row, pay: (
        pay is None and (n := number(row["c"])) is not None and n != 4
    ),
}
KEYS: dict[str, Callable[[Row, str | None], object]] = {
    "": lambda _row, _pay: (),
    "label(c)": lambda row, _pay: (row["label"],),
    "salary": lambda _row, pay: (pay,),
}


def number(text: str | None) -> Fraction | None:
    return None if text in (None, "unknown") else Fraction(Decimal(str(text)))


def answers(
    engine: Engine, rows: Sequence[tuple[str, str, str | None]], text: str, summary: str | None = None
) -> tuple[BoundRow, ...]:
    with TemporaryDirectory() as folder:
        path = write_classes(
            Path(folder),
            ("c", "s"),
            [(label, sex) for label, sex, _ in rows],
            [pay for _, _, pay in rows],
            levels={"c": None, "s": 0},
            forms={"c": LabelForm(LabelKind.INTERVALS)},
            summary=summary,
        )
        with open_release(engine, path, SETTINGS) as release:
            return answer_release_query(release, text).rows


def check(
    found: Sequence[BoundRow], wanted: Mapping[object, Mapping[str, tuple[Fraction | None, Fraction | None]]]
) -> None:
    assert {row.group for row in found} == set(wanted)
    for place, row in enumerate(found):
        ends = wanted[row.group][NAMES[place % 5]]
        expected = tuple(None if end is None else pytest.approx(float(end)) for end in ends)
        assert (row.lower, row.upper) == expected, (row, ends)
        if row.estimate is not None:
            assert row.lower <= row.estimate <= row.upper


sexes, pays = st.sampled_from(("F", "M")), st.sampled_from(("1", "2", None))


@pytest.mark.parametrize("covers", [WHOLE, REAL], ids=["whole", "real"])
def test_bounds_of_a_generalized_column_are_those_of_all_tables(
    shared_engine: Engine, covers: Mapping[str, Sequence[str]]
) -> None:
    lines = st.lists(st.tuples(st.sampled_from([*covers]), sexes, pays), min_size=1, max_size=4)

    @given(lines, st.sampled_from([*CONDITIONS]), st.sampled_from([*KEYS]))
    @settings(max_examples=some_of(60), deadline=None)
    def holds(rows: list[tuple[str, str, str | None]], condition: str, key: str) -> None:
        if all(number(label) is None for label, _, _ in rows if label not in ("3-5", "7-8", "[-2, 0.5]")):
            rows = [*rows, (next(iter(covers)), "F", "1")]
        shown = [{"label": label, "c": label, "s": sex, "pay": pay} for label, sex, pay in rows]
        worlds = possible_worlds.recoded(
            iter([[(row, None) for row in shown]]),
            lambda name, value: covers[str(value)] if name == "c" else (value,),
        )
        wanted = possible_worlds.bounds(
            worlds,
            lambda row: CONDITIONS[condition](row, row["pay"]),
            lambda row: KEYS[key](row, row["pay"]),
            lambda row, _: number(row["c"]),
        )
        text = f"SELECT {AGGREGATES} FROM people WHERE {condition}" + (f" GROUP BY {key}" if key else "")
        found = answers(shared_engine, rows, text)
        if not key and not wanted:
            assert [(row.lower, row.upper) for row in found] == [(0, 0)] + [(None, None)] * 4
        else:
            check(found, wanted)

    holds()


@pytest.mark.parametrize("summary", [Summary.RANGES, Summary.MEANS])
def test_class_selected_whole_has_its_exact_ends_and_mean(shared_engine: Engine, summary: Summary) -> None:
    """A class that is selected whole has its exact ends and its exact mean.

    Values are whole and tried in halves: a table counts if each class has the published ends and mean.
    """
    classes = st.lists(st.lists(st.integers(0, 4), min_size=2, max_size=3), min_size=1, max_size=2)

    @given(classes, st.sampled_from(["TRUE", "s = 'F'"]))
    @settings(max_examples=40, deadline=None)
    def holds(values: list[list[int]], condition: str) -> None:
        rows, shown = [], []
        for sex, members in zip("FM", values, strict=False):
            low, high, average = min(members), max(members), sum(members) / len(members)
            label = str(low) if low == high else f"{low} … {high}"
            if summary is Summary.MEANS and low < high:
                label = f"{average:.2f} ({label})"
            rows += [(label, sex, "1")] * len(members)
            shown += [{"c": f"{low},{high},{average}", "s": sex, "label": "", "pay": "1"}] * len(members)
        worlds = possible_worlds.recoded(iter([[(row, None) for row in shown]]), halves)
        fitting = (world for world in worlds if fits(world, values, summary))
        wanted = possible_worlds.bounds(
            fitting,
            lambda row: CONDITIONS[condition](row, row["pay"]),
            lambda _: (),
            lambda row, _: number(row["c"]),
        )
        found = answers(
            shared_engine, rows, f"SELECT {AGGREGATES} FROM people WHERE {condition}", str(summary)
        )
        if summary is Summary.RANGES:
            check(found, wanted)
            return
        for name, row in zip(NAMES, found, strict=True):
            least, largest = (float(end) for end in wanted[()][name])  # type: ignore[arg-type]
            unit = 0.02 * len(rows)
            assert least - unit <= row.lower <= least + 1e-9, row
            assert largest - 1e-9 <= row.upper <= largest + unit, row

    holds()


def halves(name: str, label: str | None) -> Sequence[str | None]:
    if name != "c":
        return (label,)
    low, high, _ = map(float, str(label).split(","))
    return [str(n / 2) for n in range(int(2 * low), int(2 * high) + 1)]


def fits(world: possible_worlds.World, values: Sequence[Sequence[int]], summary: Summary) -> bool:
    held: dict[str | None, list[Fraction]] = defaultdict(list)
    for row, _ in world:
        found = number(row["c"])
        assert found is not None
        held[row["s"]].append(found)
    for sex, members in zip("FM", values, strict=False):
        if (min(held[sex]), max(held[sex])) != (min(members), max(members)):
            return False
        if summary is Summary.MEANS and sum(held[sex]) != sum(members):
            return False
    return True


def test_labels_without_an_end_have_no_bound(shared_engine: Engine) -> None:
    rows = [("3-5", "F", "1"), ("≥90", "F", "1"), ("*", "M", "1")]
    found = answers(shared_engine, rows, f"SELECT COUNT(c), {AGGREGATES} FROM people")
    assert [(row.lower, row.upper) for row in found] == [
        *((2, 3), (3, 3), (-inf, inf), (-inf, inf), (-inf, 5), (90, inf)),
    ]
    found = answers(shared_engine, rows, "SELECT SUM(c) FROM people WHERE c BETWEEN 0 AND 120")
    assert [(row.lower, row.upper) for row in found] == [(3, 245)]


def test_other_texts_than_numbers_are_only_counted(shared_engine: Engine) -> None:
    with pytest.raises(InputError, match="number"):
        answers(shared_engine, [("3-5", "F", "1")], "SELECT SUM(s) FROM people")
    (row,) = answers(shared_engine, [("3-5", "F", "1")], "SELECT COUNT(s) FROM people")
    assert (row.lower, row.upper) == (1, 1)
