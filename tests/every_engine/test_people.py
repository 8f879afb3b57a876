"""Tests that people and single values are counted alike in every place, and as plain Python counts them."""

from __future__ import annotations

import random
from collections import Counter, defaultdict

from discreet.engines.column_scans import count_single_values
from discreet.profile.table_warnings import check_table
from tests.every_engine.auditing import audited, texts
from tests.every_engine.places import SLOW_ON_SPARK, Place
from tests.frequency.conftest import table_spec

NAMES = ("nr", "sex", "dob", "town", "income")


def visits() -> list[tuple[str, ...]]:
    """Sixty people with one to five rows each; two incomes are stars, which are not values."""
    draw, rows = random.Random(5), []
    for person in range(60):
        sex, dob = draw.choice("mf"), f"19{draw.randrange(30, 99)}-0{draw.randrange(1, 9)}-11"
        town = draw.choice(["a", "b"])
        rows += [
            (f"p{person}", sex, dob, town, str(draw.randrange(90))) for _ in range(draw.choice([1, 1, 3, 5]))
        ]
    rows[0], rows[1] = (*rows[0][:4], "*"), (*rows[1][:4], " ** ")
    return rows


@SLOW_ON_SPARK  # where test_profile reads tables by the same statements
def test_people_of_a_table_are_found_everywhere(place: Place) -> None:
    rows = visits()
    source = place.put(texts(rows, NAMES))
    spec = table_spec(source, NAMES[1:4], ["income"], others=["nr"])
    with place.connect(source) as engine:
        key = check_table(engine, spec).people.person
    assert key is not None
    assert (key.column, key.traits, key.nulls) == ("nr", ("dob", "sex"), 0)
    assert (key.filled, key.values) == (len(rows), 60)
    assert key.most == max(Counter(row[0] for row in rows).values())


def test_single_values_and_pseudonyms_of_a_release_are_counted(place: Place) -> None:
    rows, keys = visits(), ["sex", "town"]
    source = place.put(texts(rows, NAMES))
    report = audited(place, source, keys=keys, values=["income"], k=20, pseudonymized=["nr"])
    with place.connect(source) as engine:
        table = engine.open_source(source)
        (found,) = count_single_values(engine, table, ["income"], keys, len(rows), every=True)
    people: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in rows:
        people[row[1], row[3]].add(row[0])
    few = sum(len(each) < 20 for each in people.values())
    assert few
    assert any(
        text.startswith(f"{few} of {len(people)} groups contain fewer than 20 different nr:")
        for text in report.warnings
    )
    incomes = Counter(row[4] for row in rows if "*" not in row[4])
    within = Counter((row[1], row[3], row[4]) for row in rows if "*" not in row[4])
    assert found.unique_rows == sum(n == 1 for n in incomes.values())
    assert found.in_class == sum(n == 1 for n in within.values())
    assert any(
        text.startswith(f"income: {found.unique_rows} of {len(rows)} rows") for text in report.warnings
    )
