"""Without numba every model publishes the same; features that need numba report it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from discreet.cli.main import main
from discreet.models import names

DRAWN = ("permutation", "relaxed-multi-dimension")
"""Models with random draws (swapped values, rows at a median); only the audit's findings are compared."""

PROGRAM = """\
import sys
sys.modules["numba"] = sys.modules["llvmlite"] = None  # what makes every import of them fail
from tests.cli.test_without_numba import publish_by_every_model
publish_by_every_model("without")
"""
SPEC = """\
[source]
path = "rows.csv"
[attributes.age]
role = "quasi-identifier"
hierarchy = {kind = "intervals", widths = [10, 20, 40]}
[attributes.zip]
role = "quasi-identifier"
hierarchy = {kind = "mask"}
[attributes.pay]
role = "sensitive"
"""


def publish_by_every_model(which: str) -> None:
    for model in names():
        options = ["--e", "2"] if model == "permutation" else []
        output = f"{which}-{model}.csv"
        status = main(["publish", "spec.toml", "--k", "3", "--model", model, "--output", output, *options])
        assert status == 0, (model, status)


def publish_without(folder: Path) -> str:
    """Publish in a process in which numba cannot be imported; return stderr."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "DISCREET_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    random = np.random.default_rng(5)
    rows = [
        f"{random.integers(20, 60)},{random.integers(10, 40)},{random.integers(1, 30)}" for _ in range(90)
    ]
    (tmp_path / "rows.csv").write_text("\n".join(["age,zip,pay", *rows, ""]), encoding="utf-8")
    (tmp_path / "spec.toml").write_text(SPEC, encoding="utf-8")
    return tmp_path


def test_every_model_publishes_the_same_without_numba(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("DISCREET_THREADS", "1")
    publish_by_every_model("with")
    assert "numba is not installed" in publish_without(folder)
    for model in names():
        with_numba, without = (folder / f"{which}-{model}.csv" for which in ("with", "without"))
        if model in DRAWN:
            assert len(with_numba.read_text().splitlines()) == len(without.read_text().splitlines())
        else:
            assert with_numba.read_bytes() == without.read_bytes(), model
        manifests = [json.loads(Path(f"{path}.manifest.json").read_text()) for path in (with_numba, without)]
        assert manifests[0]["audit"] == manifests[1]["audit"]


def test_matching_without_numba_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setitem(sys.modules, "numba", None)
    options = ["--k", "2", "--model", "patterns", "--method", "matching", "--max-stars", "2"]
    assert main(["publish", "spec.toml", *options, "--output", "release.csv"]) == 2
    assert "needs numba, which is not installed" in capsys.readouterr().err
    assert not (folder / "release.csv").exists()
