"""Properties that every hierarchy must have, in plain Python, shared by the tests of all builders."""

from __future__ import annotations

from collections.abc import Iterable

from discreet.model.hierarchy import GeneralizationHierarchy


def assert_sound(hierarchy: GeneralizationHierarchy, values: Iterable[str] = ()) -> None:
    """Check that a hierarchy is total, nests, has one top, is depth first, and has a leaf for every value."""
    leaves = hierarchy.leaves
    paths = [hierarchy.path(code) for code in range(len(leaves))]
    assert len(set(leaves)) == len(leaves)
    assert all("" not in path for path in paths)
    assert {len(path) for path in paths} <= {hierarchy.height + 1}
    assert len(hierarchy.labels[-1]) == 1
    assert hierarchy.height >= 1
    assert list(hierarchy.ancestors[0]) == list(range(len(leaves)))
    for level in range(hierarchy.height):
        parents: dict[str, set[str]] = {}
        for path in paths:
            parents.setdefault(path[level], set()).add(path[level + 1])
        assert all(len(found) == 1 for found in parents.values())
    for level in range(hierarchy.height + 1):
        positions = [int(position) for position in hierarchy.ancestors[level]]
        assert positions == sorted(positions)
        assert hierarchy.ancestors[level].dtype == "int64"
        if leaves:
            assert sorted(set(positions)) == list(range(len(hierarchy.labels[level])))
        assert len(set(hierarchy.labels[level])) == len(hierarchy.labels[level])
    assert set(values) <= set(leaves)


def paths(hierarchy: GeneralizationHierarchy) -> list[str]:
    """Return each leaf with its levels as a line of a hierarchy file."""
    return [";".join(hierarchy.path(code)) for code in range(len(hierarchy.leaves))]


def paths_of(hierarchy: GeneralizationHierarchy, *values: str) -> list[str]:
    """Return these lines for some values only."""
    return [";".join(hierarchy.path(hierarchy.code_of_leaf[value])) for value in values]
