"""Checks that some files are never committed, and that a promise is never made."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LARGEST_FILE = 512 * 1024
SMALL_EXAMPLE = 8 * 1024
TABLES = {".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".txt"}
BINARIES = {
    *(".parquet", ".arrow", ".feather", ".db", ".duckdb", ".sqlite", ".npy", ".npz", ".pkl", ".xlsx"),
    *(".gz", ".zip", ".tar", ".whl", ".so", ".pyd", ".dll", ".exe", ".jar", ".woff", ".woff2", ".ttf"),
}
LOCK_FILES = {
    *("uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "pylock.toml"),
    *("package-lock.json", "yarn.lock", "pnpm-lock.yaml", "conda-lock.yml"),
}
# Each list is joined from parts, so that this file does not contain the words that it searches for.
REGISTRY = re.compile("|".join(("py" + "pi[.]org", "python" + "hosted", "npm" + "js", "anaconda" + "[.]org")))
MACHINE = re.compile(
    r"(?<![A-Za-z0-9_.\-/])/(?:wor" + "k|far" + "m|roo" + "t|hom" + r"e/\w+|User" + r"s/\w+)/"
)
UNRESOLVED = re.compile(
    r"\b[Pp]apers? 0\d\d\b|\(0\d\d\)|\b(?:science|[Ee]rrata|[Ee]rratum) [A-Z]?[0-9]+[a-h]?\b(?![,.]?\d)"
    r"|\(contract[,:] |\bdesign/\w+\.md"
)
"""Patterns of numbers that do not identify a paper or a note outside of the project; authors and year do."""
CLAIM = re.compile(r"(?<![-\w])anonym(?:ous|i[sz]ed)\b(?!-)", re.IGNORECASE)


def project_files() -> list[Path]:
    """Return tracked files and those that could be added; without git, all except build outputs."""
    if (ROOT / ".git").exists() and shutil.which("git"):
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode()
        paths = [ROOT / name for name in listed.split("\0") if name]
    else:
        made = {".venv", ".hypothesis", "out", "build", "dist", "__pycache__"}
        paths = [
            path
            for path in ROOT.rglob("*")
            if not any(part in made or part.endswith("_cache") for part in path.relative_to(ROOT).parts)
        ]
    return sorted(path for path in paths if path.is_file())


def text_files() -> list[tuple[str, str]]:
    """Return the name and text of each readable file."""
    found = []
    for path in project_files():
        try:
            found.append((str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")))
        except UnicodeDecodeError:
            continue
    return found


def lines_with(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{name}:{number}: {line.strip()[:100]}"
        for name, text in text_files()
        for number, line in enumerate(text.splitlines(), start=1)
        if pattern.search(line)
    ]


def claims(text: str) -> list[str]:
    """Return the strings of a module that promise more than a release can."""
    if not re.search("anonym", text, re.IGNORECASE):
        return []  # most modules, which need not be parsed
    return [
        f"{node.lineno}: {node.value.strip()[:100]}"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and CLAIM.search(node.value)
    ]


OURS = {"constraints.txt", "oldest.txt", "history.jsonl"}
"""Versions of libraries, and recorded figures of the benchmarks: not tables of people."""


def test_project_is_listed() -> None:
    assert ROOT / "pyproject.toml" in project_files()


def test_no_file_is_large() -> None:
    assert [str(path) for path in project_files() if path.stat().st_size > LARGEST_FILE] == []


def test_no_data_is_committed() -> None:
    """A few lines of a table in a test or a document are an example; more is data."""
    data = []
    for path in project_files():
        top = path.relative_to(ROOT).parts[0]
        example = top in {"tests", "docs"} and path.stat().st_size <= SMALL_EXAMPLE
        if path.suffix in BINARIES or (path.suffix in TABLES and not example and path.name not in OURS):
            data.append(str(path.relative_to(ROOT)))
    assert data == []


def test_no_lock_file_is_committed() -> None:
    assert [str(path) for path in project_files() if path.name in LOCK_FILES] == []


def test_no_registry_is_named() -> None:
    assert lines_with(REGISTRY) == []


def test_no_path_of_a_machine_is_named() -> None:
    assert lines_with(MACHINE) == []


def test_no_citation_is_a_list_number() -> None:
    """Papers are cited by author and year (``docs/references.md``), choices by the number of a decision."""
    assert lines_with(UNRESOLVED) == []


def test_constraints_pin_versions_and_name_no_address() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line.split("#")[0].strip() for line in lines if line.split("#")[0].strip()]
    assert len(pins) > 10
    assert [pin for pin in pins if not re.fullmatch(r"[a-z0-9-]+==[0-9][A-Za-z0-9.]*", pin)] == []


def test_no_message_promises_anonymity() -> None:
    """``k-anonymous`` is a term with a definition; the bare word is a promise."""
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for top in ("src", "papers")
        for path in sorted((ROOT / top).rglob("*.py"))
        for line in claims(path.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x = 'the release is anonymous'", 1),
        ("x = f'{n} Anonymized rows'", 1),
        ("x = 'a k-anonymous release'", 0),
        ("x = 'k-anonymity of the release'", 0),
        ("x = '(k,e)-anonymous'", 0),
    ],
)
def test_claims_are_found(text: str, found: int) -> None:
    assert len(claims(text)) == found


@pytest.mark.parametrize(
    ("pattern", "line", "found"),
    [
        (REGISTRY, "see https://" + "py" + "pi.org/simple", True),
        (REGISTRY, "a registry of releases", False),
        (MACHINE, "data in /wor" + "k/shared/data", True),
        (MACHINE, "written to /hom" + "e/ada/out.csv", True),
        (MACHINE, "../shared/data and src/work/a.py", False),
        (UNRESOLVED, "(pap" + "er 002, Theorem 2)", True),
        (UNRESOLVED, "(pap" + "ers 001 and 004)", True),
        (UNRESOLVED, "(sci" + "ence M4)", True),
        (UNRESOLVED, "(sci" + "ence 1e, 1f)", True),
        (UNRESOLVED, "err" + "ata E3", True),
        (UNRESOLVED, "the Mondrian paper (0" + "01)", True),
        (UNRESOLVED, "(contr" + "act, tie rule)", True),
        (UNRESOLVED, "LeFevre et al. 2005, section 5 (decision 0004)", False),
    ],
)
def test_pattern_finds_only_intended_lines(pattern: re.Pattern[str], line: str, found: bool) -> None:
    assert bool(pattern.search(line)) is found


def test_processes_that_share_the_tests_get_whole_groups(request: pytest.FixtureRequest) -> None:
    """Unless xdist can rename tests, it distributes Spark's tests, and any file's, to all processes."""
    if not request.config.getoption("loadgroup", default=False):
        pytest.skip("one process runs all, or groups were not asked for")
    assert request.node.nodeid.endswith("@tests/test_hygiene.py")
