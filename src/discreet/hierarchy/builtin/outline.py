"""Classifications as outlines in this package: one entry per line, indented below its group."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files


@cache
def entries(name: str) -> tuple[tuple[str, ...], ...]:
    """The paths to the innermost entries of a file, from the outermost group on."""
    return tuple(_paths(name))


def _paths(name: str) -> Iterator[tuple[str, ...]]:
    path: list[str] = []
    lines = files(__package__).joinpath(name).read_text(encoding="utf-8").splitlines()
    depths = [(len(line) - len(line.lstrip())) // 2 for line in lines]
    for line, depth, next_depth in zip(lines, depths, [*depths[1:], 0], strict=True):
        path = [*path[:depth], line.strip()]
        if next_depth <= depth:
            yield tuple(path)
