"""Ordered t-closeness uses the order of a hierarchy file whose groups interleave, in searches and audits."""

from __future__ import annotations

import csv
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import discreet
from discreet.errors import NoSolution
from discreet.model.criteria.float_criterion import SCORE_UNIT
from discreet.model.criteria.t_closeness import TCloseness
from discreet.model.requirement import Requirement
from tests.criteria.plain_known_values import t_closeness
from tests.drawing import some_of

SAMPLE = (("a", "v1"), ("a", "v2"), ("b", "v3"), ("b", "v4"))
INTERLEAVED = "v1;X;*\nv2;Y;*\nv3;X;*\nv4;Y;*\n"
FLAT = "v1;*\nv2;*\nv3;*\nv4;*\n"
NEXT_TO = "v1;X;*\nv3;X;*\nv2;Y;*\nv4;Y;*\n"
"""The same groups in a different order."""

MODELS = ("full-domain", "ordered-single-dimension", "mondrian", "local")

Rows = list[tuple[str, str]]


def opened(folder: Path, rows: Rows, hierarchy: str) -> Path:
    """Write a spec of a table of q and s; s has a hierarchy file, and q a shorter one with the same order."""
    folder.mkdir(exist_ok=True)
    with (folder / "people.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("q", "s"), *rows])
    (folder / "s.csv").write_text(hierarchy, encoding="utf-8")
    (folder / "q.csv").write_text("a;1;*\nb;2;*\nc;1;*\nd;2;*\ne;1;*\n", encoding="utf-8")
    (folder / "discreet.toml").write_text(
        '[source]\npath = "people.csv"\n'
        '[attributes.q]\nrole = "quasi-identifier"\nhierarchy = "q.csv"\n'
        '[attributes.s]\nrole = "sensitive"\nhierarchy = "s.csv"\n',
        encoding="utf-8",
    )
    return folder / "discreet.toml"


def published(path: Path) -> list[list[str]]:
    """Return the sensitive values of each class of a written file."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found[row["q"]].append(row["s"])
    return list(found.values())


@pytest.mark.parametrize(
    ("hierarchy", "distance"),
    [(INTERLEAVED, Fraction(1, 3)), (FLAT, Fraction(1, 3)), (NEXT_TO, Fraction(1, 6))],
    ids=["interleaved", "flat", "next to each other"],
)
def test_ordered_distance_of_two_classes_follows_the_order_of_the_hierarchy(
    hierarchy: str, distance: Fraction, tmp_path: Path
) -> None:
    spec = opened(tmp_path / "work", list(SAMPLE), hierarchy)
    table = discreet.open(spec)
    criterion = TCloseness(0.2, "s", distance="ordered")
    if distance > Fraction(1, 5):
        with pytest.raises(NoSolution):
            table.publish({"q": 0}, tmp_path / "out.csv", criteria=[criterion])
    else:
        table.publish({"q": 0}, tmp_path / "out.csv", criteria=[criterion])
    loose = table.publish(
        {"q": 0}, tmp_path / "loose.csv", criteria=[TCloseness(0.4, "s", distance="ordered")]
    )
    audit = discreet.audit(loose.path, spec=spec, criteria=[criterion])
    assert audit.passed == (distance <= Fraction(1, 5))
    [found] = [each for each in audit.report.criteria if each.criterion.name == "t"]
    assert abs(Fraction(found.found) - distance) <= Fraction(2, SCORE_UNIT)


def drawn(seed: int) -> tuple[Rows, str, list[str]]:
    """Return random rows, a random hierarchy file of two levels, and the order of its lines."""
    random = np.random.default_rng(seed)
    order = [f"v{n}" for n in random.permutation(6)]
    groups, tops = random.integers(0, 3, 6), random.integers(0, 2, 3)
    lines = [f"{v};g{g};t{tops[g]};*" for v, g in zip(order, groups.tolist(), strict=True)]
    rows = []
    for q in random.integers(0, 5, 60).tolist():
        place = (
            int(np.clip(random.normal(q, 1.5), 0, 5)) if random.random() < 0.7 else int(random.integers(6))
        )
        rows.append(("abcde"[q], order[place]))
    return rows, "\n".join(lines) + "\n", order


@pytest.mark.parametrize("model", MODELS)
def test_releases_have_the_distances_of_plain_counting(model: str, tmp_path: Path) -> None:
    differ = 0
    for seed in range(some_of(4)):
        rows, hierarchy, order = drawn(seed)
        folder = tmp_path / f"{seed}"
        spec = opened(folder, rows, hierarchy)
        table = discreet.open(spec)
        value = (0.1, 0.2, 0.3)[seed % 3]
        criterion = TCloseness(value, "s", distance="ordered")
        out = folder / "out.csv"
        if model == "full-domain":
            answer = table.negotiate(k=2, max_suppressed="30%", criteria=[criterion]).exact
            assert answer is not None
            release = table.publish(answer, out)
        else:
            release = table.publish(model, out, k=2, criteria=[criterion])
        whole = [s for _, s in rows]
        farthest = max(t_closeness(held, whole, "ordered", order, {}) for held in published(out))
        assert farthest <= Fraction(str(value))
        assert release.audit.passed
        again = discreet.audit(out, spec=spec, criteria=[TCloseness(0, "s", distance="ordered")])
        found = next(each for each in again.report.criteria if each.criterion.value == 0)
        assert abs(Fraction(found.found) - farthest) <= Fraction(2, SCORE_UNIT)
        by_tree = depth_first_of(hierarchy)
        differ += farthest != max(t_closeness(held, whole, "ordered", by_tree, {}) for held in published(out))
    assert differ


def test_every_node_suppresses_by_the_order_of_the_file(tmp_path: Path) -> None:
    """Nodes suppress by the order of the file, also where the depth-first order would suppress other rows."""
    differ = 0
    for seed in range(some_of(8)):
        rows, hierarchy, order = drawn(seed)
        table = discreet.open(opened(tmp_path / f"{seed}", rows, hierarchy))
        depth_first = depth_first_of(hierarchy)
        whole = [s for _, s in rows]
        criterion = TCloseness(0.2, "s", distance="ordered")
        lattice = table.lattice(criteria=[criterion])
        for level in range(3):
            held = defaultdict(list)
            for q, s in rows:
                held[(q, "abcde".index(q) % 2, 0)[level]].append(s)
            expected, other = (
                sum(
                    len(values)
                    for values in held.values()
                    if t_closeness(values, whole, "ordered", by, {}) > Fraction(1, 5)
                )
                for by in (order, depth_first)
            )
            found = lattice.suppressed((level,), Requirement(criteria=[criterion]))
            assert found == expected
            differ += expected != other
    assert differ


def depth_first_of(hierarchy: str) -> list[str]:
    """Return the leaves grouped depth-first, with groups and leaves ordered by first appearance."""
    lines = [line.split(";") for line in hierarchy.splitlines()]

    def key(line: list[str]) -> list[int]:
        return [[each[level] for each in lines].index(line[level]) for level in reversed(range(len(line)))]

    return [line[0] for line in sorted(lines, key=key)]
