"""Which columns of a release an attacker is taken to know, and which are sought: the manifest's, or given."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from discreet.attacks.published import PublishedColumns
from discreet.engines.base import Engine
from discreet.errors import InputError
from discreet.model.permuted_release import SENSITIVE, PermutationFacts
from discreet.model.release_address import ReleaseAddress
from discreet.model.table_spec import AttributeRole, TableSpec
from discreet.release.manifest import Manifest, has_manifest, read_manifest


def manifest_of(address: Path | ReleaseAddress, engine: Engine | None = None) -> Manifest | None:
    """The manifest beside a release; None where there is none.

    ``engine`` is needed where the release is a table of a database.
    """
    return read_manifest(address, engine) if has_manifest(address, engine) else None


def columns_of(
    address: Path | ReleaseAddress,
    manifest: Manifest | None,
    spec: TableSpec | None,
    quasi_identifiers: Sequence[str] | None,
    sensitive: Sequence[str] | None,
) -> PublishedColumns:
    """The columns that are given, else the manifest's, else the spec's; ``InputError`` where none are."""
    if manifest is not None:
        published = [(a.name, a.role) for a in manifest.attributes if a.published]
        keys = [name for name, role in published if role == AttributeRole.QUASI_IDENTIFIER]
        values = [name for name, role in published if role == AttributeRole.SENSITIVE]
    elif spec is not None:
        keys, values = [a.name for a in spec.quasi_identifiers], [a.name for a in spec.sensitive]
    elif quasi_identifiers:
        keys, values = [], []
    else:
        raise InputError(
            f"{ReleaseAddress.of(address).label} has no manifest, and no quasi-identifier was named",
            advice="Name the columns that an attacker may know, each by --quasi-identifier COLUMN.",
        )
    if manifest is not None and manifest.permutation is not None:
        return _permuted(ReleaseAddress.of(address), manifest.permutation, quasi_identifiers or keys)
    return PublishedColumns(
        quasi_identifiers=tuple(quasi_identifiers or keys),
        sensitive=tuple(values if sensitive is None else sensitive),
        starred=manifest is None or manifest.stars_rows,
    )


def _permuted(
    place: ReleaseAddress, facts: PermutationFacts, quasi_identifiers: Sequence[str]
) -> PublishedColumns:
    """The columns of a permuted release: its quasi-identifiers, its groups, the one permuted attribute."""
    apart = facts.files.get(SENSITIVE)
    lies = place if apart is None else place.part(SENSITIVE, apart.file)
    return PublishedColumns(
        quasi_identifiers=tuple(quasi_identifiers),
        sensitive=(facts.sensitive,),
        starred=False,
        group=facts.group_column,
        values_source=None if apart is None else lies.source(table=apart.table),
        table=None if place.in_database else facts.table,
    )


def exact_columns(manifest: Manifest | None) -> frozenset[str]:
    """The quasi-identifiers that a release shows as they are, as its manifest says."""
    if manifest is None or not manifest.has_levels:
        return frozenset()
    return frozenset(name for name, level in manifest.levels.items() if level == 0)
