"""A solution keeps rows: every verb and model finds one for any suppression limit, or none does."""

from __future__ import annotations

from collections import Counter
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from discreet.errors import NoSolution
from discreet.model.class_recoding import RecodingModel
from discreet.search.algorithms import ALGORITHMS
from discreet.settings import Settings
from discreet.spec.spec_reader import spec_from_mapping
from discreet.verbs.table import Table
from tests.drawing import some_of
from tests.oracle.plain_release import read_csv

NUMBER = count()
MODELS = [*map(str, RecodingModel), "patterns"]
SINGLE = ["a", "b", "c", "d", "e"]
TWOS = ["a", "a", "b", "b"]


def table_of(folder: Path, values: list[str], settings: Settings) -> Table:
    """Return a table of one quasi-identifier with the levels value and ``*``."""
    path = folder / f"in{next(NUMBER)}.csv"
    path.write_text("\n".join(["letter,note", *(f"{value},x" for value in values), ""]), encoding="utf-8")
    document = {
        "source": {"path": path.name},
        "attributes": {"letter": {"role": "quasi-identifier"}, "note": {"role": "insensitive"}},
    }
    return Table(spec_from_mapping(document, base=folder, label="letters"), settings)


def solvable(values: list[str], k: int, percent: int) -> bool:
    """Return True if unchanged values, or all of them as one ``*``, keep a row within the limit."""
    kept = sum(n for n in Counter(values).values() if n >= k)
    return any(
        left > 0 and (len(values) - left) * 100 <= percent * len(values)
        for left in (kept, len(values) if len(values) >= k else 0)
    )


@hypothesis_settings(max_examples=8, suppress_health_check=list(HealthCheck))
@example(values=SINGLE, k=3, percent=100)
@example(values=SINGLE, k=6, percent=100)
@example(values=TWOS, k=2, percent=100)
@given(
    values=st.lists(st.sampled_from("abcde"), min_size=1, max_size=8),
    k=st.integers(1, 9),
    percent=st.sampled_from([0, 50, 80, 99, 100]),
)
def test_negotiations_and_searches_agree_on_solvability(
    values: list[str], k: int, percent: int, tmp_path: Path, settings: Settings
) -> None:
    table, limit = table_of(tmp_path, values, settings), f"{percent}%"
    expected = solvable(values, k, percent)
    for lattice in (table.lattice(), table.partial_lattice("50%")):
        negotiated = lattice.negotiate(k=k, max_suppressed=limit)
        assert (negotiated.exact is not None) == expected
        assert all(answer.suppressed < len(values) for answer in negotiated.answers)
    local = table.negotiate_local(k=k, max_suppressed=limit)
    assert (local.exact is not None) == expected
    for algorithm in ALGORITHMS:
        bounded = {"node_budget": 10} if algorithm == "anytime" else {}
        found = table.search(algorithm, k=k, max_suppressed=limit, **bounded)
        assert bool(found.solutions) == expected, algorithm
        assert all(solution.suppressed != len(values) for solution in found.solutions)


@pytest.mark.parametrize("model", MODELS)
def test_every_model_publishes_some_rows_under_a_limit_of_all_rows(
    model: str, tmp_path: Path, settings: Settings
) -> None:
    check_published(table_of(tmp_path, SINGLE, settings), SINGLE, 3, [model], tmp_path / "r.csv")


def test_answer_for_a_limit_of_every_row_is_published(tmp_path: Path, settings: Settings) -> None:
    check_answer(table_of(tmp_path, SINGLE, settings), SINGLE, 3, tmp_path / "r.csv")


@pytest.mark.slow
@hypothesis_settings(max_examples=some_of(30), suppress_health_check=list(HealthCheck))
@given(values=st.lists(st.sampled_from("abcde"), min_size=1, max_size=8), k=st.integers(1, 9))
def test_negotiated_answer_is_published_by_every_model(
    values: list[str], k: int, tmp_path: Path, settings: Settings
) -> None:
    table, target = table_of(tmp_path, values, settings), tmp_path / "r.csv"
    check_answer(table, values, k, target)
    check_published(table, values, k, MODELS, target)


def check_answer(table: Table, values: list[str], k: int, target: Path) -> None:
    """Publish the answer of a negotiation if there is a solution."""
    negotiated = table.negotiate(k=k, max_suppressed="100%")
    if solvable(values, k, 100):
        assert table.publish(negotiated.exact, target, overwrite=True).audit.k >= k


def check_published(table: Table, values: list[str], k: int, models: list[str], target: Path) -> None:
    """Publish with each model if there is a solution, else check that each refuses."""
    for model in models:
        if not solvable(values, k, 100):
            with pytest.raises(NoSolution):
                table.publish(model, target, overwrite=True, k=k, max_suppressed="100%")
            continue
        table.publish(model, target, overwrite=True, k=k, max_suppressed="100%")
        rows = read_csv(target)[1]
        assert min(Counter(row[0] for row in rows).values()) >= k


def test_suppression_of_every_row_is_reported(tmp_path: Path, settings: Settings) -> None:
    table = table_of(tmp_path, SINGLE, settings)
    negotiated = table.negotiate(k=6, max_suppressed="100%")
    assert [answer.relaxed for answer in negotiated.answers] == ["k"]
    text = str(negotiated)
    assert "Within the level bounds, every row must be suppressed." in text
    assert "No solution by relaxing max_suppressed or height." in text
    with pytest.raises(NoSolution, match="all 5 rows would be suppressed"):
        table.publish({"letter": 0}, tmp_path / "r.csv", k=3, max_suppressed="100%")
