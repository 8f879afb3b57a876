"""t-closeness (Li et al. 2007): the earth mover's distance of a class's values from the whole table's.

The earth mover's distance of two distributions is the least work that transforms one into the other, where
moving all rows from one value to another costs the distance of these values.

- ``equal``: any two values have distance 1. The work is half the sum of the differences of shares.
- ``ordered``: the distance of values is the difference of their positions in the attribute's order; the first
  and the last have distance 1. The work is the mean, over the steps between positions, of the differences of
  partial sums.
- ``hierarchical``: the distance of values is the height of their lowest common ancestor divided by the height
  of the hierarchy. If every level is one step of a path, the amount that crosses a step is the difference of
  the shares of the subtree below it. So the work is the mean, over the levels below the top, of the equal
  distance between the groups of the level; Li et al. add up the same work ancestor by ancestor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.model.criteria import float_criterion
from discreet.model.criteria.base import KernelFormula, Need, Parameter
from discreet.model.criteria.float_criterion import FloatCriterion
from discreet.model.criterion_inputs import AttributeFeature, ClassValues, ReferenceTable, SensitiveAttribute
from discreet.model.option import option

EQUAL, ORDERED, HIERARCHICAL = "equal", "ordered", "hierarchical"

_IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class TCloseness(FloatCriterion):
    """The distance of each class's distribution from the table's is at most ``value``; NULL is not counted.

    The table's distribution is that of the input after the NULL policy, including rows suppressed later. A
    class without a value fails. The distance is convex in both distributions, and the distribution of a union
    is the weighted mean of both classes', so the criterion is monotone. It is not growing.
    """

    distance: str = option(EQUAL, choices=(EQUAL, ORDERED, HIERARCHICAL), help="how far apart two values are")

    name: ClassVar[str] = "t"
    title: ClassVar[str] = "t-closeness"
    citation: ClassVar[str] = "Li et al. (2007)"
    parameter: ClassVar[Parameter] = Parameter(
        "every class's values are distributed as in the whole table, up to this distance",
        least=0,
        most=1,
        whole=False,
        stops=(0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8),
    )
    need: ClassVar[Need] = Need.COUNTS
    monotone: ClassVar[bool] = True
    compares: ClassVar[bool] = True
    floor: ClassVar[float] = 0.9

    def scores(self, sizes: _IntArray, values: ClassValues | None) -> _IntArray:
        """Return the score of each class's distance, rounded against the class."""
        assert values is not None
        assert values.of is not None
        assert values.owners is not None
        assert values.codes is not None
        assert values.counts is not None
        if not len(values.owners):
            return np.full(len(sizes), float_criterion.NEVER_SCORE)
        pairs = _Pairs.of(len(sizes), values.owners, values.codes, values.counts, values.of)
        work, steps = _WORK[self.distance](pairs, values.of)
        distance = work / np.maximum(pairs.known * float(max(pairs.table, 1)) * steps, 1)
        return np.where(
            pairs.known == 0, float_criterion.NEVER_SCORE, float_criterion.score_at_most(distance)
        )

    def formula(self, numbers: int) -> KernelFormula:
        """Return the formula of the distance."""
        del numbers
        return KernelFormula(f"{self.distance}-distance")

    @property
    def required_feature(self) -> AttributeFeature | None:
        """Order or hierarchy, if the distance requires one."""
        return {ORDERED: AttributeFeature.ORDER, HIERARCHICAL: AttributeFeature.HIERARCHY}.get(self.distance)

    @property
    def promises(self) -> bool:
        """False for t = 1, which allows a class with one value."""
        return bool(self.value < 1)

    def audit_against(self, rows: str, whole: ReferenceTable) -> str:
        """Return SQL of the distance by plain joins over the positions or groups of every class."""
        pairs = _SQL_PAIRS.format(rows=rows, values=whole.values)
        known = "SELECT class, sum(n) AS known FROM pairs GROUP BY class HAVING count(*) = count(held)"
        table = f"SELECT sum(held) AS whole, count(*) AS number FROM {whole.values}"
        begin = f"WITH pairs AS ({pairs}), totals AS ({known}), reference AS ({table}) "
        work = _SQL_WORK[self.distance].format(values=whole.values, parts=whole.parts)
        steps = {EQUAL: "1", ORDERED: "greatest(max(number) - 1, 1)"}.get(
            self.distance, str(max(whole.height or 1, 1))
        )
        distance = f"sum(work) * exp(0) / (max(known) * exp(0) * max(whole) * {steps})"
        score = float_criterion.score_in_sql("at_most", distance)
        return f"{begin}SELECT class, {score} AS score FROM ({work}) AS q GROUP BY class"


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Pairs of class and value, sorted by class; ``known`` contains each class's rows with a value.

    ``table`` is the number of the table's rows with a value. Work is counted in parts of ``known * table``:
    in int64 if that cannot overflow, otherwise in doubles.
    """

    owners: _IntArray
    codes: _IntArray
    counts: _IntArray
    known: _IntArray
    table: int

    @classmethod
    def of(
        cls,
        classes: int,
        owners: _IntArray,
        codes: _IntArray,
        counts: _IntArray,
        attribute: SensitiveAttribute,
    ) -> _Pairs:
        table = int(attribute.rows.sum())
        known = np.zeros(classes, np.int64)
        np.add.at(known, owners, counts)
        if table * max(table, int(known.max(initial=0))) * (len(attribute.rows) + 2) >= 2**61:
            counts, known = counts.astype(np.float64), known.astype(np.float64)
        return cls(owners, codes, counts, known, table)

    def in_order(self, places: _IntArray, size: int) -> _Pairs:
        """Return the pairs with the values of each class sorted by position."""
        order = np.argsort(self.owners * size + places[self.codes], kind="stable")
        return _Pairs(self.owners[order], self.codes[order], self.counts[order], self.known, self.table)

    def summed(self, of_pairs: _IntArray, owners: _IntArray) -> _IntArray:
        """Sum a number of each pair by class."""
        result = np.zeros_like(self.known)
        np.add.at(result, owners, of_pairs)
        return result


def _equal(pairs: _Pairs, of: SensitiveAttribute) -> tuple[_IntArray, int]:
    surplus = pairs.counts * pairs.table - of.rows[pairs.codes] * pairs.known[pairs.owners]
    return pairs.summed(np.maximum(surplus, 0), pairs.owners), 1


def _ordered(pairs: _Pairs, of: SensitiveAttribute) -> tuple[_IntArray, int]:
    """Return each class's ordered work, and the number of steps between positions.

    The partial sums of a class are constant between one of its values and the next. The table's partial sums
    rise there and cross them at most once; a binary search finds the crossing. The work on both sides follows
    from cumulative sums of the table's partial sums, so the cost does not depend on the number of positions.
    """
    last = len(of.rows) - 1
    pairs = pairs.in_order(of.ranks, last + 1)
    table = np.zeros(last + 1, np.int64)
    table[of.ranks] = of.rows
    partial = np.cumsum(table)
    before = np.concatenate(([0], np.cumsum(partial))).astype(pairs.known.dtype)  # of the positions below
    places = of.ranks[pairs.codes]
    first = np.append(True, pairs.owners[1:] != pairs.owners[:-1])
    ends = np.append(np.where(first[1:], last, places[1:]), last)
    running = np.cumsum(pairs.counts)
    starts = np.flatnonzero(first)
    begun = np.repeat(running[starts] - pairs.counts[starts], np.diff(np.append(starts, len(places))))
    class_rows, known = running - begun, pairs.known[pairs.owners]
    crossing = np.searchsorted(partial, class_rows * pairs.table // np.maximum(known, 1), side="right")
    crossing = np.clip(crossing, places, ends)
    work = class_rows * pairs.table * (2 * crossing - places - ends)
    work += known * (before[places] + before[ends] - 2 * before[crossing])
    work[first] += known[first] * before[places[first]]
    return pairs.summed(work, pairs.owners), max(last, 1)


def _hierarchical(pairs: _Pairs, of: SensitiveAttribute) -> tuple[_IntArray, int]:
    """Return each class's hierarchical work, and the number of levels.

    One sort serves all levels, because leaves are numbered depth first.
    """
    assert of.levels is not None
    height = len(of.levels) - 1
    leaves = of.levels[0]
    pairs = pairs.in_order(leaves, int(leaves.max(initial=0)) + 1)
    work = np.zeros_like(pairs.known)
    for groups in of.levels[:-1]:
        mine = groups[pairs.codes]
        changes = (pairs.owners[1:] != pairs.owners[:-1]) | (mine[1:] != mine[:-1])
        starts = np.flatnonzero(np.append(True, changes))
        table = np.zeros(int(groups.max(initial=0)) + 1, np.int64)
        np.add.at(table, groups, of.rows)
        counts, owners = np.add.reduceat(pairs.counts, starts), pairs.owners[starts]
        surplus = counts * pairs.table - table[mine[starts]] * pairs.known[owners]
        work += pairs.summed(np.maximum(surplus, 0), owners)
    return work, max(height, 1)


_WORK = {EQUAL: _equal, ORDERED: _ordered, HIERARCHICAL: _hierarchical}

_SQL_PAIRS = (
    "SELECT p.class, p.value, p.n, w.held, w.place FROM "
    "(SELECT class, value, count(*) AS n FROM {rows} WHERE value IS NOT NULL GROUP BY class, value) AS p "
    "LEFT JOIN {values} AS w ON p.value = w.value"
)
_SQL_WORK = {
    EQUAL: (
        "SELECT p.class, t.known, r.whole, r.number, "
        "greatest(p.n * r.whole - p.held * t.known, 0) AS work "
        "FROM pairs AS p JOIN totals AS t ON p.class = t.class CROSS JOIN reference AS r"
    ),
    # As in ``_ordered``, one line for each value of a class instead of each position. ``steps`` contains the
    # table's partial sums, and their sum before a position; ``runs`` the ranges in which those of a class are
    # constant. Most runs are on one side of the table's sums (``split`` is false), and their ends determine
    # the work. For the others the last position before the crossing is found by sorting both together. The
    # sort is partitioned into 64 ranges of shares from 0 to 1; each partition begins with the position at
    # which the previous partitions end.
    ORDERED: (
        "WITH sums AS (SELECT place, sum(held) OVER (ORDER BY place) AS upto FROM {values}), "
        "steps AS (SELECT place, upto, coalesce(sum(upto) OVER (ORDER BY place "
        "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before, "
        "coalesce(lag(upto) OVER (ORDER BY place), 0) AS under FROM sums), "
        "marks AS (SELECT place, upto * exp(0) / whole AS share FROM sums CROSS JOIN reference), "
        "held AS (SELECT p.class, t.known, r.whole, r.number, p.place, "
        "sum(p.n) OVER (PARTITION BY p.class ORDER BY p.place) AS n, "
        "lead(p.place) OVER (PARTITION BY p.class ORDER BY p.place) AS next, "
        "lag(p.place) OVER (PARTITION BY p.class ORDER BY p.place) AS earlier "
        "FROM pairs AS p JOIN totals AS t ON p.class = t.class CROSS JOIN reference AS r), "
        "ended AS (SELECT class, known, whole, number, place, n, earlier, "
        "coalesce(next, number - 1) AS ending, n * exp(0) / known AS share FROM held), "
        "runs AS (SELECT x.class, x.known, x.whole, x.number, x.place, x.n, x.ending, x.share, "
        "x.n * x.whole * (0 - x.place - x.ending) + x.known * (b.before + e.before) "
        "+ CASE WHEN x.earlier IS NULL THEN x.known * b.before ELSE 0 END AS sides, "
        "b.before AS low, e.before AS high, "
        "x.place < x.ending AND b.upto * x.known <= x.n * x.whole AND e.under * x.known > x.n * x.whole "
        "AS split, b.upto * x.known > x.n * x.whole AS above "
        "FROM ended AS x JOIN steps AS b ON x.place = b.place JOIN steps AS e ON x.ending = e.place), "
        "parts AS (SELECT DISTINCT floor(64 * share) AS part FROM runs WHERE split), "
        "points AS (SELECT floor(64 * share) AS part, share, 1 AS run, CAST(0 AS BIGINT) AS reached, "
        "class, known, whole, number, place, n, ending, sides FROM runs WHERE split UNION ALL "
        "SELECT floor(64 * share), share, 0, CAST(place + 1 AS BIGINT), "
        "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM marks UNION ALL "
        "SELECT part, -1 * exp(0), 0, "
        "CAST(sum(CASE WHEN floor(64 * share) < part THEN 1 ELSE 0 END) AS BIGINT), "
        "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM parts CROSS JOIN marks GROUP BY part), "
        "crossed AS (SELECT class, known, whole, number, place, n, ending, sides, run, "
        "least(greatest(max(reached) OVER (PARTITION BY part ORDER BY share, run "
        "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW), place), ending) AS crossing FROM points) "
        "SELECT x.class, x.known, x.whole, x.number, "
        "x.n * x.whole * 2 * x.crossing - x.known * 2 * c.before + x.sides AS work "
        "FROM crossed AS x JOIN steps AS c ON x.crossing = c.place WHERE x.run = 1 UNION ALL "
        "SELECT class, known, whole, number, sides + CASE WHEN above "
        "THEN n * whole * 2 * place - known * 2 * low ELSE n * whole * 2 * ending - known * 2 * high END "
        "FROM runs WHERE NOT split"
    ),
    HIERARCHICAL: (
        "SELECT g.class, t.known, r.whole, r.number, "
        "greatest(g.n * r.whole - h.held * t.known, 0) AS work FROM "
        "(SELECT p.class, b.level, b.part, sum(p.n) AS n FROM pairs AS p JOIN {parts} AS b "
        "ON p.value = b.value GROUP BY p.class, b.level, b.part) AS g JOIN "
        "(SELECT b.level, b.part, sum(w.held) AS held FROM {values} AS w JOIN {parts} AS b "
        "ON w.value = b.value GROUP BY b.level, b.part) AS h ON g.level = h.level AND g.part = h.part "
        "JOIN totals AS t ON g.class = t.class CROSS JOIN reference AS r"
    ),
}
