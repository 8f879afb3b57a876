"""Progress on stderr, where stderr is a terminal and the work takes longer than a moment."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer

SECONDS_BEFORE_SHOWN = 1.0


class TerminalReporter:
    """Shows a stage's progress once it has lasted a second; notices are lines of their own."""

    @contextmanager
    def stage(self, title: str) -> Iterator[Callable[[int, int], None]]:
        """A bar that appears late and leaves nothing behind."""
        if not sys.stderr.isatty():
            yield lambda _done, _total: None
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        task = progress.add_task(title, total=None)
        timer = Timer(SECONDS_BEFORE_SHOWN, progress.start)
        timer.daemon = True
        timer.start()
        try:
            yield lambda done, total: progress.update(task, completed=done, total=total)
        finally:
            timer.cancel()
            timer.join()
            progress.stop()

    def notice(self, text: str) -> None:
        """One line on stderr, terminal or not."""
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
