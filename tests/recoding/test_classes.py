"""Application of class recodings: the published rows, refusals, and the matching of values to subjects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from discreet.engines.base import Engine
from discreet.engines.connection import connect
from discreet.errors import InputError, InternalError, RequirementNotMet
from discreet.frequency.table_scan import count_frequency_set
from discreet.model.class_recoding import ClassRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.model.table_spec import TableSpec
from discreet.recoding.class_decision import pack_words, splits_row_types
from discreet.recoding.failing_classes import find_classes_reaching, reaches_matching
from discreet.recoding.recoding_application import apply_classes
from discreet.release.publication_job import load_sort_keys
from discreet.settings import Settings
from tests.drawing import some_of
from tests.oracle.brute_lattice import most_pairs
from tests.oracle.patients import patients
from tests.oracle.plain_release import PlainTable, write_csv
from tests.recoding.random_classes import random_classes
from tests.release.test_published_rows import tables

NUMBER = count()
NOTHING = Requirement()
Rows = list[tuple[str | None, ...]]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, Settings, Path]]:
    folder = tmp_path_factory.mktemp("classes")
    found = Settings(memory_limit=10**9, threads=2, private_log=folder / "private" / "log.jsonl")
    with connect(found) as engine:
        yield engine, found, folder


def published(
    engine: Engine, spec: TableSpec, frequency_set: FrequencySet, recoding: ClassRecoding
) -> tuple[tuple[str, ...], Rows]:
    """Return the columns and the rows."""
    options = {"native": False, "draw_keys": load_sort_keys}
    with apply_classes(engine, spec, frequency_set, recoding, **options) as found:  # type: ignore[arg-type]
        assert found.suppressed == recoding.suppressed
        return tuple(c.name for c in found.columns), engine.fetch_rows(found.query())


@given(table=tables(), seed=st.integers(0, 2**32), split=st.booleans(), suppress=st.booleans())
@hypothesis_settings(max_examples=some_of(40), deadline=None, suppress_health_check=list(HealthCheck))
def test_each_row_shows_its_class(
    table: PlainTable, seed: int, split: bool, suppress: bool, place: tuple[Engine, Settings, Path]
) -> None:
    if not table.kept:
        return
    engine, settings, folder = place
    source = folder / f"in{next(NUMBER)}.csv"
    write_csv(source, table.rows, table.columns)
    spec = table.spec(source)
    frequency_set = count_frequency_set(engine, spec, settings)
    random = np.random.default_rng(seed)
    recoding = random_classes(random, frequency_set, NOTHING, split=split, suppress=suppress)
    columns, rows = published(engine, spec, frequency_set, recoding)
    assert list(columns) == table.shown
    names = list(table.hierarchies)
    others = [name for name in columns if name not in names]

    def cells(row: tuple[str | None, ...], wanted: list[str]) -> tuple[str | None, ...]:
        shown = dict(zip(columns, row, strict=True))
        return tuple(shown[name] for name in wanted)

    expected: Counter[tuple[str | None, ...]] = Counter()
    shown_by: dict[tuple[str | None, ...], set[tuple[str | None, ...]]] = {}
    for t, c, n in zip(recoding.row_types, recoding.classes, recoding.rows, strict=True):
        codes = frequency_set.codes[t].tolist()
        values = tuple(
            (*h.leaves, None)[code] for h, code in zip(frequency_set.hierarchies, codes, strict=True)
        )
        shown_by.setdefault(values, set())
        if c >= 0:
            labels = tuple(cell.labels[i] for cell, i in zip(recoding.cells, recoding.shown[c], strict=True))
            expected[labels] += int(n)
            shown_by[values].add(labels)
    assert Counter(cells(row, names) for row in rows) == expected
    whole = {values for values, labels in shown_by.items() if len(labels) == 1} if not suppress else set()
    for values in whole:
        (labels,) = shown_by[values]
        mine = Counter(
            tuple(row[name] for name in others)
            for row in table.kept
            if tuple(row[name] for name in names) == values
        )
        there = Counter(cells(row, others) for row in rows if cells(row, names) == labels)
        assert mine <= there
    if not suppress:
        assert Counter(cells(row, others) for row in rows) == Counter(
            tuple(row[name] for name in others) for row in table.kept
        )


def one_type(folder: Path, engine: Engine, settings: Settings) -> tuple[TableSpec, FrequencySet]:
    text = "name,age,town,diagnosis\n" + "".join(f"n{i},31,Kiel,d{i % 4}\n" for i in range(400))
    spec = patients(folder, text)
    return spec, count_frequency_set(engine, spec, settings)


def halves(frequency_set: FrequencySet, requirement: Requirement) -> ClassRecoding:
    """Return the only row type in two parts, shown as the town and as ``*``."""
    whole = random_classes(np.random.default_rng(0), frequency_set, requirement, split=False, suppress=False)
    town = replace(
        whole.cells[1],
        labels=("Kiel", "*"),
        offsets=np.array([0, 1, 2]),
        first=np.array([0, 0]),
        last=np.array([0, 1]),
    )
    return replace(
        whole,
        cells=(whole.cells[0], town),
        shown=np.array([[0, 0], [0, 1]]),
        row_types=np.array([0, 0]),
        classes=np.array([0, 1]),
        rows=np.array([200, 200]),
    )


def test_draw_of_split_rows_is_random_in_a_random_order(
    engine: Engine, settings: Settings, tmp_path: Path
) -> None:
    """Neither sensitive values nor positions in the file distinguish the parts of a row type."""
    spec, frequency_set = one_type(tmp_path, engine, settings)
    spec = spec.with_order("random")
    recoding = halves(frequency_set, Requirement(k=200))
    draws = [published(engine, spec, frequency_set, recoding)[1] for _ in range(2)]
    assert [Counter(row[1] for row in rows) for rows in draws] == [{"Kiel": 200, "*": 200}] * 2
    for rows in draws:
        places = [i for i, row in enumerate(rows) if row[1] == "*"]
        assert 150 < sum(places) / 200 < 250
        by_diagnosis = Counter(row[2] for row in rows if row[1] == "*")
        assert all(20 < by_diagnosis[f"d{i}"] < 80 for i in range(4))
    assert draws[0] != draws[1]


def test_draw_that_loses_l_is_refused(engine: Engine, settings: Settings, tmp_path: Path) -> None:
    spec, frequency_set = one_type(tmp_path, engine, settings)
    recoding = halves(frequency_set, Requirement(k=1, l=4))
    uneven = replace(recoding, rows=np.array([399, 1]))
    with pytest.raises(RequirementNotMet, match="1 classes have fewer than l values after"):
        published(engine, spec, frequency_set, uneven)
    assert len(published(engine, spec, frequency_set, recoding)[1]) == 400


def test_class_below_its_requirement_is_never_published(
    engine: Engine, settings: Settings, tmp_path: Path
) -> None:
    """Two classes of six rows with equal cells, each below k = 12, are one class."""
    spec = patients(tmp_path)
    frequency_set = count_frequency_set(engine, spec, settings)
    for requirement in (Requirement(k=13), Requirement(l=5), Requirement(k=12)):
        recoding = random_classes(
            np.random.default_rng(1), frequency_set, requirement, split=False, suppress=False
        )
        if requirement.k != 12:
            with pytest.raises(InternalError, match="counted by their labels"):
                published(engine, spec, frequency_set, recoding)
    top = tuple(
        replace(
            cells,
            labels=("*", "*"),
            offsets=np.array([0, 1, 2]),
            first=np.array([0, 0]),
            last=np.array([cells.leaves, cells.leaves]),
        )
        for cells in recoding.cells
    )
    classes = np.arange(len(recoding.row_types)) % 2
    alike = replace(recoding, cells=top, shown=np.array([[0, 1], [1, 0]]), classes=classes)
    assert Counter(row[:2] for row in published(engine, spec, frequency_set, alike)[1]) == {("*", "*"): 12}


def test_inconsistent_recodings_are_internal_errors(
    engine: Engine, settings: Settings, tmp_path: Path
) -> None:
    spec = patients(tmp_path)
    frequency_set = count_frequency_set(engine, spec, settings)
    good = random_classes(np.random.default_rng(2), frequency_set, NOTHING, split=False, suppress=False)
    short = good.rows.copy()
    short[0] += 1
    outside = good.shown.copy()
    outside[0, 0] = 99
    narrow = replace(good.cells[0], last=np.maximum(good.cells[0].last - 1, 0), first=good.cells[0].first * 0)
    for bad, fault in (
        (replace(good, rows=short), "parts are not the rows"),
        (replace(good, row_types=good.row_types[::-1]), "parts are not the rows"),
        (replace(good, shown=outside), "an undefined cell"),
        (replace(good, classes=good.classes + 99), "an undefined cell"),
        (replace(good, cells=(narrow, good.cells[1])), "does not cover a row"),
    ):
        with pytest.raises(InternalError, match=fault):
            published(engine, spec, frequency_set, bad)
    with pytest.raises(InputError, match="the recoding is of town, age"):
        published(engine, spec, frequency_set, replace(good, attributes=("town", "age")))


def test_changed_source_is_refused(engine: Engine, settings: Settings, tmp_path: Path) -> None:
    spec = patients(tmp_path)
    frequency_set = count_frequency_set(engine, spec, settings)
    good = random_classes(np.random.default_rng(3), frequency_set, NOTHING, split=False, suppress=False)
    path = tmp_path / "patients.csv"
    before = path.read_text()
    for change in (
        before.replace("31,Kiel", "32,Kiel"),
        before.replace("31,", "55,"),
        before + "X,31,Kiel,flu,9\n",
    ):
        path.write_text(change)
        with pytest.raises(InputError, match="changed after it was counted"):
            published(engine, spec, frequency_set, good)


def test_subjects_of_several_rows_need_whole_row_types(
    engine: Engine, settings: Settings, tmp_path: Path
) -> None:
    spec = patients(tmp_path, subject="name")
    frequency_set = count_frequency_set(engine, spec, settings)
    recoding = random_classes(np.random.default_rng(4), frequency_set, NOTHING, split=True, suppress=True)
    published(engine, spec, frequency_set, recoding)
    header, *rows = (tmp_path / "patients.csv").read_text().splitlines()
    twice = "\n".join([header, *rows, *rows, ""])
    spec = patients(tmp_path, twice, subject="name")
    frequency_set = count_frequency_set(engine, spec, settings)
    whole = random_classes(np.random.default_rng(4), frequency_set, NOTHING, split=False, suppress=True)
    published(engine, spec, frequency_set, whole)
    drawn = (
        random_classes(np.random.default_rng(seed), frequency_set, NOTHING, split=True, suppress=True)
        for seed in range(some_of(50))
    )
    divided = next(recoding for recoding in drawn if splits_row_types(recoding))
    with pytest.raises(InputError, match="divides equal rows over classes"):
        published(engine, spec, frequency_set, divided)


def test_row_types_of_several_words_find_their_classes(
    engine: Engine, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = patients(tmp_path)
    frequency_set = count_frequency_set(engine, spec, settings)
    recoding = random_classes(np.random.default_rng(5), frequency_set, NOTHING, split=False, suppress=False)
    expected = Counter(published(engine, spec, frequency_set, recoding)[1])
    monkeypatch.setattr("discreet.recoding.class_decision._WORD_VALUES", 40)
    assert len(pack_words([h.null_code + 1 for h in frequency_set.hierarchies])) == 2
    assert Counter(published(engine, spec, frequency_set, recoding)[1]) == expected


def test_words_contain_any_number_of_columns() -> None:
    sizes = [1 << 20, 1 << 20, 1 << 20, 1 << 20, 7, 1 << 61]
    words = pack_words(sizes)
    assert [[i for i, _ in word] for word in words] == [[0, 1, 2], [3, 4], [5]]
    for word in words:
        largest = sum((sizes[i] - 1) * factor for i, factor in word)
        assert largest < 1 << 62


Pairs = set[tuple[int, int]]
PAIRS = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=12)


@given(classes=st.lists(PAIRS.filter(bool), max_size=4), l=st.integers(1, 5))
def test_classes_with_l_matched_values_equal_exhaustive_search(classes: list[Pairs], l: int) -> None:
    rows = [(10 * i, value, subject) for i, pairs in enumerate(classes) for value, subject in sorted(pairs)]
    arrays = np.array(rows, dtype=np.int64).reshape(len(rows), 3)
    expected = [10 * i for i, pairs in enumerate(classes) if most_pairs(sorted(pairs)) >= l]
    assert find_classes_reaching(arrays[:, 0], arrays[:, 1], arrays[:, 2], l) == expected


def test_one_person_with_every_value_counts_once() -> None:
    assert reaches_matching({0: [7], 1: [7], 2: [7]}, 1)
    assert not reaches_matching({0: [7], 1: [7], 2: [7]}, 2)


def test_later_value_moves_an_earlier_one() -> None:
    assert reaches_matching({0: [1, 2], 1: [1], 2: [2, 3]}, 3)
    assert not reaches_matching({0: [1, 2], 1: [1], 2: [2]}, 3)
