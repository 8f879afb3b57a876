"""Whether Mondrian's kernels were compiled by a former run; a marker in the cache folder says so."""

from __future__ import annotations

import contextlib

from discreet.kernels.jit import cache_folder


def is_compiled(part: str) -> bool:
    """Whether a former run compiled the kernel of strict or of relaxed Mondrian."""
    folder = cache_folder()
    return folder is not None and (folder / f"mondrian-{part}.ready").exists()


def mark_compiled(part: str) -> None:
    """Note that a kernel is compiled."""
    folder = cache_folder()
    if folder is not None:
        with contextlib.suppress(OSError):
            (folder / f"mondrian-{part}.ready").touch()
