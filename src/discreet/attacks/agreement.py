"""Fields of records beside cells of a table: levels of agreement, blocks of pairs, and weights of patterns.

The weights are those of Fellegi and Sunter (1969): a pattern of levels has the weight Σ log2(m/u) over its
fields, m being how often a level occurs among pairs of one person and u among others. u is the share of a
level among pairs drawn at random; m, and the share of pairs of one person, maximize the likelihood of the
patterns by expectation and maximization, fields being independent given whether a pair is of one person.
A missing value says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError

Whole = NDArray[np.int64]
Real = NDArray[np.float64]

MOST_FIELDS = 9
_MOST_TABLE = 1 << 20
_MOST_ALL = 1 << 27
_MOST_BLOCKED = 1 << 25
_RANDOM = 200_000
_ROUNDS = 3000
_SETTLED = 1e-8
_START = 0.9
_LEAST = 1e-6
_LETTERS = 62


@dataclass(frozen=True, eq=False)
class FieldPair:
    """One field: texts of the left side, cells of the right one, and codes of both, -1 for missing.

    ``levels`` says for each text and cell how far they agree; without it cells are texts, too.
    """

    name: str
    values: tuple[str, ...]
    cells: tuple[str, ...]
    left: Whole
    right: Whole
    levels: NDArray[np.int8] | None = None


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two files to compare, with the rows of each record; texts of the similarity ``close`` are close."""

    fields: tuple[FieldPair, ...]
    left_rows: Whole
    right_rows: Whole
    close: float = 0.88

    @cached_property
    def arrays(self) -> Any:
        """The fields as the kernels take them."""
        from discreet.kernels.record_pairs import Fields

        begins, widths, tables = [], [], [np.zeros(1, np.int8)]
        texts, letters = [0], [np.zeros(1, np.uint32)]
        left, right = [], []
        place, used = 1, 1
        for field in self.fields:
            table = self._table(field)
            if table is not None:
                begins.append(place)
                widths.append(max(table.shape[1], 1))
                tables.append(table.reshape(-1))
                place += table.size
                left.append(field.left)
                right.append(field.right)
                continue
            every = sorted({*field.values, *field.cells})
            code_of = {text: code for code, text in enumerate(every)}
            begins.append(len(texts))
            widths.append(0)
            texts.append(used)
            for text in every:
                found = letters_of(text)
                letters.append(found)
                used += len(found)
                texts.append(used)
            left.append(_mapped(field.left, [code_of[t] for t in field.values]))
            right.append(_mapped(field.right, [code_of[t] for t in field.cells]))
        return Fields(
            np.stack(left, axis=1),
            np.stack(right, axis=1),
            np.array(begins, np.int64),
            np.array(widths, np.int64),
            np.concatenate(tables),
            np.array(texts, np.int64),
            np.concatenate(letters),
            self.close,
        )

    def _table(self, field: FieldPair) -> NDArray[np.int8] | None:
        """The levels of all pairs of values and cells; None where texts are compared pair by pair."""
        if field.levels is not None:
            return field.levels
        if len(field.values) * len(field.cells) > _MOST_TABLE:
            return None
        from discreet.kernels.record_pairs import similarity

        found = np.ones((len(field.values), len(field.cells)), np.int8)
        theirs = [letters_of(text) for text in field.cells]
        for a, value in enumerate(field.values):
            mine = letters_of(value)
            for b, cell in enumerate(field.cells):
                if value == cell:
                    found[a, b] = 3
                elif similarity(mine, theirs[b]) >= self.close:
                    found[a, b] = 2
        return found

    @cached_property
    def passes(self) -> Any:
        """All pairs where they are few enough, else those that agree in some fields, a pass a choice."""
        from discreet.kernels.record_pairs import Passes

        left, right = len(self.left_rows), len(self.right_rows)
        chosen: list[tuple[int, ...]] = [()]
        if left * right > _MOST_ALL:
            chosen = self._blocking()
        blocks = [self._blocks(columns) for columns in chosen]
        most = max(int(b.max(initial=0)) for pair in blocks for b in pair) + 2
        starts = np.zeros((len(blocks), most), np.int64)
        members = np.zeros((len(blocks), right), np.int64)
        for place, (_, theirs) in enumerate(blocks):
            order = np.argsort(theirs, kind="stable")
            order = order[theirs[order] >= 0]
            members[place, : len(order)] = order
            starts[place] = np.searchsorted(theirs[order], np.arange(most))
        return Passes(np.stack([b[0] for b in blocks]), np.stack([b[1] for b in blocks]), starts, members)

    def _blocking(self) -> list[tuple[int, ...]]:
        """The choices of fields whose equal values leave the fewest pairs, as many as may be walked."""
        places = [i for i, field in enumerate(self.fields) if field.levels is None]
        found = []
        for size in (1, 2, 3):
            for columns in combinations(places, size):
                left, right = self._blocks(columns)
                number = int(max(left.max(initial=-1), right.max(initial=-1))) + 1
                mine = np.bincount(left[left >= 0], minlength=number)
                theirs = np.bincount(right[right >= 0], minlength=number)
                found.append((int((mine * theirs).sum()), columns))
        chosen: list[tuple[int, ...]] = []
        spent = 0
        for pairs, columns in sorted(found, key=lambda each: (len(each[1]), each[0])):
            if spent + pairs <= _MOST_BLOCKED and not any(set(c) <= set(columns) for c in chosen):
                chosen.append(columns)
                spent += pairs
        if not chosen:
            raise InputError(
                "the files have too many pairs to compare, whatever columns agree",
                advice="Match a column with more values, or take a part of the file.",
            )
        return chosen

    def _blocks(self, columns: tuple[int, ...]) -> tuple[Whole, Whole]:
        """The block of each record of both sides, by equal texts in some fields."""
        left, right = np.zeros(len(self.left_rows), np.int64), np.zeros(len(self.right_rows), np.int64)
        for column in columns:
            field = self.fields[column]
            every = {text: code for code, text in enumerate(sorted({*field.values, *field.cells}))}
            mine = _mapped(field.left, [every[t] for t in field.values])
            theirs = _mapped(field.right, [every[t] for t in field.cells])
            both = np.concatenate([left * (len(every) + 1) + mine, right * (len(every) + 1) + theirs])
            gone = np.concatenate([(left < 0) | (mine < 0), (right < 0) | (theirs < 0)])
            codes = np.unique(both, return_inverse=True)[1].reshape(-1)
            codes[gone] = -1
            left, right = codes[: len(left)], codes[len(left) :]
        return left, right


@dataclass(frozen=True, eq=False)
class Weights:
    """The weight of every pattern, with what it rests on; shapes ``(patterns,)`` and ``(fields, 4)``.

    ``share`` of all pairs are of one person. Level 0, missing, weighs nothing.
    """

    weights: Real
    m: Real
    u: Real
    share: float


def fit(comparison: Comparison) -> Weights:
    """The weights of the patterns of two files."""
    from discreet.kernels.record_pairs import count_patterns

    number = len(comparison.fields)
    if number > MOST_FIELDS:
        raise InputError(f"{number} columns are compared", allowed=f"up to {MOST_FIELDS}")
    counts = np.zeros(4**number)
    count_patterns(comparison.arrays, comparison.passes, comparison.left_rows, comparison.right_rows, counts)
    total = float(comparison.left_rows.sum()) * float(comparison.right_rows.sum())
    return fitted(counts, random_levels(comparison), total, int(comparison.left_rows.sum()))


def fitted(counts: Real, u: Real, total: float, most: int) -> Weights:
    """The weights from counts of pairs by pattern, of ``total`` pairs in all and ``most`` of one person."""
    number = len(u)
    patterns = np.flatnonzero(counts)
    levels = np.stack([patterns // 4 ** (number - 1 - j) % 4 for j in range(number)], axis=1)
    m = np.full((number, 4), (1 - _START) / 2)
    m[:, 3] = _START
    m[:, 0] = 1.0
    fields = np.arange(number)
    unlikely = u[fields, levels].prod(axis=1)
    share = min(0.5, most / 2 / max(total, 1))
    for _ in range(_ROUNDS):
        likely = m[fields, levels].prod(axis=1) * share
        one = likely / (likely + unlikely * (1 - share)) * counts[patterns]
        share = min(max(one.sum() / max(total, 1), _LEAST / max(total, 1)), most / max(total, 1), 0.5)
        new = np.ones_like(m)
        for j in range(number):
            found = np.bincount(levels[:, j], one, minlength=4)[1:] + _LEAST
            new[j, 1:] = found / found.sum()
        moved = float(np.abs(new - m).max())
        m = new
        if moved < _SETTLED:
            break
    every = np.arange(len(counts))
    weights = np.zeros(len(counts))
    for j in range(number):
        weights += np.log2(m[j] / u[j])[every // 4 ** (number - 1 - j) % 4]
    return Weights(weights, m, u, float(share))


def random_levels(comparison: Comparison) -> Real:
    """How often each level of each field occurs among pairs drawn at random, the missing left out."""
    from discreet.kernels.record_pairs import pattern_of

    random = np.random.default_rng(20)
    number = len(comparison.fields)
    left = random.choice(
        len(comparison.left_rows), _RANDOM, p=comparison.left_rows / comparison.left_rows.sum()
    )
    right = random.choice(
        len(comparison.right_rows), _RANDOM, p=comparison.right_rows / comparison.right_rows.sum()
    )
    patterns = np.array(
        [pattern_of(comparison.arrays, a, b) for a, b in zip(left.tolist(), right.tolist(), strict=True)]
    )
    found = np.ones((number, 4))
    for j in range(number):
        seen = np.bincount(patterns // 4 ** (number - 1 - j) % 4, minlength=4)[1:] + 0.5
        found[j, 1:] = seen / seen.sum()
    return found


def letters_of(text: str) -> NDArray[np.uint32]:
    """The first letters of a text, small ones and capitals alike."""
    return np.array([ord(letter) for letter in text.casefold()[:_LETTERS]], np.uint32)


def _mapped(codes: Whole, to: Sequence[int]) -> Whole:
    """Codes by a map, -1 staying."""
    return np.where(codes < 0, -1, np.array([*to, -1])[codes])
