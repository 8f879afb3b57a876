"""One publication to carry out: table, recoding, delivery, and the population generalized for the audit.

Random row order uses 128-bit sort keys from the operating system, drawn in batches and kept nowhere; other
engines draw such keys themselves.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np

from discreet.audit.criterion_checks import GeneralizedPopulation
from discreet.engines.base import Engine
from discreet.engines.delivery import Delivery
from discreet.errors import InternalError
from discreet.model.class_recoding import RecodingModel
from discreet.model.coded_warnings import CodedWarning
from discreet.model.criterion_inputs import SensitiveAttribute
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.published_cells import has_derived_label
from discreet.model.requirement import Requirement
from discreet.model.search_result import FullDomainRecoding, SuppressionPolicy
from discreet.model.table_spec import TableSpec
from discreet.recoding.recoded_table import RecodedTable
from discreet.recoding.recoding_application import apply_recoding
from discreet.recoding.stored_classes import CountedTable, Recoding, StoredClasses
from discreet.sql.quoting import identifier
from discreet.sql.recoded_rows import SORT_KEYS

_KEY_BYTES = 16
_BATCH_KEYS = 1 << 21


def load_sort_keys(engine: Engine, name: str, rows: int, keys_at_once: int = _BATCH_KEYS) -> None:
    """Create a temporary table of ``rows`` sort keys, drawn ``keys_at_once`` at a time (32 MB)."""
    engine.load_table(name, _draw_keys(min(rows, keys_at_once)))
    part = f"{name}_part"
    for start in range(keys_at_once, rows, keys_at_once):
        engine.load_table(part, _draw_keys(min(rows - start, keys_at_once)))
        engine.execute(f"INSERT INTO {identifier(name)} FROM {identifier(part)}")
        engine.execute(f"DROP TABLE {identifier(part)}")


def _draw_keys(rows: int) -> dict[str, np.ndarray[tuple[int], np.dtype[np.uint64]]]:
    drawn = np.frombuffer(os.urandom(rows * _KEY_BYTES), dtype=np.uint64).reshape(rows, len(SORT_KEYS))
    return {key: np.ascontiguousarray(drawn[:, i]) for i, key in enumerate(SORT_KEYS)}


@dataclass(frozen=True)
class PublicationJob:
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
                if has_derived_label(cells, hierarchy)
            ]
        pairs = zip(self.hierarchies, self.recoding.node, strict=True)
        return [h.attribute for h, level in pairs if h.from_data and 0 < level < h.height]

    @property
    def levels(self) -> dict[str, int]:
        """The level of each quasi-identifier; none where classes have no level in common."""
        if not isinstance(self.recoding, FullDomainRecoding):
            return {}
        return dict(zip(self.recoding.attributes, self.recoding.node, strict=True))


def write_population(job: PublicationJob, table: RecodedTable) -> GeneralizedPopulation | None:
    """The population of a job's table, by the same levels and read from its own source again.

    None where no criterion asks of it, and where the release has no levels: the audit cannot judge it then.
    """
    beside, counted, recoding = job.spec.of_population, job.counted, job.recoding
    asked = any(criterion.of_population for criterion in recoding.requirement.criteria)
    if not asked or beside is None or not isinstance(recoding, FullDomainRecoding):
        return None
    if not isinstance(counted, FrequencySet) or counted.population is None:
        return None
    with generalize_population(job.engine, beside, counted, recoding) as shown:
        source = job.delivery.write_witness(shown.unordered())
        columns = tuple(column.name for column in shown.columns)
    return GeneralizedPopulation(source, columns, table.suppressed)


def generalize_population(
    engine: Engine, beside: TableSpec, counted: FrequencySet, recoding: FullDomainRecoding
) -> AbstractContextManager[RecodedTable]:
    """The people of a counted table's population by a recoding's levels; none of them is suppressed.

    ``beside`` is the population's spec. ``InputError`` where it is no longer the one that was counted.
    """
    people = counted.population
    if people is None:
        raise InternalError("the people of a table without a population were asked for")
    whole = FrequencySet(counted.hierarchies, people.codes, people.counts, dropped=people.dropped)
    everybody = replace(recoding, requirement=Requirement(), suppression=SuppressionPolicy.DROP)
    return apply_recoding(engine, beside, whole, everybody, native=False, draw_keys=load_sort_keys)
