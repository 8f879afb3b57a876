"""Private choice of levels: scores checked by enumeration, the effect of one row, and the choice."""

from __future__ import annotations

import csv
import json
import random
from collections import Counter
from fractions import Fraction
from itertools import product
from math import exp
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from discreet.differential import private_sample
from discreet.differential.marginals import encode_labels
from discreet.differential.private_sample import DETAIL_UNIT, PrivateLevelChoice, choose_noisy_max
from discreet.errors import InputError, LimitReached
from discreet.model.table_spec import TableSpec
from discreet.spec.spec_reader import spec_from_mapping
from tests.cli.conftest import Run, run
from tests.differential.conftest import ATTRIBUTES, Made, made
from tests.drawing import some_of

__all__ = ["made", "run"]

TOWNS = {"kind": "levels", "rows": [["Ulm", "S", "*"], ["Rom", "S", "*"], ["Kiel", "N", "*"]]}
AGES = [*map(str, range(20, 60)), "77", "(other)"]


def spec(town: Any = None, **request: Any) -> TableSpec:
    """Return a spec of public ages, sexes without a hierarchy, and towns whose leaves come from rows."""
    town = town or {"role": "quasi-identifier", "weight": 0.5, "hierarchy": TOWNS}
    told = {
        "source": {"path": "people.csv"},
        "attributes": {**ATTRIBUTES, "town": town},
        "request": request,
        "privacy_budget": {"epsilon": "3"},
    }
    return spec_from_mapping(told, base=Path(), label="a test")


def label(name: str, value: str, level: int) -> str:
    """Return the label of a value at a level, in plain Python; "(other)" replaces NULL."""
    if name == "age" and value in AGES[:40]:
        width = (1, 10, 20)[level] if level < 3 else 0
        return "*" if not width else str(int(value) // width)
    if name == "sex" and value in "FM":
        return "*" if level else value
    if name == "town" and value in ("Ulm", "Rom", "Kiel"):
        return (value, "N" if value == "Kiel" else "S", "*")[level]
    return value if name == "town" and level == 0 else "(other)"


def plain_scores(rows: list[tuple[str, str, str]], least: int) -> list[int]:
    """Compute the scores of all nodes, class by class."""
    found = []
    for levels in product(range(4), range(2), range(3)):
        names = ("age", "sex", "town")
        sizes = Counter(tuple(map(label, names, row, levels)) for row in rows)
        lost = Fraction(levels[0], 3) + levels[1] + Fraction(levels[2], 4)
        detail = max(1, int(1000 * (1 - lost / Fraction(5, 2))))
        found.append(detail * sum(max(0, size - least + 1) for size in sizes.values()))
    return found


def counted(rows: list[tuple[str, str, str]]) -> dict[str, int]:
    lowest = [
        (age if age in AGES[:40] else "(other)", sex if sex in "FM" else "(other)", town)
        for age, sex, town in rows
    ]
    return dict(Counter(map(encode_labels, lowest)))


def draw(seed: int, number: int) -> list[tuple[str, str, str]]:
    chance = random.Random(seed)
    towns = ["Ulm", "Rom", "Kiel", "Bern", "(other)"]
    return [(chance.choice(AGES), chance.choice("FMx"), chance.choice(towns)) for _ in range(number)]


@examples(max_examples=some_of(25), deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 60), st.sampled_from([1, 2, 5, 20]))
def test_scores_are_those_of_plain_classes_and_one_row_adds_at_most_one(
    seed: int, number: int, least: int
) -> None:
    rows = draw(seed, number + 1)
    search = PrivateLevelChoice.of(spec(), {})
    scores = [search.scores(counted(some), least).tolist() for some in (rows[:-1], rows)]
    assert scores == [plain_scores(some, least) for some in (rows[:-1], rows)]
    assert all(0 <= more - fewer <= DETAIL_UNIT for fewer, more in zip(*scores, strict=True))


def test_a_nodes_counts_are_those_of_plain_labels() -> None:
    rows, search = draw(1, 80), PrivateLevelChoice.of(spec(), {})
    for node in search.nodes[::3]:
        levels = [axis.level for axis in node]
        plain = Counter(tuple(map(label, ("age", "sex", "town"), row, levels)) for row in rows)
        assert sorted(search.at(counted(rows), node).values()) == sorted(plain.values())


def test_only_levels_within_the_limits_are_searched() -> None:
    search = PrivateLevelChoice.of(spec(min_level={"age": 1}, max_level={"age": 2}), {"town": 1})
    assert {tuple(axis.level for axis in node) for node in search.nodes} == set(product((1, 2), (0, 1), (1,)))
    broken = {
        "role": "quasi-identifier",
        "hierarchy": {"kind": "levels", "rows": [["Ulm", "S"], ["Rom", "N"]]},
    }
    with pytest.raises(InputError, match="top value"):
        PrivateLevelChoice.of(spec(town=broken), {})
    with pytest.raises(InputError, match="level 7"):
        PrivateLevelChoice.of(spec(), {"town": 7})


def test_too_many_combinations_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.differential.private_sample.MAX_LEVEL_NODES", 23)
    with pytest.raises(InputError, match="24 combinations"):
        PrivateLevelChoice.of(spec(), {})


def test_choices_are_as_likely_as_the_mechanism_says() -> None:
    """Permute-and-flip examines the lower score first half of the time and takes it by exp(-ε · apart)."""
    epsilon, apart, draws = Fraction(1), 1500, 2000
    scores = PrivateLevelChoice.of(spec(), {}).details()[:2] * 0
    scores[1] = apart
    lower = sum(choose_noisy_max(scores, epsilon) == 0 for _ in range(draws))
    expected = draws * exp(-1.5) / 2
    assert abs(lower - expected) < 6.5 * (expected * (1 - expected / draws)) ** 0.5


MANY = [("25", "F", "flu")] * 900 + [("45", "M", "cold")] * 600 + [("55", "F", "secret")] * 20


def test_a_sample_at_levels_that_were_chosen(made: Made, run: Run) -> None:
    table = made(MANY)
    folder = table.spec.path.parent  # type: ignore[union-attr]
    asked = ["--epsilon", "1", "--delta", "0.001", "--search-epsilon", "0.2", "--json"]
    told = run("dp", "sample", table.spec.path, "--output", folder / "s.csv", *asked).json
    # Full detail keeps all but twenty rows; the score of any other node is lower by hundreds of rows.
    assert told["levels"] == {"age": 0, "sex": 0}
    assert told["privacy"]["epsilon"] == "1"
    assert told["privacy"]["search"]["epsilon"] == "0.2"
    assert "private search chose" in told["privacy"]["mechanism"]
    assert told["budget"]["left"] == {"epsilon": "0", "delta": "0"}
    manifest = json.loads((folder / "s.csv.manifest.json").read_text(encoding="utf-8"))
    assert manifest["privacy"] == told["privacy"]
    with (folder / "s.csv").open(newline="", encoding="utf-8") as file:
        assert {(row["age"], row["sex"]) for row in csv.DictReader(file)} == {("25", "F"), ("45", "M")}
    with pytest.raises(LimitReached, match="privacy budget"):
        table.safepub({}, folder / "t.csv", epsilon=1, delta="0.001", search_epsilon="0.1")


def test_the_sample_spends_what_the_search_leaves(made: Made) -> None:
    table = made(MANY)
    folder = table.spec.path.parent  # type: ignore[union-attr]
    searched = table.safepub(
        {"sex": 1}, folder / "s.csv", epsilon="0.5", delta="0.0005", search_epsilon="0.1"
    )
    given_levels = table.safepub({"sex": 1}, folder / "t.csv", epsilon="0.4", delta="0.0005")
    assert searched.sample.sampling == given_levels.sample.sampling
    assert searched.sample.levels["sex"] == 1
    assert "chose the levels" in str(searched)


@pytest.mark.parametrize("search", ["1", "2", "0"])
def test_a_search_that_leaves_nothing_is_refused_before_anything_is_spent(made: Made, search: str) -> None:
    table = made(MANY)
    with pytest.raises(InputError):
        table.safepub({}, "s.csv", epsilon=1, delta="0.001", search_epsilon=search)
    assert table.budget().balance.entries == ()


def test_the_budget_is_spent_before_the_search(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    table = made(MANY)

    def fails(*_: object) -> None:
        assert table.budget().spent.as_json()["epsilon"] == "0.5"
        raise KeyboardInterrupt

    monkeypatch.setattr(private_sample, "choose_noisy_max", fails)
    with pytest.raises(KeyboardInterrupt):
        table.safepub({}, "s.csv", epsilon="0.5", delta="0.001", search_epsilon="0.1")
    assert table.budget().spent.as_json()["epsilon"] == "0.5"
