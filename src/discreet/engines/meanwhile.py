"""What an engine's session is told for some statements, and told back behind them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from discreet.engines.base import Engine
from discreet.errors import DiscreetError


@contextmanager
def meanwhile(engine: Engine, told: tuple[str, str] | None) -> Iterator[None]:
    """Tell the session the first of two statements, and the second when the context ends; None tells nothing.

    A failure of the second would hide the one that ended the context, after which the session is closed.
    """
    if told is None:
        yield
        return
    begin, end = told
    engine.execute(begin)
    try:
        yield
    finally:
        with suppress(DiscreetError):
            engine.execute(end)
