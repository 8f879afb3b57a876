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


def test_cached_code_serves_another_copy_of_the_program(tmp_path: Path) -> None:
    first, other = (copy_of(tmp_path / name, tmp_path / "kept") for name in ("here", "there"))
    assert (first(WHOLE), found_there(first)) == (7, 0)
    assert (other(WHOLE), found_there(other)) == (7, 1)


def test_processes_that_compile_at_once_get_their_own_code(tmp_path: Path) -> None:
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


SCRIPT = """\
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numba
import numpy as np

from discreet.kernels.numba_cache import cache_on_disk

spec = spec_from_file_location("adding", sys.argv[1])
sys.modules["adding"] = module = module_from_spec(spec)
spec.loader.exec_module(module)
kernel = numba.njit(getattr(module, sys.argv[3]))
cache_on_disk(kernel, Path(sys.argv[2]))
"""
CALLS = """
found = [kernel(np.array([1, 2, 4])), sum(kernel.stats.cache_hits.values())]
ready = "numba.experimental.jitclass.base" in sys.modules


@numba.njit
def of_rows(rows):
    sums = np.zeros(len(rows))
    for i in range(len(rows)):
        sums[i] = kernel(rows[i])
    return sorted(sums)


print(*found, ready, *of_rows(np.array([[3, 4], [1, 2]])))
"""
MAKES_ARRAYS = """
made = [kernel(np.array([1, 2, n])) for n in range(3, 2000)]
found = [len(made), *made[0], sum(kernel.stats.cache_hits.values())]
try:
    kernel(np.array([2, 0]))
except ZeroDivisionError as error:
    found.append(type(error).__name__)
needless = {"numba.np.arrayobj", "numba.np.arraymath", "numba.cpython.unicode"} & set(sys.modules)
zeros = numba.njit(lambda number: np.zeros(number) + kernel(np.array([3])))
print(*found, needless, *zeros(1))
"""
ARRAYS_PRINTED = "1997 12.0 6.0 4.0 1 ZeroDivisionError set() 4.0"
CASES = {
    "runs without preparing the compiler": ("total", CALLS, False, "7 1 False 3.0 7.0"),
    "makes arrays and fails": (
        "shares",
        MAKES_ARRAYS,
        False,
        ARRAYS_PRINTED,
    ),
    "calls the runtime": ("shares", MAKES_ARRAYS, True, ARRAYS_PRINTED),
}


@pytest.mark.parametrize("case", CASES)
def test_cached_code_in_a_fresh_process_runs_as_compiled_code(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, script, calls_runtime, printed = CASES[case]
    monkeypatch.setattr("discreet.kernels.numba_cache._calls_runtime", lambda _: calls_runtime)
    copy_of(tmp_path / "here", tmp_path / "kept", name)(WHOLE)
    command = [sys.executable, "-c", SCRIPT + script, str(tmp_path / "here" / "adding.py")]
    done = subprocess.run(
        [*command, str(tmp_path / "kept"), name], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == printed.split(), done.stderr
