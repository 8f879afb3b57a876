"""Ages: whole years on a day, counted birthday by birthday; the date only if required."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.hierarchy import AgeHierarchy, IntervalHierarchy
from discreet.hierarchy.ages import compute_age
from discreet.settings import Settings
from discreet.verbs.table import open as open_table
from tests.hierarchy.soundness import assert_sound

DAY = date(2026, 11, 23)


def birthdays(reference: date, born: date) -> int:
    """Count birthdays year by year; 1 March replaces 29 February where that day is missing."""
    number = 0
    for year in range(born.year + 1, reference.year + 1):
        try:
            birthday = born.replace(year=year)
        except ValueError:
            birthday = date(year, 3, 1)
        number += birthday <= reference
    return number


@given(st.dates(date(1880, 1, 1), date(2030, 1, 1)), st.integers(0, 45_000))
def test_age_is_the_number_of_birthdays(reference: date, days: int) -> None:
    born = date.fromordinal(max(1, reference.toordinal() - days))
    assert compute_age(reference, born) == birthdays(reference, born)


def test_born_on_the_29th_of_february() -> None:
    born = date(2004, 2, 29)
    days = (date(2023, 2, 28), date(2023, 3, 1), date(2024, 2, 28), date(2024, 2, 29), date(2004, 2, 29))
    assert [compute_age(day, born) for day in days] == [18, 19, 19, 20, 0]


@given(st.lists(st.dates(date(1900, 1, 1), DAY), unique=True, max_size=20))
def test_any_ages_are_those_of_a_plain_count(days: list[date]) -> None:
    source = AgeHierarchy(DAY, IntervalHierarchy.of([5], breaks=[[20, 65], [65]]))
    hierarchy = source.build("born", [str(day) for day in days])
    assert_sound(hierarchy, [str(day) for day in days])
    for day in days:
        age = birthdays(DAY, day)
        five = f"{age // 5 * 5}-{age // 5 * 5 + 4}"
        bounds = "<20" if age < 20 else "20-64" if age < 65 else "≥65"
        labels = (str(age), five, bounds, "<65" if age < 65 else "≥65", "*")
        assert hierarchy.path(hierarchy.code_of_leaf[str(day)])[1:] == labels


SPEC = """
[source]
path = "people.csv"

[attributes.born]
role = "quasi-identifier"
hierarchy = {kind = "age", reference = "2026-11-23", widths = [10]}

[attributes.pay]
role = "sensitive"
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    rows = [f"198{year}-11-0{day},{day}\n" for year in range(4) for day in range(1, 9)]
    (tmp_path / "people.csv").write_text("born,pay\n" + "".join(rows), encoding="utf-8")
    path = tmp_path / "discreet.toml"
    path.write_text(SPEC, encoding="utf-8")
    return path


def published(path: Path) -> set[str]:
    return {line.split(",")[0] for line in path.read_text(encoding="utf-8").splitlines()[1:]}


def test_exact_date_is_published_only_on_request(spec: Path, settings: Settings, tmp_path: Path) -> None:
    table = open_table(spec, settings=settings)
    assert any("its least level is 1, the age" in warning for warning in table.inspect().warnings)
    exact = table.lattice().negotiate(k=1).exact
    assert exact is not None
    assert exact.levels == {"born": 1}
    table.publish(exact, tmp_path / "a.csv")
    assert published(tmp_path / "a.csv") == {"46", "45", "44", "43"}
    with pytest.raises(InputError, match="level 0 of 'born' is below its least level, 1"):
        table.publish({"born": 0}, tmp_path / "b.csv", k=1)
    table.publish("permutation", tmp_path / "c.csv", k=2)
    assert published(tmp_path / "c.csv") == {"46", "45", "44", "43"}
    with pytest.raises(InputError, match="least level of 'born'"):
        table.publish("mondrian", tmp_path / "d.csv", k=2)
    requested = table.lattice().negotiate(k=1, min_level={"born": 0}).exact
    assert requested is not None
    assert requested.levels == {"born": 0}


def test_spec_with_min_level_0_publishes_the_date(spec: Path, settings: Settings, tmp_path: Path) -> None:
    spec.write_text(SPEC + "[request.min_level]\nborn = 0\n", encoding="utf-8")
    table = open_table(spec, settings=settings)
    table.publish({"born": 0}, tmp_path / "b.csv", k=1)
    assert "1981-11-03" in published(tmp_path / "b.csv")
