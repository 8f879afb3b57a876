"""Linkage with errors: levels, weights and best rows, checked against loops over all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from pathlib import Path

import numpy as np
import pytest

import discreet
from discreet.attacks import probabilistic_linkage
from discreet.attacks.probabilistic_linkage import (
    ComparedField,
    RecordComparison,
    encode_text,
    estimate_weights,
    fit_weights,
    link_records,
)
from discreet.kernels.record_pairs import jaro_winkler
from tests.attacks.test_linkage import PATIENTS, table_of, write

Record = tuple[str | None, ...]
WORDS = ("marta", "martha", "marhta", "dixon", "dickson", "smith", None)


@pytest.mark.parametrize(
    ("one", "other", "printed"),
    [("MARTHA", "MARHTA", 0.961), ("DIXON", "DICKSONX", 0.813), ("DWAYNE", "DUANE", 0.840), ("a", "", 0.0)],
)
def test_similarities_equal_the_printed_ones(one: str, other: str, printed: float) -> None:
    """Similarities equal the examples that Winkler (1990) prints."""
    assert jaro_winkler(encode_text(one), encode_text(other)) == pytest.approx(printed, abs=5e-4)


def comparison_of(left: Sequence[Record], right: Sequence[Record]) -> RecordComparison:
    fields = []
    for j in range(len(left[0])):
        mine, theirs = (sorted({r[j] for r in side if r[j] is not None}) for side in (left, right))
        codes = [
            np.array([-1 if r[j] is None else texts.index(r[j]) for r in side])
            for side, texts in ((left, mine), (right, theirs))
        ]
        fields.append(ComparedField(f"f{j}", tuple(mine), tuple(theirs), *codes))
    ones = [np.ones(len(side), dtype=np.int64) for side in (left, right)]
    return RecordComparison(tuple(fields), *ones)


def level(one: str | None, other: str | None) -> int:
    if one is None or other is None:
        return 0
    if one == other:
        return 3
    return 2 if jaro_winkler(encode_text(one), encode_text(other)) >= 0.88 else 1


def drawn(seed: int) -> tuple[list[Record], list[Record]]:
    random = np.random.default_rng(seed)
    right = [tuple(WORDS[i] for i in random.integers(0, 7, 3)) for _ in range(12)]
    left = [
        tuple(WORDS[random.integers(0, 7)] if random.random() < 0.2 else v for v in right[i])
        for i in range(8)
    ]
    return left, right


@pytest.mark.parametrize("table", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_best_rows_equal_a_plain_loop(seed: int, table: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not table:
        monkeypatch.setattr(probabilistic_linkage, "_MOST_TABLE", 0)
    monkeypatch.setattr(probabilistic_linkage, "_RANDOM_PAIRS", 500)
    left, right = drawn(seed)
    own = np.arange(len(left)), np.arange(len(left)), np.ones(len(left))
    found = link_records(comparison_of(left, right), own)
    odds = found.weights.share / (1 - found.weights.share)
    for i, record in enumerate(left):
        weights = [
            sum(
                log2(found.weights.m[j, level(a, b)] / found.weights.u[j, level(a, b)])
                for j, (a, b) in enumerate(zip(record, row, strict=True))
            )
            for row in right
        ]
        best = max(weights)
        ties = [n for n, weight in enumerate(weights) if weight == pytest.approx(best, abs=1e-9)]
        chance = odds * 2**best / (1 + odds * sum(2**weight for weight in weights))
        assert found.chances[i] == pytest.approx(chance)
        assert found.right is not None
        assert found.right[i] == pytest.approx((i in ties) / len(ties))


def test_estimated_weights_equal_the_generating_model() -> None:
    """Counts generated exactly from a model with known m, u and share yield that model."""
    m = np.array([[1, 0.05, 0.05, 0.9], [1, 0.1, 0.2, 0.7], [1, 0.02, 0.03, 0.95]])
    u = np.array([[1, 0.9, 0.05, 0.05], [1, 0.7, 0.1, 0.2], [1, 0.95, 0.04, 0.01]])
    total, share = 1e6, 1e-3
    counts = np.zeros(64)
    for pattern in range(64):
        levels = [pattern // 4 ** (2 - j) % 4 for j in range(3)]
        if 0 in levels:
            continue
        one, other = (np.prod([p[j, levels[j]] for j in range(3)]) for p in (m, u))
        counts[pattern] = total * (share * one + (1 - share) * other)
    found = estimate_weights(counts, u, total, 10_000)
    assert found.share == pytest.approx(share, rel=0.01)
    assert found.m[:, 1:] == pytest.approx(m[:, 1:], abs=0.01)
    assert found.weights[63] == pytest.approx(float(np.log2(m[:, 3] / u[:, 3]).sum()), abs=0.05)


def test_blocks_keep_the_pairs_that_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probabilistic_linkage, "_RANDOM_PAIRS", 500)
    left, right = drawn(5)
    whole = fit_weights(comparison_of(left, right))
    monkeypatch.setattr(probabilistic_linkage, "_MOST_ALL", 1)
    compared = comparison_of(left, right)
    passes = compared.passes
    assert len(passes.left) > 1
    walked = set()
    for number in range(len(passes.left)):
        for i in range(len(left)):
            block = passes.left[number, i]
            if block >= 0:
                members = passes.members[
                    number, passes.starts[number, block] : passes.starts[number, block + 1]
                ]
                walked |= {(i, int(j)) for j in members}
    agreeing = {
        (i, j)
        for i, a in enumerate(left)
        for j, b in enumerate(right)
        if any(x is not None and x == y for x, y in zip(a, b, strict=True))
    }
    assert walked == agreeing
    assert fit_weights(compared).u == pytest.approx(whole.u)


def test_file_with_errors_is_linked_by_the_attack(tmp_path: Path) -> None:
    table = table_of(tmp_path, PATIENTS)
    table.publish({"age": 1}, tmp_path / "out.csv", k=2)
    records = [{"name": "p0", "age": "20", "city": "Berlim"}, {"name": "p3", "age": "", "city": "Bonn"}]
    known = write(tmp_path / "known.csv", records)
    options = {"by": "linkage-with-errors", "outside": known, "key": "name"}
    found = discreet.attack(tmp_path / "out.csv", table=table, **options).finding("linkage-with-errors")
    assert found.figure("known") == 2
    assert found.figure("right_before") == pytest.approx(1 / 2 + 1 / 4)
    assert found.figure("right_after") == pytest.approx(1 / 4 + 1 / 4)
