"""Whether numba is installed, and importing it without scipy.

The only module about numba that loads without numba: every room asks it at start, before it decides between
kernel and numpy twin. Hence it stays below 100 lines and merges with nothing that imports numba.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

_SCIPY_MODULES = ("scipy", "scipy.linalg.cython_blas")
"""What numba looks for as it is loaded, to multiply matrices in compiled code, which no kernel does."""
_CONFIG_FILE = Path(".numba_config.yaml")
"""A file of settings, for which it loads yaml whether or not it is there."""


def has_numba() -> bool:
    """Whether numba is installed; where it is not, the numpy twins compute the same, more slowly."""
    return find_spec("numba") is not None


@contextmanager
def without_scipy() -> Iterator[None]:
    """Within, there is no scipy where ``DISCREET_NUMBA=kernels``: with it numba takes twice as long to load.

    The command sets that for itself. Other processes, a notebook say, may have compiled functions of their
    own that multiply matrices. Nor is there yaml, where there are no settings to be read with it.
    """
    alone = os.environ.get("DISCREET_NUMBA") == "kernels"
    needless = _SCIPY_MODULES if _CONFIG_FILE.exists() else (*_SCIPY_MODULES, "yaml")
    hidden = [name for name in needless if alone and name not in sys.modules]
    for name in hidden:
        sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]
