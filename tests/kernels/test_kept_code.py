"""Compiled code is cached once for all copies of the program, and found by its types."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba")

import numba

from discreet.kernels.numba_cache import cache_on_disk

SOURCE = """\
import numpy as np


def total(values):
    found = values[0] - values[0]
    for one in values:
        found += one
    return found


def shares(values):
    found = np.zeros(len(values))
    for i in range(len(values)):
        found[i] = 12 / values[i]
    return found
"""
WHOLE, BROKEN = np.array([1, 2, 4]), np.array([0.5, 0.25])


def copy_of(folder: Path, kept: Path, name: str = "total") -> Any:
    """Return a function of a module's copy in a folder, compiled on call and cached."""
    folder.mkdir(exist_ok=True)
    path = folder / "adding.py"
    path.write_text(SOURCE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("adding", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["adding"] = module  # numba looks for it here, as for the modules of a package
    spec.loader.exec_module(module)
    found = numba.njit(getattr(module, name))
    cache_on_disk(found, kept)
    return found


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the imported module of that name."""
    monkeypatch.setitem(sys.modules, "adding", sys)


def found_there(function: Any) -> int:
    """Count the type signatures of a function that came from the cache."""
    return sum(function.stats.cache_hits.values())


def test_another_copy_of_the_program_compiles_nothing(tmp_path: Path) -> None:
    first, other = (copy_of(tmp_path / name, tmp_path / "kept") for name in ("here", "there"))
    assert (first(WHOLE), found_there(first)) == (7, 0)
    assert (other(WHOLE), found_there(other)) == (7, 1)


def test_two_that_compile_at_once_are_given_their_own_code(tmp_path: Path) -> None:
    """Two processes that compile at once get their own code, although the first writes its index last."""
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


CALLS = """\
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numba
import numpy as np

from discreet.kernels.numba_cache import cache_on_disk

spec = spec_from_file_location("adding", sys.argv[1])
sys.modules["adding"] = module = module_from_spec(spec)
spec.loader.exec_module(module)
total = numba.njit(module.total)
cache_on_disk(total, Path(sys.argv[2]))
found = [total(np.array([1, 2, 4])), sum(total.stats.cache_hits.values())]
ready = "numba.experimental.jitclass.base" in sys.modules


@numba.njit
def of_rows(rows):
    sums = np.zeros(len(rows))
    for i in range(len(rows)):
        sums[i] = total(rows[i])
    return sorted(sums)


print(*found, ready, *of_rows(np.array([[3, 4], [1, 2]])))
"""


def test_code_that_is_kept_is_called_without_making_ready_to_compile(tmp_path: Path) -> None:
    """Cached code runs without loading the compiler, and code compiled later in that process calls it."""
    copy_of(tmp_path / "here", tmp_path / "kept")(WHOLE)
    command = [sys.executable, "-c", CALLS, str(tmp_path / "here" / "adding.py"), str(tmp_path / "kept")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["7", "1", "False", "3.0", "7.0"], done.stderr


MAKES_ARRAYS = """\
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numba
import numpy as np

from discreet.kernels.numba_cache import cache_on_disk

spec = spec_from_file_location("adding", sys.argv[1])
sys.modules["adding"] = module = module_from_spec(spec)
spec.loader.exec_module(module)
shares = numba.njit(module.shares)
cache_on_disk(shares, Path(sys.argv[2]))
made = [shares(np.array([1, 2, n])) for n in range(3, 2000)]
found = [len(made), *made[0], sum(shares.stats.cache_hits.values())]
try:
    shares(np.array([2, 0]))
except ZeroDivisionError as error:
    found.append(type(error).__name__)
needless = {"numba.np.arrayobj", "numba.np.arraymath", "numba.cpython.unicode"} & set(sys.modules)
zeros = numba.njit(lambda number: np.zeros(number) + shares(np.array([3])))
print(*found, needless, *zeros(1))
"""


@pytest.mark.parametrize("calls_runtime", [False, True])
def test_code_that_makes_arrays_and_fails_loads_nothing_that_it_was_compiled_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls_runtime: bool
) -> None:
    monkeypatch.setattr("discreet.kernels.numba_cache._calls_runtime", lambda _: calls_runtime)
    copy_of(tmp_path / "here", tmp_path / "kept", "shares")(WHOLE)
    command = [
        sys.executable,
        "-c",
        MAKES_ARRAYS,
        str(tmp_path / "here" / "adding.py"),
        str(tmp_path / "kept"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    words = ["1997", "12.0", "6.0", "4.0", "1", "ZeroDivisionError", "set()", "4.0"]
    assert done.stdout.split() == words, done.stderr
