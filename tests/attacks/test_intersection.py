"""Intersection of several releases of one table, checked by enumerating its rows."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

import discreet
from discreet.attackers import Intersection
from discreet.attacks.composition import intersect_classes
from discreet.errors import InputError, NoSolution, RequirementNotMet
from discreet.model.requirement import Requirement
from discreet.models import FullDomain, Mondrian
from discreet.release.manifest import read_manifest
from discreet.results.request_defaults import build_request
from discreet.verbs.locations import PublishTarget
from discreet.verbs.release_publication import publish_request
from discreet.verbs.table import Table
from tests.attacks.test_linkage import table_of
from tests.drawing import some_of
from tests.oracle.brute_lattice import signature_of
from tests.oracle.plain_criteria import fails
from tests.oracle.random_tables import random_frequency_set

People = list[tuple[str, str, str]]
TWO = [("20", "Berlin", "a"), ("21", "Berlin", "b"), ("20", "Bonn", "c"), ("21", "Bonn", "d")]
"""Four people, unique in age and city together; age gives classes of two, city other classes of two.
"""


def opened(folder: Path, people: Sequence[tuple[str, str, str]] = TWO) -> Table:
    keys = ("age", "city", "disease")
    rows = [{"name": f"p{i}", **dict(zip(keys, row, strict=True))} for i, row in enumerate(people)]
    return table_of(folder, rows)


def released(table: Table, folder: Path, name: str, **levels: int) -> Path:
    path = folder / f"{name}.csv"
    table.publish(levels, path, k=2, max_suppressed="50%")
    return path


@given(st.integers(0, 10**9), st.booleans(), st.integers(1, 3))
@examples(max_examples=some_of(100), deadline=None)
def test_parts_equal_their_definition(seed: int, by_subject: bool, releases: int) -> None:
    random = np.random.default_rng(seed)
    subjects = int(random.integers(1, 12)) if by_subject else None
    shape = {"attributes": 2, "height": 2, "leaves": 5, "rows": 24, "sensitive": 2}
    table = random_frequency_set(random, subjects=subjects, **shape)
    classes = [random.integers(-1, 3, table.row_types) for _ in range(releases)]
    members: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for row_type in range(table.row_types):
        members[tuple(int(each[row_type]) for each in classes)].append(row_type)
    members.pop((-1,) * releases, None)
    parts = intersect_classes(table, classes)
    names = table.sensitive_attributes
    requirement = Requirement.of(
        int(random.integers(1, 5)), {name: int(random.integers(1, 4)) for name in names[:1]}
    )
    found = list(
        zip(
            parts.rows,
            parts.everywhere,
            parts.failing(requirement),
            parts.sizes,
            *parts.distinct.values(),
            strict=True,
        )
    )
    expected = [
        (
            sum(int(table.counts[t]) for t in types),
            -1 not in part,
            fails(table, types, requirement),
            *signature_of(table, types),
        )
        for part, types in members.items()
    ]
    assert sorted(found) == sorted(expected)
    for which in (parts.everywhere, ~parts.everywhere):
        mine = [each for each in expected if each[1] == (which is parts.everywhere)]
        assert parts.k(which) == min((each[3] for each in mine), default=None)
        assert list(parts.l(which).values()) == (
            [min(each[i + 4] for each in mine) for i in range(len(names))] if mine else []
        )


def test_two_safe_releases_single_out_people_together(tmp_path: Path) -> None:
    table = opened(tmp_path)
    by_age, by_city = released(table, tmp_path, "a", age=0, city=2), released(table, tmp_path, "c", age=2)
    by = Intersection(earlier=[str(by_age)])
    found = discreet.attack(by_city, table=table, by=by).finding("intersection")
    figures = {name: found.figure(name) for name in ("k", "k_of_one", "l_disease", "parts", "singled_out")}
    assert figures == {"k": 1, "k_of_one": None, "l_disease": 1, "parts": 4, "singled_out": 4}
    rows = found.table("The release and the intersection").rows
    assert rows[0] == ("only this release", 4, 2, 2, 2)
    assert rows[1] == ("all releases together", 4, 4, 1, 1)


@pytest.mark.parametrize(
    ("people", "first", "second", "figures"),
    [
        (TWO, {"age": 0, "city": 2}, {"age": 3, "city": 2}, (2, None, 0)),  # coarser classes
        (
            [*TWO[:2], ("20", "Bonn", "c")],
            {"age": 1},
            {"age": 1, "city": 2},
            (2, 1, 1),
        ),  # one suppresses a row
    ],
)
def test_nested_releases_have_the_expected_figures(
    tmp_path: Path, people: People, first: dict[str, int], second: dict[str, int], figures: tuple[object, ...]
) -> None:
    table = opened(tmp_path, people)
    fine, coarse = released(table, tmp_path, "a", **first), released(table, tmp_path, "b", **second)
    found = discreet.attack(coarse, table=table, by=Intersection(earlier=[str(fine)])).finding("intersection")
    assert tuple(found.figure(name) for name in ("k", "k_of_one", "singled_out")) == figures


def test_recoding_not_made_by_levels_is_read_by_its_cells(tmp_path: Path) -> None:
    table = opened(tmp_path)
    by_age = released(table, tmp_path, "a", age=0, city=2)
    table.publish(Mondrian(), tmp_path / "m.csv", k=2)
    found = discreet.attack(tmp_path / "m.csv", table=table, by="intersection", options={"earlier": by_age})
    assert found.finding("intersection").figure("k") in (1, 2)


def test_releases_that_cannot_be_intersected_are_refused(tmp_path: Path) -> None:
    table = opened(tmp_path)
    path = released(table, tmp_path, "a", age=0, city=2)
    table.publish("permutation", tmp_path / "p.csv", k=2)
    with pytest.raises(InputError, match="permutes"):
        discreet.attack(path, table=table, by=Intersection(earlier=[str(tmp_path / "p.csv")]))
    (tmp_path / "other").mkdir()
    more = opened(tmp_path / "other", [*TWO, ("20", "Bonn", "a")])
    with pytest.raises(InputError, match="not made of these rows: 1 of its 2 classes"):
        discreet.attack(path, table=more, by=Intersection(earlier=[str(path)]))


def test_second_release_that_would_single_out_people_is_refused(tmp_path: Path) -> None:
    table = opened(tmp_path)
    by_age = released(table, tmp_path, "a", age=0, city=2)
    with pytest.raises(RequirementNotMet, match=r"4 of the 4 parts .*, 4 rows in all \(k=1"):
        table.publish({"age": 2}, tmp_path / "c.csv", k=2, previous_releases=by_age)
    assert not (tmp_path / "c.csv").exists()
    published = table.publish({"age": 3, "city": 2}, tmp_path / "c.csv", k=2, previous_releases=[by_age])
    assert published.audit.k == 4
    digest = read_manifest(by_age).sha256
    assert read_manifest(tmp_path / "c.csv").previous_releases == (digest,)
    with pytest.raises(InputError, match="permutation model cannot be combined with earlier releases"):
        table.publish("permutation", tmp_path / "p.csv", k=2, previous_releases=by_age)


PEOPLE = st.lists(
    st.tuples(
        st.sampled_from(["20", "21", "22", "24"]), st.sampled_from(["Berlin", "Bonn", "Trier"]), st.just("a")
    ),
    min_size=4,
    max_size=12,
)


def classes(table: Table, people: People, levels: tuple[int, ...]) -> list[tuple[str, ...] | None]:
    """Return the labels that each row shows at some levels for k = 2, or None if the row is suppressed."""
    keys = []
    for row in people:
        cells = zip(table.frequency_set.hierarchies, row, levels, strict=False)
        keys.append(tuple(h.path(h.code_of_leaf[value])[level] for h, value, level in cells))
    return [key if keys.count(key) >= 2 else None for key in keys]


def are_safe(before: list[tuple[str, ...] | None], later: list[tuple[str, ...] | None]) -> bool:
    parts = [part for part in zip(before, later, strict=True) if part != (None, None)]
    return later.count(None) < len(later) and all(parts.count(part) >= 2 for part in parts)


def loss(table: Table, people: People, levels: tuple[int, ...]) -> float:
    """Sum the share of other leaves that each cell covers; suppressed rows cover all leaves."""
    labels = classes(table, people, levels)
    lost = 0.0
    for row, shown in zip(people, labels, strict=True):
        for h, value, level in zip(table.frequency_set.hierarchies, row, levels, strict=False):
            ancestors = h.ancestors[level].tolist()
            covered = ancestors.count(ancestors[h.code_of_leaf[value]])
            most = len(ancestors) - 1
            lost += 0.0 if not most else 1.0 if shown is None else (covered - 1) / most
    return lost


def before(table: Table, levels: tuple[int, ...], path: Path) -> bool:
    """Publish a first release at some levels; return False if there is none."""
    try:
        table.publish(dict(zip(("age", "city"), levels, strict=True)), path, k=2, max_suppressed="90%")
    except NoSolution:
        return False
    return True


def nodes(table: Table) -> list[tuple[int, ...]]:
    return list(product(*(range(h.height + 1) for h in table.frequency_set.hierarchies)))


FIRST = st.sampled_from([(0, 2), (2, 1), (1, 0)])


@given(PEOPLE, FIRST, st.integers(0, 3))
@examples(max_examples=8, deadline=None)
def test_lowest_and_cheapest_safe_levels_are_found(
    people: People, levels: tuple[int, int], limit: int
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table, first = opened(folder, people), folder / "first.csv"
        if not before(table, levels, first):
            return
        shown = {node: classes(table, people, node) for node in nodes(table)}
        safe = {n: later.count(None) for n, later in shown.items() if are_safe(shown[levels], later)}
        heights = [(sum(node), rows) for node, rows in safe.items() if rows <= limit]
        request = build_request(table.spec, k=2, max_suppressed=limit)
        try:
            found = publish_request(
                table, request, PublishTarget(folder / "second.csv", previous_releases=(first,))
            )
        except NoSolution:
            assert not heights
        else:
            assert (sum(found.levels.values()), found.suppressed) == min(heights)
        most = {"max_suppressed": len(people) - 1}
        try:
            cheapest = table.publish(FullDomain(), folder / "third.csv", k=2, previous_releases=first, **most)
        except NoSolution:
            assert not safe
        else:
            chosen = tuple(cheapest.levels.values())
            assert chosen in safe
            least = min(loss(table, people, node) for node in safe)
            assert loss(table, people, chosen) == pytest.approx(least)
