"""Target files of a release: allowed paths, protected files, and atomic replacement.

A run writes owner-only temporary files next to the target and holds a lock on its own lock file, so that a
later run can distinguish leftovers of killed runs from files of living ones. The folder is locked while files
are removed or renamed. The manifest is renamed first and the data last, so no data is ever without its
manifest. Files that the spec, the settings and the ledger name are never replaced.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from discreet.engines.files.output_files import WRITABLE_STATISTICS_FORMATS
from discreet.engines.files.parquet_files import folder_digest
from discreet.errors import DiscreetError, InputError, InternalError, LimitReached
from discreet.model.json_documents import parse_json
from discreet.model.release_address import ReleaseAddress
from discreet.model.release_kind import GROUP_RELEASE
from discreet.model.table_spec import SourceSpec, TableSpec
from discreet.places import file_access
from discreet.places.address import parse_path, resolve_address
from discreet.places.file_access import matching_files, read_text
from discreet.places.protected_files import ProtectedFile, TargetFile, check_outputs, protected_files
from discreet.settings import Settings

DATABASE_FORMAT, FOLDER_SUFFIX = "duckdb", ""
PLAIN_FORMATS = {".csv": "csv", ".parquet": "parquet"}
"""Formats of files that may have companion files."""
RELEASE_FORMATS = {
    **PLAIN_FORMATS,
    ".sqlite": "sqlite",
    **{f".{kind}": kind for kind in WRITABLE_STATISTICS_FORMATS},
}
FOLDER_FORMATS = {FOLDER_SUFFIX: "parquet"}
"""Format of a path without a suffix: a folder of files, where the engine writes folders."""
MANIFEST_SUFFIX = ".manifest.json"
_MANIFEST_KEYS = {"manifest", "discreet", "date", "data", "audit"}
"""Keys that identify a manifest (``release.manifest``)."""
DISK_FULL_ERRORS = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}


@dataclass(frozen=True)
class ReleaseTarget:
    """Paths of a release and of its manifest, and the format of the path's suffix.

    ``companions`` are the further files of the release, by their purpose.
    """

    path: Path
    file_format: str
    companions: tuple[tuple[str, Path], ...] = ()

    @property
    def folder(self) -> Path:
        """Folder of the release, its manifest and the temporary files."""
        return self.path.parent

    @property
    def is_folder(self) -> bool:
        """True if the release is a folder of Parquet files."""
        return self.path.suffix == FOLDER_SUFFIX

    @property
    def manifest_path(self) -> Path:
        """Path ``PATH.manifest.json``."""
        return build_manifest_path(self.path)

    @property
    def files(self) -> tuple[TargetFile, ...]:
        """Every file of the release, with a phrase for messages."""
        companions = (TargetFile(f"the {purpose} table", path) for purpose, path in self.companions)
        return (
            TargetFile("a release", self.path),
            TargetFile("the manifest of a release", self.manifest_path),
            *companions,
        )


def build_manifest_path(path: Path) -> Path:
    """Return the path of a release's manifest, ``PATH.manifest.json``."""
    return path.with_name(path.name + MANIFEST_SUFFIX)


def build_companion_path(path: Path, purpose: str) -> Path:
    """Return the path of a further file of a release: ``people.help.csv`` for ``people.csv``."""
    return path.with_name(f"{path.stem}.{purpose}{path.suffix}")


def check_release_target(
    output: Path,
    *,
    overwrite: bool,
    protected: Sequence[ProtectedFile],
    formats: Mapping[str, str] = RELEASE_FORMATS,
    purposes: Sequence[str] | Callable[[str], Sequence[str]] = (),
) -> ReleaseTarget:
    """Return the target of a release; raise ``InputError`` where it may not or cannot be written.

    ``protected`` are the publisher's files: neither the release nor its manifest nor a companion may be one
    of them, under any name. ``formats`` are the allowed suffixes, ``purposes`` those of the data's companions
    (``check_unoccupied`` checks these, after leftovers are removed).
    """
    parse_path(output, "the path of a release")
    file_format = formats.get(output.suffix.lower())
    if file_format is None:
        raise InputError(
            f"the ending of {output} names no format to write",
            allowed=", ".join(ending or "no ending: a folder" for ending in formats),
        )
    companion_purposes = purposes(file_format) if callable(purposes) else purposes
    target = ReleaseTarget(
        output, file_format, tuple((p, build_companion_path(output, p)) for p in companion_purposes)
    )
    with translate_write_errors(target.folder):
        if not target.folder.is_dir():
            fact = "is not a folder" if target.folder.exists() else "does not exist"
            raise InputError(f"the output folder {target.folder} {fact}", advice="Create it first.")
        check_outputs(target.files, protected)
        for path in (file.path for file in target.files):
            own = target.is_folder and path != target.manifest_path and target.manifest_path.exists()
            if path.is_dir() and not own:
                raise InputError(f"{path} is a folder", allowed="the path of a file")
        _check_path_unoccupied(target.path, overwrite=overwrite)
        _check_manifest(target.manifest_path)
        if not os.access(target.folder, os.W_OK | os.X_OK):
            raise _not_writable_error(target.folder, "permission denied")
    return target


def check_unoccupied(target: ReleaseTarget, *, overwrite: bool) -> None:
    """Raise ``InputError`` where a file of the target or a companion exists and may not be overwritten."""
    for path in (target.path, *(path for _, path in target.companions)):
        _check_path_unoccupied(path, overwrite=overwrite)
    _check_manifest(target.manifest_path)


@contextmanager
def translate_write_errors(folder: Path) -> Iterator[None]:
    """Translate errors of the operating system to ``LimitReached`` (disk or file size) and ``InputError``."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in DISK_FULL_ERRORS:
            raise LimitReached(
                f"the release does not fit into {folder}: {reason}",
                advice="Free space there, or choose a folder on another disk. Temporary files were removed.",
            ) from error
        if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.ENOTDIR}:
            raise _not_writable_error(folder, reason) from error
        if error.errno in {errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ}:
            raise InputError(
                f"no such file name in {folder}: {reason}", advice="Choose another name."
            ) from error
        raise InternalError(f"writing into {folder} failed: {error}") from error


def _not_writable_error(folder: Path, reason: str) -> InputError:
    return InputError(
        f"the output folder {folder} cannot be written to: {reason}", advice="Choose a folder of your own."
    )


def _check_manifest(path: Path) -> None:
    """Raise ``InputError`` if another program's file has the manifest's path, with or without overwriting.

    A manifest of discreet belongs to its data; without data it is left over from a killed run.
    """
    if not os.path.lexists(path):
        return
    try:
        document = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        document = None
    if not isinstance(document, dict) or not document.keys() >= _MANIFEST_KEYS:
        raise InputError(
            f"{path} exists and is not a discreet manifest",
            allowed="a new path, or the manifest of the release to overwrite",
            advice="Move it away, or choose another output path.",
        )


def _check_path_unoccupied(path: Path, *, overwrite: bool) -> None:
    if os.path.lexists(path) and not overwrite:
        raise InputError(
            f"{path} exists",
            advice="Choose another path, or overwrite it (--overwrite).",
        )


LEDGER_NAME = "discreet.budget.json"
"""File name of the ledger of the privacy budget."""
_ADDRESS_FILE_OPTIONS = ("passfile", "sslkey", "sslcert", "sslrootcert", "ssl_ca", "servicefile")
_FILE_VARIABLES = ("PGPASSFILE", "PGSERVICEFILE", "PGSSLKEY", "PGSSLCERT", "PGSSLROOTCERT")


def list_protected_files(spec: TableSpec, settings: Settings) -> tuple[ProtectedFile, ...]:
    """Return the files that a spec and its settings name, each with a phrase for messages.

    Raise ``InputError`` for a pattern of input files that matches no file.
    """
    return tuple(_files(spec, settings))


def ledger_path(spec: TableSpec, settings: Settings) -> Path:
    """Return the ledger of a spec's budget: next to the spec, or next to the private log without one."""
    folder = settings.private_log.parent if spec.path is None else spec.path.parent
    return folder / LEDGER_NAME


def list_release_files(release: ReleaseAddress, name: str) -> tuple[ProtectedFile, ...]:
    """Return the files of a release, its manifest and companions; none where it is in a database."""
    path = release.path
    if path is None:
        return ()
    companions = (build_companion_path(path, purpose) for purpose in GROUP_RELEASE.companion_purposes)
    return (
        ProtectedFile(name, path),
        ProtectedFile(f"the manifest of {name}", build_manifest_path(path)),
        *protected_files(f"a companion of {name}", (each for each in companions if each.exists())),
    )


def _files(spec: TableSpec, settings: Settings) -> Iterator[ProtectedFile]:
    yield ProtectedFile("the private log", settings.private_log, written=True)
    yield from _source_files("the input", spec.source)
    if spec.population is not None:
        yield from _source_files("the population", spec.population)
    if spec.path is not None:
        yield ProtectedFile("the spec", spec.path)
    yield ProtectedFile("the ledger of the privacy budget", ledger_path(spec, settings), written=True)
    for attribute in spec.attributes:
        path = getattr(attribute.hierarchy, "path", None)
        if isinstance(path, Path):
            yield ProtectedFile(f"the hierarchy of '{attribute.name}'", path)
    for name, path in list_key_files(spec.source):
        yield ProtectedFile(f"the key file of '{name}'", path, written=True, shareable=True)


def list_key_files(source: SourceSpec) -> Iterator[tuple[str, Path]]:
    """Yield the key files of a source's columns, of identifiers and of shifted dates."""
    for name, way in source.pseudonymizations.items():
        if way.key_file is not None:
            yield name, way.key_file
    for name, shift in source.date_shifts.items():
        yield name, shift.key


def _source_files(name: str, source: SourceSpec) -> Iterator[ProtectedFile]:
    if source.path is not None:
        yield from protected_files(name, matching_files(source.path))
    if source.url is not None:
        yield from protected_files("a file of the database's address", _address_files(source.url))


def _address_files(url: str) -> Iterator[Path]:
    """Yield the password, certificate and service files of a database's address and environment."""
    try:
        query = urlsplit(resolve_address(url)).query
    except (InputError, ValueError):
        return
    options = dict(parse_qsl(query))
    named = [options.get(key) for key in _ADDRESS_FILE_OPTIONS] + [
        os.environ.get(key) for key in _FILE_VARIABLES
    ]
    yield from (Path(text) for text in named if text)
    yield from (path for path in (Path.home() / ".pgpass", Path.home() / ".pg_service.conf") if path.exists())


PURPOSES = ("data", "manifest", "subjects", "help", "sensitive")
_LOCK = "lock"
_WRITE_AHEAD = ".wal"
_ACTIVE: dict[str, StagingFiles] = {}
"""Staging files of this process that are in use, by their tokens."""


class StagingFiles:
    """Temporary files of one run, as a context manager; on exit those not put in place are removed."""

    def __init__(self, target: ReleaseTarget) -> None:
        self._target = target
        self._token = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._lock: int | None = None

    def path(self, purpose: str) -> Path:
        """Return the path of this run's file for one of ``PURPOSES``; its writer creates it owner-only."""
        return self._target.folder / f".{self._target.path.name}.{self._token}.{purpose}.partial"

    def write_text(self, purpose: str, text: str) -> None:
        """Create one of the files with a text, synced to disk on return."""
        with translate_write_errors(self._target.folder):
            descriptor = os.open(self.path(purpose), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())

    def put_in_place(self, *, overwrite: bool) -> None:
        """Rename manifest, companions and data to the target, in this order.

        A manifest is never next to data that is not its own: data to be replaced is removed before its
        manifest and companions. Raise ``InputError`` where the target appeared meanwhile.
        """
        folder = self._target.folder
        with translate_write_errors(folder), hold_folder_lock(folder):
            check_unoccupied(self._target, overwrite=overwrite)
            replaced, placed = list_companions(self._target), list[Path]()
            try:
                # Remove old data first: no data until the last rename is better than data with another
                # manifest.
                if os.path.lexists(self._target.path):
                    remove_path(self._target.path)
                    # Sync before the next step, so that no crash keeps a later step and loses this one.
                    sync_folder(folder)
                for path in replaced:
                    remove_path(path)
                self.path("manifest").replace(self._target.manifest_path)
                sync_folder(folder)
                for purpose, path in self._target.companions:
                    self.path(purpose).replace(path)
                    placed.append(path)
                if placed:
                    sync_folder(folder)
                # Rename the data last, so that a reader who finds it finds all other files.
                self.path("data").replace(self._target.path)
            except BaseException:
                # Without its data no file of the release may remain.
                if not os.path.lexists(self._target.path):
                    for path in (*placed, self._target.manifest_path):
                        remove_path(path)
                raise
            sync_folder(folder)

    def __enter__(self) -> StagingFiles:
        """Create and lock the run's lock file, which also checks that the folder is writable."""
        with translate_write_errors(self._target.folder), hold_folder_lock(self._target.folder):
            _ACTIVE[self._token] = self
            self._lock = os.open(self.path(_LOCK), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            with suppress(OSError):
                # The lock is held until this run ends, in any way.
                file_access.try_lock(self._lock)
        return self

    def __exit__(self, *_error: object) -> None:
        self.remove()
        _ACTIVE.pop(self._token, None)

    def remove(self) -> None:
        """Remove the files that were not put in place, and the lock last."""
        for purpose in PURPOSES:
            remove_path(self.path(purpose))
        data = self.path("data")
        data.with_name(data.name + _WRITE_AHEAD).unlink(missing_ok=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        # Remove the lock last, so that leftovers of a killed run differ from files of a living one.
        self.path(_LOCK).unlink(missing_ok=True)


def remove_staging_files() -> None:
    """Remove the temporary files of this process, for a process that ends at once."""
    for files in tuple(_ACTIVE.values()):
        with suppress(OSError):
            files.remove()


def remove_leftovers(target: ReleaseTarget) -> None:
    """Remove the leftovers of killed runs to the same target.

    These are temporary files, and a manifest without its data, with the companions that it lists.
    """
    name, ending = re.escape(target.path.name), rf"\.partial({re.escape(_WRITE_AHEAD)})?"
    pattern = re.compile(rf"(\.{name}\.\d+-[0-9a-f]{{8}})\.({'|'.join(PURPOSES)}|{_LOCK}){ending}")
    with translate_write_errors(target.folder), hold_folder_lock(target.folder):
        found: dict[str, list[Path]] = {}
        for path in target.folder.iterdir():
            match = pattern.fullmatch(path.name)
            if match:
                found.setdefault(match.group(1), []).append(path)
        for run, paths in found.items():
            if _is_dead(target.folder / f"{run}.{_LOCK}.partial"):
                # Remove the lock file last, so that the next run recognizes the leftovers of a run killed
                # here.
                for path in sorted(paths, key=lambda path: path.name.endswith(f".{_LOCK}.partial")):
                    remove_path(path)
        if not os.path.lexists(target.path):
            for path in (*list_companions(target), target.manifest_path):
                remove_path(path)


@contextmanager
def hold_folder_lock(folder: Path) -> Iterator[None]:
    """Lock a folder against other runs of discreet; continue without a lock where folders have none."""
    if not file_access.LOCKS_AVAILABLE:  # pragma: no cover - Windows
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            file_access.wait_for_lock(descriptor)
        yield
    finally:
        os.close(descriptor)


def remove_path(path: Path) -> None:
    """Remove a file or a folder of files, if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def sync_file(path: Path) -> None:
    """Sync a file's content, or that of a folder's files, to disk."""
    if path.is_dir():
        for part in path.iterdir():
            sync_file(part)
        sync_folder(path)
        return
    # Windows syncs only files that are open for writing.
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Sync the names in a folder to disk."""
    if not file_access.LOCKS_AVAILABLE:  # pragma: no cover - Windows
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _is_dead(lock: Path) -> bool:
    """Return true if the run that created a lock file is dead; a run removes its lock file last."""
    try:
        descriptor = os.open(lock, os.O_RDWR)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        file_access.try_lock(descriptor)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def list_companions(target: ReleaseTarget) -> tuple[Path, ...]:
    """List the companions of the release whose manifest is at a target; none without a manifest.

    They are help tables and tables of sensitive values. A file belongs to a release if the manifest contains
    its name and its digest; a file with only the name belongs to another program and is not touched.
    """
    try:
        document = parse_json(read_text(target.manifest_path, str(target.manifest_path)))
        entries = [(entry["file"], entry["sha256"]) for entry in document["permutation"]["files"].values()]
    except (DiscreetError, OSError, ValueError, KeyError, TypeError, AttributeError):
        return ()
    return tuple(
        target.folder / name
        for name, sha256 in entries
        if isinstance(name, str) and _has_digest(target, name, sha256)
    )


def _has_digest(target: ReleaseTarget, name: str, sha256: object) -> bool:
    path = target.folder / name
    if not name or Path(name).name != name or name == target.path.name:
        return False
    if path.is_dir():
        return target.is_folder and folder_digest(path) == sha256
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == sha256
    except OSError:
        return False
