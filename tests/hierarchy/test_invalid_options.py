"""Options and values that builders refuse, each with its message."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import InputError
from discreet.hierarchy import (
    AgeHierarchy,
    AutoHierarchy,
    BuiltinHierarchy,
    DateHierarchy,
    FileHierarchy,
    FlatHierarchy,
    IntervalHierarchy,
    LevelsHierarchy,
    MaskHierarchy,
    OrderHierarchy,
    TaxonomyHierarchy,
)
from discreet.model.hierarchy import HierarchySource

DAY = date(2026, 11, 23)
INTERVALS = IntervalHierarchy.of


def dates(levels: tuple[str, ...], form: str | None = None) -> DateHierarchy:
    return DateHierarchy(levels, form)


def file(**options: str) -> FileHierarchy:
    return FileHierarchy(Path("h.csv"), **options)  # type: ignore[arg-type]


OPTIONS: list[tuple[Callable[..., HierarchySource], tuple[Any, ...], dict[str, Any], str]] = [
    (INTERVALS, (), {}, "without a width"),
    (INTERVALS, ([0],), {}, "width 0"),
    (INTERVALS, ([-5],), {}, "width -5"),
    (INTERVALS, (["five"],), {}, "width = 'five' is not a number"),
    (INTERVALS, ([float("inf")],), {}, "width = 'inf' is not a number"),
    (INTERVALS, ([True],), {}, "is not a number"),
    (INTERVALS, ([5, 12],), {}, "width 12 after width 5: such intervals do not nest"),
    (INTERVALS, ([0.2, 0.5],), {}, "width 0.5 after width 0.2"),
    (INTERVALS, ([5, 5],), {}, "a multiple of 5, larger than it"),
    (INTERVALS, ([10, 5],), {}, "width 5 after width 10"),
    (INTERVALS, ([5],), {"anchor": "x"}, "anchor = 'x' is not a number"),
    (INTERVALS, ([5],), {"lower": 9, "upper": 8}, "lower = 9 above upper = 8"),
    (INTERVALS, (), {"lower": "data"}, "without a width"),
    (INTERVALS, (), {"breaks": [[]]}, "breaks = []"),
    (INTERVALS, (), {"breaks": [5, 5]}, "breaks = [5, 5]"),
    (INTERVALS, (), {"breaks": [[5, 9], [7]]}, "the bound 7 is not a bound of the level before"),
    (INTERVALS, ([5],), {"breaks": [5, 12]}, "the bound 12 is inside an interval of width 5"),
    (INTERVALS, (), {"breaks": [5, "x"]}, "break = 'x' is not a number"),
    (INTERVALS, (), {"breaks": [5], "lower": "data"}, "intervals without a width"),
    (INTERVALS, (), {"breaks": []}, "breaks = [18, 35, 65]"),
    (MaskHierarchy, ("top",), {}, "mask from 'top'"),
    (MaskHierarchy, (), {"character": ""}, "mask character ''"),
    (MaskHierarchy, (), {"character": "**"}, "mask character '**'"),
    (MaskHierarchy, (), {"steps": 0}, "mask step 0"),
    (MaskHierarchy, (), {"steps": ()}, "mask step none"),
    (MaskHierarchy, (), {"steps": (1, -1)}, "mask step -1"),
    (MaskHierarchy, (), {"length": 0, "pad": True}, "mask length 0"),
    (MaskHierarchy, (), {"length": 5}, "length but without pad"),
    (dates, ((),), {}, "dates without levels"),
    (dates, (("hour",),), {}, "date level 'hour'"),
    (dates, (("year", "month"),), {}, "date level month after year"),
    (dates, (("month", "month"),), {}, "date level month after month"),
    (dates, (("decade", "year"),), {}, "nothing after decade"),
    (dates, (("week", "month"),), {}, "date level month after week: a week may belong to two months"),
    (dates, (("day", "week", "year"),), {}, "a week may belong to two years"),
    (dates, (("half-year",), "%Y"), {}, "has no month, which level half-year needs"),
    (dates, (("year",), "%d.%m"), {}, "has no year, which level year needs"),
    (dates, (("year",), ("%Y", "%d.%m")), {}, "'%d.%m' has no year"),
    (dates, (("week",), "%Y-%m"), {}, "has no day, which level week needs"),
    (dates, (("year",), "%Y %Q"), {}, "contains %Q"),
    (dates, (("year",), "%Y %"), {}, "contains %"),
    (dates, (("year",), ()), {}, "an empty list of formats"),
    (AgeHierarchy, (DAY, None, "%Y"), {}, "has no month, which an age needs"),
    (OrderHierarchy, (), {}, "without sizes or fanout"),
    (OrderHierarchy, (), {"sizes": (2,), "fanout": 2}, "both sizes and fanout"),
    (OrderHierarchy, (), {"fanout": 1}, "order fanout 1"),
    (OrderHierarchy, (), {"fanout": ()}, "order fanout none"),
    (OrderHierarchy, (), {"fanout": (2, 0)}, "order fanout 0"),
    (OrderHierarchy, (), {"sizes": (1,)}, "order size 1"),
    (OrderHierarchy, (), {"sizes": (2, 3)}, "order size 3 after size 2: such groups do not nest"),
    (OrderHierarchy, (), {"sizes": (4, 2)}, "order size 2 after size 4"),
    (OrderHierarchy, (), {"fanout": 2, "label": "list"}, "order label 'list'"),
    (TaxonomyHierarchy.of, (3,), {}, "under *: '3' is not a group"),
    (TaxonomyHierarchy.of, ("Gov",), {}, "'Gov' is not a group"),
    (TaxonomyHierarchy.of, ({},), {}, "under *: an empty group"),
    (TaxonomyHierarchy.of, ({"Gov": []},), {}, "under * > Gov: an empty group"),
    (TaxonomyHierarchy.of, ({"Gov": [[]]},), {}, "under * > Gov: an empty group"),
    (TaxonomyHierarchy.of, ({"Gov": "Federal"},), {}, "under * > Gov: 'Federal' is not a group"),
    (TaxonomyHierarchy.of, ({"Gov": {"Low": [3]}},), {}, "under * > Gov > Low: '3' is not a text"),
    (LevelsHierarchy.of, ({"a": "*"},), {}, "leaf 'a': '*' is not a list"),
    (LevelsHierarchy.of, (["a;*"],), {}, "a row: 'a;*' is not a list"),
    (LevelsHierarchy.of, ([["a", 1.5]],), {}, "'1.5' is not a text"),
    (LevelsHierarchy.of, ([["a", True]],), {}, "'True' is not a text"),
    (LevelsHierarchy.of, ([["a", None]],), {}, "'None' is not a text"),
    (AutoHierarchy, ("size",), {}, "automatic hierarchy by 'size'"),
    (BuiltinHierarchy, ("nace2", ()), {}, "levels of nace2: none"),
    (BuiltinHierarchy, ("nace2", ("section", "division")), {}, "levels of nace2: section, division"),
    (BuiltinHierarchy, ("nace2", ("group", "group")), {}, "levels of nace2: group, group"),
    (BuiltinHierarchy, ("nace2", ("chapter",)), {}, "has no level 'chapter'"),
    (file, (), {"delimiter": "::"}, "delimiter '::'"),
    (file, (), {"delimiter": '"'}, "delimiter '\"'"),
    (file, (), {"encoding": "utf-9"}, "encoding 'utf-9' is not known"),
]


@pytest.mark.parametrize(("builder", "values", "options", "part"), OPTIONS)
def test_wrong_options_are_refused(
    builder: Callable[..., HierarchySource], values: tuple[Any, ...], options: dict[str, Any], part: str
) -> None:
    with pytest.raises(InputError) as caught:
        builder(*values, **options)
    assert part in str(caught.value)


VALUES: list[tuple[HierarchySource, list[str], str]] = [
    (INTERVALS(5, others=["20-24"]), ["21"], "'20-24' under others equals an interval"),
    (MaskHierarchy(pad=True, length=5), ["1", "1234567"], "'1234567' of the data has 7 characters"),
    (MaskHierarchy(), ["y" * 100], "a mask of 100 levels"),
    (MaskHierarchy(), ["y", ""], "empty text"),
    (FlatHierarchy(), [""], "empty text"),
    (DateHierarchy(("year",), others=("2020",)), ["2020-01-02"], "'2020' under others equals a year"),
    (dates(("year",), "%d.%m.%Y"), ["2020-01-01", "2020-01-02"], "'2020-01-02' of the data are not dates"),
    (
        DateHierarchy(("month",), ("%d.%m.%Y", "%Y-%m-%d")),
        ["1980/01/02"],
        "'1980/01/02' of the data is not a date",
    ),
    (
        DateHierarchy(("month",), ("%d/%m/%Y", "%m/%d/%Y")),
        ["25/12/2020", "01/02/2020"],
        "'01/02/2020' of the data is 2020-02-01 by %d/%m/%Y and 2020-01-02 by %m/%d/%Y",
    ),
    (AgeHierarchy(DAY), ["2026-11-24"], "'2026-11-24' of the data is after the reference date 2026-11-23"),
    (AgeHierarchy(DAY), ["23.11.2000"], "'23.11.2000' of the data is not a date"),
    (AgeHierarchy(DAY, others=("41",)), ["1985-11-23"], "'41' under others equals an age"),
    (OrderHierarchy(("a", "b"), fanout=2), ["awful", "a"], "attribute 'x': a value of the data has no leaf"),
    (OrderHierarchy(("a", "b", "a"), fanout=2), [], "leaf 'a' is repeated"),
    (TaxonomyHierarchy.of({"A": ["x"], "B": ["x"]}), [], "the taxonomy of 'x', * > B > x"),
    (TaxonomyHierarchy.of({"A": {"C": ["x"]}, "B": {"C": ["y"]}}), [], "'C' of level 1"),
    (TaxonomyHierarchy.of({"A": ["x"]}), ["y"], "attribute 'x': a value of the data has no leaf in taxonomy"),
    (TaxonomyHierarchy.of({"": ["x"]}), [], "empty value ''"),
    (LevelsHierarchy.of([]), [], "levels given one by one has no row"),
    (
        LevelsHierarchy.of([["a", "*"], ["b"]]),
        [],
        "the hierarchy of 'x', row 2: 1 column with leaf 'b'",
    ),
    (LevelsHierarchy.of({"a": ["*"]}), ["b"], "no leaf in levels given one by one: 'b'"),
    (LevelsHierarchy.of({"a": ["*"], "b": ["+"]}), [], "row 2, column 2 (level 1): a second top value '+'"),
    (AutoHierarchy("frequency"), ["a"], "attribute 'x': a hierarchy by frequency without the values' counts"),
]


@pytest.mark.parametrize(("source", "values", "part"), VALUES)
def test_wrong_values_are_refused(source: HierarchySource, values: list[str], part: str) -> None:
    with pytest.raises(InputError) as caught:
        source.build("x", values)
    assert part in str(caught.value)


@pytest.mark.parametrize("text", ["?", "NaN", "inf", "1,000", "1_000", "٣", "12-", "", "1e9999", "0x10"])
def test_invalid_number_is_named_in_the_error(text: str) -> None:
    with pytest.raises(InputError) as caught:
        INTERVALS(5).build("age", ["17", text])
    assert "attribute 'age'" in str(caught.value)
    assert "null_values" in str(caught.value)
    if text:
        assert f"'{text}' of the data is not a number" in str(caught.value)
        assert f'others = ["{text}"]' in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        *("2020-02-30", "20200101", "2020-W01-1", "2020-1-1", "01.02.2020", "2020-01-01x", "0000-01-01"),
        *("2020", "٢٠٢٠-01-01", "2020-01-01T", "2020-01-01T1:00", "?"),
    ],
)
def test_invalid_date_is_named_in_the_error(text: str) -> None:
    with pytest.raises(InputError) as caught:
        DateHierarchy().build("born", ["2020-01-01", text])
    assert f"attribute 'born': '{text}' of the data is not a date" in str(caught.value)
    assert "ISO 8601" in str(caught.value)
    assert "others" in str(caught.value)
