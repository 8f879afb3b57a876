"""Hierarchical risk of households and other units of people (Benschop, Machingauta and Welch 2019).

Finding one member finds the unit: R = 1 − Π (1 − r_i) over its members, where r_i is the prosecutor's chance.
The attack also counts the units per class, because a class of k people may be one family. Suppressed rows
have no risk. A person with several rows has the highest risk of these; a row without a unit is its own unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.composition import assign_classes
from discreet.attacks.declaration import Attack, AttackInput, AttackRequirement
from discreet.attacks.finding import Finding, FoundTable, Value, ValueKind, chance, columns, count, number
from discreet.attacks.linkage import OriginalTable, read_original_columns
from discreet.model.class_recoding import SUPPRESSED
from discreet.model.option import OptionKind, option

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HouseholdMembers:
    """Person, unit and row type of each row of a table; arrays have shape ``(rows,)``."""

    people: IntArray
    units: IntArray
    types: IntArray


@dataclass(frozen=True, eq=False)
class UnitRisks:
    """Risks per unit: ``risks`` and ``members`` (number of people) have one entry per unit.

    ``k`` is the smallest number of units of any class, None where there is no class.
    """

    risks: FloatArray
    members: IntArray
    k: int | None

    @property
    def mean(self) -> float:
        """Mean risk of a unit."""
        return float(self.risks.mean()) if len(self.risks) else 0.0


@dataclass(frozen=True)
class Households(Attack):
    """Attack that finds a household through any of its members."""

    name: ClassVar[str] = "households"
    title: ClassVar[str] = "Households, and other units of people"
    text: ClassVar[str] = "An attacker looks for one member of a household, and finds all of them at once."
    source: ClassVar[str] = "Benschop, Machingauta and Welch 2019"
    requirements: ClassVar[tuple[AttackRequirement, ...]] = (
        AttackRequirement.ORIGINAL,
        AttackRequirement.CLASSES,
    )

    household: str | None = option(
        None,
        kind=OptionKind.COLUMN,
        metavar="COLUMN",
        help="the original's column of households or other units",
        label="Column of the household",
        hint="of the original; it need not be published",
    )

    def missing_requirement(self, attack_input: AttackInput) -> tuple[str, str] | None:
        """Return the reason why the attack cannot be tried; the column of units must be named."""
        if not self.household:
            return "no column of households is named", "Name it: --household COLUMN."
        return super().missing_requirement(attack_input)

    def run(self, attack_input: AttackInput) -> Finding:
        """Report the risks of units before and after; raise ``InputError`` for an unknown column."""
        original = attack_input.original_table
        assert self.household is not None
        members = read_members(attack_input, original, self.household)
        after = assign_classes(attack_input.published, original, "the release")
        sides = [
            (title, compute_unit_risks(members, classes))
            for title, classes in (
                ("original", np.arange(original.frequency_set.row_types)),
                ("release", after),
            )
        ]
        figures = [count("units", "households", len(sides[0][1].risks))]
        for name, (title, found) in zip(("before", "after"), sides, strict=True):
            at_risk = int((found.risks > float(attack_input.threshold)).sum())
            figures += [
                count(f"k_{name}", f"fewest households in a class, {title}", found.k),
                chance(f"highest_{name}", f"highest chance, {title}", float(found.risks.max(initial=0.0))),
                chance(f"mean_{name}", f"mean chance, {title}", found.mean),
                number(f"expected_{name}", f"households found, expected, {title}", float(found.risks.sum())),
                number(
                    f"people_{name}",
                    f"people in households that are found, expected, {title}",
                    float((found.risks * found.members).sum()),
                ),
                count(f"at_risk_{name}", f"households above the threshold, {title}", at_risk),
            ]
        return self.build_finding(attack_input, tuple(figures), (_member_table(sides),))


def read_members(attack_input: AttackInput, original: OriginalTable, column: str) -> HouseholdMembers:
    """Read the original's rows with their units: one more scan with the columns of units and subjects."""
    subject = original.spec.source.subject
    read = read_original_columns(
        attack_input.engine, attack_input.settings, original, [column, *([subject] if subject else [])]
    )
    groups = np.repeat(np.arange(len(read.rows)), read.rows)
    people = np.arange(len(groups)) if subject is None else read.codes[subject][groups]
    return HouseholdMembers(
        people, _number_units(read.codes[column][groups], len(read.texts[column])), read.types[groups]
    )


def _number_units(codes: IntArray, known: int) -> IntArray:
    """Return the unit of each row; a row whose column is NULL gets its own unit."""
    units = codes.astype(np.int64)
    nameless = np.flatnonzero(units >= known)
    units[nameless] = known + np.arange(len(nameless))
    return np.unique(units, return_inverse=True)[1].reshape(-1)


def compute_unit_risks(members: HouseholdMembers, classes: IntArray) -> UnitRisks:
    """Compute the risk of each unit; ``classes`` contains the class of each row type or ``SUPPRESSED``."""
    of = classes[members.types]
    published = of != SUPPRESSED
    number = int(classes.max(initial=-1)) + 1
    size = _count_distinct(of[published], members.people[published], number)
    households = _count_distinct(of[published], members.units[published], number)
    risks = np.zeros(len(of))
    risks[published] = 1.0 / size[of[published]]
    pairs, pair_of = np.unique(np.column_stack([members.units, members.people]), axis=0, return_inverse=True)
    chances = np.zeros(len(pairs))
    np.maximum.at(chances, pair_of.reshape(-1), risks)
    units = int(members.units.max(initial=-1)) + 1
    used = households[households > 0]
    return UnitRisks(
        risks=compute_hierarchical_risk(chances, pairs[:, 0], units),
        members=np.bincount(pairs[:, 0], minlength=units).astype(np.int64),
        k=int(used.min()) if len(used) else None,
    )


def compute_hierarchical_risk(chances: FloatArray, units: IntArray, count: int) -> FloatArray:
    """Compute the chance that at least one member of each unit 0, …, ``count`` - 1 is found.

    ``chances`` are the members' chances and ``units`` the unit of each member.

    >>> compute_hierarchical_risk(np.array([0.02, 0.03, 0.03]), np.array([0, 0, 0]), 1).round(3).tolist()
    [0.078]
    """
    # log1p and expm1 keep the precision of small chances; a chance of 1 gives log(0) = −inf and a risk of 1.
    with np.errstate(divide="ignore"):
        missed = np.bincount(units, np.log1p(-chances), minlength=count)
    result: FloatArray = -np.expm1(missed)
    return result


def _count_distinct(classes: IntArray, of: IntArray, size: int) -> IntArray:
    pairs = np.unique(np.column_stack([classes, of]), axis=0)
    return np.bincount(pairs[:, 0], minlength=size).astype(np.int64)


def _member_table(sides: list[tuple[str, UnitRisks]]) -> FoundTable:
    """Build the table of units by number of members, with their highest and mean chances."""
    members = sides[0][1].members
    rows: list[tuple[Value, ...]] = []
    for size in np.unique(members).tolist():
        chosen = members == size
        values = [
            v
            for _, each in sides
            for v in (float(each.risks[chosen].max()), float(each.risks[chosen].mean()))
        ]
        rows.append((size, int(chosen.sum()), *values))
    heads = [
        (f"{what} chance, {title}", ValueKind.CHANCE) for title, _ in sides for what in ("highest", "mean")
    ]
    return FoundTable(
        "Households by their members",
        columns(("members", ValueKind.COUNT), ("households", ValueKind.COUNT), *heads),
        tuple(rows),
        note="The chance that one member at least is found, members being looked for independently.",
    )
