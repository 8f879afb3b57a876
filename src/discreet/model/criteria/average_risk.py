"""The average risk of re-identification (El Emam and Dankar 2008; Dankar and El Emam 2010)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet.model.criteria.base import Parameter
from discreet.model.criteria.release_level import ShareOfRelease
from discreet.model.criterion_inputs import SizeArray, SizeTails


@dataclass(frozen=True)
class AverageRisk(ShareOfRelease):
    """The mean of 1 / class size over the published records is at most ``value``.

    Each class adds 1 to the sum, so the mean is the number of classes divided by the number of rows. Merging
    two classes reduces it, so the criterion is monotone without suppression.
    """

    name: ClassVar[str] = "average_risk"
    title: ClassVar[str] = "average risk of re-identification"
    citation: ClassVar[str] = "El Emam and Dankar (2008)"
    parameter: ClassVar[Parameter] = Parameter(
        "classes divided by published rows is at most this",
        least=0,
        most=1,
        whole=False,
        stops=(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.075, 0.1, 0.15, 0.2, 0.33, 0.5),
    )
    monotone: ClassVar[bool] = True
    floor: ClassVar[float] = 0.5

    def parts(self, tails: SizeTails) -> tuple[SizeArray, SizeArray]:
        """Return the classes and the rows of every tail."""
        return tails.total_classes, tails.total_rows

    def audited_parts(self) -> tuple[str, str]:
        """Return the SQL sums of classes and of rows."""
        return "sum(number)", "sum(size * number)"
