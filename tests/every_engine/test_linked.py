"""Tests of rows of a child table, with a column that is looked up: the same in every place."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from discreet.engines.source_tables import open_source_table
from discreet.frequency.table_scan import count_frequency_set
from discreet.model.table_spec import Link
from tests.every_engine.places import Columns, Place
from tests.frequency.conftest import FirstLetter, table_spec

VISITS: Columns = {
    'the "visit"': ("BIGINT", [7, 8, 8, 9, None, 12]),
    "ward": ("VARCHAR", ["ab", "ac", "ab", "bc", "bc", None]),
    "seen": ("DATE", [date(2024, 1, 1 + day) for day in range(6)]),
}


def test_only_rows_of_linked_people_are_read(place: Place) -> None:
    link = Link('the "visit"', ("8", "12", "40"), "who", ("é", "it's", "nobody"))
    source = place.put(VISITS, link=link)
    with place.connect(source) as engine, open_source_table(engine, source) as table:
        cells = ", ".join(table.text(name) for name in table.columns)
        rows = engine.fetch_rows(f"SELECT {cells} FROM {table.relation}")
    assert table.columns == ('the "visit"', "ward", "seen", "who")
    assert sorted((str(a), b, str(c), d) for a, b, c, d in rows) == [
        ("12", None, "2024-01-06", "it's"),
        ("8", "ab", "2024-01-03", "é"),
        ("8", "ac", "2024-01-02", "é"),
    ]
    spec = table_spec(replace(source, subject="who"), ["ward"], [], FirstLetter())
    with place.connect(source) as engine:
        counted = count_frequency_set(engine, spec, place.settings)
    assert counted.rows == 3
    assert counted.subjects is not None
