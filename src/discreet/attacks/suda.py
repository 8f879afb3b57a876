"""Minimal sample uniques and SUDA2 scores (Manning, Haglin and Keane 2008; Elliot et al. 2005).

A set of columns is a minimal sample unique of a row if no other row has the same values in it and no smaller
subset singles the row out. A set of k of ATT columns adds the product of ATT − i for i from k to M to the
row's SUDA score, M being the largest set searched (ATT − 1 at most). With U unique rows, P pairs of equal
rows and sampling fraction δ

    DIS = U δ / (U δ + 2 P (1 − δ))                       (Skinner and Elliot 2002)

and DIS-SUDA distributes it over the scores s with Q = 1 + (8 − ATT)/20 and A = Σ 1/s^Q:
1 / (1 + (U/DIS − U) / (s^Q A)). Both agree with sdcMicro; ``ihsn`` selects the weights of its first version.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.column_sets import largest_affordable_size
from discreet.attacks.declaration import Attack, AttackedTable, AttackInput
from discreet.attacks.finding import (
    Figure,
    Finding,
    FoundTable,
    Value,
    ValueKind,
    chance,
    columns,
    count,
    number,
    shown_rows,
)
from discreet.frequency.kernel_choice import choose_kernels
from discreet.model.option import OptionKind, option
from discreet.model.request import Backend

IntArray = NDArray[np.int64]

_KERNEL = "sample-uniques"
_MIN_KERNEL_STEPS = 5_000_000
_MOST_STEPS = 1 << 33
_MOST_SETS = 1 << 26


@dataclass(frozen=True, eq=False)
class MinimalUniqueSets:
    """Minimal sample uniques as pairs of a row type (its index) and a set of columns (a bit mask).

    ``width`` is the number of columns; the search covered sets of up to ``largest`` columns.
    """

    width: int
    largest: int
    rows: IntArray
    masks: IntArray

    @cached_property
    def sizes(self) -> IntArray:
        """Number of columns of each pair's set."""
        return np.bitwise_count(self.masks).astype(np.int64)

    def smallest_sizes(self, row_types: int) -> IntArray:
        """Return the size of each row type's smallest set; one more than ``largest`` where it has none."""
        result = np.full(row_types, self.largest + 1, dtype=np.int64)
        np.minimum.at(result, self.rows, self.sizes)
        return result

    def has(self, column: int) -> NDArray[np.bool_]:
        """Return true for each pair whose set contains a column."""
        result: NDArray[np.bool_] = (self.masks >> column) & 1 == 1
        return result


def find_minimal_sets(
    codes: IntArray,
    counts: IntArray,
    largest: int | None = None,
    *,
    evaluator: Backend = Backend.AUTO,
    progress: Callable[[int, int], None] | None = None,
) -> MinimalUniqueSets:
    """Find the minimal sample uniques of row types with SUDA2.

    Parameters
    ----------
    codes
        Distinct row types, shape ``(row types, attributes)``.
    counts
        Number of rows of each row type, shape ``(row types,)``.
    largest
        Limit of the columns of a set (None: all columns). It is lowered where the work or the number of sets
        would be too large.

    References
    ----------
    Elliot, Manning and Ford (2002); Manning, Haglin and Keane (2008); Elliot et al. (2005).
    """
    width = codes.shape[1]
    size = limit_set_size(len(codes), width, width if largest is None else min(largest, width))
    single = (counts == 1).astype(np.int64)
    steps = len(codes) * sum(comb(width, each) for each in range(1, size + 1))
    if not choose_kernels(
        [_KERNEL], "search for minimal uniques", worth=steps > _MIN_KERNEL_STEPS, evaluator=evaluator
    ):
        from discreet.kernels.numpy_twins import find_minimal_uniques_twin

        rows, masks = find_minimal_uniques_twin(codes.T, single, size, progress)
        return MinimalUniqueSets(width, size, rows, masks)
    # The kernel gives up where the sets exceed its memory; search smaller sets then.
    while True:
        found = _find_compiled(codes, single, size)
        if found is not None or size == 1:
            rows, masks = found or (np.empty(0, np.int64), np.empty(0, np.int64))
            return MinimalUniqueSets(width, size, rows, masks)
        size -= 1


def limit_set_size(row_types: int, width: int, largest: int, steps: int = _MOST_STEPS) -> int:
    """Return the largest set size, at least 1, at which all sets can be walked in ``steps`` steps."""
    return largest_affordable_size(largest, steps // max(row_types, 1), lambda size: comb(width, size))


def _find_compiled(codes: IntArray, single: IntArray, largest: int) -> tuple[IntArray, IntArray] | None:
    """Find the sets with the compiled kernel; None where it finds too many sets.

    Columns with many values come last.
    """
    from discreet.kernels.minimal_uniques import find_minimal_uniques
    from discreet.kernels.precompilation import mark_compiled

    width = codes.shape[1]
    if not len(codes) or not width:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    sizes = codes.max(axis=0) + 1
    different = np.array([len(np.unique(codes[:, j])) for j in range(width)])
    order = np.argsort(different, kind="stable")
    # The kernel is compiled for int32 codes and counts, one contiguous array per column.
    ordered = np.ascontiguousarray(codes[:, order].T.astype(np.int32))
    rows, masks, number = find_minimal_uniques(
        ordered,
        single.astype(np.int32),
        sizes[order].astype(np.int64),
        largest,
        max(1024, 2 * len(codes)),
        _MOST_SETS,
    )
    mark_compiled(_KERNEL)
    if number < 0:
        return None
    # Translate masks of the kernel's column order back to the table's order.
    table_masks = np.zeros(number, np.int64)
    for bit, column in enumerate(order.tolist()):
        table_masks |= ((masks[:number] >> bit) & 1) << column
    return rows[:number], table_masks


LARGEST_UNIQUE_SET = 3
_MOST_CELLS = 1 << 28


@dataclass(frozen=True)
class MinimalUniques:
    """Counts of the minimal sample uniques of a table.

    ``rows`` are unique by all quasi-identifiers together. ``sets`` counts minimal sets by size, 1 to
    ``largest``; ``rows_by_size`` the rows whose smallest set has that size; ``by_attribute`` the rows that
    are unique by a minimal set that contains the attribute.
    """

    rows: int
    largest: int
    sets: tuple[int, ...]
    rows_by_size: tuple[int, ...]
    by_attribute: tuple[tuple[str, int], ...]

    @classmethod
    def of(
        cls, attributes: tuple[str, ...], counts: NDArray[np.int64], minimal_sets: MinimalUniqueSets
    ) -> MinimalUniques:
        """Count the minimal sets of row types of ``counts`` rows."""
        smallest = minimal_sets.smallest_sizes(len(counts))
        sizes = range(1, minimal_sets.largest + 1)
        return cls(
            rows=int((counts == 1).sum()),
            largest=minimal_sets.largest,
            sets=tuple(int((minimal_sets.sizes == size).sum()) for size in sizes),
            rows_by_size=tuple(int((smallest == size).sum()) for size in sizes),
            by_attribute=tuple(
                (name, len(np.unique(minimal_sets.rows[minimal_sets.has(i)])))
                for i, name in enumerate(attributes)
            ),
        )

    def as_json(self) -> dict[str, Any]:
        """Return the JSON document's part."""
        return {
            "unique_rows": self.rows,
            "largest_set": self.largest,
            "minimal_sets": {str(size + 1): number for size, number in enumerate(self.sets)},
            "rows_by_smallest_set": {str(size + 1): number for size, number in enumerate(self.rows_by_size)},
            "rows_by_attribute": dict(self.by_attribute),
        }


def count_minimal_uniques(
    attributes: tuple[str, ...],
    codes: NDArray[np.int64],
    counts: NDArray[np.int64],
    largest: int = LARGEST_UNIQUE_SET,
    progress: Callable[[int, int], None] | None = None,
) -> MinimalUniques:
    """Count the minimal sample uniques of distinct ``codes``, shape ``(row types, attributes)``.

    ``counts`` is the number of rows per row type.
    """
    width = len(attributes)
    # Sets are walked in sorted columns, so a set costs as much as it has columns.
    size = largest_affordable_size(
        min(largest, width), _MOST_CELLS // max(len(codes), 1), lambda size: comb(width, size) * size
    )
    return MinimalUniques.of(attributes, counts, find_minimal_sets(codes, counts, size, progress=progress))


FloatArray = NDArray[np.float64]

_MAX_COLUMNS = 20
_BANDS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)


@dataclass(frozen=True, eq=False)
class SudaScores:
    """Scores of row types, 0 where a row is not unique; shapes ``(row types,)`` and ``(columns,)``.

    ``contributions`` add up to more than 1, as a set has several columns. ``dis`` is the score of the whole
    table.
    """

    sets: MinimalUniqueSets
    scores: FloatArray
    dis_scores: FloatArray
    dis: float
    contributions: FloatArray


@dataclass(frozen=True)
class Suda(Attack):
    """Attack by minimal sample uniques (SUDA2), with SUDA and DIS-SUDA scores."""

    name: ClassVar[str] = "suda2"
    title: ClassVar[str] = "Special uniques (SUDA2)"
    text: ClassVar[str] = "Rows that few columns already single out, scored by how few and how often."
    source: ClassVar[str] = "Manning, Haglin and Keane 2008; Elliot et al. 2005"

    largest_unique: int | None = option(
        kind=OptionKind.WHOLE,
        least=1,
        metavar="N",
        shown="every column",
        help="sets of up to N columns",
        label="Columns in a set",
    )
    fraction: float = option(
        0.01,
        kind=OptionKind.DECIMAL,
        least=0,
        most=1,
        metavar="P",
        help="the share of the population that the table is a sample of",
        label="Sampling fraction",
    )
    weights: str = option(
        "elliot", choices=("elliot", "ihsn"), help="how a set counts by its size", label="Weights of sets"
    )
    listed_rows: int = option(
        10,
        kind=OptionKind.WHOLE,
        least=1,
        most=1000,
        help="the rows that are listed with --persons, worst first",
        label="Rows listed",
    )

    def run(self, attack_input: AttackInput) -> Finding:
        """Report the scores of each side's rows."""
        figures: list[Figure] = []
        tables: list[FoundTable] = []
        notes: list[str] = []
        for side in attack_input.sides:
            sets = find_minimal_sets(
                side.codes, side.rows, self.largest_unique, progress=attack_input.advance
            )
            found = compute_suda_scores(sets, side.rows, self.fraction, self.weights)
            wanted = min(self.largest_unique or len(side.attributes), len(side.attributes))
            if sets.largest < wanted:
                notes.append(
                    f"Sets of up to {sets.largest} columns were searched in the {side.title}: it is wide."
                )
            figures += _figures(side, found)
            if len(sets.rows):
                tables += self._tables(side, found, persons=attack_input.persons)
            else:
                notes.append(f"No row is unique in the {side.title}, for any columns.")
        return self.build_finding(attack_input, tuple(figures), tuple(tables), tuple(notes))

    def _tables(self, side: AttackedTable, scores: SudaScores, *, persons: bool) -> list[FoundTable]:
        tables = [_size_table(side, scores), _score_table(side, scores), _contribution_table(side, scores)]
        return [*tables, self._rows(side, scores)] if persons else tables

    def _rows(self, side: AttackedTable, scores: SudaScores) -> FoundTable:
        worst = np.argsort(-scores.scores, kind="stable")[: self.listed_rows]
        worst = worst[scores.scores[worst] > 0]
        cells = shown_rows(side.labels, side.codes[worst].tolist())
        return FoundTable(
            f"Rows of the {side.title} with the highest scores",
            columns(("score", ValueKind.NUMBER), ("DIS-SUDA", ValueKind.CHANCE), *side.attributes),
            tuple(
                (float(scores.scores[row]), float(scores.dis_scores[row]), *values)
                for row, values in zip(worst.tolist(), cells, strict=True)
            ),
            persons=True,
        )


def compute_suda_scores(
    sets: MinimalUniqueSets, counts: NDArray[np.int64], fraction: float, weighting: str = "elliot"
) -> SudaScores:
    """Compute SUDA and DIS-SUDA scores of row types of ``counts`` rows from their minimal sets."""
    weigh = _ihsn_weights if weighting == "ihsn" else _elliot_weights
    weights = weigh(sets.width, sets.largest)[sets.sizes]
    scores = np.bincount(sets.rows, weights, minlength=len(counts)).astype(np.float64)
    uniques, pairs = int((counts == 1).sum()), int((counts == 2).sum())
    inside = uniques * fraction
    dis = inside / (inside + 2 * pairs * (1 - fraction)) if inside else 0.0
    scored = scores > 0
    power = 1 + (8 - min(sets.width, _MAX_COLUMNS)) / 20
    dis_scores = np.zeros(len(counts))
    if scored.any() and dis > 0:
        raised = scores[scored] ** power
        dis_scores[scored] = 1 / (1 + (uniques / dis - uniques) / (raised * (1 / raised).sum()))
    total = weights.sum()
    contributions = [weights[sets.has(i)].sum() / total if total else 0.0 for i in range(sets.width)]
    return SudaScores(sets, scores, dis_scores, dis, np.array(contributions))


def _ihsn_weights(width: int, largest: int) -> FloatArray:
    """Return the weights of sdcMicro's first version by set size."""
    return np.array([(2.0 ** (width - size) - 1) / comb(width, size) for size in range(largest + 1)])


def _elliot_weights(width: int, largest: int) -> FloatArray:
    """Return the addition of a minimal set to a score by set size; entry 0 is unused."""
    result = np.ones(largest + 1)
    for size in range(1, largest + 1):
        factors = [width - i for i in range(size, min(largest, width - 1) + 1)]
        result[size] = float(np.prod(np.array(factors, dtype=np.float64))) if factors else 1.0
    return result


def _figures(side: AttackedTable, scores: SudaScores) -> list[Figure]:
    return [
        count(f"uniques_{side.name}", f"unique rows, {side.title}", int((side.rows == 1).sum())),
        count(f"sets_{side.name}", f"minimal sets, {side.title}", len(scores.sets.rows)),
        number(f"score_{side.name}", f"highest score, {side.title}", float(scores.scores.max(initial=0.0))),
        chance(f"dis_{side.name}", f"DIS of the whole {side.title}", scores.dis),
    ]


def _size_table(side: AttackedTable, scores: SudaScores) -> FoundTable:
    sizes = scores.sets.sizes
    smallest = scores.sets.smallest_sizes(len(side.rows))
    rows = [
        (size, int((sizes == size).sum()), int((smallest == size).sum()))
        for size in range(1, scores.sets.largest + 1)
    ]
    return FoundTable(
        f"Minimal sets in the {side.title}",
        columns(
            ("columns", ValueKind.COUNT),
            ("minimal sets", ValueKind.COUNT),
            ("rows with none smaller", ValueKind.COUNT),
        ),
        tuple(rows),
    )


def _score_table(side: AttackedTable, scores: SudaScores) -> FoundTable:
    total = side.total
    rows: list[tuple[Value, ...]] = []
    for least in _BANDS:
        over = int((scores.dis_scores > least).sum())
        rows.append((f"above {least:g}", over, over / total if total else 0.0))
    return FoundTable(
        f"Rows of the {side.title} by DIS-SUDA score",
        columns("score", ("rows", ValueKind.COUNT), ("share", ValueKind.CHANCE)),
        tuple(rows),
    )


def _contribution_table(side: AttackedTable, scores: SudaScores) -> FoundTable:
    shares = scores.contributions
    order = np.argsort(-shares, kind="stable").tolist()
    return FoundTable(
        f"Contribution of each column, {side.title}",
        columns("column", ("share of all scores", ValueKind.CHANCE), ("rows it helps", ValueKind.COUNT)),
        tuple(
            (side.attributes[i], float(shares[i]), len(np.unique(scores.sets.rows[scores.sets.has(i)])))
            for i in order
        ),
        note="Sets have several columns, so that shares add up to more than all.",
    )
