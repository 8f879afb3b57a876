"""What an audit is told of the original: its people and its sensitive values, by the publisher's spec.

Most criteria are judged from the release alone. Nobody can tell from it who else matches a class, or how
sensitive values were distributed before rows were suppressed; of these alone is the original read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from discreet.audit.population import ShownPopulation
from discreet.engines.base import Engine
from discreet.engines.connect import connect
from discreet.engines.temporary_folder import TemporaryFolder
from discreet.errors import InputError
from discreet.frequency.count import count_frequency_set
from discreet.model.criteria.base import Criterion
from discreet.model.criteria.registry import CRITERIA, criteria_from
from discreet.model.frequency_set import FrequencySet
from discreet.model.recoding import FullDomainRecoding
from discreet.model.release_address import ReleaseAddress
from discreet.model.requirement import Requirement
from discreet.model.sensitive_attribute import SensitiveAttribute
from discreet.model.table_spec import SourceSpec, TableSpec
from discreet.places.address import path_of
from discreet.release.manifest import has_manifest, read_manifest
from discreet.release.population import people_at_levels
from discreet.settings import Settings
from discreet.spec.load import load_spec
from discreet.verbs.interruption import interruptible
from discreet.verbs.reporting import Reporter


@dataclass(frozen=True, eq=False)
class Original:
    """The ``people`` of the population as the release shows them, and sensitive attributes by name."""

    people: ShownPopulation | None = None
    known: Mapping[str, SensitiveAttribute] = field(default_factory=dict)


def criteria_of_release(address: ReleaseAddress, engine: Engine) -> tuple[Criterion, ...]:
    """What a release's manifest requires beside k and l; nothing where there is none.

    ``InputError`` for a manifest that cannot be read.
    """
    if not has_manifest(address, engine):
        return ()
    required = read_manifest(address, engine).requirement
    return criteria_from({name: value for name, value in required.items() if name in CRITERIA and value})


def spec_of(spec: str | Path | TableSpec) -> TableSpec:
    """Load a spec where it is named by its path."""
    return spec if isinstance(spec, TableSpec) else load_spec(path_of(spec, "the path of a spec"))


@contextmanager
def original_beside(
    spec: str | Path | TableSpec | None,
    criteria: Sequence[Criterion],
    address: ReleaseAddress,
    settings: Settings,
    reporter: Reporter,
    *,
    all_known: bool = False,
) -> Iterator[Original]:
    """What criteria ask of the table that a spec names, for as long as the context lasts.

    Nothing is counted for criteria that ask nothing; with ``all_known`` it is whatever the spec can tell.
    Levels are those of the release's manifest; what was suppressed is not told here. ``InputError`` for
    criteria of a population where the spec names none, the release lies in a database, or its manifest does
    not tell every level.
    """
    if spec is None or not (all_known or any(criterion.asks_original for criterion in criteria)):
        yield Original()
        return
    found = spec_of(spec)
    with (
        TemporaryFolder() as folder,
        connect(settings, found.source) as engine,
        interruptible(engine),
        reporter.stage("Counting the original"),
    ):
        counted = count_frequency_set(engine, found, settings)
        people = None
        told = all_known and address.path is not None and found.of_population is not None
        if told or any(criterion.of_population for criterion in criteria):
            people = _people(engine, found, counted, address, folder)
        known = {sets.attribute: sets.of for sets in counted.sensitive if sets.of is not None}
        yield Original(people, known)


def _people(
    engine: Engine, spec: TableSpec, counted: FrequencySet, address: ReleaseAddress, folder: Path
) -> ShownPopulation:
    """The spec's population by the release's levels, in a file that the audit's engine can read."""
    beside = spec.of_population
    if beside is None:
        raise InputError(
            f"{spec.label} names no population",
            advice="Give [population] with a path, or subset in [source].",
        )
    path = Path(folder, "population.parquet")
    with people_at_levels(engine, beside, counted, _recoding(spec, address)) as shown:
        engine.write_file(shown.unordered(), path, "parquet")
        columns = tuple(column.name for column in shown.columns)
    return ShownPopulation(SourceSpec(path=path, format="parquet"), columns, 0)


def _recoding(spec: TableSpec, address: ReleaseAddress) -> FullDomainRecoding:
    """The levels of a release, by its manifest."""
    if address.path is None:
        raise InputError(f"a population beside {address.label}", allowed="beside a file or a folder")
    names = tuple(attribute.name for attribute in spec.require_quasi_identifiers())
    levels = read_manifest(address).levels
    lacking = [name for name in names if name not in levels]
    if lacking:
        raise InputError(
            f"the manifest of {address.label} tells no level of '{lacking[0]}'",
            allowed="a release by levels, all of which its manifest tells",
        )
    return FullDomainRecoding(names, tuple(levels[name] for name in names), Requirement())
