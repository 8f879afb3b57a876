"""Where a release goes: what an output path may be, and how files are put in place there."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from discreet.engines.files.statistics_kinds import WRITTEN
from discreet.errors import InputError, InternalError, LimitReached
from discreet.model.json_text import json_of
from discreet.places.address import path_of
from discreet.places.kept_files import KeptFile, TargetFile, check_apart

DATABASE, FOLDER = "duckdb", ""
FILES = {".csv": "csv", ".parquet": "parquet"}
"""What may lie beside other files of one release."""
FORMATS = {**FILES, ".sqlite": "sqlite", **{f".{kind}": kind for kind in WRITTEN}}
FOLDER_FORMATS = {FOLDER: "parquet"}
"""A path without an ending is a folder of files, where the engine writes such."""
MANIFEST_SUFFIX = ".manifest.json"
_OF_EVERY_MANIFEST = {"manifest", "discreet", "date", "data", "audit"}
"""Keys by which a manifest is known (``release.manifest``)."""
FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}


@dataclass(frozen=True)
class Target:
    """The path of a release, of its manifest, and the format that the path's ending names.

    ``companions`` are the further files of the release, by their purpose.
    """

    path: Path
    file_format: str
    companions: tuple[tuple[str, Path], ...] = ()

    @property
    def folder(self) -> Path:
        """The folder that holds the release, its manifest and the temporary files."""
        return self.path.parent

    @property
    def is_folder(self) -> bool:
        """Whether the release is a folder of Parquet files."""
        return self.path.suffix == FOLDER

    @property
    def manifest_path(self) -> Path:
        """``PATH.manifest.json``."""
        return manifest_path_of(self.path)

    @property
    def files(self) -> tuple[TargetFile, ...]:
        """Every file of the release, with a phrase for messages."""
        companions = (TargetFile(f"the {purpose} table", path) for purpose, path in self.companions)
        return (
            TargetFile("a release", self.path),
            TargetFile("the manifest of a release", self.manifest_path),
            *companions,
        )


def manifest_path_of(path: Path) -> Path:
    """The manifest that belongs to a release: ``PATH.manifest.json``."""
    return path.with_name(path.name + MANIFEST_SUFFIX)


def companion_path_of(path: Path, purpose: str) -> Path:
    """A further file of a release: ``people.help.csv`` of ``people.csv``."""
    return path.with_name(f"{path.stem}.{purpose}{path.suffix}")


def check_target(
    output: Path,
    *,
    overwrite: bool,
    protected: Sequence[KeptFile],
    formats: Mapping[str, str] = FORMATS,
    purposes: Sequence[str] | Callable[[str], Sequence[str]] = (),
) -> Target:
    """The target of a release, or ``InputError`` where nothing may or can be written there.

    ``protected`` are the publisher's files: neither the release nor its manifest nor a file next to it may be
    one of them, under whatever name. ``formats`` are the endings that may be written, ``purposes``
    those of the files that lie beside the data (``check_free`` looks at these, once leftovers are removed).
    """
    path_of(output, "the path of a release")
    file_format = formats.get(output.suffix.lower())
    if file_format is None:
        raise InputError(
            f"the ending of {output} names no format to write",
            allowed=", ".join(ending or "no ending: a folder" for ending in formats),
        )
    beside = purposes(file_format) if callable(purposes) else purposes
    target = Target(output, file_format, tuple((p, companion_path_of(output, p)) for p in beside))
    with writing(target.folder):
        if not target.folder.is_dir():
            fact = "is not a folder" if target.folder.exists() else "does not exist"
            raise InputError(f"the output folder {target.folder} {fact}", advice="Create it first.")
        check_apart(target.files, protected)
        for path in (file.path for file in target.files):
            own = target.is_folder and path != target.manifest_path and target.manifest_path.exists()
            if path.is_dir() and not own:
                raise InputError(f"{path} is a folder", allowed="the path of a file")
        _check_free(target.path, overwrite=overwrite)
        _check_manifest(target.manifest_path)
        if not os.access(target.folder, os.W_OK | os.X_OK):
            raise _not_writable(target.folder, "permission denied")
    return target


def check_free(target: Target, *, overwrite: bool) -> None:
    """Raise ``InputError`` where a file stands at the target, or beside it, and may not be overwritten."""
    for path in (target.path, *(path for _, path in target.companions)):
        _check_free(path, overwrite=overwrite)
    _check_manifest(target.manifest_path)


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Turn the operating system's refusals into ``LimitReached`` (disk or file size) and ``InputError``."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in FULL:
            raise LimitReached(
                f"the release does not fit into {folder}: {reason}",
                advice="Free space there, or choose a folder on another disk. Nothing was left behind.",
            ) from error
        if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.ENOTDIR}:
            raise _not_writable(folder, reason) from error
        if error.errno in {errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ}:
            raise InputError(
                f"no such file name in {folder}: {reason}", advice="Choose another name."
            ) from error
        raise InternalError(f"writing into {folder} failed: {error}") from error


def _not_writable(folder: Path, reason: str) -> InputError:
    return InputError(
        f"the output folder {folder} cannot be written to: {reason}", advice="Choose a folder of your own."
    )


def _check_manifest(path: Path) -> None:
    """Raise ``InputError`` for a file of somebody else's in the manifest's place, to be overwritten or not.

    A manifest of discreet's goes with its data, and without data it is what a killed run left.
    """
    if not os.path.lexists(path):
        return
    try:
        document = json_of(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        document = None
    if not isinstance(document, dict) or not document.keys() >= _OF_EVERY_MANIFEST:
        raise InputError(
            f"{path} exists and is no manifest of discreet's",
            allowed="nothing there, or the manifest of a release that is replaced",
            advice="Move it away, or choose another output path.",
        )


def _check_free(path: Path, *, overwrite: bool) -> None:
    if os.path.lexists(path) and not overwrite:
        raise InputError(
            f"{path} exists",
            advice="Choose another path, or ask for it to be overwritten (--overwrite).",
        )
