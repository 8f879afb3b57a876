"""The environment that numba finds when it is loaded."""

from __future__ import annotations

import sys

import pytest

from discreet.kernels.numba_import import without_scipy

PRODUCT = "scipy.linalg.cython_blas"


def test_numba_import_for_kernels_only_finds_no_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("scipy", PRODUCT):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.delenv("DISCREET_NUMBA", raising=False)
    with without_scipy():
        assert PRODUCT not in sys.modules
    monkeypatch.setenv("DISCREET_NUMBA", "kernels")
    with without_scipy(), pytest.raises(ModuleNotFoundError):
        __import__(PRODUCT)
    assert PRODUCT not in sys.modules
