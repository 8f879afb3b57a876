"""``discreet.apply``: the recoding that a release's manifest records, applied to other rows of the same kind.

A full-domain recoding is its levels and its hierarchies. The manifest has the levels, and of hierarchies that
were there before the data the digest, or the form of the labels that a rule builds; the spec has the
hierarchies. So it is known whether new rows would be shown in the words of the release, and where it is not,
nothing is applied. Other recodings are made of the rows that they were searched for, and are recorded
nowhere: bounds of classes may be values of single persons.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.audit.required import required_by
from discreet.errors import InputError
from discreet.model.request import Request
from discreet.model.table_spec import Attribute, TableSpec
from discreet.places.address import path_of
from discreet.release.evidence import form_of, public_digest
from discreet.release.kept_files import kept_files, kept_release
from discreet.release.manifest import Manifest, ManifestAttribute
from discreet.settings import Settings
from discreet.spec.load import load_spec
from discreet.verbs.addresses import Place, ReleasePlace, address_of
from discreet.verbs.opened_table import OpenedTable
from discreet.verbs.publishing import check_target, publish_levels
from discreet.verbs.releases import manifest_beside
from discreet.verbs.reporting import SILENT, Reporter

if TYPE_CHECKING:
    from discreet.model.hierarchy import GeneralizationHierarchy
    from discreet.results.publication import ReleaseResult

_QUASI_IDENTIFIER = "quasi-identifier"


def apply(
    release: ReleasePlace,
    data: str | Path,
    output: str | Path,
    *,
    spec: str | Path | TableSpec,
    max_suppressed: str | int | None = None,
    overwrite: bool = False,
    settings: Settings | None = None,
    reporter: Reporter = SILENT,
) -> ReleaseResult:
    """Publish other rows at the levels of a release, for what it had to meet, and audit them afresh.

    ``data`` is a file that is read as the source of ``spec`` is, the publisher's, whose hierarchies are used.
    Classes of the new rows alone are judged: those that fail are suppressed, at most ``max_suppressed`` rows
    (the spec's, else none).

    ``InputError`` where the manifest does not record the recoding (another model than full-domain, levels or
    labels that came from the data), where the spec's hierarchies are not those of the release, and for a
    value without a leaf; else as ``Table.publish`` raises.
    """
    limits = settings or Settings.from_environment()
    address = address_of(release)
    manifest = manifest_beside(address, limits)
    if manifest is None:
        raise InputError(f"{address.label} has no manifest: what was done is recorded nowhere else")
    known = spec if isinstance(spec, TableSpec) else load_spec(path_of(spec, "the path of a spec"), limits)
    levels = recorded_levels(manifest, address.label, known)
    table = OpenedTable(_with_data(known, path_of(data)), limits, reporter)
    kept = (*kept_files(known, limits), *kept_release(address, "the release that is applied"))
    place = Place(path_of(output, "the path of the output"), manifest.suppression, overwrite, kept=kept)
    check_target(table, place)
    requirement = required_by(manifest.as_json())
    built = table.counted_for(requirement).hierarchies
    _require_the_same(manifest, known, {hierarchy.attribute: hierarchy for hierarchy in built})
    asked = next((given for given in (max_suppressed, known.request.max_suppressed) if given is not None), 0)
    request = Request.of(max_suppressed=asked, criteria=requirement.criteria)
    return publish_levels(table, levels, request, place)


def recorded_levels(manifest: Manifest, label: str, spec: TableSpec) -> dict[str, int]:
    """The level of each quasi-identifier; ``InputError`` where they are not recorded or not the spec's."""
    if manifest.kind.permuted:
        raise InputError(f"{label} permutes values within groups of its own rows: there is no recoding in it")
    if not manifest.has_levels:
        raise InputError(
            f"the {manifest.model} recoding of {label} is not recorded: bounds of its classes were found in "
            "its rows, and a manifest has no value of them",
            allowed="a release by levels (full-domain)",
            advice="Publish the new rows by themselves.",
        )
    listed = [a for a in manifest.attributes if a.published and a.role == _QUASI_IDENTIFIER]
    mine = [attribute.name for attribute in spec.quasi_identifiers]
    if sorted(mine) != sorted(entry.name for entry in listed):
        raise InputError(
            f"{spec.label} has other quasi-identifiers than {label}",
            allowed=", ".join(entry.name for entry in listed),
        )
    found = {}
    for entry in listed:
        if entry.level is None or _is_from_data(entry):
            raise InputError(
                f"the values that {label} shows of '{entry.name}' came from its data, and are not recorded",
                advice="Give the column a hierarchy that is there before the data, and publish both with it.",
            )
        found[entry.name] = entry.level
    return found


def _is_from_data(entry: ManifestAttribute) -> bool:
    """Whether the release shows generalized values that its data made."""
    return bool(entry.hierarchy_from_data) and entry.level not in (0, entry.height)


def _with_data(spec: TableSpec, data: Path) -> TableSpec:
    """The spec with other rows: a file, read as the spec's file is."""
    if spec.source.path is None or spec.source.table is not None:
        raise InputError(
            f"the source of {spec.label} is no file: how the new one is read is not said",
            allowed="a spec whose source is a file",
        )
    same = spec.source.path.suffix == data.suffix
    form = spec.source.format if same else None
    return replace(
        spec, source=replace(spec.source, path=data, format=form, data=None, version=None, subset=None)
    )


def _require_the_same(
    manifest: Manifest, spec: TableSpec, built: Mapping[str, GeneralizationHierarchy]
) -> None:
    """Raise ``InputError`` where a hierarchy is not the one that the release was made with."""
    entries = {entry.name: entry for entry in manifest.attributes}
    for attribute in spec.quasi_identifiers:
        entry, hierarchy = entries[attribute.name], built[attribute.name]
        if entry.level != 0 and not _is_the_same(entry, attribute, hierarchy):
            raise InputError(
                f"the hierarchy of '{attribute.name}' is not the one that the release was made with",
                advice="Name the spec, with its hierarchies, as it was then.",
            )


def _is_the_same(entry: ManifestAttribute, attribute: Attribute, hierarchy: GeneralizationHierarchy) -> bool:
    """By its digest where the manifest has it, else by its height and the form of its labels."""
    if entry.hierarchy_sha256 is not None:
        return public_digest(attribute.hierarchy, hierarchy) == entry.hierarchy_sha256
    return hierarchy.height == entry.height and form_of(attribute.hierarchy) == entry.label_form
