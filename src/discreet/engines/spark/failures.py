"""Translation of Spark's exceptions to the kinds of ``errors``, by their condition or by their text."""

from __future__ import annotations

import re
from contextlib import suppress

from discreet.engines import failures
from discreet.errors import DiscreetError, InputError, InternalError, LimitReached

_NO_SPACE = ("No space left on device", "Disk quota exceeded", "File too large")
_MEMORY = re.compile(
    r"OutOfMemoryError|SparkOutOfMemoryError|UNABLE_TO_ACQUIRE_MEMORY|maxResultSize|broadcast the table that"
    r"|Cannot broadcast|_EXCEED_LIMIT_LENGTH"
)
_CANCELLED = re.compile(r"SPARK_JOB_CANCELLED|cancelled job group|Job \d+ cancelled|OPERATION_CANCELED")
_STOPPED = re.compile(r"stopped SparkContext|SparkContext was shut down|SparkContext is stopping")
_LOST = re.compile(
    r"ExecutorLostFailure|Executor(?:Dead|Process)?Lost|FetchFailed|MetadataFetchFailed|Remote RPC client"
    r"|Could not find executor|CHECKPOINT_RDD_BLOCK|Block .{1,80} not found|masters are unresponsive"
    r"|Master removed our application|INDETERMINATE|indeterminate|checksum mismatch"
)
_CONNECTION = ("Py4JNetworkError", "ConnectionRefusedError", "ConnectionResetError", "BrokenPipeError")
_SOURCE = re.compile(
    r"PATH_NOT_FOUND|FAILED_READ_FILE|FILE_NOT_EXIST|FileNotFoundException|CANNOT_READ_FILE_FOOTER"
    r"|UNABLE_TO_INFER_SCHEMA|is not a Parquet file|CANNOT_MERGE_SCHEMAS|PARQUET"
    r"|EOFException|ChecksumException|BLOCK_MISSING"
)
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '(\w+)")
_NO_TABLE = re.compile(r"TABLE_OR_VIEW_NOT_FOUND|SCHEMA_NOT_FOUND|CATALOG_NOT_FOUND|INVALID_IDENTIFIER")
_EXISTS = re.compile(r"ALREADY_EXISTS")
_DENIED = re.compile(r"Permission denied|AccessControlException|PERMISSION_DENIED")


def missing_package_error() -> InputError:
    """Return the error for a missing pyspark or pyarrow."""
    return InputError(
        "Spark needs the packages pyspark and pyarrow, which are not installed",
        advice="Install them with: pip install 'discreet[spark]'",
    )


def missing_java_error(version: str | None) -> InputError:
    """Return the error for a missing Java, or for a version that is too old (``version``)."""
    fact = (
        "Spark needs Java, which was not found" if version is None else f"Spark cannot run on Java {version}"
    )
    return InputError(
        fact,
        allowed="Java 17 or later",
        advice="Install a Java runtime (on Debian and Ubuntu: apt install default-jre-headless), "
        "or set JAVA_HOME to one.",
    )


def unreachable_master_error(master: str) -> InputError:
    """Return the error for a master that does not answer."""
    return InputError(
        f"the Spark master {master} does not answer",
        advice="Check DISCREET_SPARK_MASTER, and that the cluster runs.",
    )


def spark_connect_error(what: str) -> InputError:
    """Return the error for a session of Spark Connect."""
    return InputError(
        f"{what}: discreet needs a classic session with its driver in this process. Spark Connect provides "
        "neither a second session with separate settings, nor the files of temporary tables, nor a way to "
        "cancel what runs",
        allowed="a classic Spark session, in this process or on the cluster by DISCREET_SPARK_MASTER",
        advice="Run discreet where the cluster's driver runs; or save the table as Parquet, and name that.",
    )


def session_stopped_error() -> InputError:
    """Return the error for a session that its owner stopped."""
    return InputError(
        "the Spark session was stopped while it was in use",
        advice="Keep the session until the work is done, and run it again.",
    )


def error_text(error: BaseException) -> str:
    """Return the text of an error to search for signs.

    If even that raises, the Java process has ended, and the name of that error is returned.
    """
    try:
        return f"{type(error).__name__} {_condition(error) or ''} {error}"
    except Exception:
        return "Py4JNetworkError"


def translate_error(error: BaseException, *, limit: int, label: str, opening: bool = False) -> DiscreetError:
    """Translate an exception of Spark or of its Python bridge.

    ``limit`` is the driver's memory in bytes, ``label`` the source for messages; ``opening`` means that the
    source is being opened, so that a missing table is an error in the source's name.
    """
    text = error_text(error)
    if any(sign in text for sign in _NO_SPACE):
        return failures.out_of_disk("Spark's temporary files or the output")
    if _CANCELLED.search(text):
        return LimitReached("the statement was cancelled", advice="Run it again.")
    if _MEMORY.search(text):
        return LimitReached(
            f"Spark's memory is not enough; the driver's is {limit:,} bytes",
            advice="Raise DISCREET_MEMORY_LIMIT, or the memory of the executors.",
        )
    if _STOPPED.search(text):
        return session_stopped_error()
    if any(sign in text for sign in _CONNECTION):
        return LimitReached(
            "the Java process of Spark has ended",
            advice="It may have been short of memory: see the system's log, then run it again.",
        )
    if _LOST.search(text):
        return LimitReached(
            "executors of the Spark cluster were lost, and a result with them",
            advice="Check the memory of the executors and the cluster's logs, then run it again.",
        )
    module = _NO_MODULE.search(text)
    if module is not None:
        return InputError(
            f"the executors' Python has no package '{module.group(1)}'",
            advice="Install the same environment on every node and name its Python in spark.pyspark.python, "
            "or ship one with spark.archives.",
        )
    return _of_data(text, error, label, opening)


def _of_data(text: str, error: BaseException, label: str, opening: bool) -> DiscreetError:
    if opening and _NO_TABLE.search(text):
        return InputError(f"{label} is not in Spark's catalog", advice="Name it as catalog.schema.table.")
    if _DENIED.search(text):
        return InputError(f"{label} cannot be read or written", advice="Check the permissions.")
    if _SOURCE.search(text):
        return InputError(
            f"{label} cannot be read",
            allowed="whole Parquet files, unchanged while they are read",
            advice="Check the path, and that every executor reaches it.",
        )
    if "INVALID_SCHEMA_OR_RELATION_NAME" in text:
        return InputError(
            f"{label} has a name that Spark's catalog does not take",
            allowed="letters, digits and underscores",
        )
    if _EXISTS.search(text):
        return InputError(f"{label} already exists", advice="Choose another name.")
    condition = _condition(error)
    named = _parameters(error).get("objectName") if condition else None
    detail = f": {condition}" if condition else ""
    return InternalError(
        f"the engine failed with {type(error).__name__}{detail}{f' {named}' if named else ''}",
        advice="Please report this.",
    )


def _condition(error: BaseException) -> str | None:
    with suppress(Exception):
        return error.getCondition()  # type: ignore[attr-defined,no-any-return]
    return None


def _parameters(error: BaseException) -> dict[str, str]:
    with suppress(Exception):
        return dict(error.getMessageParameters() or {})  # type: ignore[attr-defined]
    return {}
