"""Sample uniqueness (Skinner and Elliot 2002): the share of records that are unique in their class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet.model.criteria.base import Parameter
from discreet.model.criteria.records_at_risk import SHARE_STOPS
from discreet.model.criteria.release_level import ShareOfRelease
from discreet.model.criterion_inputs import SizeArray, SizeTails


@dataclass(frozen=True)
class SampleUniques(ShareOfRelease):
    """At most the share ``value`` of the published records is in classes of one record.

    Merging two classes never creates a class of one record, so the criterion is monotone without suppression.
    """

    name: ClassVar[str] = "sample_uniques"
    title: ClassVar[str] = "share of sample uniques"
    citation: ClassVar[str] = "Skinner and Elliot (2002)"
    parameter: ClassVar[Parameter] = Parameter(
        "at most this share of the rows is unique in the release",
        least=0,
        most=1,
        whole=False,
        stops=SHARE_STOPS,
    )
    monotone: ClassVar[bool] = True
    floor: ClassVar[float] = 0.5

    def parts(self, tails: SizeTails) -> tuple[SizeArray, SizeArray]:
        """Return the classes of one row, and the rows, of every tail."""
        return tails.sums(tails.classes * (tails.sizes == 1)), tails.total_rows

    def audited_parts(self) -> tuple[str, str]:
        """Return the SQL sums of classes of one row, and of rows."""
        return "sum(CASE WHEN size = 1 THEN number ELSE 0 END)", "sum(size * number)"
