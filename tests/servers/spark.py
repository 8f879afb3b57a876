"""Spark for tests: one small session per process.

The first test that needs it creates the session; it is stopped at the end. A separate cluster has a master
and two workers on this machine, which end with the process that started them.
"""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from discreet.settings import Settings

SMALL_JAVA = (
    "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m "
    "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
"""Options of a Java process that starts fast and stays small; unsuitable for large tables.

Compiled code is not flushed: the small cache of the fast compiler would discard it and compile it again.
"""

INTERPRETED = (
    "--conf spark.sql.codegen.wholeStage=false --conf spark.sql.codegen.factoryMode=NO_CODEGEN pyspark-shell"
)
"""Settings for statements over a few rows: compiling each takes longer than running it."""

FEW_PARTITIONS = {"spark.sql.shuffle.partitions": "2"}
"""Number of shuffle partitions: with few rows, more would be empty."""

_LISTENING = "0A"


def require_java() -> None:
    """Skip the test if Java is missing."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java, which is missing: apt install default-jre-headless")


@pytest.fixture(scope="session")
def spark_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Provide a session with a gigabyte and two threads that every engine shares.

    None of its processes remains.
    """
    require_java()
    from discreet.engines.spark import startup
    from discreet.engines.spark.session import open_sessions

    start_settings = startup._start_settings
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", SMALL_JAVA)
        patch.delenv("DISCREET_SPARK_MASTER", raising=False)
        if "PYSPARK_SUBMIT_ARGS" not in os.environ:
            patch.setenv("PYSPARK_SUBMIT_ARGS", INTERPRETED)
        log = tmp_path_factory.mktemp("spark") / "log.jsonl"
        patch.setattr(
            startup, "_start_settings", lambda *arguments: {**start_settings(*arguments), **FEW_PARTITIONS}
        )
        open_sessions(Settings(memory_limit=10**9, threads=2, private_log=log), None)
        yield
        startup.stop_session()


def java_of_this_process() -> int:
    """Return the process id of the session's Java."""
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    return int(gateway.proc.pid)


def children_of(process: int) -> list[int]:
    """Return the child processes of a process."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            after_name = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(after_name[1]) == process:
            found.append(int(status.parent.name))
    return found


def addresses_beyond_loopback(process: int) -> list[str]:
    """Return the addresses of a process that other machines may reach; none once it has ended."""
    try:
        links = list(Path(f"/proc/{process}/fd").iterdir())
        tables = [
            (family, Path(f"/proc/{process}/net/{name}").read_text().splitlines()[1:])
            for name, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6))
        ]
    except OSError:
        return []
    sockets = set()
    for link in links:
        with suppress(OSError):
            sockets.add(str(link.readlink()))
    found = []
    for family, lines in tables:
        for cells in map(str.split, lines):
            address = _address(cells[1].partition(":")[0], family)
            is_here = address.startswith(("127.", "::ffff:127.")) or address == "::1"
            if cells[3] == _LISTENING and f"socket:[{cells[9]}]" in sockets and not is_here:
                found.append(address)
    return found


def _address(hexadecimal: str, family: socket.AddressFamily) -> str:
    words = [bytes.fromhex(hexadecimal[i : i + 8])[::-1] for i in range(0, len(hexadecimal), 8)]
    return socket.inet_ntop(family, b"".join(words))
