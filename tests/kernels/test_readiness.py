"""Background compilation: the first run answers while another process compiles, once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from discreet.kernels.lattice_rotation_plan import plan_rotation
from discreet.kernels.numba_jit import cache_folder
from discreet.kernels.precompilation import (
    KernelVariant,
    compile_in_background,
    compile_variant,
    is_compiled,
    mark_compiled,
)
from tests.waiting import PATIENCE, wait_for

TABLE = "age,sex,illness\n" + "".join(f"{i % 4},{'mf'[i % 2]},{i % 3}\n" for i in range(24))
SPEC = """
[source]
path = "people.csv"
[attributes.age]
role = "quasi-identifier"
[attributes.sex]
role = "quasi-identifier"
"""


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    cache_folder.cache_clear()
    yield_folder = cache_folder()
    assert yield_folder is not None
    monkeypatch.setattr("discreet.kernels.precompilation.cache_folder", lambda: yield_folder)
    cache_folder.cache_clear()
    return yield_folder


@pytest.mark.parametrize(
    ("words", "counts", "expected"),
    [
        ((), [1, 2], "sizes-32-32"),
        ((1,), [1, 2], "set-32-32"),
        ((2,), [1, 2**32], "pair-32-64"),
        ((1, 1), [1, 2], "sets-32-32"),
        ((5,), [1, 2], "sets-32-32"),
    ],
)
def test_variant_name_parses_to_the_variant(words: tuple[int, ...], counts: list[int], expected: str) -> None:
    maps = [[np.array([0, 1]), np.array([0, 0])]]
    plan = plan_rotation(np.array([[0], [1]]), np.array(counts), maps)
    variant = KernelVariant.of(plan, words)
    assert variant.name == expected
    assert KernelVariant.parse(variant.name) == variant


def test_marked_variant_is_compiled(empty_cache: Path) -> None:
    variant = KernelVariant("sizes", 32, 32)
    assert not is_compiled(variant.name)
    mark_compiled(variant.name)
    assert is_compiled(variant.name)
    assert [p.name for p in empty_cache.iterdir()] == ["sizes-32-32.ready"]


@pytest.mark.slow
@pytest.mark.parametrize("name", [f"{tally}-32-32" for tally in ("sizes", "set", "pair", "sets")])
def test_compiled_variant_is_marked(empty_cache: Path, name: str) -> None:
    compile_variant(KernelVariant.parse(name))
    assert is_compiled(name)


def test_variant_is_compiled_by_one_process_at_a_time(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []

    def note(command: list[str], **_: object) -> subprocess.Popen[bytes]:
        started.append(command)
        return subprocess.Popen([sys.executable, "-c", ""])

    variant = KernelVariant("sizes", 32, 32)
    with monkeypatch.context() as patch:
        children: list[subprocess.Popen[bytes]] = []
        patch.setattr("discreet.kernels.precompilation._COMPILERS", children)
        patch.setattr("discreet.kernels.precompilation.subprocess", _Subprocess(note))
        assert compile_in_background(variant)
        assert not compile_in_background(variant)
        lock = empty_cache / "sizes-32-32.lock"
        os.utime(lock, (0, 0))
        assert compile_in_background(variant)
    assert [command[-1] for command in started] == ["sizes-32-32"] * 2
    for process in children:
        process.wait(timeout=PATIENCE)


class _Subprocess:
    DEVNULL = subprocess.DEVNULL

    def __init__(self, popen: object) -> None:
        self.Popen = popen


@pytest.mark.slow
def test_first_run_uses_numpy_and_the_next_finds_the_kernels(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(TABLE)
    (tmp_path / "discreet.toml").write_text(SPEC)
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        "DISCREET_COMPILE": "background",
        "DISCREET_LOG": str(tmp_path / "log.jsonl"),
    }

    def negotiate() -> subprocess.CompletedProcess[str]:
        script = "import sys; from discreet.cli.main import main; sys.exit(main())"
        return subprocess.run(
            [sys.executable, "-c", script, "negotiate", "discreet.toml", "--k", "2", "--json"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=PATIENCE,
        )

    first = negotiate()
    assert "using numpy while the kernels compile" in first.stderr
    wait_for(lambda: list(tmp_path.glob("cache/*/sizes-32-32.ready")), "the kernels are compiled")
    second = negotiate()
    assert second.stdout == first.stdout
    assert second.stderr == ""
