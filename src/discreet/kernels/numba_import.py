"""Check whether numba is installed, and import it without scipy.

The only module about numba that loads without numba: every room calls it at start, before choosing between
kernel and numpy twin. Hence it stays below 100 lines and is not merged with a module that imports numba.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

_SCIPY_MODULES = ("scipy", "scipy.linalg.cython_blas")
"""Modules that numba looks for when it is imported, to multiply matrices in compiled code; no kernel does."""
_CONFIG_FILE = Path(".numba_config.yaml")
"""Settings file of numba; numba imports yaml for it even if it does not exist."""


def has_numba() -> bool:
    """Return whether numba is installed; otherwise the numpy twins compute the same, more slowly."""
    return find_spec("numba") is not None


@contextmanager
def without_scipy() -> Iterator[None]:
    """Hide scipy while numba is imported, if ``DISCREET_NUMBA=kernels``: scipy doubles the import time.

    The command line sets that variable for itself. Other processes, such as a notebook, may have their own
    compiled functions that multiply matrices. Also hides yaml unless numba's settings file exists.
    """
    kernels_only = os.environ.get("DISCREET_NUMBA") == "kernels"
    needless = _SCIPY_MODULES if _CONFIG_FILE.exists() else (*_SCIPY_MODULES, "yaml")
    hidden = [name for name in needless if kernels_only and name not in sys.modules]
    for name in hidden:
        # None in ``sys.modules`` makes an import fail at once, as if the module were not installed.
        sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]
