"""How long work is told of: the library reports to whoever listens, and by default nobody does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

Advance = Callable[[int, int], None]
"""Called with the steps done and the steps in all."""


class Reporter(Protocol):
    """A listener: stages of work, and single lines of notice."""

    def stage(self, title: str) -> AbstractContextManager[Advance]:
        """Work that may take long; its length is known once ``Advance`` is called."""

    def notice(self, text: str) -> None:
        """One line that the user should see."""


class SilentReporter:
    """A listener that says nothing."""

    def __repr__(self) -> str:
        """As help shows what is left out."""
        return "SILENT"

    @contextmanager
    def stage(self, title: str) -> Iterator[Advance]:  # noqa: ARG002
        """Nothing is shown."""
        yield lambda _done, _total: None

    def notice(self, text: str) -> None:
        """Nothing is shown."""


SILENT = SilentReporter()
