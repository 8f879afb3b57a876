"""Tiny published tables: bounds equal those of enumeration, for every kind of number and file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

from discreet.bounds.queryable_release import OpenPermutedRelease, OpenRelease, open_release
from discreet.bounds.release_answer import answer_release_query
from discreet.engines.connection import connect
from discreet.errors import NoSolution
from discreet.models import Permutation
from discreet.settings import Settings
from discreet.verbs.table import open as open_table
from tests.oracle import plain_bounds

FAST, ALL = 8, 150
Person = tuple[str | None, int]
AGGREGATES = {
    "rows": "COUNT(*)",
    "values": "COUNT(pay)",
    "sum": "SUM(pay)",
    "min": "MIN(pay)",
    "max": "MAX(pay)",
    "avg": "AVG(pay)",
}
CONDITIONS: dict[str, Callable[[Person], bool]] = {
    "age >= 22": lambda p: p[1] >= 22,
    "age BETWEEN 21 AND 23 AND sex <> 'b'": lambda p: 21 <= p[1] <= 23 and p[0] == "a",
    "sex IS NULL OR age IN (20, 24)": lambda p: p[0] is None or p[1] in (20, 24),
    "CASE WHEN age < 22 THEN 1 ELSE 0 END = 1": lambda p: p[1] < 22,
    "NOT (age % 2 = 0)": lambda p: p[1] % 2 == 1,
    "age > 99": lambda p: p[1] > 99,
}
PAYS: dict[str, Callable[[Random], str]] = {
    "whole": lambda draw: str(draw.randint(-5, 9)),
    "cents": lambda draw: f"{draw.randint(-300, 900) / 100:.2f}",
    "mixed": lambda draw: draw.choice(("1", "1.5", "2.250", "-0.75", "3.00", "10.125", "0")),
    "large": lambda draw: str(draw.choice((2**62, 2**62 + 1, 2**53 + 1, -(2**62), 5, 10**18 - 1))),
    "binary": lambda draw: draw.choice(("1e3", "0.1", "0.2", "0.30000000000000004", "-1e-3", "7")),
}


@dataclass(frozen=True)
class Tiny:
    """A drawn table and the queries of its release."""

    people: list[tuple[str, str, str]]
    pay: str
    k: int
    e: int
    partition: str
    form: str
    ending: str

    @classmethod
    def drawn(cls, seed: int) -> Tiny:
        draw = Random(seed)
        pay, missing = draw.choice(list(PAYS)), draw.choice((0.0, 0.2, 0.5))
        people = [
            (
                draw.choice(("a", "b", "")),
                str(draw.randint(20, 24)),
                "" if draw.random() < missing else PAYS[pay](draw),
            )
            for _ in range(draw.randint(4, 10))
        ]
        partitions = ("min-sum", "min-max", "contiguous-min-max", "random", "qi-aware")
        return cls(
            people,
            pay,
            draw.choice((2, 2, 3)),
            draw.choice((0, 0, 1)),
            draw.choice(partitions),
            draw.choice(("one-table", "two-tables")),
            draw.choice(("csv", "parquet", "duckdb")),
        )


def published(tiny: Tiny, folder: Path, settings: Settings) -> Path:
    """Publish the table and return the release's path; raise ``NoSolution`` if it has too few values."""
    lines = ["sex,age,pay", *(",".join(person) for person in tiny.people), ""]
    (folder / "people.csv").write_text("\n".join(lines), encoding="utf-8")
    attributes = {name: {"role": "quasi-identifier"} for name in ("sex", "age")}
    document = {"source": {"null_values": [""]}, "attributes": attributes | {"pay": {"role": "sensitive"}}}
    path = folder / f"release.{tiny.ending}"
    open_table(folder / "people.csv", document, settings=settings).publish(
        Permutation(e=tiny.e, partition=tiny.partition, form=tiny.form), path, k=tiny.k
    )
    return path


def groups_of(release: OpenRelease) -> dict[int, tuple[list[Person], list[Fraction | None]]]:
    """Return the people and the values of each group, read from the files."""
    assert isinstance(release, OpenPermutedRelease)
    data, help_table = release.data, release.permuted.help
    found: dict[int, tuple[list[Person], list[Fraction | None]]] = {}
    columns = f"{data.column('group_id')}, {data.text('sex')}, {data.text('age')}"
    for group, sex, age in release.engine.fetch_rows(f"SELECT {columns} FROM {data.relation}"):
        found.setdefault(int(group), ([], []))[0].append((sex, int(age)))
    columns = f"{help_table.column('group_id')}, {help_table.text('lowest')}"
    for group, value in release.engine.fetch_rows(f"SELECT {columns} FROM {help_table.relation}"):
        found[int(group)][1].append(None if value is None else exact(value, release))
    return found


def exact(text: str, release: OpenRelease) -> Fraction:
    assert isinstance(release, OpenPermutedRelease)
    return Fraction(float(text)) if release.permuted.facts.scale is None else Fraction(Decimal(text))


def check(tiny: Tiny, release: OpenRelease) -> None:
    """Check every condition, grouped by sex or not: groups contain the table's rows and bounds are exact."""
    assert isinstance(release, OpenPermutedRelease)
    exactly = release.permuted.facts.scale is not None
    groups = groups_of(release)
    held = sorted(value for _, values in groups.values() for value in values if value is not None)
    assert held == sorted(exact(pay, release) for _, _, pay in tiny.people if pay)
    for condition, chosen in CONDITIONS.items():
        for key in ("", "sex"):
            parts = [f"SELECT {', '.join([*([key] if key else []), *AGGREGATES.values()])} FROM people"]
            parts += [f"WHERE {condition}"] + ([f"GROUP BY {key}"] if key else [])
            answers: dict[Any, dict[str, tuple[Any, Any]]] = {}
            for row in answer_release_query(release, " ".join(parts)).rows:
                answers.setdefault(row.group, {})[row.aggregate] = (row.lower, row.upper)
            selected = [person for people, _ in groups.values() for person in people if chosen(person)]
            keys = {(person[0],) for person in selected} if key else {()}
            assert set(answers) == keys
            for group in keys:
                hits = [
                    sum(chosen(p) and (not key or p[0] == group[0]) for p in people)
                    for people, _ in groups.values()
                ]
                expected = plain_bounds.permuted([values for _, values in groups.values()], hits)
                compare(answers[group], expected, exactly=exactly)


def compare(
    found: Mapping[str, tuple[Any, Any]], expected: Mapping[str, tuple[Any, Any]], *, exactly: bool
) -> None:
    for name, aggregate in AGGREGATES.items():
        ends = expected[name]
        if name not in ("rows", "values") and expected["values"][1] == 0:
            ends = (None, None)
        for ours, theirs, sign in zip(found[aggregate], ends, (-1, 1), strict=True):
            if theirs is None:
                assert ours is None, aggregate
            elif name == "avg" or isinstance(ours, float):
                assert ours == pytest.approx(float(theirs), rel=1e-12, abs=1e-9), aggregate
            else:
                assert ours == theirs, aggregate
            if name == "sum" and theirs is not None and not exactly:
                assert sign * (Fraction(ours) - theirs) >= 0, "a sum of doubles is rounded inwards"


@pytest.mark.parametrize("seed", range(FAST))
def test_release_of_a_tiny_table_has_true_bounds(seed: int, settings: Settings, tmp_path: Path) -> None:
    tiny = Tiny.drawn(seed)
    try:
        path = published(tiny, tmp_path, settings)
    except NoSolution:
        return
    with connect(settings) as engine, open_release(engine, path, settings) as release:
        check(tiny, release)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(FAST, ALL))
def test_releases_of_many_tiny_tables_have_true_bounds(seed: int, settings: Settings, tmp_path: Path) -> None:
    test_release_of_a_tiny_table_has_true_bounds(seed, settings, tmp_path)
