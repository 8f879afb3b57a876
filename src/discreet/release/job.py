"""One publication, as it was asked for."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.engines.base import Engine
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.recoding import FullDomainRecoding
from discreet.model.table_spec import TableSpec
from discreet.release.target import Target


@dataclass(frozen=True)
class Job:
    """The table and its spec, the recoding to apply, and where the release goes."""

    engine: Engine
    spec: TableSpec
    frequency_set: FrequencySet
    recoding: FullDomainRecoding
    target: Target

    @property
    def leveled(self) -> list[tuple[GeneralizationHierarchy, int]]:
        """The hierarchies with their levels, in the recoding's order."""
        by_name = {hierarchy.attribute: hierarchy for hierarchy in self.frequency_set.hierarchies}
        names = self.recoding.attributes
        return [(by_name[name], level) for name, level in zip(names, self.recoding.node, strict=True)]

    @property
    def levels(self) -> dict[str, int]:
        """The level of each quasi-identifier."""
        return dict(zip(self.recoding.attributes, self.recoding.node, strict=True))
