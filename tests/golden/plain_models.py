"""ARX's privacy models by their definitions, judged over all nodes of Adult at once by plain arrays.

The independent path of the golden test: it shares nothing with discreet's criteria. ``Judged`` walks the
lattice once, attribute by attribute, and merges classes that a level joins; every model receives the rows of
each class by sensitive value, of its research subset and of the whole table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.golden.adult_rows import SENSITIVE, Adult, Rows

Counts = NDArray[Any]
_ROUNDING = 1e-12


class Seen(NamedTuple):
    """Classes with rows in a subset: rows by value, people of the table, shares, the subset's shares."""

    counts: Counts
    sizes: NDArray[np.float64]
    people: NDArray[np.float64]
    shares: NDArray[np.float64]
    reference: NDArray[np.float64]


Judge = Callable[[Seen], NDArray[np.bool_]]
"""A function that marks the failing classes."""


def judges_of(models: str, adult: Adult) -> dict[str, Judge] | None:
    """Return the models of a golden row by their text, or None if one of them is not judged here.

    δ-presence with a lower bound also counts people who match no class, unless a least class size is required
    as well: ARX then ignores them.
    """
    found: dict[str, Judge] = {}
    texts = [text.strip() for text in models.split(" & ")]
    for text in texts:
        for pattern, make in _MODELS:
            match = re.match(pattern, text)
            if match:
                found[text] = make([float(group) for group in match.groups()], adult)
                break
        else:
            return None
    if not any("anonymity" in text or "recursive" in text for text in texts):
        for text in [text for text in texts if re.match(r"\(0\.0*[1-9].*presence", text)]:
            found[f"{text} of all"] = _everybody_matches(adult)
    return found


def _size(least: Sequence[float], _: Adult) -> Judge:
    return lambda seen: seen.sizes < least[0]


def _estimated_map(_: Sequence[float], __: Adult) -> Judge:
    """Judge 1000-map of a US sample by a zero-truncated Poisson distribution at 0.01: 3 rows."""
    return lambda seen: seen.sizes < 3


def _hierarchical(t: Sequence[float], adult: Adult) -> Judge:
    levels = [np.eye(len(ancestors))[ancestors] for ancestors in adult.hierarchy(SENSITIVE).ancestors]
    joins = [(below.T @ above > 0).astype(np.float64) for below, above in pairwise(levels)]

    def fails(seen: Seen) -> NDArray[np.bool_]:
        extra = seen.shares - seen.reference
        distance = np.zeros(len(extra))
        for level, join in enumerate(joins, 1):
            moved = np.minimum(np.maximum(extra, 0) @ join, np.maximum(-extra, 0) @ join)
            distance += level / len(joins) * moved.sum(axis=1)
            extra = extra @ join
        return distance > t[0] + _ROUNDING

    return fails


def _equal(t: Sequence[float], _: Adult) -> Judge:
    return lambda seen: np.abs(seen.shares - seen.reference).sum(axis=1) / 2 > t[0] + _ROUNDING


def _ordered(t: Sequence[float], adult: Adult) -> Judge:
    leaves = adult.hierarchy(SENSITIVE).leaves
    order = [leaves.index(leaf) for leaf in adult.lines(SENSITIVE)]

    def fails(seen: Seen) -> NDArray[np.bool_]:
        carried = np.cumsum((seen.shares - seen.reference)[:, order], axis=1)
        distances: NDArray[np.float64] = np.abs(carried).sum(axis=1) / (len(leaves) - 1)
        return distances > t[0] + _ROUNDING

    return fails


def _recursive(parameters: Sequence[float], _: Adult) -> Judge:
    c, l = parameters[0], int(parameters[1])

    def fails(seen: Seen) -> NDArray[np.bool_]:
        falling = -np.sort(-seen.counts, axis=1)
        passes: NDArray[np.bool_] = falling[:, 0] < c * falling[:, l - 1 :].sum(axis=1)
        return ~passes

    return fails


def _shannon(l: Sequence[float], _: Adult) -> Judge:
    def fails(seen: Seen) -> NDArray[np.bool_]:
        logs = np.log(np.maximum(seen.shares, 1e-300))
        return -(seen.shares * logs).sum(axis=1) < log(l[0]) - _ROUNDING

    return fails


def grassberger(l: float, *, early: bool) -> Judge:
    """Require Grassberger's entropy of at least ln l; ``early`` omits the terms below 0."""

    def number(n: Counts) -> NDArray[np.float64]:
        even = n.astype(np.int64) // 2
        steps = np.concatenate([[0.0], np.cumsum(2 / (2 * np.arange(1, int(even.max()) + 1) - 1))])
        found: NDArray[np.float64] = steps[even] - np.euler_gamma - log(2)
        return found

    def fails(seen: Seen) -> NDArray[np.bool_]:
        terms = seen.counts * number(seen.counts)
        most = seen.sizes * (number(seen.sizes) - log(l))
        few = (seen.counts > 0).sum(axis=1) < l
        unlike: NDArray[np.bool_] = (np.maximum(terms, 0) if early else terms).sum(axis=1) > most + _ROUNDING
        return unlike | few

    return fails


def _basic(beta: Sequence[float], _: Adult) -> Judge:
    return lambda seen: ((seen.shares - seen.reference) / seen.reference > beta[0] + _ROUNDING).any(axis=1)


def _enhanced(beta: Sequence[float], _: Adult) -> Judge:
    def fails(seen: Seen) -> NDArray[np.bool_]:
        gains = (seen.shares - seen.reference) / seen.reference
        return (gains > np.minimum(beta[0], -np.log(seen.reference)) + _ROUNDING).any(axis=1)

    return fails


def _presence(bounds: Sequence[float], _: Adult) -> Judge:
    def fails(seen: Seen) -> NDArray[np.bool_]:
        present = seen.sizes / seen.people
        return (present < bounds[0]) | (present > bounds[1])

    return fails


def _everybody_matches(adult: Adult) -> Judge:
    def fails(seen: Seen) -> NDArray[np.bool_]:
        return np.full(len(seen.sizes), seen.people.sum() < len(adult.rows))

    return fails


def _map(k: Sequence[float], _: Adult) -> Judge:
    return lambda seen: seen.people < k[0]


def _no_attack(_: Sequence[float], __: Adult) -> Judge:
    """Require that no attack pays: a successful one gains 120 and costs 20."""
    return lambda seen: 120 / seen.people - 20 > 0


def _included(_: Sequence[float], __: Adult) -> Judge:
    return lambda seen: np.zeros(len(seen.sizes), dtype=np.bool_)


_MODELS: tuple[tuple[str, Callable[[Sequence[float], Adult], Judge]], ...] = (
    (r"(\d+)-anonymity$", _size),
    (r"([\d.]+)-closeness with hierarchical", _hierarchical),
    (r"([\d.]+)-closeness with equal", _equal),
    (r"([\d.]+)-closeness with ordered", _ordered),
    (r"recursive-\(([\d.]+),(\d+)\)-diversity", _recursive),
    (r"shannon-entropy-([\d.]+)-diversity", _shannon),
    (r"basic-([\d.]+)-likeness", _basic),
    (r"enhanced-([\d.]+)-likeness", _enhanced),
    (r"\(([\d.]+),([\d.]+)\)-presence", _presence),
    (r"\((\d+)\)-map$", _map),
    (r"\(1000\)-map estimated", _estimated_map),
    (r"no-attack-profitability \(journalist\)", _no_attack),
    (r"Inclusion$", _included),
)


class Judged(NamedTuple):
    """All nodes, and their statistics under some sets of models, of shape ``(sets, nodes)`` each.

    The statistics are suppressed rows, published classes, the sum of their squared sizes, and that of all
    classes.
    """

    nodes: NDArray[np.int64]
    suppressed: NDArray[np.int64]
    classes: NDArray[np.int64]
    squares: NDArray[np.int64]
    all_squares: NDArray[np.int64]


def seen_at(counts: Counts, people: NDArray[np.float64], reference: NDArray[np.float64]) -> Seen:
    """Return the class properties that models judge."""
    sizes = counts.sum(axis=1).astype(np.float64)
    return Seen(counts, sizes, people, counts / sizes[:, None], reference)


def judged(adult: Adult, sets: Sequence[tuple[Rows, dict[str, Judge]]]) -> Judged:
    """Return suppressed rows, published classes and squared sizes of every node under every set of models.

    Models that several sets share over one subset are judged once.
    """
    subsets: list[Rows] = []
    for rows, _ in sets:
        if not any(rows is other for other in subsets):
            subsets.append(rows)
    values = int(adult.occupations.max()) + 1
    columns = np.zeros((len(adult.rows), values * (1 + len(subsets))), dtype=np.int32)
    for place, rows in enumerate((adult.everyone, *subsets)):
        columns[np.flatnonzero(rows), values * place + adult.occupations[rows]] = 1
    references = [np.bincount(adult.occupations[rows], minlength=values) / rows.sum() for rows in subsets]
    nodes, found = [], []
    for node, counts in _walk(adult, columns):
        people = counts[:, :values].sum(axis=1).astype(np.float64)
        seen = []
        for place, reference in enumerate(references, 1):
            own = counts[:, values * place : values * (place + 1)]
            held = own.any(axis=1)
            seen.append(seen_at(own[held], people[held], reference))
        nodes.append(node)
        found.append(_judged(seen, subsets, sets))
    table = np.array(found, dtype=np.int64).transpose(2, 1, 0)
    return Judged(np.array(nodes, dtype=np.int64), *table)


def _judged(
    seen: list[Seen], subsets: list[Rows], sets: Sequence[tuple[Rows, dict[str, Judge]]]
) -> list[tuple[int, int, int, int]]:
    known: dict[tuple[int, str], NDArray[np.bool_]] = {}
    found = []
    for rows, judges in sets:
        place = next(i for i, other in enumerate(subsets) if rows is other)
        one = seen[place]
        fails = np.zeros(len(one.sizes), dtype=np.bool_)
        for text, judge in judges.items():
            if (place, text) not in known:
                known[place, text] = judge(one)
            fails |= known[place, text]
        kept = one.sizes[~fails]
        squares = (kept**2).sum(), (one.sizes**2).sum()
        found.append((int(one.sizes[fails].sum()), len(kept), int(squares[0]), int(squares[1])))
    return found


def _walk(adult: Adult, columns: Counts) -> Iterator[tuple[tuple[int, ...], Counts]]:
    """Yield every node with the summed columns of its classes, computed from a node one level below."""
    sizes = [len(h.leaves) for h in adult.hierarchies]
    radix = np.concatenate([[1], np.cumprod(sizes[:-1])]).astype(np.int64)

    def merged(keys: NDArray[np.int64], rows: Counts) -> tuple[NDArray[np.int64], Counts]:
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
        return keys[starts], np.add.reduceat(rows[order], starts, axis=0)

    def below(
        i: int, keys: NDArray[np.int64], rows: Counts, node: tuple[int, ...]
    ) -> Iterator[tuple[tuple[int, ...], Counts]]:
        if i == len(sizes):
            yield node, rows
            return
        ancestors = adult.hierarchies[i].ancestors
        for level, upper in enumerate(ancestors):
            if level:
                step = np.zeros(sizes[i], dtype=np.int64)
                step[ancestors[level - 1]] = upper
                digit = keys // radix[i] % sizes[i]
                keys, rows = merged(keys + (step[digit] - digit) * radix[i], rows)
            yield from below(i + 1, keys, rows, (*node, level))

    yield from below(0, *merged(adult.codes @ radix, columns), ())
