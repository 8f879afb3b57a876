"""Paths that lead to the same file, and the refusals that follow."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.errors import InputError
from discreet.places import protected_files
from discreet.places.protected_files import ProtectedFile, TargetFile, check_outputs, is_inside, is_same_file


def test_paths_of_missing_files_are_compared(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "new")
    assert is_same_file(tmp_path / "new", tmp_path / "a" / ".." / "new")
    assert is_same_file(tmp_path / "new", tmp_path / "link")
    assert not is_same_file(tmp_path / "new", tmp_path / "a" / "new")
    assert not is_same_file(Path("\0"), tmp_path / "new")


def test_loop_of_links_is_not_another_file(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert not is_same_file(tmp_path / "loop", tmp_path / "new")


@pytest.mark.parametrize("other", ["KEYS.LIST", "Keys.list", "cafe\N{COMBINING ACUTE ACCENT}"])
def test_file_system_that_ignores_case_has_one_file_per_name(
    tmp_path: Path, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = "caf\N{LATIN SMALL LETTER E WITH ACUTE}" if other.startswith("cafe") else "keys.list"
    monkeypatch.setattr(protected_files, "_ignores_case", lambda _: False)
    assert not is_same_file(tmp_path / one, tmp_path / other)
    monkeypatch.setattr(protected_files, "_ignores_case", lambda _: True)
    assert is_same_file(tmp_path / one, tmp_path / other)


def test_paths_inside_a_folder_are_recognized(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "data")
    assert is_inside(tmp_path / "link" / "r.csv", tmp_path / "data")
    assert is_inside(tmp_path / "new" / "list", tmp_path / "new")
    assert not is_inside(tmp_path / "data", tmp_path / "data")
    assert not is_inside(tmp_path / "data2" / "r.csv", tmp_path / "data")


@pytest.mark.parametrize(
    ("target", "kept", "expected"),
    [
        ("keys", "keys", "keys is the key file of 'name', which a release must never replace"),
        ("data/r.csv", "data", "is inside"),
        ("out", "out/keys", "which is to become a release"),
    ],
)
def test_outputs_over_key_files_are_refused(tmp_path: Path, target: str, kept: str, expected: str) -> None:
    (tmp_path / "data").mkdir()
    targets = [TargetFile("a release", tmp_path / target)]
    with pytest.raises(InputError, match="key file") as raised:
        check_outputs(targets, [ProtectedFile("the key file of 'name'", tmp_path / kept, written=True)])
    assert expected in raised.value.message
    check_outputs(targets, [ProtectedFile("the key file of 'name'", tmp_path / "elsewhere", written=True)])


def test_only_key_files_may_be_shared(tmp_path: Path) -> None:
    keys = [
        ProtectedFile(f"the key file of '{n}'", tmp_path / "keys", written=True, shareable=True) for n in "ab"
    ]
    check_outputs([], keys)
    with pytest.raises(InputError, match="both the input and the key file of 'a'"):
        check_outputs([], [*keys, ProtectedFile("the input", tmp_path / "keys")])
