"""Tests that ``discreet init`` proposes the same spec for the same typed table in every place."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.errors import InputError, LimitReached
from discreet.profile.column_profile import column_values
from discreet.profile.column_study import compute_uniqueness, find_most_identifying_sets, study_columns
from discreet.profile.person_names import PERSON_NAMES_REASON, REFERENCED_NAMES_REASON
from discreet.profile.roles import IN_DOUBT_REASON
from discreet.profile.spec_inference import propose_spec
from discreet.profile.spec_proposal import SpecProposal
from tests.every_engine.auditing import drawn, drawn_enough
from tests.every_engine.places import SLOW_ON_SPARK, Columns, DuckdbPlace, Place
from tests.profile.person_values import OTHERS, PERSONS

ROWS = 60


def proposed(place: Place, columns: Columns, **options: Any) -> SpecProposal:
    source = place.put(columns, **options)
    with place.connect(source) as engine:
        return propose_spec(engine, source)


def cycled(*cells: Any) -> list[Any]:
    return [cells[i % len(cells)] for i in range(ROWS)]


PEOPLE: Columns = {
    "patient_id": ("BIGINT", [2**62 - i for i in range(ROWS)]),
    "Full Name": ("VARCHAR", [f'Ann "{i}" O\'Neil' for i in range(ROWS)]),
    "contact": ("VARCHAR", [f"p{i}@example.org" for i in range(ROWS - 1)] + [None]),
    "homepage": ("VARCHAR", cycled("https://example.org/a", "www.example.org", "http://b.example", None)),
    "birth_date": ("DATE", cycled(date(1970, 1, 1), date(2000, 2, 29), date(1985, 6, 30), None)),
    "seen": ("TIMESTAMP", cycled(datetime(2024, 2, 29, 1, 2, 3, 4), datetime(2024, 2, 29), None)),
    "zip": ("VARCHAR", cycled("02174", "10115", "8001", "?", "02175", "?")),
    "age": ("SMALLINT", cycled(*range(20, 55), None)),
    "height": ("DOUBLE", cycled(1.5, 1.75, 1.8125, -0.0, 0.0, 1e16, 2e-7, None)),
    "paid": ("DECIMAL(6,1)", cycled(Decimal("10.0"), Decimal("9.5"), None, Decimal("0.1"))),
    "text number": ("VARCHAR", cycled("1", " 2 ", "+3.", ".5", "-6e2", "\t7", "NA", "1e300")),
    "odd": ("VARCHAR", cycled("é", "e\u0301", "", "NULL", "a\nb", "n/a", "\u2003", "x" * 300)),
    "left_handed": ("BOOLEAN", cycled(True, False, None)),
    "diagnosis": ("VARCHAR", cycled("flu", "Flu", "cold", "gout", None)),
    "country": ("VARCHAR", ["CH"] * ROWS),
    "nothing": ("VARCHAR", [None] * ROWS),
}


PAY: Columns = {
    "gross": ("BIGINT", [100 + 7 * i * i % 90 for i in range(ROWS)]),
    "tax": ("DOUBLE", [*(10.5 + 7 * i * i % 90 / 2 for i in range(ROWS - 1)), None]),
    "net": ("VARCHAR", [f"{89.5 + 7 * i * i % 90 / 2}" for i in range(ROWS - 1)] + ["NA"]),
    "age": ("SMALLINT", cycled(*range(20, 55), None)),
}


@SLOW_ON_SPARK
def test_same_sums_are_found_everywhere(place: Place) -> None:
    sums = proposed(place, PAY).sums
    assert [(sum_.total, sum_.parts, sum_.rows) for sum_ in sums] == [("gross", ("tax", "net"), ROWS - 1)]


@SLOW_ON_SPARK  # since the next test compares the proposals, too
def test_same_spec_is_proposed_everywhere(place: Place, duckdb_place: DuckdbPlace) -> None:
    found, expected = (proposed(where, PEOPLE, null_values=("-9",)) for where in (place, duckdb_place))
    assert found == expected
    roles = {each.name: str(each.role) for each in found.attributes}
    assert roles["patient_id"] == roles["contact"] == "identifier"
    assert (roles["zip"], roles["diagnosis"]) == ("quasi-identifier", "sensitive")
    assert found.null_texts == expected.null_texts
    assert {"", "?", "NULL", "NA"} <= set(found.null_texts)


NUMBERS = ["1", "01", " 1", "1.", ".", "1e400", "-1e-400", "0\n", "1\u00a0", "5d", "NaN"]
TEXTS = ["2020-01-01", "2020-01-01T00:00", "2020-01-01 00:00\nx", "A1", "a@b.c", "a @b.c", "?", "", "NA", "-"]
CELLS = st.none() | st.sampled_from([*NUMBERS, *TEXTS, "192.168.0.1", "123-45-6789", "ééé"])


@drawn(15)
@example(rows=[(cell, [1.5, -0.0, None][i % 3]) for i, cell in enumerate([*NUMBERS, *TEXTS, None])])
@given(rows=st.lists(st.tuples(CELLS, st.sampled_from([1.5, -0.0, None])), min_size=1, max_size=12))
def test_proposals_for_tiny_columns_equal_duckdbs(
    place: Place, duckdb_place: DuckdbPlace, rows: list[tuple[str | None, float | None]]
) -> None:
    if drawn_enough(place):
        return
    columns: Columns = {"a": ("VARCHAR", [a for a, _ in rows]), "b": ("DOUBLE", [b for _, b in rows])}
    found, expected = (proposed(where, columns) for where in (place, duckdb_place))
    assert found == expected


def test_values_have_their_row_counts_everywhere(place: Place) -> None:
    source = place.put({"a": ("VARCHAR", ["x", "x", "?", None, "-9", ""])}, null_values=("-9",))
    with place.connect(source) as engine:
        ((values, rows),) = column_values(engine, engine.open_source(source), ["a"], ("?",))
    assert dict(zip(values, rows, strict=True)) == {"x": 2}


@SLOW_ON_SPARK
def test_same_uniqueness_of_columns_without_names_everywhere(place: Place, duckdb_place: DuckdbPlace) -> None:
    found = []
    coded = ["zip", "height", "odd", "left_handed"]
    columns = {name: PEOPLE[name] for name in (*coded, "Full Name")}
    for where in (place, duckdb_place):
        source = where.put(columns, null_values=("-9",))
        with where.connect(source) as engine:
            found.append(study_columns(engine, source, memory_limit=10**9).with_null_values(("?",)))
    study, expected = found
    assert study.names == expected.names
    for name in coded:
        assert study.occurring(name) == expected.occurring(name)
        assert study.numbers(name) == expected.numbers(name)
        assert study.examples(name) == expected.examples(name)
        assert study.hierarchy(name) == expected.hierarchy(name)
    for names in (coded[:2], coded[2:], coded):
        assert compute_uniqueness(study.coded, names) == compute_uniqueness(expected.coded, names)
    assert (
        find_most_identifying_sets(study.coded, coded, 2).best
        == find_most_identifying_sets(expected.coded, coded, 2).best
    )
    if place.name != "duckdb":
        assert not study.is_coded("Full Name")
        assert study.examples("Full Name") == ()
        assert study.numbers("Full Name") == expected.numbers("Full Name")
        with pytest.raises(LimitReached, match="more than 9 distinct combinations"):
            with_few_bytes(place)


def with_few_bytes(place: Place) -> None:
    source = place.put({"a": ("BIGINT", cycled(*range(30))), "b": ("VARCHAR", cycled("x", "y"))})
    with place.connect(source) as engine:
        study_columns(engine, source, memory_limit=600)


def test_table_without_rows_is_profiled(place: Place) -> None:
    with pytest.raises(InputError, match="has no row"):
        proposed(place, {"a": ("VARCHAR", [])})


def test_names_of_persons_are_identifiers(place: Place) -> None:
    columns: Columns = {
        "xa": ("VARCHAR", cycled(*PERSONS["given family"][:20])),
        "xb": ("VARCHAR", cycled(*PERSONS["Russian"], None)),
        "xc": ("VARCHAR", cycled(*PERSONS["Japanese"])),
        "xd": ("VARCHAR", cycled(*OTHERS["titles of jobs"])),
        "link.reference": ("VARCHAR", cycled("Practitioner/1", "Practitioner/2")),
        "link.display": ("VARCHAR", cycled("Zux Trok", "Wob Snib")),
    }
    reasons = {attribute.name: attribute.reason for attribute in proposed(place, columns).attributes}
    assert reasons["xa"] == reasons["xb"] == reasons["xc"] == PERSON_NAMES_REASON
    assert reasons["link.display"] == REFERENCED_NAMES_REASON
    assert reasons["xd"] == IN_DOUBT_REASON
