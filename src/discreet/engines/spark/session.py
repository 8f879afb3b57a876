"""Spark sessions: the caller's or a new one, the separate session for SQL, and cancellable job groups.

A given session is never changed or stopped. Each statement runs in its own job group, so that another thread
can cancel only that statement.
"""

from __future__ import annotations

import logging
import os
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.engines.spark import failures as spark_failures
from discreet.engines.spark.startup import (
    close_gateway,
    is_local,
    quiet_imports,
    remove_folders,
    start_session,
)
from discreet.errors import InputError
from discreet.settings import Settings

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession


_OWN_SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.legacy.consecutiveStringLiterals.enabled": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.parquet.compression.codec": "snappy",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.binaryAsString": "false",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # No additional file that only marks success.
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
    # If a stage is repeated with other random keys, every later stage is repeated as well.
    "spark.sql.shuffle.orderIndependentChecksum.enabled": "true",
    "spark.sql.shuffle.orderIndependentChecksum.enableFullRetryOnMismatch": "true",
}


_BROADCAST = "spark.sql.autoBroadcastJoinThreshold"
_LEAST_BROADCAST, _MOST_BROADCAST = 10 * 2**20, 64 * 2**20


@dataclass(frozen=True)
class SparkSessions:
    """Session with the publisher's names (``user_session``, or a new one), and a separate one for SQL."""

    user_session: SparkSession
    own: SparkSession

    @property
    def is_local(self) -> bool:
        """True if driver and executors are one process, so that all of them can read every folder."""
        return is_local(str(self.own.sparkContext.master))

    def is_stopped(self) -> bool:
        """Return True if the session was stopped, or if its process has ended."""
        return context_is_stopped(self.own.sparkContext)


# A process has one Spark context, so only one thread at a time may start it.
_MAKING = threading.Lock()


def open_sessions(settings: Settings, frame: object | None) -> SparkSessions:
    """Open the sessions for a frame's rows, else for the active session, else for a new one.

    Raises ``InputError`` if Spark, Java or the master is missing.
    """
    with quiet_imports():
        try:
            import pyarrow  # noqa: F401
            from pyspark.sql import SparkSession
        except ModuleNotFoundError:
            raise spark_failures.missing_package_error() from None
    if frame is not None:
        user_session = _session_of(frame)
    else:
        with _MAKING:
            active = _active()
            if active is None:
                _refuse_connect()
            user_session = active if active is not None else start_session(settings, SparkSession.builder)
    if context_is_stopped(user_session.sparkContext):
        raise spark_failures.session_stopped_error()
    return SparkSessions(user_session, _new_session(user_session, settings))


def _refuse_connect() -> None:
    """Raise ``InputError`` if the environment makes pyspark use Spark Connect."""
    mode = os.environ.get("SPARK_API_MODE", "").lower()
    if os.environ.get("SPARK_REMOTE") or os.environ.get("SPARK_CONNECT_MODE_ENABLED") or mode == "connect":
        raise spark_failures.spark_connect_error("the environment selects Spark Connect (SPARK_REMOTE)")


@contextmanager
def active_session_kept(own: SparkSession) -> Iterator[None]:
    """Restore the caller's active session at the end: creating a frame makes another session active."""
    from pyspark.sql import SparkSession

    before: Any = SparkSession.getActiveSession()
    try:
        yield
    finally:
        java = SparkSession._get_j_spark_session_class(own.sparkContext._jvm)
        if before is None:
            java.clearActiveSession()
        else:
            java.setActiveSession(before._jsparkSession)
        SparkSession._activeSession = before


def context_is_stopped(context: Any) -> bool:
    """Return True if a Spark context was stopped, or if its process has ended."""
    java = getattr(context, "_jsc", None)
    if java is None:
        return True
    try:
        return bool(java.sc().isStopped())
    except Exception:
        return True


def _session_of(frame: object) -> SparkSession:
    from pyspark.sql.classic.dataframe import DataFrame as ClassicFrame

    if type(frame).__module__.startswith("pyspark.sql.connect."):
        raise spark_failures.spark_connect_error("this DataFrame is one of Spark Connect")
    if not isinstance(frame, ClassicFrame):
        raise InputError(
            f"a source of type {type(frame).__module__}.{type(frame).__name__}",
            allowed="a DataFrame of a Spark session in this process",
            advice="Save it as a table or as Parquet, and name that.",
        )
    result: SparkSession = frame.sparkSession
    return result


def _active() -> SparkSession | None:
    """Return the session that runs in this process, if any; drops one whose Java process has ended."""
    from pyspark.core.context import SparkContext
    from pyspark.sql import SparkSession

    context = SparkContext._active_spark_context
    if context is None:
        return None
    if context_is_stopped(context):
        _drop_dead_session()
        return None
    return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()


def _drop_dead_session() -> None:
    """Drop a session whose process has ended, so that a new one can be started."""
    from pyspark.core.context import SparkContext
    from pyspark.sql import SparkSession

    context: Any = SparkContext._active_spark_context
    with suppress(Exception):
        context.stop()
    gateway: Any = SparkContext._gateway
    if gateway is not None and gateway.proc.poll() is not None:
        close_gateway(gateway)
    SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = None
    remove_folders()


def _new_session(user_session: SparkSession, settings: Settings) -> SparkSession:
    """Create a separate session with another session's settings and current schema, then our settings.

    A map of row types is broadcast instead of sort-merged, within the memory limit and unless the user has
    set the threshold: with Spark's 10 MB, a cluster would shuffle all rows for a map of 100,000 row types.
    """
    from pyspark.errors import PySparkException

    own: SparkSession = user_session.newSession()
    broadcast = min(max(settings.memory_limit // 64, _LEAST_BROADCAST), _MOST_BROADCAST)
    own.conf.set(_BROADCAST, f"{broadcast}b")
    for name, value in user_session.conf.getAll.items():
        if name.startswith("spark.sql.") and own.conf.isModifiable(name):
            own.conf.set(name, value)
    for name, value in _OWN_SETTINGS.items():
        with suppress(PySparkException):
            own.conf.set(name, value)
    with suppress(PySparkException):
        own.catalog.setCurrentCatalog(user_session.catalog.currentCatalog())
        own.catalog.setCurrentDatabase(user_session.catalog.currentDatabase())
    return own


_PROPERTIES = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")

_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


class _OtherThreadsFilter(logging.Filter):
    """Log filter that drops records of the thread that created it."""

    def __init__(self) -> None:
        super().__init__()
        self._thread = threading.get_ident()

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True for records of other threads."""
        return record.thread != self._thread


@contextmanager
def unlogged() -> Iterator[None]:
    """Prevent pyspark from logging error messages, which quote cells."""
    from pyspark.logger import PySparkLogger

    silence = _OtherThreadsFilter()
    loggers = [PySparkLogger.getLogger(name) for name in _LOGGERS]
    for logger in loggers:
        logger.addFilter(silence)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(silence)


class JobGroups:
    """Separate job group for each statement; the calling thread's own group is restored afterwards."""

    def __init__(self, context: SparkContext) -> None:
        self._context: Any = context
        self._group: str | None = None

    @contextmanager
    def one(self) -> Iterator[None]:
        """Run a statement's jobs as one group, which a keyboard interrupt cancels."""
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
        """Cancel the running statement's jobs, including those not yet started."""
        group = self._group
        if group is not None:
            with suppress(Exception):
                self._context._jsc.sc().cancelJobGroupAndFutureJobs(group)
