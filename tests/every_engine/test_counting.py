"""Tests that the frequency set of a table equals the embedded engine's in every place."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from discreet.errors import InputError, LimitReached
from discreet.frequency.table_scan import count_frequency_set
from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.model.table_spec import NullPolicy, SourceSpec, UnlistedPolicy
from discreet.workload.answerable_table import count_column_groups, count_starred_rows
from tests.drawing import NEW, some_of
from tests.every_engine.places import SLOW_ON_SPARK, Columns, DuckdbPlace, Place
from tests.frequency.conftest import FirstLetter, counted, table_spec

INF, NAN = float("inf"), float("nan")
ODD = [
    "",
    " ",
    "NULL",
    "nan",
    "01",
    "1",
    "1.0",
    "?",
    "é",
    "e\u0301",
    '"',
    "'",
    "\\",
    "\\N",
    "a\nb",
    "😀",
    " a",
    "a ",
]
ODD += ["', 'x'); DROP TABLE people; --", "x" * 3000, "%", "$1", "{0}", "\t", "\r\n", "ß", "SS"]
_DOUBLES = (
    "0 -0 nan inf -inf 1 0.1 1e15 1e16 1234567890123456 1e-4 1e-5 -1.5e300 5e-324 0.3333333333333333 "
    "1000000000000000.1 123456.789 1e22 100 9999999999999998 -2.5e-7 0.00012345"
)
_FLOATS = "0 -0 nan inf 1 0.1 16777216 1e10 1e-4 1e-5 1234567 3.5e20"
TYPED: dict[str, list[Any]] = {
    "BIGINT": [0, -1, 2**62, -(2**62), 2**63 - 1],
    "SMALLINT": [0, -32768, 7],
    "BOOLEAN": [True, False],
    "DATE": [date(1970, 1, 1), date(2024, 2, 29), date(1, 1, 1), date(9999, 12, 31)],
    "TIMESTAMP": [
        datetime(2020, 1, 2, 3, 4, 5),
        datetime(2020, 1, 2, 3, 4, 5, 120000),
        datetime(1969, 12, 31, 23, 59, 59, 999999),
        datetime(2020, 1, 2),
    ],
    "TIMESTAMP WITH TIME ZONE": [
        datetime(2020, 7, 2, 3, 4, 5, tzinfo=UTC),
        datetime(2020, 1, 2, 3, 4, 5, 500, tzinfo=UTC),
    ],
    "DECIMAL(6,1)": [Decimal("-0.5"), Decimal("0.0"), Decimal("12345.6"), Decimal("10.0")],
    "DECIMAL(4,4)": [Decimal("-0.5000"), Decimal("0.0000"), Decimal("0.1234")],
    "DECIMAL(38,0)": [Decimal(10) ** 37, Decimal(-7)],
    "DECIMAL(18,9)": [Decimal("0.000000001"), Decimal("-123456789.000000001")],
    "DOUBLE": [float(text) for text in _DOUBLES.split()],
    "FLOAT": [float(text) for text in _FLOATS.split()],
}


def same(found: FrequencySet, expected: FrequencySet) -> None:
    """Test whether two frequency sets are equal, except for the numbers of subjects."""
    assert found.attributes == expected.attributes
    for one, other in zip(found.hierarchies, expected.hierarchies, strict=True):
        assert one.labels == other.labels
    assert found.codes.tolist() == expected.codes.tolist()
    assert found.counts.tolist() == expected.counts.tolist()
    assert found.dropped == expected.dropped
    for sets, others in zip(found.sensitive, expected.sensitive, strict=True):
        assert (sets.attribute, sets.size) == (others.attribute, others.size)
        assert sets.offsets.tolist() == others.offsets.tolist()
        assert sets.codes.tolist() == others.codes.tolist()
        assert (sets.counts is None) == (others.counts is None)
        assert sets.counts is None or sets.counts.tolist() == others.counts.tolist()  # type: ignore[union-attr]
        assert by_subject(sets) == by_subject(others)
    assert (found.subjects is None) == (expected.subjects is None)
    if found.subjects is not None and expected.subjects is not None:
        assert found.subjects.size == expected.subjects.size
        assert found.subjects.offsets.tolist() == expected.subjects.offsets.tolist()


def by_subject(sets: ValueSets) -> Counter[frozenset[tuple[int, int]]] | None:
    """Return row types and codes of each subject, in no order."""
    if sets.subjects is None:
        return None
    held = defaultdict(set)
    for row_type in range(len(sets.offsets) - 1):
        span = slice(sets.offsets[row_type], sets.offsets[row_type + 1])
        for code, subject in zip(sets.codes[span].tolist(), sets.subjects[span].tolist(), strict=True):
            held[subject].add((row_type, code))
    return Counter(frozenset(each) for each in held.values())


def counted_at(
    place: Place, columns: Columns, keys: list[str], values: list[str], **options: Any
) -> FrequencySet:
    """Return the frequency set of columns that are stored in a place."""
    source = place.put(columns, **options)
    with place.connect(source) as engine:
        return count_frequency_set(engine, table_spec(source, keys, values), place.settings)


def test_odd_texts_and_names(place: Place) -> None:
    cells = [*ODD, None, "é"]
    rows, other = len(cells), "Q 1" if place.tells_case else "Q 2"
    columns: Columns = {
        "q 1": ("VARCHAR", cells),
        other: ("VARCHAR", [cells[(7 * i) % rows] for i in range(rows)]),
        'the "s"': ("VARCHAR", [cells[(5 * i) % rows] for i in range(rows)]),
        "select": ("VARCHAR", ["x", None] * (rows // 2) + ["x"] * (rows % 2)),
    }
    found = counted_at(place, columns, ["q 1", other], ['the "s"', "select"])
    assert counted(found) == Counter(zip(columns["q 1"][1], columns[other][1], strict=True))
    assert found.sensitive[0].size == len(set(ODD))
    assert found.sensitive[1].size == 1


def test_typed_cells_have_one_text_everywhere(place: Place, duckdb_place: DuckdbPlace) -> None:
    rows = 2 * max(map(len, TYPED.values()))
    columns: Columns = {
        f"{house} column": (house, [[*cells, None][i % (len(cells) + 1)] for i in range(rows)])
        for house, cells in TYPED.items()
    }
    columns, names = place.held(columns), list(columns)
    found = counted_at(place, columns, names[:-2], names[-2:])
    beside = place.read_as(columns)
    same(found, counted_at(duckdb_place, beside, names[:-2], names[-2:]))
    again = counted_at(place, columns, names[-2:], names[:3])
    same(again, counted_at(duckdb_place, beside, names[-2:], names[:3]))


def test_what_doubles_say(place: Place) -> None:
    columns: Columns = {"x": ("DOUBLE", [0.0, -0.0, NAN, NAN, 1.0, 1e16, 1e-5, None, INF])}
    found = counted_at(place, columns, ["x"], [])
    expected = {"0.0": 1, "-0.0": 1, "nan": 2, "1.0": 1, "1e+16": 1, "1e-05": 1, None: 1, "inf": 1}
    assert counted(found) == Counter({(text,): rows for text, rows in expected.items()})


CELLS = st.none() | st.sampled_from(["a", "A", "b", "?", "", "é", "e\u0301", "'"])
TABLES = st.lists(
    st.tuples(
        CELLS, st.sampled_from([None, 1, 2, 2**62]), CELLS, st.sampled_from([None, True, False]), CELLS
    ),
    min_size=1,
    max_size=20,
)


def drawn_enough(place: Place) -> bool:
    """Test whether a drawn test has run often enough in a place with slow statements.

    Spark runs the statements of the first table, which is a test's explicit example: it contains every case
    that the statements distinguish. Further draws test the algorithm, which is the same for all places; with
    new tables (``make test-all``) Spark gets some of these, too. Each takes one number here, and stores a
    table.
    """
    return place.name == "spark" and place.next_table() > (6 if NEW else 1)


def drawn_columns(rows: list[tuple[Any, ...]]) -> Columns:
    kinds = {"q": "VARCHAR", "n": "BIGINT", "s": "VARCHAR", "b": "BOOLEAN", "who": "VARCHAR"}
    return {name: (kind, [row[i] for row in rows]) for i, (name, kind) in enumerate(kinds.items())}


def check_like_duckdb(
    place: Place, duckdb_place: DuckdbPlace, rows: list[tuple[Any, ...]], options: dict[str, Any]
) -> None:
    """Check that a place counts, or refuses, as the embedded engine does, also for fewer attributes."""
    columns = drawn_columns(rows)
    sources = [place.put(columns, **options), duckdb_place.put(place.read_as(columns), **options)]
    outcomes: list[list[FrequencySet | str]] = []
    for where, source in zip((place, duckdb_place), sources, strict=True):
        spec = table_spec(source, ["q", "n"], ["s", "b"])
        with where.connect(source) as engine:
            found: list[FrequencySet | str] = []
            for sensitive in (None, ["b"], []):
                try:
                    found.append(count_frequency_set(engine, spec, where.settings, sensitive))
                except InputError as error:
                    found.append(error.message.replace(spec.source.label, "the source"))
            outcomes.append(found)
    for one, other in zip(*outcomes, strict=True):
        if isinstance(one, FrequencySet) and isinstance(other, FrequencySet):
            same(one, other)
        else:
            assert one == other
    whole, fewer, none = outcomes[0]
    if isinstance(whole, FrequencySet) and isinstance(fewer, FrequencySet) and isinstance(none, FrequencySet):
        same(fewer, replace(whole, sensitive=whole.sensitive[1:]))
        same(none, replace(whole, sensitive=()))


EVERYTHING: list[tuple[Any, ...]] = [
    ("a", 1, "é", True, "a"),
    ("a", 1, "e\u0301", None, "a"),
    ("A", 2**62, "?", False, "b"),
    ("a", 1, "é", True, "A"),
    ("'", None, None, True, "A"),
    ("?", 2, "'", False, "'"),
    (None, 2, "b", None, "'"),
    ("", 1, "", True, "é"),
]


NULL_TEXTS = ("", "true", "1", "kept")
"""Texts of each type, including both booleans, and the sign of the NULL policy."""


@examples(max_examples=some_of(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(rows=EVERYTHING, nulls=NullPolicy.VALUE, null_values=("?",), subject=True)
@example(rows=EVERYTHING, nulls=NullPolicy.VALUE, null_values=("true",), subject=False)
@given(
    rows=TABLES,
    nulls=st.sampled_from(NullPolicy),
    null_values=st.sampled_from([(), ("?",), NULL_TEXTS]),
    subject=st.booleans(),
)
def test_tiny_tables(
    place: Place,
    duckdb_place: DuckdbPlace,
    rows: list[tuple[Any, ...]],
    nulls: NullPolicy,
    null_values: tuple[str, ...],
    subject: bool,
) -> None:
    if drawn_enough(place):
        return
    options = {"nulls": nulls, "null_values": null_values, "subject": "who" if subject else None}
    check_like_duckdb(place, duckdb_place, rows, options)


def refusal(place: Place, source: SourceSpec, *names: str, **changes: Any) -> InputError:
    """Return the message of a place that cannot count."""
    spec = table_spec(source, names, [], **changes)
    with place.connect(source) as engine, pytest.raises(InputError) as raised:
        count_frequency_set(engine, spec, place.settings)
    return raised.value


def test_refusals(place: Place) -> None:
    columns: Columns = {
        "Town": ("VARCHAR", ["a", "b", "b"]),
        "raw": ("BLOB", [b"1", b"2", None]),
        "empty": ("VARCHAR", [None, None, None]),
    }
    source = place.put(columns)
    assert "has no column 'town'" in refusal(place, source, "town").message
    assert refusal(place, source, "town").advice == "Did you mean 'Town'?"
    assert "column 'raw' contains bytes" in refusal(place, source, "Town", "raw").message
    dropping = replace(source, nulls=NullPolicy.DROP)
    assert "each of the 3 rows of" in refusal(place, dropping, "Town", "empty").message
    subject = replace(source, subject="empty")
    assert "the subject column 'empty' is NULL in 3 rows" in refusal(place, subject, "Town").message
    nothing = place.put({name: (kind, []) for name, (kind, _) in columns.items()})
    assert "has no rows" in refusal(place, nothing, "Town").message


def test_a_value_without_a_leaf_is_named_with_its_place(place: Place) -> None:
    source = place.put({"q": ("VARCHAR", ["a", "?it's", "?it's"]), "n": ("BIGINT", [1, 2, 3])})
    error = refusal(place, source, "q", hierarchy=FirstLetter())
    assert "'?it's' has no leaf in first letters" in error.message
    assert error.message.startswith(f"{source.label}, ")


def test_too_many_groups_are_refused_before_they_are_here(place: Place) -> None:
    number = 2000
    source = place.put(
        {"q": ("BIGINT", list(range(number))), "p": ("VARCHAR", [str(i) for i in range(number)])}
    )
    small = replace(place.settings, memory_limit=100_000)
    with place.connect(source) as engine:
        with pytest.raises(LimitReached, match="more than 1,041 distinct combinations of 2 columns"):
            count_frequency_set(engine, table_spec(source, ["q", "p"]), small)
        table = engine.open_source(source)
        with pytest.raises(LimitReached, match="more than 1,136 distinct combinations of 2 columns"):
            count_column_groups(engine, table, ["q", "p"], small)


@SLOW_ON_SPARK
def test_combinations_of_columns_and_starred_rows(place: Place) -> None:
    columns: Columns = {
        "a": ("VARCHAR", ["*", "x", None, "x", "?", "*"]),
        "b": ("VARCHAR", ["*", "*", "y", "*", "y", "*"]),
    }
    source = place.put(columns, null_values=("?",))
    with place.connect(source) as engine:
        table = engine.open_source(source)
        found = count_column_groups(engine, table, ["b", "a"], place.settings)
        assert count_starred_rows(engine, table) == 2
    texts = [(*each, None) for each in found.texts]
    groups = [tuple(texts[i][code] for i, code in enumerate(codes)) for codes in found.codes.tolist()]
    assert dict(zip(groups, found.rows.tolist(), strict=True)) == {
        ("*", "*"): 2,
        ("*", "x"): 2,
        ("y", None): 2,
    }


def test_a_nested_column_is_left_out_or_refused(place: Place) -> None:
    source = place.put({"q": ("VARCHAR", ["a", "a"]), "list": ("INTEGER[]", [[1], [2, None]])})
    with place.connect(source) as engine:
        assert count_frequency_set(engine, table_spec(source, ["q"]), place.settings).rows == 2
        for spec in (
            table_spec(source, ["q", "list"]),
            table_spec(source, ["q"], ["list"]),
            table_spec(replace(source, unlisted=UnlistedPolicy.INSENSITIVE), ["q"]),
        ):
            with pytest.raises(
                InputError, match="column 'list' contains nested values, which are not published"
            ):
                count_frequency_set(engine, spec, place.settings)
