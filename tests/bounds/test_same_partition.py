"""Theorem 2 on Adult: bounds of a generalized release contain those of the same groups permuted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from discreet.bounds.queryable_release import OpenRelease, open_release
from discreet.bounds.release_answer import answer_release_query
from discreet.engines.connection import connect
from discreet.models import Permutation
from discreet.settings import Settings
from discreet.verbs.table import Table
from discreet.verbs.table import open as open_table
from tests.bounds.random_queries import QueryMaker

QUERIES = 12
QUASI_IDENTIFIERS = ("age", "education", "marital_status", "sex")
SENSITIVE = "hours_per_week"


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("same")
    return Settings(memory_limit=2 * 10**9, threads=2, private_log=folder / "log.jsonl")


@pytest.fixture(scope="module")
def table(data_dir: Path, settings: Settings) -> Table:
    folder = data_dir / "adult" / "hierarchies_incognito"
    attributes: dict[str, Any] = {
        name: {"role": "quasi-identifier", "hierarchy": str((folder / f"{name}.csv").absolute())}
        for name in QUASI_IDENTIFIERS
    }
    attributes[SENSITIVE] = {"role": "sensitive"}
    return open_table(data_dir / "adult" / "adult_30162.csv", {"attributes": attributes}, settings=settings)


@pytest.fixture(scope="module", params=["mondrian", "full-domain"])
def both(
    request: pytest.FixtureRequest,
    table: Table,
    settings: Settings,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[OpenRelease, OpenRelease]]:
    """Yield the generalized release of a recoding and the permuted release of its classes."""
    folder = tmp_path_factory.mktemp(request.param)
    recoding = (
        table.recode("mondrian", k=200, l=10)
        if request.param == "mondrian"
        else table.recode("full-domain", k=100, l=5, max_suppressed=0)
    )
    table.publish(recoding, folder / "generalized.csv")
    table.publish(Permutation(partition="recoding", recoding=recoding), folder / "permuted.csv", k=5)
    hierarchies = {h.attribute: h for h in table.frequency_set.hierarchies}
    with ExitStack() as stack:
        engine = stack.enter_context(connect(settings))
        opened = [
            stack.enter_context(open_release(engine, folder / name, settings, hierarchies))
            for name in ("generalized.csv", "permuted.csv")
        ]
        yield opened[0], opened[1]


def test_generalized_bounds_hold_permuted_ones(both: tuple[OpenRelease, OpenRelease], table: Table) -> None:
    generalized, permuted = both
    leaves = {h.attribute: h.leaves for h in table.frequency_set.hierarchies}
    texts = {name: leaves[name] for name in QUASI_IDENTIFIERS if name != "age"}
    maker = QueryMaker(SENSITIVE, {"age": (17, 90)}, texts, keys=("sex",))
    wider = 0
    for query in maker.queries(QUERIES, seed=5):
        narrow = {
            (row.group, row.aggregate): row for row in answer_release_query(permuted, query.text()).rows
        }
        wide = {
            (row.group, row.aggregate): row for row in answer_release_query(generalized, query.text()).rows
        }
        assert set(narrow) <= set(wide), query
        for place, row in narrow.items():
            if row.lower is None or row.upper is None:
                continue
            lower, upper = wide[place].lower, wide[place].upper
            assert lower is not None
            assert upper is not None
            assert lower <= row.lower + 1e-9, (query, row, wide[place])
            assert row.upper <= upper + 1e-9, (query, row, wide[place])
            wider += (lower, upper) != (row.lower, row.upper)
    assert wider > QUERIES / 4
