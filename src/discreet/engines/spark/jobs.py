"""The jobs of one statement, so that another thread can cancel them and nobody else's."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark import SparkContext

_PROPERTIES = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")

_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


class _NotThisThread(logging.Filter):
    """Leaves out what the thread that made it logs."""

    def __init__(self) -> None:
        super().__init__()
        self._thread = threading.get_ident()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether another thread logs."""
        return record.thread != self._thread


@contextmanager
def unlogged() -> Iterator[None]:
    """Keep pyspark from logging the messages of errors, which quote cells."""
    from pyspark.logger import PySparkLogger

    silence = _NotThisThread()
    loggers = [PySparkLogger.getLogger(name) for name in _LOGGERS]
    for logger in loggers:
        logger.addFilter(silence)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(silence)


class JobGroups:
    """A job group of its own for each statement; the calling thread's own group is put back after it."""

    def __init__(self, context: SparkContext) -> None:
        self._context: Any = context
        self._group: str | None = None

    @contextmanager
    def one(self) -> Iterator[None]:
        """Run a statement's jobs as a group, which an interrupt from the keyboard cancels."""
        before = [self._context.getLocalProperty(name) for name in _PROPERTIES]
        group = f"discreet-{secrets.token_hex(8)}"
        self._context.setJobGroup(group, "discreet", interruptOnCancel=True)
        self._group = group
        try:
            with unlogged():
                yield
        except KeyboardInterrupt:
            self.cancel()
            raise
        finally:
            self._group = None
            with suppress(Exception):
                for name, value in zip(_PROPERTIES, before, strict=True):
                    self._context.setLocalProperty(name, value)

    def cancel(self) -> None:
        """Cancel the jobs of the statement that runs, and those that it has not begun."""
        group = self._group
        if group is not None:
            with suppress(Exception):
                self._context._jsc.sc().cancelJobGroupAndFutureJobs(group)
