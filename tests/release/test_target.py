"""Outputs that are not allowed or fail: the kind of error, without leftovers."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from discreet.engines.base import Engine
from discreet.errors import DiscreetError, InputError, LimitReached
from discreet.places.protected_files import ProtectedFile
from discreet.release import release_target
from discreet.release.release_target import build_manifest_path, check_release_target, translate_write_errors
from discreet.settings import Settings
from tests.oracle.patients import patients, publish_patients

Place = Callable[[Path], Path]


def link(kind: Callable[[Path, Path], None], source: str, name: str) -> Place:
    def place(folder: Path) -> Path:
        kind(folder / source, folder / "out" / name)
        return folder / "out" / name

    return place


def existing(folder: Path) -> Path:
    (folder / "out" / "r.csv").write_text("mine")
    return folder / "out" / "r.csv"


def directory(folder: Path) -> Path:
    (folder / "out" / "r.csv").mkdir()
    return folder / "out" / "r.csv"


def below_a_file(folder: Path) -> Path:
    return folder / "patients.csv" / "r.csv"


CASES: dict[str, tuple[Place, bool, str]] = {
    "no format": (lambda folder: folder / "out" / "r", False, "names no format"),
    "another format": (lambda folder: folder / "out" / "r.xlsx", False, "names no format"),
    "no folder": (lambda folder: folder / "nowhere" / "r.csv", False, "does not exist"),
    "a file as folder": (below_a_file, False, "is not a folder"),
    "it exists": (existing, False, "exists"),
    "a folder": (directory, True, "is a folder"),
    "the input": (lambda folder: folder / "patients.csv", True, "is the input"),
    "the input by another way": (lambda folder: folder / "out" / ".." / "patients.csv", True, "is the input"),
    "a symbolic link to the input": (link(os.symlink, "patients.csv", "r.csv"), True, "is the input"),
    "a hard link to the input": (link(os.link, "patients.csv", "r.csv"), True, "is the input"),
    "a hierarchy": (lambda folder: folder / "age.csv", True, "is the hierarchy of 'age'"),
    "a link to a hierarchy": (link(os.symlink, "age.csv", "r.csv"), True, "is the hierarchy of 'age'"),
    "a name that is too long": (
        lambda folder: folder / "out" / ("r" * 250 + ".csv"),
        False,
        "no such file name",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_unfit_output_is_refused_and_changes_no_file(
    case: str, engine: Engine, settings: Settings, tmp_path: Path, out: Path
) -> None:
    place, overwrite, message = CASES[case]
    spec = patients(tmp_path)
    output = place(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(InputError, match=message) as raised:
        publish_patients(engine, settings, spec, output, overwrite=overwrite)
    assert raised.value.exit_status == 2
    assert raised.value.allowed or raised.value.advice
    kept = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert {path: text for path, text in kept.items() if "private" not in path.parts} == before


def test_spec_is_protected(engine: Engine, settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is the spec"):
        check_release_target(
            tmp_path / "discreet.csv",
            overwrite=True,
            protected=[ProtectedFile("the spec", tmp_path / "discreet.csv")],
        )


def test_manifest_must_not_replace_the_input(tmp_path: Path) -> None:
    spec = tmp_path / "r.csv.manifest.json"
    spec.write_text("")
    with pytest.raises(InputError, match="is the input"):
        check_release_target(
            tmp_path / "r.csv", overwrite=False, protected=[ProtectedFile("the input", spec)]
        )
    assert build_manifest_path(tmp_path / "r.csv") == spec


def test_unwritable_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InputError, match="cannot be written to"):
        check_release_target(tmp_path / "r.csv", overwrite=False, protected=[])


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOSPC, LimitReached),
        (errno.EDQUOT, LimitReached),
        (errno.EFBIG, LimitReached),
        (errno.EROFS, InputError),
        (errno.EACCES, InputError),
        (errno.ENAMETOOLONG, InputError),
    ],
)
def test_system_errors_are_translated_by_their_number(
    number: int, kind: type[DiscreetError], tmp_path: Path
) -> None:
    with pytest.raises(kind), translate_write_errors(tmp_path):
        raise OSError(number, os.strerror(number))


def test_full_disk_at_the_manifest_leaves_nothing(
    engine: Engine, settings: Settings, tmp_path: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(release_target.os, "fsync", full)
    with pytest.raises(LimitReached, match="does not fit"):
        publish_patients(engine, settings, patients(tmp_path), out / "r.csv")
    assert list(out.iterdir()) == []


SMALL_FILES = """
import resource, sys
from pathlib import Path
from discreet.engines.connection import connect
from discreet.errors import LimitReached
from discreet.settings import Settings
from tests.oracle.patients import PATIENTS, patients, publish_patients

folder = Path(sys.argv[1])
header, *rows = PATIENTS.splitlines()
spec = patients(folder, "\\n".join([header, *rows * 2000]) + "\\n")
settings = Settings(10**9, 1, folder / "private" / "log.jsonl")
sys.dont_write_bytecode = True  # compiled modules beside the sources would be cut short
with connect(settings) as engine:
    resource.setrlimit(resource.RLIMIT_FSIZE, (65536, resource.RLIM_INFINITY))
    try:
        publish_patients(engine, settings, spec, folder / "out" / sys.argv[2])
    except LimitReached as error:
        sys.exit(error.exit_status)
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="no limit of file sizes here")
def test_limit_of_file_sizes_leaves_nothing(tmp_path: Path, out: Path) -> None:
    """A file-size limit (disk quota, ulimit -f) gives exit status 4 and leaves nothing."""
    root = Path(__file__).resolve().parent.parent.parent
    done = subprocess.run(
        [sys.executable, "-c", SMALL_FILES, str(tmp_path), "r.csv"],
        check=False,
        cwd=root,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, list(out.iterdir())) == (4, []), done.stderr
