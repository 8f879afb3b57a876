"""What numba finds as it is loaded."""

from __future__ import annotations

import sys

import pytest

from discreet.kernels.compiler import without_products

PRODUCT = "scipy.linalg.cython_blas"


def test_numba_finds_no_scipy_where_it_compiles_kernels_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("scipy", PRODUCT):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.delenv("DISCREET_NUMBA", raising=False)
    with without_products():
        assert PRODUCT not in sys.modules
    monkeypatch.setenv("DISCREET_NUMBA", "kernels")
    with without_products(), pytest.raises(ModuleNotFoundError):
        __import__(PRODUCT)
    assert PRODUCT not in sys.modules
