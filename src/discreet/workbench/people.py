"""The people beside a release that is audited: the population of a spec, by the release's own levels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.audit.population import ShownPopulation
from discreet.engines.connect import connect
from discreet.engines.temporary_folder import TemporaryFolder
from discreet.errors import InputError
from discreet.frequency.count import count_frequency_set
from discreet.model.criteria.registry import CRITERIA, criteria_from
from discreet.model.recoding import FullDomainRecoding
from discreet.model.release_address import ReleaseAddress
from discreet.model.requirement import Requirement
from discreet.model.table_spec import SourceSpec, TableSpec
from discreet.places.address import path_of
from discreet.release.manifest import Manifest, read_manifest
from discreet.release.population import people_at_levels
from discreet.settings import Settings
from discreet.spec.load import load_spec


@contextmanager
def people_beside(
    spec: str | Path | TableSpec | None, address: ReleaseAddress, settings: Settings
) -> Iterator[ShownPopulation | None]:
    """The population that a spec names as a release shows it, for as long as the context lasts.

    None without a spec. Levels are those of the release's manifest; what was suppressed is not told here.
    ``InputError`` for a spec that names no population, a release in a database, and one whose manifest does
    not tell every level.
    """
    if spec is None:
        yield None
        return
    found = spec if isinstance(spec, TableSpec) else load_spec(path_of(spec, "the path of a spec"))
    beside = found.of_population
    if beside is None:
        raise InputError(
            f"{found.label} names no population",
            advice="Give [population] with a path, or subset in [source].",
        )
    recoding = _recoding(found, address)
    with TemporaryFolder() as folder, connect(settings, found.source) as engine:
        counted = count_frequency_set(engine, found, settings, ())
        path = Path(folder, "population.parquet")
        with people_at_levels(engine, beside, counted, recoding) as shown:
            engine.write_file(shown.unordered(), path, "parquet")
            columns = tuple(column.name for column in shown.columns)
        yield ShownPopulation(SourceSpec(path=path, format="parquet"), columns, 0)


def people_asked(manifest: Manifest, spec: TableSpec | None) -> TableSpec | None:
    """The spec itself where it names the population that a release's requirement asks of; else None."""
    asked = {name: value for name, value in manifest.requirement.items() if name in CRITERIA and value}
    if spec is None or spec.population is None or manifest.table is not None:
        return None
    return spec if any(criterion.of_population for criterion in criteria_from(asked)) else None


def people_of_release(address: ReleaseAddress, spec: TableSpec) -> TableSpec | None:
    """The same of a release that lies in files; ``InputError`` where it has no manifest."""
    return people_asked(read_manifest(address), spec)


def _recoding(spec: TableSpec, address: ReleaseAddress) -> FullDomainRecoding:
    """The levels of a release, by its manifest."""
    if address.path is None:
        raise InputError("a population beside a release in a database", allowed="beside a file or a folder")
    names = tuple(attribute.name for attribute in spec.require_quasi_identifiers())
    levels = read_manifest(address).levels
    lacking = [name for name in names if name not in levels]
    if lacking:
        raise InputError(
            f"the manifest of {address.label} tells no level of '{lacking[0]}'",
            allowed="a release by levels, all of which its manifest tells",
        )
    return FullDomainRecoding(names, tuple(levels[name] for name in names), Requirement())
