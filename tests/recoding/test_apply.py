"""Application of a recoding: counts, data kept from the source, and source errors."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import pytest

from discreet.engines.base import Engine
from discreet.errors import InputError
from discreet.frequency.table_scan import count_frequency_set
from discreet.model.requirement import Requirement
from discreet.model.search_result import FullDomainRecoding, SuppressionPolicy
from discreet.recoding.recoded_table import RecodedTable
from discreet.recoding.recoding_application import apply_full_domain
from discreet.settings import Settings
from tests.drawing import in_turn
from tests.oracle.patients import patients
from tests.oracle.plain_release import PlainTable, write_csv


def draw_in_order(engine: Engine, name: str, rows: int) -> None:
    """Load sort keys that keep the order of the coded rows."""
    numbers = np.arange(rows, dtype=np.uint64)
    engine.load_table(name, {"a": numbers, "b": numbers})


def apply(
    engine: Engine,
    settings: Settings,
    table: PlainTable,
    folder: Path,
    node: tuple[int, ...],
    requirement: Requirement,
) -> tuple[int, Counter[tuple[str | None, ...]]]:
    """Return the number of suppressed rows and the published rows."""
    write_csv(folder / "in.csv", table.rows, table.columns)
    spec = table.spec(folder / "in.csv")
    frequency_set = count_frequency_set(engine, spec, settings)
    recoding = FullDomainRecoding(tuple(table.hierarchies), node, requirement)
    with apply_full_domain(
        engine, spec, frequency_set, recoding, native=False, draw_keys=draw_in_order
    ) as found:
        return found.suppressed, Counter(engine.fetch_rows(found.query()))


@pytest.mark.parametrize(("l", "seed"), in_turn([1, 2, 3, 5], range(4), rounds=2))
def test_l_is_counted_among_subjects(
    l: int, seed: int, engine: Engine, settings: Settings, tmp_path: Path
) -> None:
    """l among subjects holds for shared values, persons with many values, values of many persons."""
    random = Random(seed)
    rows = []
    for group in range(30):
        persons, values = random.randint(1, 6), random.randint(1, 6)
        for _ in range(random.randint(1, 8)):
            value = random.choice([None, *map(str, range(values))])
            rows.append({"q": f"g{group}", "s": value, "who": f"{group}-{random.randrange(persons)}"})
    random.shuffle(rows)
    table = PlainTable(rows, {"q": {f"g{i}": ["*"] for i in range(30)}}, ["s"], subject="who")
    published, suppressed = table.published((0,), 1, l, star=False)
    found = apply(engine, settings, table, tmp_path, (0,), Requirement(l=l))
    assert found == (suppressed, Counter(cells for cells, _ in published))
    assert len(published) > 0 or l == 5


SHARED = [{"q": "1", "s": s, "who": p} for s, p in ("xA", "yA", "zA", "zB", "zC")]
PERSONS = [{"q": "1", "who": person} for person in "AAAB"]
TWO_VALUES = [{"q": "1", "s": "x", "t": str(i)} for i in range(3)]


@pytest.mark.parametrize(
    ("rows", "sensitive", "subject", "requirement", "suppressed"),
    [
        # Two persons with two common values do not count as three, although upper bounds would count three.
        (SHARED, ["s"], "who", Requirement(l=2), 0),
        (SHARED, ["s"], "who", Requirement(l=3), 5),
        (PERSONS, [], "who", Requirement(k=2), 0),
        (PERSONS, [], "who", Requirement(k=3), 4),  # suppression counts rows, k counts subjects
        (TWO_VALUES, ["s", "t"], None, Requirement(l=(("t", 3),)), 0),
        (TWO_VALUES, ["s", "t"], None, Requirement(l=(("s", 2),)), 3),
    ],
)
def test_suppressed_rows_by_subjects_and_values(
    rows: list[dict[str, str | None]],
    sensitive: list[str],
    subject: str | None,
    requirement: Requirement,
    suppressed: int,
    engine: Engine,
    settings: Settings,
    tmp_path: Path,
) -> None:
    table = PlainTable(rows, {"q": {"1": ["*"]}}, sensitive, subject=subject)
    assert apply(engine, settings, table, tmp_path, (0,), requirement)[0] == suppressed


def test_null_values_are_null_everywhere(engine: Engine, settings: Settings, tmp_path: Path) -> None:
    text = "name,age,town,diagnosis\nA,?,Kiel,?\nB,?,?,flu\nC,31,?,?\n"
    spec = patients(tmp_path, text, null_values=["?"])
    frequency_set = count_frequency_set(engine, spec, settings)
    recoding = FullDomainRecoding(("age", "town"), (1, 0), Requirement())
    with apply_full_domain(
        engine, spec, frequency_set, recoding, native=False, draw_keys=draw_in_order
    ) as found:
        rows = engine.fetch_rows(found.query())
    assert sorted(map(str, rows)) == sorted(
        map(str, [(None, "Kiel", None), (None, None, "flu"), ("30s", None, None)])
    )


def test_tables_are_dropped_afterwards(engine: Engine, settings: Settings, tmp_path: Path) -> None:
    spec = patients(tmp_path, subject="name")
    frequency_set = count_frequency_set(engine, spec, settings)
    tables = "SELECT count(*) FROM duckdb_tables()"
    views = "SELECT count(*) FROM duckdb_views() WHERE temporary"
    before = engine.fetch_rows(tables), engine.fetch_rows(views)
    recoding = FullDomainRecoding(("age", "town"), (1, 0), Requirement(k=2, l=2), SuppressionPolicy.STAR)

    def use(found: RecodedTable) -> None:
        assert found.published_rows == 10
        raise KeyError

    with (
        pytest.raises(KeyError),
        apply_full_domain(
            engine, spec, frequency_set, recoding, native=True, draw_keys=draw_in_order
        ) as found,
    ):
        use(found)
    assert (engine.fetch_rows(tables), engine.fetch_rows(views)) == before


@pytest.mark.parametrize(
    ("attributes", "node", "message"),
    [
        (("age",), (1,), "the recoding is of age"),
        (("age", "ward"), (1, 0), "the recoding is of age, ward"),
        (("age", "town"), (3, 0), "level 3 of 'age'"),
        (("age", "town"), (0, -1), "level -1 of 'town'"),
    ],
)
def test_unfit_recodings_are_refused(
    attributes: tuple[str, ...],
    node: tuple[int, ...],
    message: str,
    engine: Engine,
    settings: Settings,
    tmp_path: Path,
) -> None:
    spec = patients(tmp_path)
    frequency_set = count_frequency_set(engine, spec, settings)
    recoding = FullDomainRecoding(attributes, node, Requirement(2))
    with (
        pytest.raises(InputError, match=message),
        apply_full_domain(engine, spec, frequency_set, recoding, native=False, draw_keys=draw_in_order),
    ):
        pass
