"""The lines that each builder makes of a column's values: each leaf with its levels."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import pytest

from discreet.hierarchy import (
    AgeHierarchy,
    AutoHierarchy,
    BuiltinHierarchy,
    DateHierarchy,
    FlatHierarchy,
    IntervalHierarchy,
    LevelsHierarchy,
    MaskHierarchy,
    OrderHierarchy,
    TaxonomyHierarchy,
)
from discreet.model.hierarchy import HierarchySource
from tests.hierarchy.soundness import assert_sound, paths

DAY = date(2026, 11, 23)
GRADES = ("none", "low", "middle", "high", "extreme")
PAIN = [
    "none;none … low;none … high;*",
    "low;none … low;none … high;*",
    "middle;middle … high;none … high;*",
    "high;middle … high;none … high;*",
    "extreme;extreme;extreme;*",
]
BIG = 10**40
Case = tuple[HierarchySource, Sequence[object], list[str]]

LINES: dict[str, Case] = {
    # --- intervals
    "intervals of whole numbers": (
        IntervalHierarchy.of([5, 10, 20]),
        (17, 20, 39, 90),
        [
            "17;15-19;10-19;0-19;*",
            "20;20-24;20-29;20-39;*",
            "39;35-39;30-39;20-39;*",
            "90;90-94;90-99;80-99;*",
        ],
    ),
    "intervals from an anchor": (
        IntervalHierarchy.of(5, anchor=17),
        (16, 17, 21, 22),
        ["16;12-16;*", "17;17-21;*", "21;17-21;*", "22;22-26;*"],
    ),
    "bottom and top coding cut the intervals": (
        IntervalHierarchy.of([5, 10], lower=17, upper=88),
        (3, 16, 17, 19, 20, 84, 85, 87, 88, 99),
        [
            *("3;<17;<17;*", "16;<17;<17;*", "17;17-19;17-19;*", "19;17-19;17-19;*", "20;20-24;20-29;*"),
            *("84;80-84;80-87;*", "85;85-87;80-87;*", "87;85-87;80-87;*", "88;≥88;≥88;*", "99;≥88;≥88;*"),
        ],
    ),
    "only coding": (
        IntervalHierarchy.of(lower=1, upper=4),
        (0, 1, 3, 4, 12),
        ["0;<1;*", "1;1;*", "3;3;*", "4;≥4;*", "12;≥4;*"],
    ),
    "ends that meet": (IntervalHierarchy.of(10, lower=18, upper=18), (17, 18), ["17;<18;*", "18;≥18;*"]),
    "ends from the data": (
        IntervalHierarchy.of([5, 20], lower="data", upper="data"),
        (17, 19, 20, 79, 80, 85, 87),
        [
            *("17;<20;<20;*", "19;<20;<20;*", "20;20-24;20-39;*", "79;75-79;60-79;*"),
            *("80;80-84;80-84;*", "85;≥85;≥85;*", "87;≥85;≥85;*"),
        ],
    ),
    "ends from one value": (
        IntervalHierarchy.of([5, 20], lower="data", upper="data"),
        (17,),
        ["17;15-19;0-19;*"],
    ),
    "ends from two values": (
        IntervalHierarchy.of([5, 20], lower="data", upper="data"),
        (17, 20),
        ["17;<20;<20;*", "20;≥20;≥20;*"],
    ),
    "one end from the data": (
        IntervalHierarchy.of(5, lower=30, upper="data"),
        (17, 18),
        ["17;<30;*", "18;<30;*"],
    ),
    "exact decimals": (
        IntervalHierarchy.of(["0.1", "0.2"]),
        ("-0.3", "-0.25", "0.3", "0.29999", "1e-1"),
        [
            "-0.3;[-0.3, -0.2[;[-0.4, -0.2[;*",
            "-0.25;[-0.3, -0.2[;[-0.4, -0.2[;*",
            "1e-1;[0.1, 0.2[;[0, 0.2[;*",
            "0.29999;[0.2, 0.3[;[0.2, 0.4[;*",
            "0.3;[0.3, 0.4[;[0.2, 0.4[;*",
        ],
    ),
    "a negative number": (IntervalHierarchy.of(5), (-3, 4), ["-3;[-5, 0[;*", "4;[0, 5[;*"]),
    "a negative number in an end": (IntervalHierarchy.of(5, lower=0), (-3, 4), ["-3;<0;*", "4;0-4;*"]),
    "texts of one number": (
        IntervalHierarchy.of(1),
        ("3", "03", "3.0"),
        ["03;3;*", "3;3;*", "3.0;3;*"],
    ),
    "numbers wider than a machine word": (
        IntervalHierarchy.of([10, 10**45]),
        (BIG + 9, BIG + 10, -BIG),
        [
            f"{-BIG};[{-BIG}, {-BIG + 10}[;[{-(10**45)}, 0[;*",
            f"{BIG + 9};[{BIG}, {BIG + 10}[;[0, {10**45}[;*",
            f"{BIG + 10};[{BIG + 10}, {BIG + 20}[;[0, {10**45}[;*",
        ],
    ),
    "an interval wider than a machine word": (
        IntervalHierarchy.of([10, 10**45]),
        (7,),
        [f"7;0-9;0-{10**45 - 1};*"],
    ),
    "irregular bounds": (
        IntervalHierarchy.of(breaks=[18, 25, 35, 50, 65]),
        (3, 17, 18, 24, 25, 49, 50, 64, 65, 104),
        [
            *("3;<18;*", "17;<18;*", "18;18-24;*", "24;18-24;*", "25;25-34;*", "49;35-49;*"),
            *("50;50-64;*", "64;50-64;*", "65;≥65;*", "104;≥65;*"),
        ],
    ),
    "bounds in several levels after widths and between ends": (
        IntervalHierarchy.of([5], lower=5, upper=90, breaks=[[20, 35, 65], [35]]),
        (3, 7, 20, 34, 35, 89, 90),
        [
            *("3;<5;<5;<5;*", "7;5-9;5-19;5-34;*", "20;20-24;20-34;5-34;*", "34;30-34;20-34;5-34;*"),
            *("35;35-39;35-64;35-89;*", "89;85-89;65-89;35-89;*", "90;≥90;≥90;≥90;*"),
        ],
    ),
    "bounds of both signs": (
        IntervalHierarchy.of(breaks=["-0.5", 0, 10]),
        ("-0.51", "-0.5", "0", "9.99", "10"),
        ["-0.51;<-0.5;*", "-0.5;[-0.5, 0[;*", "0;[0, 10[;*", "9.99;[0, 10[;*", "10;≥10;*"],
    ),
    "numbers with others": (
        IntervalHierarchy.of([5], others=["unknown", "99"]),
        ("99", "98", "unknown"),
        ["98;95-99;*", "99;99;*", "unknown;unknown;*"],
    ),
    # --- masks
    "a mask from the right": (
        MaskHierarchy(),
        ("02174", "02138", "17042"),
        [
            "02138;0213*;021**;02***;0****;*",
            "02174;0217*;021**;02***;0****;*",
            "17042;1704*;170**;17***;1****;*",
        ],
    ),
    "a mask from the left": (
        MaskHierarchy("left", character="#"),
        ("abc", "xbc", "abd"),
        ["abc;#bc;##c;*", "xbc;#bc;##c;*", "abd;#bd;##d;*"],
    ),
    "a mask of unequal lengths": (
        MaskHierarchy(),
        ("217", "219", "02174"),
        ["217;21*;2**;*;*;*", "219;21*;2**;*;*;*", "02174;0217*;021**;02***;0****;*"],
    ),
    "a padded mask": (
        MaskHierarchy(pad=True),
        ("E11", "E11.9", "E1"),
        [
            "E1;E1***;E1***;E1***;E****;*",
            "E11;E11**;E11**;E1***;E****;*",
            "E11.9;E11.*;E11**;E1***;E****;*",
        ],
    ),
    "a mask padded to a length": (
        MaskHierarchy(pad=True, length=6, side="left"),
        ("7", "1234"),
        [
            "7;*****7;*****7;*****7;*****7;*****7;*",
            "1234;**1234;**1234;***234;****34;*****4;*",
        ],
    ),
    "a mask by two": (MaskHierarchy(steps=2), ("12345",), ["12345;123**;1****;*"]),
    "a mask by steps": (MaskHierarchy(steps=(1, 3)), ("12345",), ["12345;1234*;1****;*"]),
    "steps above the top": (MaskHierarchy(steps=(1, 4, 2)), ("12345",), ["12345;1234*;*"]),
    "a mask in one step": (MaskHierarchy(steps=9), ("12345",), ["12345;*"]),
    "a mask of one character": (MaskHierarchy(), ("a", "b"), ["a;*", "b;*"]),
    # --- dates
    "dates": (
        DateHierarchy(),
        ("2020-03-31", "2020-04-01", "1999-12-31"),
        [
            "1999-12-31;1999-12;1999-Q4;1999;1990-1999;*",
            "2020-03-31;2020-03;2020-Q1;2020;2020-2029;*",
            "2020-04-01;2020-04;2020-Q2;2020;2020-2029;*",
        ],
    ),
    "dates with times": (
        DateHierarchy(("month", "year"), "%d.%m.%Y %H:%M"),
        ("31.12.1979 08:00", "1.1.1980 23:59"),
        ["31.12.1979 08:00;1979-12;1979;*", "1.1.1980 23:59;1980-01;1980;*"],
    ),
    "years": (DateHierarchy(("year",), "%Y"), ("1984", "2001"), ["1984;1984;*", "2001;2001;*"]),
    "months": (DateHierarchy(("quarter",), "%Y-%m"), ("1984-05",), ["1984-05;1984-Q2;*"]),
    "half-years and five years": (
        DateHierarchy(("half-year", "five-years")),
        ("2019-06-30", "2019-07-01", "2020-01-01", "0003-12-31"),
        [
            "0003-12-31;0003-H2;0000-0004;*",
            "2019-06-30;2019-H1;2015-2019;*",
            "2019-07-01;2019-H2;2015-2019;*",
            "2020-01-01;2020-H1;2020-2024;*",
        ],
    ),
    "dates in several formats": (
        DateHierarchy(("month", "year"), ("%d.%m.%Y", "%Y-%m-%d", "%B %d, %Y")),
        ("31.12.1979", "1979-12-30", "May 1, 1980"),
        ["1979-12-30;1979-12;1979;*", "31.12.1979;1979-12;1979;*", "May 1, 1980;1980-05;1980;*"],
    ),
    "dates on which two formats agree": (
        DateHierarchy(("month",), ("%d/%m/%Y", "%m/%d/%Y")),
        ("25/12/2020", "03/03/2020"),
        ["03/03/2020;2020-03;*", "25/12/2020;2020-12;*"],
    ),
    "dates with others": (
        DateHierarchy(("year",), others=("never",)),
        ("2020-01-02", "never"),
        ["2020-01-02;2020;*", "never;never;*"],
    ),
    # --- ages
    "ages and their intervals": (
        AgeHierarchy(DAY, IntervalHierarchy.of([5, 10], upper=90), others=("unknown",)),
        ("2026-11-23", "1985-11-23", "1985-11-24", "1936-11-23 07:30", "1900-01-01", "unknown"),
        [
            "1900-01-01;≥90;≥90;≥90;*",
            "1936-11-23 07:30;≥90;≥90;≥90;*",
            "1985-11-23;41;40-44;40-49;*",
            "1985-11-24;40;40-44;40-49;*",
            "2026-11-23;0;0-4;0-9;*",
            "unknown;unknown;unknown;unknown;*",
        ],
    ),
    "ages": (AgeHierarchy(DAY), ("1985-11-23",), ["1985-11-23;41;*"]),
    "ages with top coding and two formats": (
        AgeHierarchy(DAY, IntervalHierarchy.of(upper=90), ("%d.%m.%Y", "%m/%d/%Y")),
        ("31.12.1985", "12/31/1930"),
        ["12/31/1930;≥90;*", "31.12.1985;40;*"],
    ),
    "ages with bounds": (
        AgeHierarchy(DAY, IntervalHierarchy.of(breaks=[18, 65])),
        ("2020-01-01",),
        ["2020-01-01;6;<18;*"],
    ),
    # --- orders
    "groups by sizes": (OrderHierarchy(GRADES, sizes=(2, 4)), ("low", "none"), PAIN),
    "groups by fanouts": (OrderHierarchy(GRADES, fanout=(2, 2)), (), PAIN),
    "groups in the natural order of the data": (
        OrderHierarchy(fanout=(3,)),
        ("10", "9", "-2.5", "ward 10", "ward 9", "1e1"),
        [
            *("-2.5;-2.5 … 10;*", "9;-2.5 … 10;*", "10;-2.5 … 10;*"),
            *("1e1;1e1 … ward 10;*", "ward 9;1e1 … ward 10;*", "ward 10;1e1 … ward 10;*"),
        ],
    ),
    "groups as sets": (
        OrderHierarchy(sizes=(3,), label="set"),
        "abcd",
        ["a;{a, b, c};*", "b;{a, b, c};*", "c;{a, b, c};*", "d;d;*"],
    ),
    "groups of bands with others": (
        OrderHierarchy(sizes=(2,), others=("no answer",)),
        ("100k+", "no answer", "<10k", "20k-100k", "10k-20k"),
        [
            "<10k;<10k … 10k-20k;*",
            "10k-20k;<10k … 10k-20k;*",
            "20k-100k;20k-100k … 100k+;*",
            "100k+;20k-100k … 100k+;*",
            "no answer;no answer;*",
        ],
    ),
    # --- taxonomies and levels
    "a taxonomy of tables and lists": (
        TaxonomyHierarchy.of(
            {"Gov": {"High": ["Federal"], "Low": ["State", "Local"]}, "Other": {"Private": ["Firm"]}}
        ),
        ("State",),
        ["Federal;High;Gov;*", "State;Low;Gov;*", "Local;Low;Gov;*", "Firm;Private;Other;*"],
    ),
    "a taxonomy of unequal depth": (
        TaxonomyHierarchy.of(["None", {"Gov": ["Federal", {"Low": ["State", "Local"]}]}]),
        (),
        ["None;None;None;*", "Federal;Federal;Gov;*", "State;Low;Gov;*", "Local;Low;Gov;*"],
    ),
    "a taxonomy of groups without a name": (
        TaxonomyHierarchy.of([["a", "b"], ["c", ["d", "e"]]]),
        (),
        [
            *("a;a;{a, b};*", "b;b;{a, b};*", "c;c;{c, d, e};*"),
            *("d;{d, e};{c, d, e};*", "e;{d, e};{c, d, e};*"),
        ],
    ),
    "a taxonomy of leaves": (TaxonomyHierarchy.of(["a", "b"]), (), ["a;*", "b;*"]),
    "a leaf named like its group": (
        TaxonomyHierarchy.of({"Europe": ["Europe", "France"]}),
        (),
        ["Europe;Europe;*", "France;Europe;*"],
    ),
    "levels by rows": (
        LevelsHierarchy.of([["17", "15-19", "*"], ["20", "20-24", "*"]]),
        ("20",),
        ["17;15-19;*", "20;20-24;*"],
    ),
    "levels by leaf": (
        LevelsHierarchy.of({17: ["15-19", "*"], "20": ("20-24", "*")}),  # type: ignore[dict-item]
        ("20",),
        ["17;15-19;*", "20;20-24;*"],
    ),
    "some levels of a built-in hierarchy": (
        BuiltinHierarchy("nace2", ("division", "section")),
        ("01.11", "A"),
        [
            "01.11;01 Crop and animal production, hunting and related service activities;"
            "A Agriculture, forestry and fishing;*",
            "A;A Agriculture, forestry and fishing;A Agriculture, forestry and fishing;*",
        ],
    ),
    # --- automatic
    "automatic for few texts": (AutoHierarchy(), ("0", "1"), ["0;*", "1;*"]),
    "automatic for one value": (AutoHierarchy(), ("7",), ["7;*"]),
    "automatic for dates": (
        AutoHierarchy(),
        ("2020-03-17", "1999-12-31 10:00:00"),
        ["1999-12-31 10:00:00;1999-12;1999;1990-1999;*", "2020-03-17;2020-03;2020;2020-2029;*"],
    ),
    "value → *": (FlatHierarchy(), ("10", "9", "a"), ["9;*", "10;*", "a;*"]),
}


@pytest.mark.parametrize("name", LINES)
def test_builder_makes_the_lines(name: str) -> None:
    source, values, lines = LINES[name]
    texts = [str(value) for value in values]
    hierarchy = source.build("x", texts)
    assert paths(hierarchy) == lines
    assert_sound(hierarchy, texts)


@pytest.mark.parametrize(
    ("source", "origin", "from_data"),
    [
        (IntervalHierarchy.of([5, 10, 20]), "intervals of 5, 10 and 20", False),
        (IntervalHierarchy.of(lower=1, upper=4), "open ends", False),
        (IntervalHierarchy.of(5, lower="data"), "intervals of 5", True),
        (IntervalHierarchy.of(breaks=[18, 25, 35]), "intervals cut at 18, 25 and 35", False),
        (IntervalHierarchy.of([5], breaks=[[20, 35], [35]]), "intervals of 5, cut at 20 and 35", False),
        (MaskHierarchy(), "mask from the right", False),
        (MaskHierarchy("left", pad=True), "mask from the left", True),
        (MaskHierarchy(pad=True, length=6), "mask from the right", False),
        (DateHierarchy(), "dates by month, quarter, year, decade", False),
        (
            AgeHierarchy(DAY, IntervalHierarchy.of([5, 10])),
            "age on 2026-11-23, intervals of 5 and 10",
            False,
        ),
        (OrderHierarchy(GRADES, fanout=2), "groups of neighbouring values", False),
        (OrderHierarchy(fanout=2), "groups of neighbouring values", True),
        (LevelsHierarchy.of([["a", "*"]]), "levels given one by one", False),
        (TaxonomyHierarchy.of(["a"]), "taxonomy", False),
        (BuiltinHierarchy("nace2", ("division",)), "built-in nace2 by division", False),
        (AutoHierarchy(), "automatic, by order", True),
        (AutoHierarchy("frequency"), "automatic, by frequency", True),
        (FlatHierarchy(), "value → *", False),
    ],
    ids=str,
)
def test_builder_states_its_origin(source: HierarchySource, origin: str, from_data: bool) -> None:
    assert (source.origin, source.from_data) == (origin, from_data)


@pytest.mark.parametrize(
    ("source", "height"),
    [
        (IntervalHierarchy.of([5, 20], lower="data", upper="data"), 3),
        (IntervalHierarchy.of(breaks=[18, 25]), 2),
        (MaskHierarchy(), 1),
        (OrderHierarchy(fanout=3), 1),
        (AutoHierarchy(), 1),
        (FlatHierarchy(), 1),
    ],
    ids=lambda source: type(source).__name__,
)
def test_column_without_values_has_only_levels(source: HierarchySource, height: int) -> None:
    found = source.build("x", [])
    assert (found.height, found.leaves) == (height, ())
