"""Tests of releases, external files and originals that are read in place: the same from every place."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.attacks.attribute_disclosure import compute_disclosure
from discreet.attacks.linkage import (
    CellInterpretation,
    OriginalTable,
    compute_population_risk,
    measure_linkage,
)
from discreet.attacks.published_table import PublishedColumns, read_published
from discreet.errors import InputError
from discreet.frequency.table_scan import count_frequency_set
from discreet.screens.release_comparison import true_answers
from discreet.screens.source_view import view_source
from discreet.verbs.table import Table
from discreet.workload.answerable_table import read_original, read_release
from tests.every_engine.places import SLOW_ON_SPARK, Columns, DuckdbPlace, Place
from tests.frequency.conftest import FirstLetter, table_spec

PEOPLE: Columns = {
    'the "town"': ("VARCHAR", ["ab", "ac", "bc", "bd", "ab", None, "é", "?"]),
    "year": ("BIGINT", [2**62, 7, 7, 2**62, 2**62, 7, 7, None]),
    "pay": ("VARCHAR", ["10", " 20 ", "x", "1e2", None, "10", "-3.5", "10"]),
    "who": ("VARCHAR", [f"p{i}" for i in range(8)]),
}
RELEASE: Columns = {
    'the "town"': ("VARCHAR", ["a", "a", "b", "b", "a", "*", "*", "*"]),
    "year": ("VARCHAR", ["*"] * 8),
    "pay": ("VARCHAR", ["10", " 20 ", "x", "1e2", None, "*", "*", "*"]),
}
NAMES = ['the "town"', "year"]


def test_attack_has_the_same_result_everywhere(place: Place, duckdb_place: DuckdbPlace) -> None:
    """Published classes, linkage with an external file in another place, the journalist's risk."""
    outside = duckdb_place.put({name: PEOPLE[name] for name in (*NAMES, "who")}, null_values=("?",))
    found = []
    for where in (place, duckdb_place):
        source, release = where.put(PEOPLE, null_values=("?",)), where.put(RELEASE)
        spec = table_spec(source, NAMES, ["pay"], FirstLetter())
        columns = PublishedColumns(tuple(NAMES), ("pay",))
        with where.connect(release) as engine:
            original = OriginalTable(spec, count_frequency_set(engine, spec, where.settings))
            published = read_published(engine, release, columns, where.settings, ("?",))
            ground = CellInterpretation(original, frozenset())
            linkage = measure_linkage(engine, published, outside, ground, where.settings, key=("who", "who"))
            people = compute_population_risk(
                engine, published, outside, ground, where.settings, Fraction(1, 20)
            )
        shown = [[published.labels[i][c] for i, c in enumerate(row)] for row in published.shown.tolist()]
        disclosed = [compute_disclosure(values, Fraction(1, 2)) for values in published.sensitive]
        found.append((shown, published.rows.tolist(), published.starred, disclosed, linkage, people))
    assert found[0] == found[1]
    assert found[0][2] == 3


@SLOW_ON_SPARK  # since test_publishing reports on a release and its original
def test_release_is_compared_with_its_original(place: Place, duckdb_place: DuckdbPlace) -> None:
    elsewhere = duckdb_place.put(RELEASE)
    found = []
    for where in (place, duckdb_place):
        source, release = where.put(PEOPLE, null_values=("?",)), where.put(RELEASE)
        larger = where.put({name: (kind, [*cells, *cells]) for name, (kind, cells) in RELEASE.items()})
        spec = table_spec(source, NAMES, ["pay"], FirstLetter())
        with where.connect(source) as engine:
            counted = count_frequency_set(engine, spec, where.settings)
            original = read_original(engine, spec, counted, ("pay",), where.settings)
            rest = spec, original, counted.hierarchies, where.settings
            tables = [original, *(read_release(engine, each, *rest) for each in (release, elsewhere))]
            with pytest.raises(InputError, match="more than the 8 of the original"):
                read_release(engine, larger, *rest)
        cells = [[each.labels for each in t.table.cells] for t in tables]
        found.append(([(t.table.shown.tolist(), t.table.rows.tolist()) for t in tables], cells))
    assert found[0] == found[1]
    assert found[0][0][1] == found[0][0][2]


def test_true_answers_are_the_same_everywhere(place: Place, duckdb_place: DuckdbPlace) -> None:
    query = (
        "SELECT COUNT(*), COUNT(pay), SUM(pay), MIN(pay), AVG(pay) FROM people "
        'WHERE year > 6 OR "the ""town""" LIKE \'a%\' GROUP BY year'
    )
    found = []
    for where in (place, duckdb_place):
        source = where.put({**PEOPLE, "pay": ("VARCHAR", ["10", "20", "1e2", None, "-3.5", "10", "1", "2"])})
        table = Table(table_spec(source, NAMES, ["pay"], FirstLetter()), where.settings)
        found.append(true_answers(table, query))
    assert found[0] == found[1]
    assert found[0][("7",), "COUNT(*)"] == 4
    assert found[0][("7",), "SUM(pay)"] == pytest.approx(131.0)


def test_preview_contains_no_row_of_a_database(place: Place) -> None:
    source = place.put(PEOPLE)
    view = view_source(source, place.settings)
    assert view.columns == tuple(PEOPLE)
    assert view.types == ("VARCHAR", "BIGINT", "VARCHAR", "VARCHAR")
    assert len(view.preview) == (8 if place.name == "duckdb" else 0)
