"""One publication to carry out: table, recoding, delivery, and the population generalized for the audit.

Random row order uses 128-bit sort keys from the operating system, which are drawn in batches and never
stored; other engines draw such keys themselves.
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
    """Table with its spec, recoding to apply, and delivery of the release.

    ``summary`` is how classes of a recoding by classes are shown (such as ``ranges``), where there is a
    choice. ``usefulness`` is the measured quality of the classes, if any. ``after`` are the digests of
    earlier releases together with which the recoding was found safe. ``further`` are warnings of the manifest
    in addition to those that follow from the release.
    """

    engine: Engine
    spec: TableSpec
    counted: CountedTable
    recoding: Recoding
    delivery: Delivery
    summary: str | None = None
    usefulness: float | None = None
    previous_releases: tuple[str, ...] = ()
    further: tuple[CodedWarning, ...] = ()

    @property
    def model(self) -> str:
        """Name of the recoding model."""
        if isinstance(self.recoding, FullDomainRecoding):
            return RecodingModel.FULL_DOMAIN
        return self.recoding.model

    @property
    def hierarchies(self) -> tuple[GeneralizationHierarchy, ...]:
        """Hierarchies in the recoding's order."""
        by_name = {hierarchy.attribute: hierarchy for hierarchy in self.counted.hierarchies}
        return tuple(by_name[name] for name in self.recoding.attributes)

    @property
    def known(self) -> dict[str, SensitiveAttribute]:
        """Sensitive attributes as counted; empty for a table that was not counted in memory."""
        if not isinstance(self.counted, FrequencySet):
            return {}
        return {sets.attribute: sets.of for sets in self.counted.sensitive if sets.of is not None}

    @property
    def derived(self) -> list[str]:
        """Attributes whose published generalized values were derived from the data."""
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
        """Level of each quasi-identifier; empty where classes have no common levels."""
        if not isinstance(self.recoding, FullDomainRecoding):
            return {}
        return dict(zip(self.recoding.attributes, self.recoding.node, strict=True))


def write_population(job: PublicationJob, table: RecodedTable) -> GeneralizedPopulation | None:
    """Write the population of a job's table at the release's levels, read again from its own source.

    Return None where no criterion needs it, and where the release has no levels: then the audit cannot judge
    it.
    """
    population_spec, counted, recoding = job.spec.of_population, job.counted, job.recoding
    needs_population = any(criterion.of_population for criterion in recoding.requirement.criteria)
    if not needs_population or population_spec is None or not isinstance(recoding, FullDomainRecoding):
        return None
    if not isinstance(counted, FrequencySet) or counted.population is None:
        return None
    with generalize_population(job.engine, population_spec, counted, recoding) as generalized:
        source = job.delivery.write_witness(generalized.unordered())
        columns = tuple(column.name for column in generalized.columns)
    return GeneralizedPopulation(source, columns, table.suppressed)


def generalize_population(
    engine: Engine, population_spec: TableSpec, counted: FrequencySet, recoding: FullDomainRecoding
) -> AbstractContextManager[RecodedTable]:
    """Generalize the people of a counted table's population to a recoding's levels, without suppression.

    ``population_spec`` is the population's spec. Raise ``InputError`` where the source changed since it was
    counted.
    """
    people = counted.population
    if people is None:
        raise InternalError("the table has no population")
    population_set = FrequencySet(counted.hierarchies, people.codes, people.counts, dropped=people.dropped)
    everybody = replace(recoding, requirement=Requirement(), suppression=SuppressionPolicy.DROP)
    return apply_recoding(
        engine, population_spec, population_set, everybody, native=False, draw_keys=load_sort_keys
    )
