"""One publication, as it was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress

from discreet.engines.base import Engine
from discreet.engines.delivery import Delivery
from discreet.model.cells import shows_derived
from discreet.model.class_recoding import RecodingModel
from discreet.model.coded_warning import CodedWarning
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.recoding import FullDomainRecoding
from discreet.model.sensitive_attribute import SensitiveAttribute
from discreet.model.table_spec import TableSpec
from discreet.recoding.stored_classes import CountedTable, Recoding, StoredClasses


@dataclass(frozen=True)
class Job:
    """The table and its spec, the recoding to apply, and where the release goes.

    ``summary`` says how the classes of a recoding by classes are shown (``ranges``, say), where there is a
    choice; ``usefulness`` is what was measured of the classes, where it was; ``after`` are the digests of
    earlier releases beside which the recoding was found safe; ``further`` are warnings that stand in the
    manifest beside those that follow from the release.
    """

    engine: Engine
    spec: TableSpec
    counted: CountedTable
    recoding: Recoding
    delivery: Delivery
    summary: str | None = None
    usefulness: float | None = None
    after: tuple[str, ...] = ()
    further: tuple[CodedWarning, ...] = ()

    @property
    def model(self) -> str:
        """The recoding model's name."""
        if isinstance(self.recoding, FullDomainRecoding):
            return RecodingModel.FULL_DOMAIN
        return self.recoding.model

    @property
    def hierarchies(self) -> tuple[GeneralizationHierarchy, ...]:
        """The hierarchies, in the recoding's order."""
        by_name = {hierarchy.attribute: hierarchy for hierarchy in self.counted.hierarchies}
        return tuple(by_name[name] for name in self.recoding.attributes)

    @property
    def known(self) -> dict[str, SensitiveAttribute]:
        """The sensitive attributes as they were counted; none of a table that was not counted in memory."""
        if not isinstance(self.counted, FrequencySet):
            return {}
        return {sets.attribute: sets.of for sets in self.counted.sensitive if sets.of is not None}

    @property
    def derived(self) -> list[str]:
        """The attributes of which the release shows a generalized value that was derived from the data."""
        if isinstance(self.recoding, StoredClasses):
            return list(compress(self.recoding.attributes, self.recoding.derived))
        if not isinstance(self.recoding, FullDomainRecoding):
            return [
                cells.attribute
                for cells, hierarchy in zip(self.recoding.cells, self.hierarchies, strict=True)
                if shows_derived(cells, hierarchy)
            ]
        pairs = zip(self.hierarchies, self.recoding.node, strict=True)
        return [h.attribute for h, level in pairs if h.from_data and 0 < level < h.height]

    @property
    def levels(self) -> dict[str, int]:
        """The level of each quasi-identifier; none where classes have no level in common."""
        if not isinstance(self.recoding, FullDomainRecoding):
            return {}
        return dict(zip(self.recoding.attributes, self.recoding.node, strict=True))
