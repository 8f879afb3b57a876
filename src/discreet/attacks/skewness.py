"""How far the values of a class are from the whole table's (Li, Li and Venkatasubramanian 2007).

Every class may hold many values, and yet tell much: one in two has a disease that one in a hundred has in the
table. Counted for each sensitive attribute, q being a value's share of the rows of a class that have a value
and p its share in the table: the largest gain q − p and the largest quotient q/p of any class and value, and
the variational distance ½ Σ |q − p|, which is t-closeness with equal distances.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.attacks.declaration import Attack, Need
from discreet.attacks.finding import Figure, Finding, FoundTable, Value, ValueKind, chance, columns
from discreet.attacks.grounds import Grounds
from discreet.attacks.published import NO_VALUE, ValueCounts
from discreet.model.option import OptionKind, option


@dataclass(frozen=True)
class Skew:
    """How far the units of a release are from the table; all 0 where no row has a value.

    ``distance`` is that of the farthest unit, ``mean_distance`` over rows; ``over`` rows are in units where a
    value's share is at least the asked number of times that in the table.
    """

    attribute: str
    gain: float
    times: float
    distance: float
    mean_distance: float
    over: int


@dataclass(frozen=True)
class Skewness(Attack):
    """The distance of classes from the table."""

    name: ClassVar[str] = "skewness"
    title: ClassVar[str] = "Values of a class against the table's"
    text: ClassVar[str] = (
        "An attacker finds the person's class: how much likelier is a value there than in the table?"
    )
    source: ClassVar[str] = "Li, Li and Venkatasubramanian 2007"
    needs: ClassVar[tuple[Need, ...]] = (Need.SENSITIVE,)

    times: float = option(
        2.0,
        kind=OptionKind.DECIMAL,
        least=1,
        metavar="X",
        help="count rows in classes where a value is X times likelier",
        label="A value is so many times likelier",
    )

    def run(self, grounds: Grounds) -> Finding:
        """The skew of each sensitive attribute."""
        found = [skew_of(values, self.times) for values in grounds.published.sensitive]
        figures: list[Figure] = [
            chance(f"distance_{each.attribute}", f"largest distance, {each.attribute}", each.distance)
            for each in found
        ]
        rows: list[tuple[Value, ...]] = [
            (e.attribute, e.gain, e.times, e.distance, e.mean_distance, e.over) for e in found
        ]
        table = FoundTable(
            "Classes against the table",
            columns(
                "sensitive attribute",
                ("largest gain", ValueKind.CHANCE),
                ("times likelier", ValueKind.NUMBER),
                ("largest distance", ValueKind.CHANCE),
                ("mean distance", ValueKind.CHANCE),
                (f"rows where a value is {self.times:g} times likelier", ValueKind.COUNT),
            ),
            tuple(rows),
        )
        return self.found(grounds, tuple(figures), (table,))


def skew_of(values: ValueCounts, times: float = 2.0) -> Skew:
    """The skew of one sensitive attribute."""
    named = values.values != NO_VALUE
    unit, value, rows = values.units[named], values.values[named], values.rows[named]
    if not len(rows):
        return Skew(values.attribute, 0.0, 0.0, 0.0, 0.0, 0)
    units = len(values.unit_rows)
    whole = np.bincount(value, rows, minlength=len(values.texts)) / rows.sum()
    with_value = np.bincount(unit, rows, minlength=units)
    here, there = rows / with_value[unit], whole[value]
    # Values that a unit lacks add their whole share, which is what the present ones do not have.
    far = np.bincount(unit, np.abs(here - there) - there, minlength=units) + 1
    distance = np.where(with_value > 0, far / 2, 0.0)
    likelier = np.zeros(units, dtype=np.bool_)
    likelier[unit[here >= times * there]] = True
    return Skew(
        attribute=values.attribute,
        gain=float((here - there).max()),
        times=float((here / there).max()),
        distance=float(distance.max()),
        mean_distance=float((distance * values.unit_rows).sum() / values.unit_rows.sum()),
        over=int(values.unit_rows[likelier].sum()),
    )
