"""The check of a verb's outputs against the publisher's files, before any row is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from discreet.engines.standard_input import is_standard_input
from discreet.errors import InputError
from discreet.model.release_address import ReleaseAddress
from discreet.model.table_spec import TableSpec
from discreet.places.kept_files import KeptFile, TargetFile, check_apart
from discreet.release.kept_files import COMPANIONS, kept_files, kept_release
from discreet.release.target import Target, companion_path_of
from discreet.settings import Settings
from discreet.spec.load import load_spec
from discreet.verbs.addresses import Place, address_of

EARLIER = "an earlier release"


def check_release(
    spec: TableSpec,
    settings: Settings,
    place: Place,
    *,
    permuted: bool = False,
    further: Sequence[TargetFile] = (),
    kept: Sequence[KeptFile] = (),
) -> None:
    """Check the files of a release that is to be published against the publisher's.

    Args:
        place: where the release goes, and the earlier releases and other files that it must leave alone.
        permuted: whether help tables and tables of sensitive values belong to it.
        further: what else the verb writes, such as a lock.
        kept: files of the verb's options.

    Raises:
        InputError: a file that the release would replace.
    """
    targets: list[TargetFile] = list(further)
    address = ReleaseAddress.of(place.output)
    if address.path is not None and not address.held:
        purposes = COMPANIONS if permuted else ()
        companions = tuple((purpose, companion_path_of(address.path, purpose)) for purpose in purposes)
        targets += Target(address.path, "", companions).files
    earlier = (file for each in place.after for file in kept_release(address_of(each), EARLIER))
    check_apart(targets, (*kept_files(spec, settings), *place.kept, *earlier, *kept))


def kept_by_spec(spec: object, settings: Settings) -> tuple[KeptFile, ...]:
    """Return the files that a spec names, given as a value or a path; none of any other value.

    A spec that cannot be read names none here: the verb that reads it reports the error.
    """
    if isinstance(spec, TableSpec):
        return kept_files(spec, settings)
    if not isinstance(spec, str | Path):
        return ()
    path = Path(spec)
    try:
        return kept_files(load_spec(path, settings), settings)
    except InputError:
        return (KeptFile("the spec", path),)


def kept_options(options: Mapping[str, object]) -> tuple[KeptFile, ...]:
    """Return the files that options name, each by its option's name."""
    found = []
    for name, value in options.items():
        values = value if isinstance(value, list | tuple) else (value,)
        paths = (Path(each) for each in values if isinstance(each, str | Path) and each)
        found += [KeptFile(f"the file of '{name}'", path) for path in paths if path.is_file()]
    return tuple(found)


def kept_releases(releases: Iterable[object], name: str) -> tuple[KeptFile, ...]:
    """Return the files of releases and their manifests; none of what is no release's address."""
    found: list[KeptFile] = []
    for each in releases:
        if not isinstance(each, str | Path | ReleaseAddress):
            continue  # a table in memory
        try:
            address = address_of(each)
        except InputError:
            continue
        if not is_standard_input(address.path):
            found += kept_release(address, name)
    return tuple(found)
