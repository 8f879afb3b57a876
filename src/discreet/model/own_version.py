"""The version of this program, as its installation tells it."""

from __future__ import annotations

from functools import cache


@cache
def own_version() -> str:
    """The version of discreet, or ``unknown`` where it is not installed.

    Looked up once: an installation's metadata brings the whole README along.
    """
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("discreet")
    except PackageNotFoundError:
        return "unknown"
