"""Criteria of a share of the release: average risk, records at risk, and sample uniques.

Risk and records at risk are those of El Emam and Dankar (2008; also Dankar and El Emam 2010), sample
uniqueness that of Skinner and Elliot (2002). Merging two classes raises none of the shares, so each criterion
is monotone without suppression.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from discreet.model.criteria.base import Parameter
from discreet.model.criteria.k_anonymity import size_at_risk
from discreet.model.criteria.release_level import ShareOfRelease
from discreet.model.criterion_inputs import SizeArray, SizeTails

_SHARE_STOPS = (0.0, 0.0001, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
_RISK = Parameter("1 / rows of the class is above this", least=1e-9, most=1, whole=False)


def _share(hint: str, stops: tuple[float, ...] = _SHARE_STOPS) -> Parameter:
    return Parameter(hint, least=0, most=1, whole=False, stops=stops)


@dataclass(frozen=True)
class AverageRisk(ShareOfRelease):
    """The mean of 1 / class size over the published records is at most ``value``.

    Each class adds 1 to the sum, so the mean is the number of classes divided by the number of rows.
    """

    name: ClassVar[str] = "average_risk"
    title: ClassVar[str] = "average risk of re-identification"
    citation: ClassVar[str] = "El Emam and Dankar (2008)"
    parameter: ClassVar[Parameter] = _share(
        "classes divided by published rows is at most this",
        (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.075, 0.1, 0.15, 0.2, 0.33, 0.5),
    )

    def parts(self, tails: SizeTails) -> tuple[SizeArray, SizeArray]:
        """Return the classes and the rows of every tail."""
        return tails.total_classes, tails.total_rows

    def audited_parts(self) -> tuple[str, str]:
        """Return the SQL sums of classes and of rows."""
        return "sum(number)", "sum(size * number)"


@dataclass(frozen=True)
class RecordsAtRisk(ShareOfRelease):
    """At most the share ``value`` of the records has a risk, 1 / size of its class, above ``above``."""

    above: Any = 0.2

    name: ClassVar[str] = "records_at_risk"
    title: ClassVar[str] = "share of records at risk"
    citation: ClassVar[str] = "El Emam and Dankar (2008)"
    parameter: ClassVar[Parameter] = _share("at most this share of the rows has too high a risk")

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


@dataclass(frozen=True)
class SampleUniques(ShareOfRelease):
    """At most the share ``value`` of the published records is in classes of one record."""

    name: ClassVar[str] = "sample_uniques"
    title: ClassVar[str] = "share of sample uniques"
    citation: ClassVar[str] = "Skinner and Elliot (2002)"
    parameter: ClassVar[Parameter] = _share("at most this share of the rows is unique in the release")

    def parts(self, tails: SizeTails) -> tuple[SizeArray, SizeArray]:
        """Return the classes of one row, and the rows, of every tail."""
        return tails.sums(tails.classes * (tails.sizes == 1)), tails.total_rows

    def audited_parts(self) -> tuple[str, str]:
        """Return the SQL sums of classes of one row, and of rows."""
        return "sum(CASE WHEN size = 1 THEN number ELSE 0 END)", "sum(size * number)"
