"""Check the outputs of a verb against the publisher's files before any row is read.

Separate from ``locations``, since it imports the spec loader.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from discreet.engines.process_resources import is_standard_input
from discreet.errors import InputError
from discreet.model.release_address import ReleaseAddress
from discreet.model.release_kind import CLASS_RELEASE, ReleaseKind
from discreet.model.table_spec import TableSpec
from discreet.places.protected_files import ProtectedFile, TargetFile, check_outputs
from discreet.release.release_target import (
    ReleaseTarget,
    build_companion_path,
    list_protected_files,
    list_release_files,
)
from discreet.settings import Settings
from discreet.spec.spec_reader import load_spec
from discreet.verbs.locations import PublishTarget, address_of

_EARLIER_RELEASE = "an earlier release"


def check_release_files(
    spec: TableSpec,
    settings: Settings,
    target: PublishTarget,
    *,
    kind: ReleaseKind = CLASS_RELEASE,
    further: Sequence[TargetFile] = (),
    protected: Sequence[ProtectedFile] = (),
) -> None:
    """Raise ``InputError`` if a release would replace a file of the publisher.

    ``target`` also names the earlier releases and other files that must not be replaced. ``kind``
    determines the companion files of the release. ``further`` are other outputs of the verb,
    such as a lock; ``protected`` are files of the verb's options.
    """
    targets: list[TargetFile] = list(further)
    address = ReleaseAddress.of(target.output)
    if address.path is not None and not address.in_memory:
        companions = tuple(
            (purpose, build_companion_path(address.path, purpose)) for purpose in kind.companion_purposes
        )
        targets += ReleaseTarget(address.path, "", companions).files
    earlier = (
        file
        for each in target.previous_releases
        for file in list_release_files(address_of(each), _EARLIER_RELEASE)
    )
    check_outputs(targets, (*list_protected_files(spec, settings), *target.protected, *earlier, *protected))


def list_spec_files(spec: object, settings: Settings) -> tuple[ProtectedFile, ...]:
    """Return the files that a spec (a value or a path) names; none for any other value.

    A spec that cannot be read counts as one file: the verb that reads it reports the error.
    """
    if isinstance(spec, TableSpec):
        return list_protected_files(spec, settings)
    if not isinstance(spec, str | Path):
        return ()
    path = Path(spec)
    try:
        return list_protected_files(load_spec(path, settings), settings)
    except InputError:
        return (ProtectedFile("the spec", path),)


def list_option_files(options: Mapping[str, object]) -> tuple[ProtectedFile, ...]:
    """Return the files that options name, each by its option's name."""
    found = []
    for name, value in options.items():
        values = value if isinstance(value, list | tuple) else (value,)
        paths = (Path(each) for each in values if isinstance(each, str | Path) and each)
        found += [ProtectedFile(f"the file of '{name}'", path) for path in paths if path.is_file()]
    return tuple(found)


def collect_release_files(releases: Iterable[object], name: str) -> tuple[ProtectedFile, ...]:
    """Return the files of releases and their manifests; values that are not addresses have none."""
    found: list[ProtectedFile] = []
    for each in releases:
        if not isinstance(each, str | Path | ReleaseAddress):
            continue  # a table in memory
        try:
            address = address_of(each)
        except InputError:
            continue
        if not is_standard_input(address.path):
            found += list_release_files(address, name)
    return tuple(found)
