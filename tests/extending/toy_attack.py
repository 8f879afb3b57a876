"""An attack: count the rows of the smallest class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet.extending import Attack, AttackInput, Finding, finding, option, register_attack


@register_attack
@dataclass(frozen=True)
class SmallestClass(Attack):
    """Number of rows in the smallest class."""

    name: ClassVar[str] = "smallest-class"
    title: ClassVar[str] = "The smallest class"
    text: ClassVar[str] = "An attacker looks only at the smallest class."
    source: ClassVar[str] = "a recipe"

    words: str = option("rows", choices=("rows", "people"), help="name of the rows", label="Name of the rows")

    def run(self, attack_input: AttackInput) -> Finding:
        """Return the number of rows in the smallest class of each side."""
        figures = tuple(
            finding.count(
                f"smallest_{side.name}",
                f"{self.words} of the smallest class, {side.title}",
                int(side.rows.min(initial=side.total)),
            )
            for side in attack_input.sides
        )
        return self.build_finding(attack_input, figures, ())
