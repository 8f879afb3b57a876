"""The population as a release shows it, for the audit of what was written; it is gone with the witness."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace

from discreet.audit.population import ShownPopulation
from discreet.engines.base import Engine
from discreet.errors import InternalError
from discreet.model.frequency_set import FrequencySet
from discreet.model.recoding import FullDomainRecoding, SuppressionPolicy
from discreet.model.requirement import Requirement
from discreet.model.table_spec import TableSpec
from discreet.recoding.choose import applied
from discreet.recoding.recoded_table import RecodedTable
from discreet.release.job import Job
from discreet.release.shuffle import load_sort_keys


def shown_population(job: Job, table: RecodedTable) -> ShownPopulation | None:
    """The population of a job's table, by the same levels and read from its own source again.

    None where no criterion asks of it, and where the release has no levels: the audit cannot judge it then.
    """
    beside, counted, recoding = job.spec.of_population, job.counted, job.recoding
    asked = any(criterion.of_population for criterion in recoding.requirement.criteria)
    if not asked or beside is None or not isinstance(recoding, FullDomainRecoding):
        return None
    if not isinstance(counted, FrequencySet) or counted.population is None:
        return None
    with people_at_levels(job.engine, beside, counted, recoding) as shown:
        source = job.delivery.write_witness(shown.unordered())
        columns = tuple(column.name for column in shown.columns)
    return ShownPopulation(source, columns, table.suppressed)


def people_at_levels(
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
    return applied(engine, beside, whole, everybody, native=False, draw_keys=load_sort_keys)
