"""An attack: guess each row of the release by the smallest class there is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet.extending import Attack, AttackInput, Finding, finding, option, register_attack


@register_attack
@dataclass(frozen=True)
class SmallestClass(Attack):
    """The rows of the smallest class."""

    name: ClassVar[str] = "smallest-class"
    title: ClassVar[str] = "The smallest class"
    text: ClassVar[str] = "An attacker looks at the smallest class alone."
    source: ClassVar[str] = "a recipe"

    words: str = option("rows", choices=("rows", "people"), help="what its rows are called", label="Called")

    def run(self, attack_input: AttackInput) -> Finding:
        """The rows of the smallest class of each side."""
        figures = tuple(
            finding.count(
                f"smallest_{side.name}",
                f"{self.words} of the smallest class, {side.title}",
                int(side.rows.min(initial=side.total)),
            )
            for side in attack_input.sides
        )
        return self.build_finding(attack_input, figures, ())
