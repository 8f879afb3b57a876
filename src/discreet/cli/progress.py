"""Progress on stderr, where stderr is a terminal and the work takes longer than a moment."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Timer

from discreet.cli.output import is_quiet

SECONDS_BEFORE_SHOWN = 1.0


class TerminalReporter:
    """Shows a stage's progress once it has lasted a second; notices are lines of their own."""

    def __init__(self) -> None:
        self._print: Callable[[str], None] = _print_line

    @contextmanager
    def stage(self, title: str) -> Iterator[Callable[[int, int], None]]:
        """A bar that appears late and leaves nothing behind."""
        if is_quiet() or not sys.stderr.isatty():
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
        self._print = partial(progress.console.print, markup=False, highlight=False)
        try:
            yield lambda done, total: progress.update(task, completed=done, total=total)
        finally:
            self._print = _print_line
            timer.cancel()
            timer.join()
            progress.stop()

    def notice(self, text: str) -> None:
        """One line on stderr, terminal or not."""
        if not is_quiet():
            self._print(text)


def _print_line(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
