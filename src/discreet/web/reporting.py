"""Whom a cached table reports to: whichever job runs in the current thread, else nobody."""

from __future__ import annotations

from contextlib import AbstractContextManager
from contextvars import ContextVar

from discreet.verbs.reporting import SILENT, Advance, Reporter

REPORTER: ContextVar[Reporter] = ContextVar("discreet_reporter", default=SILENT)


class CurrentReporter:
    """A listener that passes everything on to the reporter of the current context."""

    def stage(self, title: str) -> AbstractContextManager[Advance]:
        """A stage of the current job."""
        return REPORTER.get().stage(title)

    def notice(self, text: str) -> None:
        """A notice of the current job."""
        REPORTER.get().notice(text)
