"""What an attacker learns of a sensitive attribute from a class (or group) without naming a row.

Homogeneity (Machanavajjhala and others 2006): where a unit has one value, whoever is in it has that value,
and no k helps. Where one value dominates, a guess is nearly sure. What is counted of each unit: distinct
values (the distinct l that it has), the entropy l exp(−Σ p ln p), and the share of the most frequent value.
NULL is no value: it adds to the unit's rows, never to its values.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.attacks.published import NO_VALUE, ValueCounts


@dataclass(frozen=True)
class Disclosure:
    """One sensitive attribute.

    ``fewest_values`` is the distinct l as seen, ``entropy_l`` the least entropy l of any unit (0 where a unit
    has no value). ``homogeneous`` units have one value or none, ``homogeneous_rows`` rows are in them;
    ``dominated_rows`` are in units with a value in more than the share asked. ``guessed`` is the share of
    rows that a guess of each unit's most frequent value gets right, ``baseline`` the same for the whole
    table.
    """

    attribute: str
    units: int
    rows: int
    fewest_values: int
    entropy_l: float
    homogeneous: int
    homogeneous_rows: int
    dominated_rows: int
    largest_share: float
    guessed: float
    baseline: float

    def as_json(self) -> dict[str, Any]:
        """The document's part."""
        return {
            "attribute": self.attribute,
            "units": self.units,
            "rows": self.rows,
            "l": self.fewest_values,
            "entropy_l": self.entropy_l,
            "homogeneous_units": self.homogeneous,
            "homogeneous_rows": self.homogeneous_rows,
            "dominated_rows": self.dominated_rows,
            "largest_share": self.largest_share,
            "guessed_right": self.guessed,
            "guessed_right_without_release": self.baseline,
        }


def disclosure_of(counts: ValueCounts, dominance: Fraction) -> Disclosure:
    """What the units of a release tell of one sensitive attribute."""
    units, rows = len(counts.unit_rows), int(counts.unit_rows.sum())
    named = counts.values != NO_VALUE
    unit, frequency = counts.units[named], counts.rows[named]
    distinct = np.bincount(unit, minlength=units)
    most = np.zeros(units, dtype=np.int64)
    np.maximum.at(most, unit, frequency)
    with_value = np.bincount(unit, frequency, minlength=units)
    share = frequency / with_value[unit]
    entropy = np.bincount(unit, -share * np.log(share), minlength=units)
    entropy_l = np.where(distinct > 0, np.exp(entropy), 0.0)
    alike = distinct <= 1
    over = most * dominance.denominator > counts.unit_rows * dominance.numerator
    by_value = np.bincount(counts.values[named], frequency) if named.any() else np.zeros(1)
    return Disclosure(
        attribute=counts.attribute,
        units=units,
        rows=rows,
        fewest_values=int(distinct.min(initial=len(counts.texts))) if units else 0,
        entropy_l=float(entropy_l.min()) if units else 0.0,
        homogeneous=int(alike.sum()),
        homogeneous_rows=int(counts.unit_rows[alike].sum()),
        dominated_rows=int(counts.unit_rows[over].sum()),
        largest_share=float((most / counts.unit_rows).max()) if units else 0.0,
        guessed=int(most.sum()) / rows if rows else 0.0,
        baseline=float(by_value.max()) / rows if rows else 0.0,
    )
