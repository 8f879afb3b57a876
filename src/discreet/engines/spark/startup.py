"""Starting a Spark session: Java, the master, settings, and how it ends.

One session per process, stopped at exit; everything that it writes is in one owner-only folder.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.engines.process_resources import FOLDER_PREFIX, TemporaryFolder
from discreet.engines.spark import failures as spark_failures
from discreet.errors import DiscreetError, InputError
from discreet.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST_JAVA = 17
_LEAST_MEMORY = 512 * 2**20
_SECONDS_TO_ANSWER = 5.0
_JAVA_OPTIONS = (
    "JDK_JAVA_OPTIONS",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "SPARK_SUBMIT_OPTS",
    "PYSPARK_SUBMIT_ARGS",
)
"""Environment variables in which users set Java options."""

_LOGGING = """\
appender.none.type = Null
appender.none.name = none
logger.repl.name = org.apache.spark.repl.Main
logger.repl.level = OFF
rootLogger.level = OFF
rootLogger.appenderRef.none.ref = none
"""


@dataclass(frozen=True)
class _StartedSession:
    """Session that this process started, and the folder of everything that it writes."""

    session: SparkSession
    folder: TemporaryFolder


_STARTED: list[_StartedSession] = []


@contextmanager
def quiet_imports() -> Iterator[None]:
    """Suppress pyspark's warnings about versions of libraries that are not used here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def is_local(master: str) -> bool:
    """Return True if a master's address means this process."""
    return re.fullmatch(r"local(\[.*\])?", master) is not None


def start_session(settings: Settings, builder: Any) -> SparkSession:
    """Start a session (``DISCREET_SPARK_MASTER``) that ``stop_session`` stops; not thread-safe.

    Raises ``InputError`` if Java or the master is missing.
    """
    master = os.environ.get("DISCREET_SPARK_MASTER") or f"local[{settings.threads}]"
    check_java()
    check_master(master)
    temporary = TemporaryFolder(prefix=f"{FOLDER_PREFIX}spark-")
    folder = temporary.path
    before = signal.getsignal(signal.SIGINT)
    try:
        for name, value in _start_settings(settings, master, folder).items():
            builder = builder.config(name, value)
        with _own_python(_on_this_machine(master)), quiet_imports():
            session: SparkSession = builder.master(master).appName("discreet").getOrCreate()
            # The Java process of a stopped session may still run; the new session then keeps its log level.
            session.sparkContext.setLogLevel("OFF")
    except BaseException as error:
        temporary.remove()
        if isinstance(error, DiscreetError) or not isinstance(error, Exception):
            raise
        raise _not_started(error, settings, master) from None
    finally:
        # Spark's own SIGINT handler would cancel every job in the process.
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)
    if not _STARTED:
        atexit.register(stop_session)
    _STARTED.append(_StartedSession(session, temporary))
    return session


def stop_session() -> None:
    """Stop the session that this process started, if any, with its Java process, and remove its files."""
    from pyspark.core.context import SparkContext

    while _STARTED:
        made = _STARTED.pop()
        gateway = SparkContext._gateway
        with suppress(Exception):
            made.session.stop()
        if gateway is not None and SparkContext._active_spark_context is None:
            close_gateway(gateway)
        made.folder.remove()


def close_gateway(gateway: Any) -> None:
    """End the Java process, which lives as long as its standard input, so that another can be started."""
    from pyspark.core.context import SparkContext

    with suppress(Exception):
        gateway.shutdown()
    with suppress(Exception):
        gateway.proc.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        gateway.proc.wait(timeout=20)
    SparkContext._gateway = None
    SparkContext._jvm = None


def remove_folders() -> None:
    """Remove the files of sessions that have ended."""
    while _STARTED:
        _STARTED.pop().folder.remove()


def _start_settings(settings: Settings, master: str, folder: Path) -> dict[str, str]:
    """Return the settings of a new session; it listens only on this machine unless the cluster is remote."""
    logging = folder / "log4j2.properties"
    logging.write_text(_LOGGING, encoding="utf-8")
    result = {
        "spark.driver.memory": f"{max(settings.memory_limit, _LEAST_MEMORY) // 2**20}m",
        "spark.driver.maxResultSize": "0",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={logging.as_uri()} "
        f"-Djava.io.tmpdir={folder}{_collector(master)}",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.eventLog.enabled": "false",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.artifact.isolation.enabled": "false",
    }
    if not os.environ.get("SPARK_CONF_DIR"):
        result["spark.sql.warehouse.dir"] = (folder / "warehouse").as_uri()
    if is_local(master):
        # Many partitions: adaptive execution merges small partitions, but splits none.
        result["spark.sql.shuffle.partitions"] = str(4 * settings.threads)
        result["spark.authenticate"] = "true"
    else:
        # Executors would otherwise log the cells on which a task fails.
        result |= {"spark.log.level": "OFF", "spark.executor.syncLogLevel.enabled": "true"}
    if _on_this_machine(master):
        result |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    return result


def _collector(master: str) -> str:
    """Return the Java option for the parallel garbage collector in a local session, if users set none.

    Java's default collector runs concurrently to shorten pauses, which are irrelevant here; stopping the work
    for collection takes a tenth less processor time. Java does not start with two collectors.
    """
    named = any("GC" in os.environ.get(name, "") for name in _JAVA_OPTIONS)
    return "" if named or not is_local(master) else " -XX:+UseParallelGC"


def _on_this_machine(master: str) -> bool:
    hosts = _hosts(master)
    return is_local(master) or (bool(hosts) and all(host in ("127.0.0.1", "localhost") for host, _ in hosts))


@contextmanager
def _own_python(here: bool) -> Iterator[None]:
    """Run functions that are sent to rows in this Python, if the rows are on this machine."""
    named = "PYSPARK_PYTHON" in os.environ
    if here and not named:
        os.environ["PYSPARK_PYTHON"] = sys.executable
    try:
        yield
    finally:
        if here and not named:
            os.environ.pop("PYSPARK_PYTHON", None)


def _not_started(error: Exception, settings: Settings, master: str) -> DiscreetError:
    if "JAVA_GATEWAY_EXITED" in spark_failures.error_text(error):
        return InputError(
            "Spark's Java process did not start",
            advice=f"Check that Java runs, and that {settings.memory_limit:,} bytes (DISCREET_MEMORY_LIMIT) "
            "can be had.",
        )
    if not is_local(master):
        return spark_failures.unreachable_master_error(master)
    return spark_failures.translate_error(error, limit=settings.memory_limit, label="Spark")


def check_java() -> None:
    """Raise ``InputError`` unless the Java that Spark will start is new enough."""
    home = os.environ.get("JAVA_HOME")
    command = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if command is None:
        raise spark_failures.missing_java_error(None)
    try:
        said = subprocess.run([command, "-version"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        raise spark_failures.missing_java_error(None) from None
    found = re.search(r'version "(?:1\.)?(\d+)', said.stderr + said.stdout)
    if found is not None and int(found.group(1)) < OLDEST_JAVA:
        raise spark_failures.missing_java_error(found.group(1))


def check_master(master: str) -> None:
    """Raise ``InputError`` if no master of a standalone cluster answers (Spark would wait a minute)."""
    hosts = _hosts(master)
    for host, port in hosts:
        with suppress(OSError), socket.create_connection((host, port), timeout=_SECONDS_TO_ANSWER):
            return
    if hosts:
        raise spark_failures.unreachable_master_error(master)


def _hosts(master: str) -> list[tuple[str, int]]:
    if not master.startswith("spark://"):
        return []
    parts = [part.rpartition(":") for part in master.removeprefix("spark://").split(",")]
    if not all(host and port.isdigit() for host, _, port in parts):
        raise InputError(
            f"DISCREET_SPARK_MASTER='{master}'", allowed="local[N], spark://HOST:PORT, yarn, k8s://…"
        )
    return [(host.strip("[]"), int(port)) for host, _, port in parts]
