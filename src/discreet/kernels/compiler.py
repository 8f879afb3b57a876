"""Whether kernels can be compiled here: numba has no wheels for every Python and machine."""

from __future__ import annotations

from importlib.util import find_spec


def has_compiler() -> bool:
    """Whether numba is installed; where it is not, the numpy twins compute the same, more slowly."""
    return find_spec("numba") is not None
