"""Choice between compiled kernels and their numpy twins.

One rule (``DISCREET_COMPILE``, compiled markers, amount of work) for nine modules of six rooms. Below 100
lines because it must load without numba and depends on nothing else of the room.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from discreet.kernels.numba_import import has_numba
from discreet.model.request import Backend
from discreet.settings import compile_policy


def choose_kernels(
    parts: Sequence[str],
    work: str,
    *,
    worth: bool,
    evaluator: Backend = Backend.AUTO,
    notice: Callable[[str], None] | None = None,
) -> bool:
    """Return whether to use kernels: on request, if an earlier run compiled all ``parts``, or if worth it.

    ``work`` names the computation in a notice. With ``DISCREET_COMPILE=never`` only requested kernels are
    compiled; with ``wait`` all are.
    """
    if evaluator is Backend.TWIN:
        return False
    if not has_numba():
        if notice is not None:
            notice(f"numba is not installed; using numpy for the {work}, which is much slower")
        return False
    from discreet.kernels.precompilation import is_compiled

    if evaluator is Backend.KERNELS or all(is_compiled(part) for part in parts):
        return True
    policy = compile_policy()
    if policy == "never" or not (worth or policy == "wait"):
        return False
    if notice is not None:
        notice(f"compiling the kernels for the {work} (once, about ten seconds)")
    return True
