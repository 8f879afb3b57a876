"""Tests that the frequency set of a table equals the embedded engine's in every place."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.errors import InputError, LimitReached
from discreet.frequency.table_scan import count_frequency_set
from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.model.table_spec import NullPolicy, SourceSpec, UnlistedPolicy
from discreet.workload.answerable_table import count_column_groups, count_starred_rows
from tests.every_engine.auditing import drawn, drawn_enough
from tests.every_engine.places import ODD_TEXTS, SLOW_ON_SPARK, Columns, DuckdbPlace, Place
from tests.frequency.conftest import FirstLetter, counted, table_spec


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


def test_odd_texts_and_names_are_counted(place: Place) -> None:
    cells = [*ODD_TEXTS, None, "é"]
    rows, other = len(cells), "Q 1" if place.distinguishes_case else "Q 2"
    columns: Columns = {
        "q 1": ("VARCHAR", cells),
        other: ("VARCHAR", [cells[(7 * i) % rows] for i in range(rows)]),
        'the "s"': ("VARCHAR", [cells[(5 * i) % rows] for i in range(rows)]),
        "select": ("VARCHAR", ["x", None] * (rows // 2) + ["x"] * (rows % 2)),
    }
    found = counted_at(place, columns, ["q 1", other], ['the "s"', "select"])
    assert counted(found) == Counter(zip(columns["q 1"][1], columns[other][1], strict=True))
    assert found.sensitive[0].size == len(set(ODD_TEXTS))
    assert found.sensitive[1].size == 1


CELLS = st.none() | st.sampled_from(["a", "A", "b", "?", "", "é", "e\u0301", "'"])
TABLES = st.lists(
    st.tuples(
        CELLS, st.sampled_from([None, 1, 2, 2**62]), CELLS, st.sampled_from([None, True, False]), CELLS
    ),
    min_size=1,
    max_size=20,
)


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


@drawn(15)
@example(rows=EVERYTHING, null_policy=NullPolicy.VALUE, null_values=("?",), subject=True)
@example(rows=EVERYTHING, null_policy=NullPolicy.VALUE, null_values=("true",), subject=False)
@given(
    rows=TABLES,
    null_policy=st.sampled_from(NullPolicy),
    null_values=st.sampled_from([(), ("?",), NULL_TEXTS]),
    subject=st.booleans(),
)
def test_counts_of_tiny_tables_equal_duckdbs(
    place: Place,
    duckdb_place: DuckdbPlace,
    rows: list[tuple[Any, ...]],
    null_policy: NullPolicy,
    null_values: tuple[str, ...],
    subject: bool,
) -> None:
    if drawn_enough(place):
        return
    options = {"null_policy": null_policy, "null_values": null_values, "subject": "who" if subject else None}
    check_like_duckdb(place, duckdb_place, rows, options)


def refusal(place: Place, source: SourceSpec, *names: str, **changes: Any) -> InputError:
    """Return the message of a place that cannot count."""
    spec = table_spec(source, names, [], **changes)
    with place.connect(source) as engine, pytest.raises(InputError) as raised:
        count_frequency_set(engine, spec, place.settings)
    return raised.value


def test_uncountable_columns_are_refused(place: Place) -> None:
    columns: Columns = {
        "Town": ("VARCHAR", ["a", "b", "b"]),
        "raw": ("BLOB", [b"1", b"2", None]),
        "empty": ("VARCHAR", [None, None, None]),
    }
    source = place.put(columns)
    assert "has no column 'town'" in refusal(place, source, "town").message
    assert refusal(place, source, "town").advice == "Did you mean 'Town'?"
    assert "column 'raw' contains bytes" in refusal(place, source, "Town", "raw").message
    dropping = replace(source, null_policy=NullPolicy.DROP)
    assert "each of the 3 rows of" in refusal(place, dropping, "Town", "empty").message
    subject = replace(source, subject="empty")
    assert "the subject column 'empty' is NULL in 3 rows" in refusal(place, subject, "Town").message
    nothing = place.put({name: (kind, []) for name, (kind, _) in columns.items()})
    assert "has no rows" in refusal(place, nothing, "Town").message


def test_value_without_a_leaf_is_named_with_its_place(place: Place) -> None:
    source = place.put({"q": ("VARCHAR", ["a", "?it's", "?it's"]), "n": ("BIGINT", [1, 2, 3])})
    error = refusal(place, source, "q", hierarchy=FirstLetter())
    assert "'?it's' has no leaf in first letters" in error.message
    assert error.message.startswith(f"{source.label}, ")


def test_too_many_groups_are_refused_before_they_are_fetched(place: Place) -> None:
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
def test_combinations_of_columns_are_counted_without_starred_rows(place: Place) -> None:
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


def test_nested_column_is_left_out_or_refused(place: Place) -> None:
    source = place.put({"q": ("VARCHAR", ["a", "a"]), "list": ("INTEGER[]", [[1], [2, None]])})
    with place.connect(source) as engine:
        assert count_frequency_set(engine, table_spec(source, ["q"]), place.settings).rows == 2
        for spec in (
            table_spec(source, ["q", "list"]),
            table_spec(source, ["q"], ["list"]),
            table_spec(replace(source, unlisted_columns=UnlistedPolicy.INSENSITIVE), ["q"]),
        ):
            with pytest.raises(InputError, match="column 'list' contains nested values, which are not"):
                count_frequency_set(engine, spec, place.settings)
