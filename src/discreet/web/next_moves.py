"""What the next move of an l slider will ask, counted while the publisher looks at the last answer.

Moves of k and of the limit are looked up in a table that is made once for the other thresholds. A move of l
needs another such table, for which all histograms are gone through: 20 to 40 ms on Adult, where two frames
are 33. So the tables one step up and down are made once an answer is sent; an answer never waits for them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from starlette.concurrency import run_in_threadpool

from discreet.screens.lattice_view import LatticeView
from discreet.web.requests import RequestBody


def near(body: RequestBody) -> Iterator[RequestBody]:
    """The requests that a move of one l slider leads to, the stricter ones first."""
    if isinstance(body.l, int):
        steps: list[Any] = [body.l + 1, body.l - 1]
    else:
        asked = body.l or {}
        steps = [{**asked, name: least + by} for by in (1, -1) for name, least in asked.items()]
    for step in steps:
        if min(step.values() if isinstance(step, dict) else (step,)) >= 1:
            yield body.model_copy(update={"l": step})


def count_near(view: LatticeView, body: RequestBody) -> None:
    """Make a whole lattice's tables for the requests near this one; a partial one is left alone."""
    if not view.is_partial:
        for request in near(body):
            view.suppression(request.request().requirement)


@dataclass
class NextMoves:
    """One connection's counting ahead: one at a time, and not again where l is as it was."""

    _last: Any = None
    _task: asyncio.Task[None] | None = field(default=None, repr=False)

    def begin(self, view: LatticeView, body: RequestBody) -> None:
        """Count ahead in a thread, unless that is under way or was done for this l."""
        key = (id(view), repr(body.l), body.criteria)
        if body.l is None or key == self._last or (self._task is not None and not self._task.done()):
            return
        self._last = key
        self._task = asyncio.create_task(run_in_threadpool(count_near, view, body))

    async def end(self) -> None:
        """Wait for what is under way."""
        if self._task is not None:
            await self._task
