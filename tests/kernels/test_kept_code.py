"""Compiled code is kept once for all copies of the program, and found by its types whoever wrote it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba")

import numba

from discreet.kernels.kept_code import keep

SOURCE = """\
def total(values):
    found = values[0] - values[0]
    for one in values:
        found += one
    return found
"""
WHOLE, BROKEN = np.array([1, 2, 4]), np.array([0.5, 0.25])


def copy_of(folder: Path, kept: Path) -> Any:
    """The function of a copy of its module in a folder, compiled when it is called, and kept."""
    folder.mkdir(exist_ok=True)
    path = folder / "adding.py"
    path.write_text(SOURCE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("adding", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["adding"] = module  # where numba looks for it, as it does for those of a package
    spec.loader.exec_module(module)
    found = numba.njit(module.total)
    keep(found, kept)
    return found


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """No module of that name is left."""
    monkeypatch.setitem(sys.modules, "adding", sys)


def found_there(function: Any) -> int:
    """How many types of a function were not compiled but found."""
    return sum(function.stats.cache_hits.values())


def test_another_copy_of_the_program_compiles_nothing(tmp_path: Path) -> None:
    first, other = (copy_of(tmp_path / name, tmp_path / "kept") for name in ("here", "there"))
    assert (first(WHOLE), found_there(first)) == (7, 0)
    assert (other(WHOLE), found_there(other)) == (7, 1)


def test_two_that_compile_at_once_are_given_their_own_code(tmp_path: Path) -> None:
    """Each read the index before the other wrote it, and that of the first came last."""
    kept = tmp_path / "kept"
    copy_of(tmp_path / "a", kept)(WHOLE)
    (index,) = kept.glob("*.nbi")
    of_whole = index.read_bytes()
    index.unlink()
    copy_of(tmp_path / "b", kept)(BROKEN)
    index.write_bytes(of_whole)
    last = copy_of(tmp_path / "c", kept)
    assert (last(WHOLE), found_there(last)) == (7, 1)
    assert last(BROKEN) == 0.75
