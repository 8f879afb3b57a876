"""The whole pipeline on a standalone cluster, also with an executor killed during the run."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import discreet
from tests.servers.spark import addresses_beyond_loopback, children_of, require_java
from tests.servers.spark_cluster import SparkCluster, running_cluster

pytestmark = [pytest.mark.spark, pytest.mark.slow]

_ATTRIBUTES = """
[attributes.age]
role = "quasi-identifier"
hierarchy = {kind = "intervals", widths = [5, 20]}
[attributes.zip]
role = "quasi-identifier"
hierarchy = {kind = "mask"}
[attributes.sex]
role = "quasi-identifier"
[attributes.illness]
role = "sensitive"
"""

# The driver counts, negotiates, publishes and audits, twice, and prints one line of JSON per step.
_DRIVER = """
import json, sys
from pathlib import Path
import discreet
from discreet.errors import DiscreetError
spec, out = sys.argv[1], Path(sys.argv[2])
for attempt in range(int(sys.argv[3])):
    print(json.dumps({"begun": attempt}), flush=True)
    try:
        table = discreet.open(spec)
        wish = table.lattice().negotiate(k=5, max_suppressed="2%")
        path = out / f"release-{attempt}.csv"
        print(json.dumps({"publishing": attempt}), flush=True)
        table.publish(wish.exact, path)
        print(json.dumps({"audit": discreet.audit(path).as_json()}), flush=True)
    except DiscreetError as error:
        print(json.dumps({**error.as_json(), "left": [p.name for p in out.iterdir()]}), flush=True)
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[SparkCluster]:
    require_java()
    with running_cluster() as found:
        yield found


def people(folder: Path, rows: int) -> Path:
    """Write a folder of Parquet files in several parts."""
    draw = np.random.default_rng(8)
    folder.mkdir()
    for part in range(4):
        count = rows // 4
        table = pyarrow.table(
            {
                "age": draw.integers(0, 90, count),
                "zip": [f"{number:05}" for number in draw.integers(0, 40, count) * 97],
                "sex": pyarrow.array([("f", "m", None)[i] for i in draw.integers(0, 3, count)]),
                "illness": [f"illness {i}" for i in draw.integers(0, 20, count)],
            }
        )
        pyarrow.parquet.write_table(table, folder / f"part-{part}.parquet")
    return folder


def drive(cluster: SparkCluster, source: Path, out: Path, attempts: int) -> subprocess.Popen[str]:
    spec = out.parent / "spark.toml"
    spec.write_text(f"[source]\npath = '{source}'\nengine = \"spark\"\n{_ATTRIBUTES}")
    return subprocess.Popen(
        [sys.executable, "-c", _DRIVER, str(spec), str(out), str(attempts)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**cluster.environment, "DISCREET_MEMORY_LIMIT": "1GB", "DISCREET_COMPILE": "never"},
        cwd=out.parent,
    )


def output_of(process: subprocess.Popen[str]) -> list[Mapping[str, Any]]:
    """Return the driver's output once it has ended."""
    output, errors = process.communicate(timeout=570)
    assert process.returncode == 0, errors[-3000:]
    return [json.loads(line) for line in output.splitlines()]


def rows_of(path: Path) -> Counter[tuple[str, ...]]:
    with path.open(newline="") as lines:
        return Counter(map(tuple, csv.reader(lines)))


def duckdbs_release(source: Path, path: Path) -> Counter[tuple[str, ...]]:
    pyarrow.parquet.write_table(pyarrow.parquet.read_table(source), path.with_suffix(".parquet"))
    spec = path.with_suffix(".toml")
    spec.write_text(f"[source]\npath = '{path.with_suffix('.parquet')}'\n{_ATTRIBUTES}")
    table = discreet.open(spec)
    table.publish(table.lattice().negotiate(k=5, max_suppressed="2%").exact, path)
    return rows_of(path)


def test_release_equals_duckdbs_and_no_port_is_open_to_others(cluster: SparkCluster, out: Path) -> None:
    source, target = people(out / "people", 8000), out / "releases"
    target.mkdir()
    process = drive(cluster, source, target, 1)
    listening: set[str] = set()
    while process.poll() is None:
        for daemon in (*cluster.daemons, *cluster.executors(), *children_of(process.pid)):
            listening.update(addresses_beyond_loopback(daemon))
        time.sleep(1)
    found = output_of(process)
    assert listening == set()
    assert "audit" in found[-1], found
    assert found[-1]["audit"]["passed"]
    assert rows_of(target / "release-0.csv") == duckdbs_release(source, out / "expected.csv")
    assert {path.name for path in target.iterdir()} == {"release-0.csv", "release-0.csv.manifest.json"}
    assert [path for path in cluster.folder.iterdir() if path.name.startswith("discreet-")] == []
    logs = [path.read_text(errors="replace") for path in cluster.folder.rglob("std???")]
    assert logs
    assert not any("illness 1" in log for log in logs)
    assert not (out.parent / "spark-warehouse").exists()


def test_retry_after_a_killed_executor_succeeds(cluster: SparkCluster, out: Path) -> None:
    source, target = people(out / "people", 100_000), out / "releases"
    target.mkdir()
    process = drive(cluster, source, target, 2)
    assert process.stdout is not None
    while "publishing" not in process.stdout.readline():
        assert process.poll() is None
    os.kill(cluster.executors()[0], signal.SIGKILL)
    first, second = [line for line in output_of(process) if "audit" in line or "error" in line]
    expected = duckdbs_release(source, out / "expected.csv")
    if "error" in first:
        assert first["error"]["kind"] == "limit-reached", first
        assert first["left"] == []
    else:
        assert rows_of(target / "release-0.csv") == expected
    assert second["audit"]["passed"]
    assert rows_of(target / "release-1.csv") == expected
