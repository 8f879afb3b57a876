"""Dates: granularities that nest, and texts that are dates."""

from __future__ import annotations

import itertools
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.hierarchy.dates import DATE_LABELS, GRANULARITIES, DateHierarchy
from tests.hierarchy.soundness import assert_sound, paths


def test_the_default_chain() -> None:
    hierarchy = DateHierarchy().build("d", ["2020-03-31", "2020-04-01", "1999-12-31"])
    assert paths(hierarchy) == [
        "1999-12-31;1999-12;1999-Q4;1999;1990-1999;*",
        "2020-03-31;2020-03;2020-Q1;2020;2020-2029;*",
        "2020-04-01;2020-04;2020-Q2;2020;2020-2029;*",
    ]
    assert (hierarchy.origin, hierarchy.from_data) == ("dates by month, quarter, year, decade", False)


def test_timestamps_are_cut_to_the_day_as_written() -> None:
    values = [
        *("2020-12-31 23:59", "2020-12-31T23:59:59.999999Z", "2020-12-31 23:59:59+01:00"),
        *("2020-12-31T00:00:00-0330", " 2020-12-31 ", "2020-12-31 10:11:12,5 +02"),
    ]
    hierarchy = DateHierarchy(("day", "week")).build("d", [*values, "2021-01-01"])
    for value in values:
        assert hierarchy.path(hierarchy.code_of_leaf[value])[1:] == ("2020-12-31", "2020-W53", "*")
    assert hierarchy.path(hierarchy.code_of_leaf["2021-01-01"])[1:] == ("2021-01-01", "2020-W53", "*")


def test_a_format() -> None:
    source = DateHierarchy(("month", "year"), "%d.%m.%Y %H:%M")
    assert paths(source.build("d", ["31.12.1979 08:00", "1.1.1980 23:59"])) == [
        "31.12.1979 08:00;1979-12;1979;*",
        "1.1.1980 23:59;1980-01;1980;*",
    ]
    assert paths(DateHierarchy(("year",), "%Y").build("d", ["1984", "2001"])) == [
        "1984;1984;*",
        "2001;2001;*",
    ]
    assert paths(DateHierarchy(("quarter",), "%Y-%m").build("d", ["1984-05"])) == ["1984-05;1984-Q2;*"]


def test_half_years_and_five_years() -> None:
    source = DateHierarchy(("half-year", "five-years"))
    assert paths(source.build("d", ["2019-06-30", "2019-07-01", "2020-01-01", "0003-12-31"])) == [
        "0003-12-31;0003-H2;0000-0004;*",
        "2019-06-30;2019-H1;2015-2019;*",
        "2019-07-01;2019-H2;2015-2019;*",
        "2020-01-01;2020-H1;2020-2024;*",
    ]


def test_several_formats() -> None:
    source = DateHierarchy(("month", "year"), ("%d.%m.%Y", "%Y-%m-%d", "%B %d, %Y"))
    assert paths(source.build("d", ["31.12.1979", "1979-12-30", "May 1, 1980"])) == [
        "1979-12-30;1979-12;1979;*",
        "31.12.1979;1979-12;1979;*",
        "May 1, 1980;1980-05;1980;*",
    ]
    with pytest.raises(InputError, match=r"'1980/01/02' of the data is not a date.*formats %d\.%m\.%Y, %Y-"):
        source.build("d", ["1980/01/02"])
    with pytest.raises(InputError, match="an empty list of formats"):
        DateHierarchy(("year",), ())
    with pytest.raises(InputError, match=r"'%d\.%m' has no year"):
        DateHierarchy(("year",), ("%Y", "%d.%m"))


def test_a_value_that_two_formats_read_differently_is_refused() -> None:
    source = DateHierarchy(("month",), ("%d/%m/%Y", "%m/%d/%Y"))
    assert paths(source.build("d", ["25/12/2020", "03/03/2020"]))[0] == "03/03/2020;2020-03;*"
    with pytest.raises(InputError) as caught:
        source.build("d", ["25/12/2020", "01/02/2020"])
    told = str(caught.value)
    assert "'01/02/2020' of the data is 2020-02-01 by %d/%m/%Y and 2020-01-02 by %m/%d/%Y" in told


def plain_label(level: str, year: int, month: int, day: int) -> str:
    """Compute the label by counting, without a calendar library; weeks from the days since a Monday."""
    if level == "week":
        monday = date(year, month, day).toordinal() - (date(year, month, day).toordinal() - 1) % 7
        thursday = date.fromordinal(monday + 3)
        return f"{thursday.year:04}-W{(thursday.timetuple().tm_yday - 1) // 7 + 1:02}"
    return {
        "day": f"{year:04}-{month:02}-{day:02}",
        "month": f"{year:04}-{month:02}",
        "quarter": f"{year:04}-Q{1 if month < 4 else 2 if month < 7 else 3 if month < 10 else 4}",
        "half-year": f"{year:04}-H{1 if month < 7 else 2}",
        "year": f"{year:04}",
        "five-years": f"{year - year % 5:04}-{year - year % 5 + 4:04}",
        "decade": f"{year - year % 10:04}-{year - year % 10 + 9:04}",
    }[level]


@given(
    st.lists(st.dates(max_value=date(9999, 12, 20)), unique=True, max_size=12),
    st.sampled_from(["%d.%m.%Y", "%Y-%m-%d", "%m %Y %d"]),
    st.sampled_from([("day", "week"), tuple(level for level in GRANULARITIES if level != "week")]),
)
def test_labels_are_those_of_plain_counting(days: list[date], form: str, levels: tuple[str, ...]) -> None:
    written = {
        form.replace("%d", f"{day.day:02}")
        .replace("%m", f"{day.month:02}")
        .replace("%Y", f"{day.year:04}"): day
        for day in days
    }
    hierarchy = DateHierarchy(levels, ("%d.%m.%Y", "%Y-%m-%d", "%m %Y %d")).build("d", list(written))
    for text, day in written.items():
        labels = tuple(plain_label(level, day.year, day.month, day.day) for level in levels)
        assert hierarchy.path(hierarchy.code_of_leaf[text]) == (text, *labels, "*")


def test_others_stay_as_they_are() -> None:
    hierarchy = DateHierarchy(("year",), others=("never",)).build("d", ["2020-01-02", "never"])
    assert paths(hierarchy) == ["2020-01-02;2020;*", "never;never;*"]
    with pytest.raises(InputError, match="'2020' under others equals a year"):
        DateHierarchy(("year",), others=("2020",)).build("d", ["2020-01-02"])


@pytest.mark.parametrize(
    "text",
    [
        *("2020-02-30", "20200101", "2020-W01-1", "2020-1-1", "01.02.2020", "2020-01-01x", "0000-01-01"),
        *("2020", "٢٠٢٠-01-01", "2020-01-01T", "2020-01-01T1:00", "?"),
    ],
)
def test_a_value_that_is_no_date_is_named(text: str) -> None:
    with pytest.raises(InputError) as caught:
        DateHierarchy().build("born", ["2020-01-01", text])
    assert f"attribute 'born': '{text}' of the data is not a date" in str(caught.value)
    assert "ISO 8601" in str(caught.value)
    assert "others" in str(caught.value)


def test_a_value_in_another_format_is_named() -> None:
    with pytest.raises(InputError, match=r"'2020-01-01', '2020-01-02' of the data are not dates.*%d\.%m\.%Y"):
        DateHierarchy(("year",), "%d.%m.%Y").build("d", ["2020-01-01", "2020-01-02", "03.01.2020"])


@pytest.mark.parametrize(
    ("levels", "form", "part"),
    [
        ((), None, "dates without levels"),
        (("hour",), None, "date level 'hour'"),
        (("year", "month"), None, "date level month after year"),
        (("month", "month"), None, "date level month after month"),
        (("decade", "year"), None, "nothing after decade"),
        (("week", "month"), None, "date level month after week: a week may belong to two months"),
        (("day", "week", "year"), None, "a week may belong to two years"),
        (("week", "five-years"), None, "a week may belong to two five-years"),
        (("year", "half-year"), None, "date level half-year after year"),
        (("half-year",), "%Y", "has no month, which level half-year needs"),
        (("year",), "%d.%m", "has no year, which level year needs"),
        (("month",), "%Y", "has no month, which level month needs"),
        (("week",), "%Y-%m", "has no day, which level week needs"),
        (("year",), "%Y %Q", "contains %Q"),
        (("year",), "%Y %", "contains %"),
    ],
)
def test_wrong_options_are_refused(levels: tuple[str, ...], form: str | None, part: str) -> None:
    with pytest.raises(InputError) as caught:
        DateHierarchy(levels, form)
    assert part in str(caught.value)


def test_what_is_accepted_nests_and_what_is_refused_does_not() -> None:
    """A finer granularity nests in a coarser one, over all days of 30 years, exactly if it is accepted."""
    days = [date.fromordinal(n) for n in range(date(1994, 1, 1).toordinal(), date(2024, 1, 1).toordinal())]
    for fine, coarse in itertools.permutations(GRANULARITIES, 2):
        parents: dict[str, set[str]] = {}
        for day in days:
            parents.setdefault(DATE_LABELS[fine](day), set()).add(DATE_LABELS[coarse](day))
        nests = all(len(found) == 1 for found in parents.values())
        try:
            DateHierarchy((fine, coarse))
        except InputError:
            accepted = False
        else:
            accepted = True
        assert accepted == nests, (fine, coarse)


@given(
    st.sets(st.dates(), max_size=30),
    st.sampled_from([("day", "week"), GRANULARITIES[2:], ("month", "decade")]),
)
def test_any_dates_nest(days: set[date], levels: tuple[str, ...]) -> None:
    values = sorted(day.isoformat() for day in days)
    assert_sound(DateHierarchy(levels).build("d", values), values)
