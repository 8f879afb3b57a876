"""Check whether numba is installed, without importing it.

Every room calls it at start, before choosing between kernel and numpy twin. Hence it is not merged with a
module that imports numba.
"""

from __future__ import annotations

from importlib.util import find_spec


def has_numba() -> bool:
    """Return whether numba is installed; otherwise the numpy twins compute the same, more slowly."""
    return find_spec("numba") is not None
