"""Specs as Python values: mappings, paths, hierarchies and tables in memory, and refusals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from discreet.errors import InputError
from discreet.hierarchy import FileHierarchy, IntervalHierarchy, LevelsHierarchy
from discreet.model.table_spec import TableSpec
from discreet.spec.spec_reader import spec_from_mapping


def of_mapping(document: dict[str, object], data: object | None = None) -> TableSpec:
    return spec_from_mapping(document, base=Path("base"), label="the mapping", data=data)


def hierarchy_of(hierarchy: object) -> object:
    attributes = {"age": {"role": "quasi-identifier", "hierarchy": hierarchy}}
    return of_mapping({"source": {"path": "a.csv"}, "attributes": attributes}).attributes[0].hierarchy


def test_a_table_in_memory() -> None:
    data = object()
    spec = of_mapping({"source": {"null_values": ("?",)}, "attributes": {}}, data)
    assert spec.source.data is data
    assert (spec.source.path, spec.path, spec.source.null_values) == (None, None, ("?",))
    assert of_mapping({}, data).source.data is data
    with pytest.raises(
        InputError, match=r"the mapping: source\.path = 'a\.csv' together with a table in memory"
    ):
        of_mapping({"source": {"path": "a.csv"}}, data)
    with pytest.raises(InputError, match=r"the mapping: source\.path is missing"):
        of_mapping({"source": {}})


def test_paths_are_relative_to_the_base() -> None:
    assert of_mapping({"source": {"path": Path("a.csv")}}).source.path == Path("base/a.csv")
    assert hierarchy_of("h.csv") == FileHierarchy(Path("base/h.csv"))
    assert hierarchy_of(Path("h.csv")) == FileHierarchy(Path("base/h.csv"))
    assert hierarchy_of({"kind": "file", "path": "h.csv"}) == FileHierarchy(Path("base/h.csv"))


def test_hierarchies_as_python_values() -> None:
    source = IntervalHierarchy.of(5)
    assert hierarchy_of(source) is source
    assert hierarchy_of({"kind": "intervals", "width": 5}) == source
    assert hierarchy_of({"kind": "intervals", "widths": (5, 10.0)}) == IntervalHierarchy.of([5, 10])
    rows = LevelsHierarchy((("17", "15-19", "*"), ("kind", "x", "*")))
    assert hierarchy_of({17: ["15-19", "*"], "kind": ["x", "*"]}) == rows
    assert hierarchy_of([("17", "15-19", "*"), ["kind", "x", "*"]]) == rows


BAD_OBJECTS: dict[str, tuple[object, list[str]]] = {
    "a number": (3, ["attributes.age.hierarchy = 3", "kinds: file, levels"]),
    "an empty text": ("", ["attributes.age.hierarchy = ''"]),
    "a class": (IntervalHierarchy, ["attributes.age.hierarchy = "]),
    "no levels": ({"17": 3}, ["attributes.age.hierarchy: leaf '17': '3' is not a list"]),
    "no rows": ([1, 2], ["attributes.age.hierarchy: a row: '1' is not a list"]),
    "an unknown kind": ({"kind": "interval"}, ["attributes.age.hierarchy.kind = 'interval'", "'intervals'?"]),
}


@pytest.mark.parametrize("name", BAD_OBJECTS)
def test_a_wrong_python_value_is_refused(name: str) -> None:
    hierarchy, parts = BAD_OBJECTS[name]
    with pytest.raises(InputError) as caught:
        hierarchy_of(hierarchy)
    for part in ["the mapping: ", *parts]:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    "document",
    [
        3,
        {1: {}},
        {"attributes": {1: {}}},
        {"attributes": {"a": {2: 3}}},
        {"attributes": {"a": None}},
        {"source": {"path": b"a"}},
        {"source": {"path": "a"}, "request": {"max_level": {1: 1}}},
        {"source": {"path": "a"}, "request": {"l": {1: 1}}},
        {"source": {"path": "a"}, "request": None},
    ],
)
def test_wrong_types_from_python_are_refused(document: object) -> None:
    check: Callable[..., object] = of_mapping
    with pytest.raises(InputError, match="the mapping"):
        check(document)
