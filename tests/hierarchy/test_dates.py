"""Dates: granularities that nest, and texts that are dates."""

from __future__ import annotations

import itertools
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.hierarchy.dates import DATE_LABELS, GRANULARITIES, DateHierarchy


def test_timestamps_are_cut_to_the_day_as_written() -> None:
    values = [
        *("2020-12-31 23:59", "2020-12-31T23:59:59.999999Z", "2020-12-31 23:59:59+01:00"),
        *("2020-12-31T00:00:00-0330", " 2020-12-31 ", "2020-12-31 10:11:12,5 +02"),
    ]
    hierarchy = DateHierarchy(("day", "week")).build("d", [*values, "2021-01-01"])
    for value in values:
        assert hierarchy.path(hierarchy.code_of_leaf[value])[1:] == ("2020-12-31", "2020-W53", "*")
    assert hierarchy.path(hierarchy.code_of_leaf["2021-01-01"])[1:] == ("2021-01-01", "2020-W53", "*")


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


def test_accepted_granularities_nest_and_refused_ones_do_not() -> None:
    """A finer granularity nests in a coarser one, over all days of 12 years, exactly if it is accepted."""
    days = [date.fromordinal(n) for n in range(date(1994, 1, 1).toordinal(), date(2006, 1, 1).toordinal())]
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
