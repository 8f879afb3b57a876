"""Tests of the true counts behind noise, in every place, against plain counting; and of rows per subject."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from discreet.differential import marginals
from discreet.differential.marginals import OTHER, MarginalCells, build_axes, count_cells, decode_labels
from discreet.hierarchy.intervals import IntervalHierarchy
from discreet.model.table_spec import Attribute, AttributeRole, NullPolicy, PublicDomain, TableSpec
from tests.every_engine.places import Columns, Place, once_on_spark

AGES = ["23", "27", "27", "31", None, "old", "58", "23", "23", "99", "31", "27"]
SEXES = ["F", "M", "F", None, "F", "x", "M", "F", "F", "M", "F", "M"]
TOWNS = ["Bonn", "Bonn", "'", "", "?", None, "Bonn", "Bonn", "Bonn", "(other)", "é", "Bonn"]
WHOSE = ["a", "a", "a", "b", "b", "c", "c", None, "d", "d", "d", "d"]
COLUMNS: Columns = {
    "age": ("VARCHAR", AGES),
    "sex": ("VARCHAR", SEXES),
    "town": ("VARCHAR", TOWNS),
    "who": ("VARCHAR", WHOSE),
}
MARGINALS = [(("age", 1), ("sex", 0)), (("sex", 0),), (("town", 0),), (("town", 0), ("sex", 0))]


def spec_of(place: Place, columns: Columns = COLUMNS, **source: Any) -> TableSpec:
    quasi_identifier = AttributeRole.QUASI_IDENTIFIER
    intervals = IntervalHierarchy.of([10])
    ages = PublicDomain(tuple(str(age) for age in range(20, 60)))
    return TableSpec(
        place.put(columns, null_values=("?",), **source),
        (
            Attribute("age", quasi_identifier, intervals, domain=ages),
            Attribute("sex", quasi_identifier, domain=PublicDomain(("F", "M"))),
            Attribute("town", AttributeRole.INSENSITIVE),
        ),
    )


def label(name: str, level: int, value: str | None) -> str:
    """Return the label under which a value is counted."""
    if value is None or value == "?":
        return OTHER
    if name == "age":
        known = value.isdigit() and 20 <= int(value) < 60
        return OTHER if not known else f"{value[0]}0-{value[0]}9" if level else value
    return OTHER if name == "sex" and value not in ("F", "M") else value


def counted(
    place: Place, spec: TableSpec, rows_per_subject: int | None = None
) -> list[dict[tuple[str, ...], int]]:
    """Return the counts that are not zero, by labels."""
    cells = [MarginalCells(build_axes(spec, levels)) for levels in MARGINALS]
    with place.connect(spec.source) as engine:
        found = count_cells(engine, spec, cells, rows_per_subject)
    public, others, counts_of_marginals = iter(found.public), iter(found.others), []
    for each in cells:
        if each.public:
            labels = product(*(axis.labels for axis in each.axes))
            counts = dict(zip(labels, next(public).tolist(), strict=True))
            assert len(counts) == each.number
        else:
            counts = {decode_labels(key): number for key, number in next(others).items()}
        counts_of_marginals.append({key: number for key, number in counts.items() if number})
    return counts_of_marginals


def plainly(rows: list[dict[str, str | None]]) -> list[dict[tuple[str, ...], int]]:
    return [
        dict(Counter(tuple(label(name, level, row[name]) for name, level in levels) for row in rows))
        for levels in MARGINALS
    ]


def rows_of(columns: Columns) -> list[dict[str, str | None]]:
    names = list(columns)
    return [dict(zip(names, row, strict=True)) for row in zip(*(v for _, v in columns.values()), strict=True)]


def test_every_row_is_counted_once(place: Place) -> None:
    assert counted(place, spec_of(place)) == plainly(rows_of(COLUMNS))


def test_rows_with_null_are_omitted_under_the_drop_policy(place: Place) -> None:
    spec = spec_of(place, null_policy=NullPolicy.DROP)
    kept = [row for row in rows_of(COLUMNS) if row["age"] is not None and row["sex"] is not None]
    assert counted(place, spec) == plainly(kept)


@once_on_spark("most", [1, 2, 3, 9], 2)
def test_subject_counts_no_more_rows_than_allowed(
    place: Place, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one subject's rows added or removed and the same salt, only that subject's counts change."""
    monkeypatch.setattr(marginals.secrets, "token_hex", lambda _: "salt")
    whole = counted(place, spec_of(place, subject="who"), most)
    sizes = Counter(name for name in WHOSE if name is not None)
    assert sum(whole[0].values()) == sum(min(size, most) for size in sizes.values())
    for gone in sizes if place.name != "spark" else ["a"]:
        kept = [i for i, name in enumerate(WHOSE) if name != gone]
        columns = {name: (kind, [values[i] for i in kept]) for name, (kind, values) in COLUMNS.items()}
        without = counted(place, spec_of(place, columns, subject="who"), most)
        for more, less in zip(whole, without, strict=True):
            change = {key: more.get(key, 0) - less.get(key, 0) for key in {*more, *less}}
            assert min(change.values()) >= 0
            assert sum(change.values()) == min(sizes[gone], most)


def test_every_row_of_a_subject_may_be_chosen(duckdb_place: Place) -> None:
    """Over many salts: one of three different rows is never chosen with a probability of (2/3)^60."""
    spec = spec_of(duckdb_place, subject="who")
    one = replace(spec, attributes=spec.attributes)
    expected, seen = {("Bonn", "F"), ("Bonn", "M"), ("'", "F")}, set[tuple[str, ...]]()
    for _ in range(60):
        seen.update(counted(duckdb_place, one, 1)[3])
        if expected <= seen:
            break
    assert expected <= seen
