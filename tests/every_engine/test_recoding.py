"""Tests of recoding on every engine: published rows equal plain Python's, by each implementation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest

from discreet.engines.base import Engine
from discreet.errors import InputError
from discreet.frequency.table_scan import count_frequency_set
from discreet.model.class_recoding import ClassRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.model.search_result import FullDomainRecoding, SuppressionPolicy
from discreet.model.table_spec import NullPolicy, SourceSpec, TableSpec
from discreet.recoding.recoded_table import ClassedRows, RecodedTable
from discreet.recoding.recoding_application import apply_classes, apply_full_domain, apply_recoding
from discreet.release.publication_job import load_sort_keys
from tests.drawing import NEW
from tests.every_engine.places import SLOW_ON_SPARK, Columns, Place, once_on_spark, place_marks
from tests.oracle.plain_release import PlainTable
from tests.recoding.random_classes import random_classes

TOWN, AGE, VISIT, FEE, PERSON = 'the "town"', "âge; years", "select", "Fee %", "who"
ILLNESS, NUMBER = "it's", "number"
TOWNS = ["O'Hara", 'the "north"', "{0}\\n", "köln", " ", "東京"]
AGES = [*range(-2, 7), 1 << 62]
VISITS = [date(1969, 12, 31), date(2020, 2, 29), date(2024, 7, 1)]
FEES = [Decimal("0.50"), Decimal("-3.00"), Decimal("120.25")]

HIERARCHIES = {
    TOWN: {town: ["it's a town" if i < 3 else "{another}", "*"] for i, town in enumerate(TOWNS)},
    AGE: {str(age): ["-2…2" if age <= 2 else "3…", "*"] for age in AGES},
    VISIT: {visit.isoformat(): ["*"] for visit in VISITS},
    FEE: {str(fee): ["owes" if fee < 0 else "pays", "*"] for fee in FEES},
}


@dataclass(frozen=True)
class Case:
    """A table in a place, and its model in plain Python."""

    spec: TableSpec
    plain: PlainTable


def put(
    place: Place, rows: int = 150, *, repeated: int = 1, subject: bool = False, drop_nulls: bool = False
) -> Case:
    """Store a table of every kind of column, with NULLs; each row occurs several times, except its number."""
    random = Random(rows)

    def drawn(values: list[Any]) -> list[Any]:
        some = range(rows // repeated)
        return [random.choice([*values, None] if i % 3 == 0 else values) for i in some] * repeated

    columns: Columns = {
        PERSON: ("VARCHAR", [f"p{i // (2 if subject else 1)}" for i in range(rows)]),
        TOWN: ("VARCHAR", drawn(TOWNS)),
        AGE: ("BIGINT", drawn(list(AGES))),
        ILLNESS: ("VARCHAR", drawn(["flu", "it's", "Grün\tA", "NULL", ""])),
        VISIT: ("DATE", drawn(list(VISITS))),
        NUMBER: ("BIGINT", [(1 << 62) + i % 4 for i in range(rows)]),
        FEE: ("DECIMAL(6,2)", drawn(list(FEES))),
    }
    nulls = NullPolicy.DROP if drop_nulls else NullPolicy.VALUE
    source = place.put(columns, null_policy=nulls, subject=PERSON if subject else None)
    texts = {name: [None if value is None else str(value) for value in v] for name, (_, v) in columns.items()}
    plain = PlainTable(
        [dict(zip(texts, row, strict=True)) for row in zip(*texts.values(), strict=True)],
        HIERARCHIES,
        [ILLNESS],
        [NUMBER],
        subject=PERSON if subject else None,
        drop_nulls=drop_nulls,
    )
    return Case(spec_of(plain, source), plain)


def spec_of(plain: PlainTable, source: SourceSpec) -> TableSpec:
    """Return the spec of a plain table that was stored."""
    assert source.path is not None or source.url is not None
    return replace(plain.spec(source.path), source=source)


def never(engine: Engine, name: str, rows: int) -> None:
    """Replace the loading of sort keys where the database draws them."""
    raise AssertionError(f"{rows} keys loaded into {name}, although {engine.dialect.name} draws them")


def keys_of(engine: Engine) -> Callable[[Engine, str, int], None]:
    """Return the function that loads sort keys."""
    return load_sort_keys if engine.dialect.random_key is None else never


def rows_of(engine: Engine, table: AbstractContextManager[RecodedTable], *, direct: bool) -> list[Any]:
    """Return the published rows, in their order."""
    with table as found:
        assert isinstance(found, ClassedRows) == direct
        return engine.fetch_rows(found.query())


Apply = Callable[..., AbstractContextManager[RecodedTable]]


def ways(
    recoding: FullDomainRecoding | ClassRecoding, *, direct: bool, on: Place
) -> Iterator[tuple[Apply, bool]]:
    """Return the functions that apply a recoding, and whether each is the one without counts in the engine.

    Spark runs the one that a publication takes; ``make test-all`` runs both there.
    """
    if direct and on.name == "spark" and not NEW:
        yield apply_recoding, True
        return
    yield apply_full_domain if isinstance(recoding, FullDomainRecoding) else apply_classes, False
    if direct:
        yield apply_recoding, True


FULL_DOMAIN = [
    ((0, 0, 1, 0), Requirement(k=2), "star"),
    (
        (1, 1, 1, 0),
        Requirement(k=3, l=2),
        "drop",
    ),  # on Spark in every run by test_subjects_of_kept_rows_are_counted
    ((2, 0, 0, 2), Requirement(k=4), "drop nulls"),
    ((1, 1, 1, 1), Requirement(k=3, l=2), "subject"),
]


@pytest.mark.parametrize(
    ("place", "node", "requirement", "variant"),
    [
        pytest.param(place, *case, marks=place_marks(place, is_slow=case[2] != "star"))
        for case in FULL_DOMAIN
        for place in ("duckdb", "postgres", "spark", *(["mariadb"] if case[2] in ("star", "drop") else []))
    ],
    indirect=["place"],
)
def test_full_domain_recoding_equals_the_plain_one(
    node: tuple[int, ...], requirement: Requirement, variant: str, place: Place
) -> None:
    """Check the published and the suppressed rows of either function."""
    case = put(place, subject=variant == "subject", drop_nulls=variant == "drop nulls")
    suppression = SuppressionPolicy.STAR if variant == "star" else SuppressionPolicy.DROP
    l = requirement.l if isinstance(requirement.l, int) else None
    expected, suppressed = case.plain.published(node, requirement.k or 0, l, star=variant == "star")
    assert 0 < suppressed < len(case.plain.kept)
    recoding = FullDomainRecoding(tuple(HIERARCHIES), node, requirement, suppression)
    with place.connect(case.spec.source) as engine:
        counted = count_frequency_set(engine, case.spec, place.settings)
        for apply, direct in ways(recoding, direct=variant != "subject", on=place):
            with apply(
                engine,
                case.spec,
                counted,
                recoding,
                native=False,
                draw_keys=keys_of(engine),
                expected_suppressed=suppressed,
            ) as found:
                assert isinstance(found, ClassedRows) == direct
                assert (found.rows, found.suppressed) == (len(case.plain.kept), suppressed)
                assert [column.name for column in found.columns] == case.plain.shown
                rows = engine.fetch_rows(found.query())
                assert Counter(rows) == Counter(cells for cells, _ in expected)
                if engine.name != "spark":
                    kept = [row for row in rows if set(row) != {"*"}]
                    assert kept == sorted(kept, key=lambda row: by_cells(row, case.plain.shown))


def by_cells(row: tuple[str | None, ...], names: list[str]) -> list[tuple[bool, bytes]]:
    """Return the sort key of a release's rows: the cells of their class, then the other cells, NULL last."""
    shown = [cell for name, cell in zip(names, row, strict=True) if name in HIERARCHIES]
    others = [cell for name, cell in zip(names, row, strict=True) if name not in HIERARCHIES]
    return [(cell is None, (cell or "").encode()) for cell in (*shown, *others)]


def test_subjects_of_kept_rows_are_counted(place: Place) -> None:
    """Few persons share several values, so that some classes are only decided by matching."""
    random = Random(3)
    rows: list[dict[str, str | None]] = []
    for group in range(12):
        persons, values = random.randint(2, 5), random.randint(2, 5)
        for _ in range(random.randint(3, 8)):
            value = random.choice([None, *map(str, range(values))])
            rows.append({"q": f"g{group}", "s": value, "who": f"{group}-{random.randrange(persons)}"})
    plain = PlainTable(rows, {"q": {f"g{i}": ["*"] for i in range(12)}}, ["s"], subject="who")
    source = place.put({n: ("VARCHAR", [row[n] for row in rows]) for n in rows[0]}, subject="who")
    spec = spec_of(plain, source)
    expected, suppressed = plain.published((0,), 1, 3, star=False)
    assert 0 < suppressed < len(rows)
    recoding = FullDomainRecoding(("q",), (0,), Requirement(k=1, l=3))
    with place.connect(source) as engine:
        counted = count_frequency_set(engine, spec, place.settings)
        with apply_recoding(
            engine, spec, counted, recoding, native=False, draw_keys=keys_of(engine)
        ) as found:
            assert Counter(engine.fetch_rows(found.query())) == Counter(cells for cells, _ in expected)
            witnesses = engine.fetch_rows(found.witness_query(["q", "s"]))
    assert Counter(witnesses) == Counter((*cells, row["who"], "false") for cells, row in expected)


def class_counts(frequency_set: FrequencySet, recoding: ClassRecoding) -> Counter[tuple[str | None, ...]]:
    """Return the recoding's counts of the rows of each combination of labels."""
    expected: Counter[tuple[str | None, ...]] = Counter()
    for c, n in zip(recoding.classes.tolist(), recoding.rows.tolist(), strict=True):
        if c >= 0:
            shown = recoding.shown[c].tolist()
            expected[tuple(cells.labels[i] for cells, i in zip(recoding.cells, shown, strict=True))] += n
    assert sum(expected.values()) == frequency_set.rows - recoding.suppressed
    return expected


@once_on_spark("split", [True, False], True)
def test_class_recoding_divides_or_keeps_row_types(*, split: bool, place: Place) -> None:
    """Row types are divided among classes or kept whole; rows of no class are dropped or starred."""
    suppression = SuppressionPolicy.DROP if split else SuppressionPolicy.STAR
    case = put(place, 90, repeated=3)
    quasi_identifiers = [case.plain.shown.index(name) for name in HIERARCHIES]
    numbers = case.plain.shown.index(NUMBER)
    with place.connect(case.spec.source) as engine:
        counted = count_frequency_set(engine, case.spec, place.settings)
        recoding = random_classes(
            np.random.default_rng(7),
            counted,
            Requirement(k=1),
            split=split,
            suppress=True,
            suppression=suppression,
        )
        assert (len(recoding.row_types) > counted.row_types) == split
        assert recoding.suppressed
        found = []
        for apply, direct in ways(recoding, direct=not split, on=place):
            table = apply(engine, case.spec, counted, recoding, native=False, draw_keys=keys_of(engine))
            rows = rows_of(engine, table, direct=direct)
            starred = [row for row in rows if set(row) == {"*"}]
            assert len(starred) == (recoding.suppressed if suppression is SuppressionPolicy.STAR else 0)
            kept = [row for row in rows if set(row) != {"*"}]
            shown = Counter(tuple(row[i] for i in quasi_identifiers) for row in kept)
            assert shown == class_counts(counted, recoding)
            assert Counter(row[numbers] for row in kept) <= Counter(row[NUMBER] for row in case.plain.rows)
            found.append(Counter(rows))
        assert found[0] == found[-1]


@SLOW_ON_SPARK
def test_columns_that_are_not_generalized_keep_their_types(place: Place) -> None:
    """Columns that are not generalized keep their types: the same values on every engine."""
    case = put(place, 60)
    recoding = FullDomainRecoding(tuple(HIERARCHIES), (0, 0, 0, 0), Requirement(k=1))
    names = case.plain.shown
    with place.connect(case.spec.source) as engine:
        counted = count_frequency_set(engine, case.spec, place.settings)
        found = [
            Counter(
                rows_of(
                    engine,
                    apply(engine, case.spec, counted, recoding, native=True, draw_keys=keys_of(engine)),
                    direct=direct,
                )
            )
            for apply, direct in ways(recoding, direct=True, on=place)
        ]
    assert found[0] == found[-1]
    for row in found[0]:
        shown = dict(zip(names, row, strict=True))
        for name, kind in ((AGE, int), (VISIT, date), (NUMBER, int), (FEE, Decimal)):
            assert shown[name] is None or type(shown[name]) is kind
    texts = Counter(tuple(None if cell is None else str(cell) for cell in row) for row in found[0].elements())
    assert texts == Counter(tuple(row[name] for name in names) for row in case.plain.rows)


def test_every_release_has_its_own_random_order(place: Place) -> None:
    """Optional: neighbours in the source, and in an earlier release, are not neighbours in the release."""
    rows = 300
    columns: Columns = {"q": ("VARCHAR", ["a", "b"] * (rows // 2)), "n": ("INTEGER", list(range(rows)))}
    source = place.put(columns)
    plain = PlainTable([{"q": "a", "n": "0"}], {"q": {"a": ["*"], "b": ["*"]}}, insensitive=["n"])
    spec = spec_of(plain, source).with_order("random")
    recoding = FullDomainRecoding(("q",), (0,), Requirement(k=2))
    orders = []
    with place.connect(source) as engine:
        counted = count_frequency_set(engine, spec, place.settings)
        for apply, direct in ways(recoding, direct=True, on=place):
            table = apply(engine, spec, counted, recoding, native=True, draw_keys=keys_of(engine))
            orders.append([row[1] for row in rows_of(engine, table, direct=direct)])
    assert len(orders) == 1 or orders[0] != orders[1]
    for order in orders:
        assert sorted(order) == list(range(rows))
        assert sum(b - a in (1, 2) for a, b in pairwise(order)) < 20
        assert sum(i == value for i, value in enumerate(order)) < 15
        assert len({value % 2 for value in order[:20]}) == 2


def test_changed_source_is_not_published(place: Place) -> None:
    """One value is new since the rows were counted, and the number of rows is unchanged."""
    columns: Columns = {"q": ("VARCHAR", ["a", "b"] * 5)}
    later: Columns = {"q": ("VARCHAR", ["a", "b"] * 4 + ["c", "a"])}
    plain = PlainTable([{"q": "a"}], {"q": {v: ["*"] for v in "abc"}})
    before, after = (spec_of(plain, place.put(c)) for c in (columns, later))
    recoding = FullDomainRecoding(("q",), (0,), Requirement(k=1))
    with place.connect(before.source) as engine:
        counted = count_frequency_set(engine, before, place.settings)
    with place.connect(after.source) as engine:
        table = apply_recoding(engine, after, counted, recoding, native=False, draw_keys=keys_of(engine))
        with pytest.raises(InputError, match="changed after it was counted") as failure, table:
            pass
    assert "Nothing was published" in str(failure.value.advice)
