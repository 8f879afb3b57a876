"""Whether kernels or their twins compute: the one rule for what is compiled while the user waits."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from discreet.kernels.compiler import has_compiler
from discreet.model.evaluator import Evaluator
from discreet.settings import compile_policy


def choose_kernels(
    parts: Sequence[str],
    what: str,
    *,
    worth: bool,
    evaluator: Evaluator = Evaluator.AUTO,
    notice: Callable[[str], None] | None = None,
) -> bool:
    """Whether to use kernels: where asked, where a former run compiled all ``parts``, or where ``worth`` it.

    ``what`` names the work in a notice. ``DISCREET_COMPILE`` = ``never`` compiles nothing that was not asked
    for, ``wait`` everything.
    """
    if evaluator is Evaluator.TWIN:
        return False
    if not has_compiler():
        if notice is not None:
            notice(f"numba is not installed; plain numpy does the {what}, much more slowly")
        return False
    from discreet.kernels.readiness import is_compiled

    if evaluator is Evaluator.KERNELS or all(is_compiled(part) for part in parts):
        return True
    policy = compile_policy()
    if policy == "never" or not (worth or policy == "wait"):
        return False
    if notice is not None:
        notice(f"compiling the kernels of the {what}, once: some ten seconds")
    return True
