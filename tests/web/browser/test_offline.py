"""The whole workflow in a network namespace that has only the loopback interface."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
INSIDE = 'ip link set lo up && ! ip route get 192.0.2.1 2>/dev/null && exec "$@"'


@pytest.mark.slow
def test_workflow_needs_no_network() -> None:
    unshare = shutil.which("unshare")
    if unshare is None or shutil.which("ip") is None:
        pytest.skip("unshare (util-linux) or ip (iproute2) is not installed")
    inside = [unshare, "--net"] if os.geteuid() == 0 else [unshare, "--net", "--map-root-user"]
    if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this system allows no network namespace")
    tests = ["test_workflow.py::test_dropped_file_becomes_a_release_with_a_report", "test_entry.py"]
    paths = [str(Path("tests") / "web" / "browser" / name) for name in tests]
    found = subprocess.run(
        [*inside, "sh", "-c", INSIDE, "sh", sys.executable, "-m", "pytest", "-q", *paths],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout[-4000:]
    assert re.match(r"\.{4,} ", found.stdout), f"not all passed: {found.stdout}"
