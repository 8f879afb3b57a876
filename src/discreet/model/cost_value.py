"""What a cost is as a value: a number, or several that are compared one after the other."""

from __future__ import annotations

from collections.abc import Sequence


class Ranked(float):
    """Parts from the largest down; compared part by part, and as a number the largest of them."""

    parts: tuple[float, ...]

    def __new__(cls, parts: Sequence[float]) -> Ranked:
        """The cost of these parts, which are in descending order."""
        made = super().__new__(cls, parts[0] if parts else 0.0)
        made.parts = tuple(parts)
        return made

    def __lt__(self, other: float) -> bool:
        return self.parts < parts_of(other)

    def __le__(self, other: float) -> bool:
        return self.parts <= parts_of(other)

    def __gt__(self, other: float) -> bool:
        return self.parts > parts_of(other)

    def __ge__(self, other: float) -> bool:
        return self.parts >= parts_of(other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, float | int) and self.parts == parts_of(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.parts)

    def __reduce__(self) -> tuple[type[Ranked], tuple[tuple[float, ...]]]:
        return Ranked, (self.parts,)


def parts_of(cost: float) -> tuple[float, ...]:
    """What a cost is compared by."""
    return cost.parts if isinstance(cost, Ranked) else (float(cost),)


def cost_in_json(cost: float | None) -> float | list[float] | None:
    """A number, or the parts of a ranked cost."""
    return list(cost.parts) if isinstance(cost, Ranked) else cost


def cost_text(cost: float | None) -> str:
    """A cost as people read it: that of a rank part by part."""
    return "" if cost is None else " ".join(f"{part:.6g}" for part in parts_of(cost))
