"""Tests of the project's public files: citation, supported versions, checks before a change."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def loaded(path: str | Path) -> Any:
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def test_citation_has_the_version_and_the_papers() -> None:
    citation = loaded("CITATION.cff")
    assert (citation["version"], citation["license"]) == (PROJECT["version"], PROJECT["license"])
    page = (ROOT / "docs" / "references.md").read_text(encoding="utf-8")
    rows = [row for row in page.split("\n## ")[1].splitlines() if row.startswith("| ")][1:]
    assert len(citation["references"]) == len(rows) == 5
    for paper in citation["references"]:
        names = [author["family-names"] for author in paper["authors"]]
        (row,) = [row for row in rows if f"*{paper['title']}*".casefold() in row.casefold()]
        assert all(name in row for name in names)
        assert str(paper.get("year", "no year")) in row


def test_oldest_versions_equal_the_allowed_ones() -> None:
    text = (ROOT / "oldest.txt").read_text(encoding="utf-8")
    pinned = dict(re.findall(r"^([a-z]+)==([0-9.]+)\.\*$", text, re.MULTILINE))
    allowed = dict(re.match(r"([a-z]+)>=([0-9.]+)", each).groups() for each in PROJECT["dependencies"])  # type: ignore[union-attr]
    assert {name: [*version.split("."), "0"][:2] for name, version in allowed.items()} == {
        name: version.split(".") for name, version in pinned.items()
    }


def test_named_python_versions_equal_the_tested_ones() -> None:
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    (matrix,) = [
        job["strategy"]["matrix"]["python"]
        for path in WORKFLOWS
        for job in loaded(path)["jobs"].values()
        if "strategy" in job
    ]
    assert named == matrix
    assert PROJECT["requires-python"] == f">={named[0]}"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflow_runs_existing_targets(path: Path) -> None:
    jobs = loaded(path)["jobs"]
    commands = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    assert all(job["timeout-minutes"] <= 60 for job in jobs.values())
    targets_run = {
        word for command in commands for word in re.findall(r"^make ([a-z-]+)", command, re.MULTILINE)
    }
    assert targets_run
    assert targets_run - targets() == set()


def test_lint_runs_before_a_commit() -> None:
    (hook,) = [hook for repo in loaded(".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]]
    assert hook["entry"] == "make lint"
    assert "lint" in targets()


def test_folders_of_the_core_suite_exist() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    (core,) = re.findall(r"^CORE := (.*)$", text, re.MULTILINE)
    assert [name for name in core.split() if not (ROOT / "tests" / name).is_dir()] == []


def test_paths_distributed_first_exist() -> None:
    """A renamed path in tests/conftest.py would start late without notice."""
    from tests.conftest import COMPILING, FEW_AND_LONG

    places = [str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("*.py")]
    for start in (*COMPILING, *FEW_AND_LONG):
        assert any(place.startswith(start) for place in places), start
