"""Kernel code is inlined into the kernels that call it, which are cached and fail like any other."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba")

import discreet.kernels.numba_jit as jit
from discreet.kernels.numba_jit import compiled, compiled_without_refcounts, inlined

SOURCE = """\
def quotient(values, place):
    return values[place] // values[place + 1]


def outer(values, place):
    return quotient(values, place) + 1


def outermost(values, place):
    return outer(values, place) + 1
"""
VALUES = np.array([60, 7, 0])


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., ModuleType]:
    """Return a function that compiles the module of a starting program, one decorator per function."""
    (tmp_path / "dividing.py").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "kept").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(jit, "cache_folder", lambda: tmp_path / "kept")

    def started(**decorators: Any) -> ModuleType:
        monkeypatch.delitem(sys.modules, "dividing", raising=False)
        module = importlib.import_module("dividing")
        for name in ("quotient", "outer", "outermost"):
            setattr(module, name, decorators.get(name, compiled)(getattr(module, name)))
        return module

    return started


@pytest.mark.parametrize("decorator", [compiled, compiled_without_refcounts, inlined])
def test_only_the_outermost_kernel_is_compiled_and_cached(
    kernels: Callable[..., ModuleType], tmp_path: Path, decorator: Any
) -> None:
    module = kernels(quotient=decorator, outer=decorator)
    assert module.outermost(VALUES, 0) == 10
    assert [len(getattr(module, name).overloads) for name in ("quotient", "outer")] == [0, 0]
    assert ["outermost" in path.name for path in (tmp_path / "kept").glob("*.nbc")] == [True]
    again = kernels(quotient=decorator, outer=decorator)
    assert again.outermost(VALUES, 0) == 10
    assert sum(again.outermost.stats.cache_hits.values()) == 1


def test_inner_kernels_can_be_called_from_python(kernels: Callable[..., ModuleType]) -> None:
    module = kernels()
    assert (module.outer(VALUES, 0), module.quotient(VALUES, 0)) == (9, 8)
    assert module.outermost(VALUES.astype(np.int32), 0) == 10


def test_errors_of_inner_kernels_reach_the_caller_compiled_or_cached(
    kernels: Callable[..., ModuleType],
) -> None:
    for _ in range(2):
        module = kernels()
        with pytest.raises(ZeroDivisionError):
            module.outermost(VALUES, 1)
        assert module.outermost(VALUES, 0) == 10
