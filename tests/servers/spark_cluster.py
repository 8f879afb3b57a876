"""A standalone Spark cluster on this machine: one master, two workers, on loopback addresses only.

Its processes get a signal from the kernel when the process that started them ends, in any way; a worker stops
its executors when it ends.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.servers.spark import SMALL_JAVA, children_of
from tests.waiting import PATIENCE, wait_for

_HERE = "127.0.0.1"
_SMALL_EXECUTORS = "--executor-memory 512m --conf spark.sql.shuffle.partitions=4"
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class SparkCluster:
    """A running cluster: its master's address, a folder that every process reaches, and its processes."""

    master: str
    folder: Path
    daemons: tuple[int, ...]

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables with which a driver on this machine uses the cluster."""
        return {
            **os.environ,
            "DISCREET_SPARK_MASTER": self.master,
            "DISCREET_SPARK_SCRATCH": str(self.folder),
            "JDK_JAVA_OPTIONS": SMALL_JAVA,
            "SPARK_LOCAL_IP": _HERE,
            "PYSPARK_SUBMIT_ARGS": f"{_SMALL_EXECUTORS} pyspark-shell",
        }

    def executors(self) -> list[int]:
        """Return the running executor processes, the workers' children."""
        return [child for daemon in self.daemons for child in children_of(daemon)]


@contextmanager
def running_cluster(workers: int = 2, cores: int = 1, memory: str = "600m") -> Iterator[SparkCluster]:
    """Run a cluster for the duration of the context; afterwards none of its processes remains.

    ``cores`` and ``memory`` are per worker. Raises ``RuntimeError`` if it does not start.
    """
    import pyspark

    home = Path(pyspark.__file__).parent
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="discreet-cluster-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        place = ["--host", _HERE, "--port", "0", "--webui-port", "0"]  # ports that are free then
        command = ["org.apache.spark.deploy.master.Master", *place]
        daemons = [stack.enter_context(_daemon(home, command, folder / "master.log"))]
        _wait_for(folder / "master.log", "I have been elected leader", daemons)
        (master,) = re.findall(r"Starting Spark master at (spark://\S+)", (folder / "master.log").read_text())
        for number in range(workers):
            command = [
                "org.apache.spark.deploy.worker.Worker",
                *place,
                "--cores",
                str(cores),
                "--memory",
                memory,
            ]
            command += ["--work-dir", str(folder / f"work-{number}"), master]
            log = folder / f"worker-{number}.log"
            daemons.append(stack.enter_context(_daemon(home, command, log)))
        for number in range(workers):
            _wait_for(folder / f"worker-{number}.log", "Successfully registered with master", daemons)
        yield SparkCluster(master, folder, tuple(daemon.pid for daemon in daemons))


@contextmanager
def _daemon(home: Path, command: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    environment = {
        **os.environ,
        "SPARK_LOCAL_IP": _HERE,
        "JDK_JAVA_OPTIONS": SMALL_JAVA,
        "SPARK_HOME": str(home),
    }
    environment |= {"SPARK_DAEMON_MEMORY": "256m", "SPARK_NO_DAEMONIZE": "1"}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(home / "bin" / "spark-class"), *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment,
            cwd=log.parent,
            preexec_fn=_end_with_parent,
        )
    try:
        yield process
    finally:
        executors = children_of(process.pid)
        process.terminate()
        try:
            process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for executor in executors:
            _end(executor)


def _end(process: int) -> None:
    """Wait for a process that should end, and kill it if it does not."""
    try:
        wait_for(lambda: not Path(f"/proc/{process}").exists(), "it has ended")
    except AssertionError:
        os.kill(process, signal.SIGKILL)


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _wait_for(log: Path, sign: str, daemons: list[subprocess.Popen[bytes]]) -> None:
    def has_come() -> bool:
        text = log.read_text(errors="replace")
        assert all(daemon.poll() is None for daemon in daemons), f"it did not start: {text[-2000:]}"
        return sign in text

    wait_for(has_come, sign)
