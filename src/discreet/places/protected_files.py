"""Protected files of a publisher, and the check that no output overlaps one of them.

Every verb that writes calls ``check_outputs`` with its targets before it counts or writes anything.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from discreet.errors import InputError


@dataclass(frozen=True)
class ProtectedFile:
    """A file or folder of the publisher that outputs must not overlap.

    ``name`` is a phrase for messages (``"the key file of 'name'"``). ``written`` marks a file that a run
    itself writes, such as a key file, the ledger or the private log: it must not be one of the other files.
    ``shareable`` marks such a file that several columns may name.
    """

    name: str
    path: Path
    written: bool = False
    shareable: bool = False


@dataclass(frozen=True)
class TargetFile:
    """A file or folder that a verb is about to write; ``name`` is a phrase for messages ("the manifest")."""

    name: str
    path: Path


def check_outputs(targets: Sequence[TargetFile], protected: Sequence[ProtectedFile]) -> None:
    """Check that no target is, contains or is inside a protected file, and that all targets differ.

    Existing files are compared by identity, so links, ``.`` and ``..`` and other capitals are recognized;
    other files are compared by their resolved paths.

    Raises:
        InputError: the target and the file that it would replace.
    """
    for target in targets:
        for file in protected:
            _check_target(target, file)
    for index, target in enumerate(targets):
        for other in targets[:index]:
            if is_same_file(target.path, other.path):
                raise InputError(
                    f"{target.path} is both {other.name} and {target.name}",
                    allowed="a separate file for each",
                    advice="Choose another path for one of them.",
                )
    _check_written_files(protected)


def is_same_file(one: Path, other: Path) -> bool:
    """Return whether two paths lead to the same file, or will once it is written."""
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        pass
    first, second = _resolve(one), _resolve(other)
    if first == second:
        return True
    return _fold_case(first) == _fold_case(second) and _ignores_case(first.parent)


def is_inside(path: Path, folder: Path) -> bool:
    """Return whether a path is inside a folder, which need not exist yet."""
    parents = _resolve(path).parents
    return _resolve(folder) in parents or (folder.is_dir() and any(is_same_file(p, folder) for p in parents))


def _check_target(target: TargetFile, file: ProtectedFile) -> None:
    if is_same_file(target.path, file.path):
        raise InputError(
            f"{target.path} is {file.name}, which {target.name} must never replace",
            advice="Choose another output path.",
        )
    if is_inside(target.path, file.path):
        raise InputError(
            f"{target.path} is inside {file.path}, which is {file.name}", advice="Choose another output path."
        )
    if is_inside(file.path, target.path):
        raise InputError(
            f"{file.name} ({file.path}) is inside {target.path}, which is to become {target.name}",
            allowed="files of the publisher apart from the output",
            advice="Choose another output path, or move the file to another folder.",
        )


def _check_written_files(protected: Sequence[ProtectedFile]) -> None:
    """Check that a file that runs write is not another file of the publisher."""
    for file in (each for each in protected if each.written):
        for other in protected:
            shared = file.shareable and other.shareable
            if other != file and not shared and is_same_file(file.path, other.path):
                raise InputError(
                    f"{file.path} is both {other.name} and {file.name}",
                    allowed="a separate file for each",
                    advice="Name another file for one of them.",
                )


def protected_files(name: str, paths: Iterable[Path | None]) -> tuple[ProtectedFile, ...]:
    """Return protected files with one name; paths that are None are skipped."""
    return tuple(ProtectedFile(name, path) for path in paths if path is not None)


def _resolve(path: Path) -> Path:
    """Return the path without links, ``.`` and ``..``, even if its last parts do not exist."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return path.absolute()


def _fold_case(path: Path) -> str:
    return unicodedata.normalize("NFC", str(path)).casefold()


def _ignores_case(folder: Path) -> bool:
    """Return whether the file system of a folder ignores case, tested on the folder's own name."""
    for each in (folder, *folder.parents):
        swapped = each.with_name(each.name.swapcase()) if each.name else each
        if swapped != each and each.exists():
            try:
                return each.samefile(swapped)
            except OSError:
                return False
    return False
