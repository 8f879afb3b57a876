"""Options of Mondrian: position of the cuts and published cells of the classes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from discreet.errors import InputError
from discreet.frequency.class_summary import Summary
from discreet.model.search_result import SuppressionPolicy

__all__ = ["Categorical", "Cut", "MondrianOptions", "Summary", "Tie"]


class Cut(StrEnum):
    """Position of the cut of an attribute.

    ``median``: at the median only, the paper's greedy. ``best``: at the allowable cut nearest to the half,
    so a class is final only if no allowable cut exists, and the paper's bounds hold.
    """

    MEDIAN = "median"
    BEST = "best"


class Categorical(StrEnum):
    """Boundaries at which a non-numeric attribute may be cut.

    ``order``: any boundary in the publisher's order. ``hierarchy``: between children of the lowest common
    ancestor of the values in the class, in depth-first order.
    """

    ORDER = "order"
    HIERARCHY = "hierarchy"


class Tie(StrEnum):
    """Choice among attributes of equal normalized range.

    ``fewest-values``: the attribute with the fewest values in the table, then the first. ``first``: the
    first.
    """

    FEWEST_VALUES = "fewest-values"
    FIRST = "first"


@dataclass(frozen=True)
class MondrianOptions:
    """Options of Mondrian; texts are converted to the enumerations, and unknown ones raise ``InputError``.

    ``relaxed`` divides the rows at the median over both sides, so that classes have from k to 2k - 1 rows.
    """

    relaxed: bool = False
    cut: Cut = Cut.BEST
    summary: Summary = Summary.RANGES
    categorical: Categorical = Categorical.ORDER
    tie: Tie = Tie.FEWEST_VALUES
    suppression: SuppressionPolicy = SuppressionPolicy.DROP

    @property
    def by_tree(self) -> bool:
        """True if cuts follow the hierarchies."""
        return self.categorical is Categorical.HIERARCHY

    def __post_init__(self) -> None:
        for name, kind in _KINDS.items():
            value = getattr(self, name)
            if value not in tuple(kind):
                raise InputError(f"{name} = '{value}'", allowed=", ".join(kind))
            object.__setattr__(self, name, kind(value))


_KINDS: dict[str, type[StrEnum]] = {
    "cut": Cut,
    "summary": Summary,
    "categorical": Categorical,
    "tie": Tie,
    "suppression": SuppressionPolicy,
}
