"""p-sensitivity (Truta and Vinay 2006), extended by a hierarchy (Campan and Truta 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.model.criteria.base import Criterion, Need, Parameter
from discreet.model.criterion_inputs import AttributeFeature, ClassValues, ReferenceTable
from discreet.model.option import OptionKind, option


@dataclass(frozen=True)
class PSensitivity(Criterion):
    """A class has at least ``value`` distinct values of a sensitive attribute or, with a ``level``, groups.

    At level 0 it is distinct l-diversity. At a higher level, values in one group of the attribute's hierarchy
    count as one: two illnesses of the stomach disclose as much as one. NULL is not counted. The groups of a
    union are those of both classes, so the criterion is growing.
    """

    level: int = option(
        0,
        kind=OptionKind.WHOLE,
        least=0,
        most=1000,
        help="the level of its hierarchy whose groups are counted",
    )

    name: ClassVar[str] = "p_sensitive"
    title: ClassVar[str] = "p-sensitivity"
    citation: ClassVar[str] = "Truta and Vinay (2006), Campan and Truta (2006)"
    parameter: ClassVar[Parameter] = Parameter("every class has values of at least this many groups")
    need: ClassVar[Need] = Need.COUNTS
    growing: ClassVar[bool] = True
    compares: ClassVar[bool] = True
    by_distribution: ClassVar[bool] = False

    def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
        """Return the number of distinct groups; levels above the top have a single group."""
        del sizes
        assert values is not None
        if not self.level:
            return values.distinct
        assert values.of is not None
        assert values.owners is not None
        levels = values.of.levels
        if levels is None or not len(values.owners):
            return np.zeros_like(values.distinct)
        groups = levels[min(self.level, len(levels) - 1)][values.codes]
        size = int(groups.max()) + 1
        pairs = np.unique(values.owners * size + groups)
        return np.bincount(pairs // size, minlength=len(values.distinct))

    @property
    def required_feature(self) -> AttributeFeature | None:
        """Hierarchy, for a level above 0."""
        return AttributeFeature.HIERARCHY if self.level else None

    @property
    def least_rows(self) -> int:
        """Value: n groups require at least n rows."""
        return self.threshold

    @property
    def promises(self) -> bool:
        """False for p = 1, which allows a class with one value."""
        return bool(self.value >= 2)

    def audit_against(self, rows: str, whole: ReferenceTable) -> str:
        """Return SQL that counts distinct values, or groups of the level.

        A class with a value outside the table gets no score.
        """
        if not self.level:
            return f"SELECT class, count(DISTINCT value) AS score FROM {rows} GROUP BY class"
        pairs = f"SELECT DISTINCT class, value FROM {rows} WHERE value IS NOT NULL"
        part = "b.part" if whole.height is not None and self.level < whole.height else "0 * v.place"
        return (
            f"SELECT p.class, count(DISTINCT {part}) AS score FROM ({pairs}) AS p "
            f"LEFT JOIN {whole.values} AS v ON p.value = v.value "
            f"LEFT JOIN {whole.parts} AS b ON p.value = b.value AND b.level = {self.level} "
            "GROUP BY p.class HAVING count(*) = count(v.value)"
        )
