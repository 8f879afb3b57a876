"""One style per series name, in every chart."""

from __future__ import annotations

import pytest

from papers.charts import COLOURS, SERIES_GROUPS, SERIES_STYLES, Series, draw_lines, series_styles


def test_a_name_stands_in_one_group_and_a_group_has_room() -> None:
    names = [name for group in SERIES_GROUPS for name in group]
    assert len(names) == len(set(names)) == len(SERIES_STYLES)
    for group in SERIES_GROUPS:
        assert len({SERIES_STYLES[name] for name in group}) == len(group) <= len(COLOURS)


def test_a_series_looks_the_same_whatever_stands_beside_it() -> None:
    alone = series_styles(["incognito"])["incognito"]
    beside = series_styles(["samarati", "incognito", "exhaustive"])
    assert beside["incognito"] == alone
    assert len(set(beside.values())) == 3


@pytest.mark.parametrize("name", ["incognito, printed", "incognito, QID 5", "incognito, QID 12"])
def test_the_same_thing_printed_or_of_one_size_looks_the_same(name: str) -> None:
    assert series_styles([name])[name] == SERIES_STYLES["incognito"]


def test_names_of_no_group_take_what_is_free() -> None:
    found = series_styles(["mine", "samarati", "yours, printed"])
    assert found["samarati"] == SERIES_STYLES["samarati"]
    assert len(set(found.values())) == 3
    assert series_styles(["a", "b"])["a"].colour == COLOURS[0]
    many = [f"series {place}" for place in range(11)]
    assert len(set(series_styles(many).values())) == len(COLOURS)


def test_a_chart_draws_the_look() -> None:
    def drawn(*names: str) -> str:
        return draw_lines("T", [Series.of(n, [1, 2], [1, 2]) for n in names], x_label="x", y_label="y")

    colour = SERIES_STYLES["random"].colour.lower()
    assert colour in drawn("random")
    assert colour in drawn("min-sum", "random")
    assert colour not in drawn("min-sum")
