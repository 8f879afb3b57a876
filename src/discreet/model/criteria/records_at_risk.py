"""The share of records at risk (El Emam and Dankar 2008): those in classes below a threshold size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from discreet.model.criteria.base import Parameter
from discreet.model.criteria.highest_risk import size_at_risk
from discreet.model.criteria.release_level import ShareOfRelease
from discreet.model.criterion_inputs import SizeArray, SizeTails

SHARE_STOPS = (0.0, 0.0001, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
"""Shares at which a slider stops."""

_RISK = Parameter("1 / rows of the class is above this", least=1e-9, most=1, whole=False)


@dataclass(frozen=True)
class RecordsAtRisk(ShareOfRelease):
    """At most the share ``value`` of the records has a risk, 1 / size of its class, greater than ``above``.

    Merging two classes makes neither smaller, so no record becomes a record at risk: the criterion is
    monotone without suppression.
    """

    above: Any = 0.2

    name: ClassVar[str] = "records_at_risk"
    title: ClassVar[str] = "share of records at risk"
    citation: ClassVar[str] = "El Emam and Dankar (2008)"
    parameter: ClassVar[Parameter] = Parameter(
        "at most this share of the rows has too high a risk", least=0, most=1, whole=False, stops=SHARE_STOPS
    )
    monotone: ClassVar[bool] = True
    floor: ClassVar[float] = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "above", _RISK.checked(f"the risk of {self.name}", self.above))

    def parts(self, tails: SizeTails) -> tuple[SizeArray, SizeArray]:
        """Return the rows in classes below the size of the risk, and all rows, of every tail."""
        at_risk = tails.sizes < size_at_risk(self.above)
        return tails.sums(tails.sizes * tails.classes * at_risk), tails.total_rows

    def audited_parts(self) -> tuple[str, str]:
        """Return the SQL sums of rows in classes below the size of the risk, and of all rows."""
        least = size_at_risk(self.above)
        return f"sum(CASE WHEN size < {least} THEN size * number ELSE 0 END)", "sum(size * number)"
