"""Whether a former run compiled the kernels of local recoding: a marker in the cache folder says so."""

from __future__ import annotations

import contextlib

from discreet.kernels.jit import cache_folder


def is_compiled(part: str) -> bool:
    """Whether a former run compiled this part of the kernels."""
    folder = cache_folder()
    return folder is not None and (folder / f"local-{part}.ready").exists()


def mark_compiled(part: str) -> None:
    """Note that this part of the kernels is compiled."""
    folder = cache_folder()
    if folder is not None:
        with contextlib.suppress(OSError):
            (folder / f"local-{part}.ready").touch()
