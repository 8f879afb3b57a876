"""``discreet audit`` in pipelines: statuses, records without any cell value, and the files for pipelines."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes
from xml.etree import ElementTree

import pytest
import yaml

import discreet
from discreet.errors import InputError
from discreet.model.criteria.alpha_deassociation import AlphaDeassociation
from discreet.settings import Settings
from tests.cli.conftest import Run

ROOT = Path(__file__).resolve().parents[2]
SECRET = "Bremen"
COLUMNS = ("--quasi-identifier", "age", "--quasi-identifier", "city", "--sensitive", "disease")


@pytest.fixture
def release(run: Run, people: Path) -> str:
    assert (
        run("publish", "discreet.toml", "--k", "2", "--max-suppressed", "50%", "--output", "r.csv").status
        == 0
    )
    return "r.csv"


def cases(path: Path) -> list[tuple[str, str, list[str]]]:
    """Return file, check and the tags of child elements of each JUnit case; a passed case has no child."""
    root = ElementTree.parse(path).getroot()
    assert root.tag == "testsuites"
    for suite in root:
        found = list(suite)
        assert int(suite.get("tests", "")) == len(found)
        assert int(suite.get("failures", "")) == len(suite.findall("testcase/failure"))
        assert int(suite.get("errors", "")) == len(suite.findall("testcase/error"))
    return [
        (case.get("classname", ""), case.get("name", ""), [child.tag for child in case])
        for case in root.iter("testcase")
    ]


def results(path: Path) -> list[tuple[str, str]]:
    document = json.loads(path.read_text(encoding="utf-8"))
    (run_of_it,) = document["runs"]
    rules = [rule["id"] for rule in run_of_it["tool"]["driver"]["rules"]]
    found = [
        (each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], each["ruleId"])
        for each in run_of_it["results"]
    ]
    assert document["version"] == "2.1.0"
    assert sorted(set(rules)) == sorted({rule for _, rule in found})
    return found


def test_release_is_checked_by_its_manifest(run: Run, release: str, people: Path) -> None:
    done = run("audit", release, "--json", "--junit", "j.xml", "--sarif", "s.json")
    assert done.status == 0
    assert done.json == run("audit", release, "--json").json
    several = run("audit", release, release, "--json")
    first, _ = several.json["files"]
    assert (several.json["passed"], first["file"], first["error"]) == (True, release, None)
    assert first["checks"] == [
        {"name": "k", "required": "2", "found": first["checks"][0]["found"], "passed": True}
    ]
    assert cases(people / "j.xml") == [(release, "k", [])]
    assert results(people / "s.json") == []


def test_changed_file_fails_the_check_of_its_manifest(run: Run, release: str, people: Path) -> None:
    text = (people / release).read_text(encoding="utf-8")
    (people / release).write_text(text.replace("flu", "cold", 1), encoding="utf-8")
    done = run("audit", release, "--junit", "j.xml")
    assert done.status == 1
    assert cases(people / "j.xml")[-1] == (release, "the file", ["failure"])


def test_failed_and_uncheckable_files_are_recorded(run: Run, people: Path) -> None:
    criteria = ("--k", "2", "--l", "2", "--alpha", "0.5")
    done = run(
        "audit", "people.csv", "no.csv", *COLUMNS, *criteria, "--json", "--junit", "j.xml", "--sarif", "s"
    )
    assert done.status == 2
    first, second = done.json["files"]
    assert [(c["name"], c["required"], c["passed"]) for c in first["checks"]] == [
        ("k", "2", False),
        ("l of disease", "2", False),
        ("alpha of disease", "0.5", False),
    ]
    assert (second["checks"], second["error"]["kind"]) == ([], "bad-input")
    assert cases(people / "j.xml") == [
        ("people.csv", "k", ["failure"]),
        ("people.csv", "l of disease", ["failure"]),
        ("people.csv", "alpha of disease", ["failure"]),
        ("no.csv", "unchecked", ["error"]),
    ]
    assert results(people / "s") == [
        ("people.csv", "k"),
        ("people.csv", "l"),
        ("people.csv", "alpha"),
        ("no.csv", "unchecked"),
    ]
    assert run("audit", "people.csv", *COLUMNS, *criteria).status == 1


def regions(path: Path) -> list[tuple[str, dict[str, int] | None]]:
    """Return the rule and the region of each result of a SARIF record."""
    (run_of_it,) = json.loads(path.read_text(encoding="utf-8"))["runs"]
    assert run_of_it["columnKind"] == "unicodeCodePoints"
    return [
        (result["ruleId"], result["locations"][0]["physicalLocation"].get("region"))
        for result in run_of_it["results"]
    ]


def test_result_points_at_the_header_or_the_wrong_line(run: Run, people: Path) -> None:
    options = ("--k", "2", "--l", "2", "--sarif", "s")
    (people / "odd.csv").write_text('\ufeff"age";city;"disease"\n1;b;x\n', encoding="utf-8")
    (people / "torn.csv").write_text("age,city,disease\n1,b,x\n2,b\n", encoding="utf-8")
    assert run("audit", "people.csv", *COLUMNS, *options).status == 1
    header = (people / "people.csv").read_text(encoding="utf-8").splitlines()[0]
    name = {"startLine": 1, "startColumn": header.index("disease") + 1}
    name["endColumn"] = name["startColumn"] + len("disease")
    assert regions(people / "s") == [("k", {"startLine": 1}), ("l", name)]
    assert run("audit", "odd.csv", "torn.csv", *COLUMNS, *options).status == 2
    quoted = {"startLine": 1, "startColumn": 12, "endColumn": 21}
    assert regions(people / "s") == [("k", {"startLine": 1}), ("l", quoted), ("unchecked", {"startLine": 3})]


JUNIT = {
    "testsuites": ({"name", "time", "tests", "failures", "errors"}, set()),
    "testsuite": ({"name", "tests", "failures", "errors", "time"}, {"name", "tests", "failures", "errors"}),
    "testcase": ({"name", "time", "classname"}, {"name"}),
    "failure": ({"type", "message"}, set()),
    "error": ({"type", "message"}, set()),
}
"""Allowed and required attributes of each element, by junit-10.xsd of Jenkins' xUnit plugin."""


def test_junit_record_follows_its_schema(run: Run, people: Path) -> None:
    assert run("audit", "people.csv", "no.csv", *COLUMNS, "--k", "2", "--junit", "j").status == 2
    for element in ElementTree.parse(people / "j").getroot().iter():
        allowed, required = JUNIT[element.tag]
        assert required <= set(element.attrib) <= allowed


def test_file_without_a_requirement_does_not_pass(run: Run, people: Path) -> None:
    done = run("audit", "people.csv", *COLUMNS, "--json")
    assert (done.status, done.json["k"]) == (2, 1)
    assert done.err == "Nothing is required of this release. Give a criterion, such as --k 5.\n"
    assert run("audit", "people.csv", *COLUMNS, "--strictest").status == 0
    found = run("audit", "people.csv", "people.csv", *COLUMNS, "--json")
    assert found.status == 2
    assert "nothing is required" in found.json["files"][0]["error"]["message"]
    recorded = run("audit", "people.csv", *COLUMNS, "--junit", "j.xml")
    assert (recorded.status, "nothing is required" in recorded.err) == (2, True)
    assert run("audit").status == 2


@pytest.mark.parametrize("option", [["--sql"], ["--strictest"], ["--table", "a.b"]])
def test_several_files_with_an_option_of_one_file_are_refused(
    run: Run, people: Path, option: list[str]
) -> None:
    done = run("audit", "people.csv", "people.csv", *COLUMNS, "--k", "2", *option)
    assert (done.status, f"{option[0]} cannot be combined with several files" in done.err) == (2, True)


def test_reading_options_apply_to_every_file(run: Run, people: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (people / name).write_text("age;city\n1;x\n1;x\n", encoding="utf-16")
    words = ("a.csv", "b.csv", "--quasi-identifier", "age", "--k", "2", "--encoding", "utf-16")
    assert run("audit", *words, "--delimiter", ";").status == 0


def test_missing_file_is_reported(run: Run, people: Path) -> None:
    for files in (["no.csv"], ["no.csv", "people.csv"]):
        done = run("audit", *files)
        assert (done.status, "no.csv is missing" in done.out + done.err) == (2, True)


def test_advice_names_options_of_the_caller(run: Run, people: Path) -> None:
    assert "--quasi-identifier COLUMN" in " ".join(run("audit", "people.csv", "no.csv").out.split())
    assert "quasi_identifiers=COLUMN" in " ".join(str(discreet.check(["people.csv"])).split())


def test_record_contains_no_cell(run: Run, people: Path) -> None:
    torn = '"' + SECRET + ',"x\n' + SECRET
    (people / "torn.csv").write_text(f"age,city,disease\n1,{torn}\n", encoding="utf-8")
    done = run(
        "audit", "people.csv", "torn.csv", *COLUMNS, "--k", "2", "--junit", "j", "--sarif", "s", "--json"
    )
    assert done.status == 2
    for record in ("j", "s"):
        assert SECRET not in (people / record).read_text(encoding="utf-8")


def test_record_replaces_only_a_record(run: Run, release: str, people: Path) -> None:
    for option, other in (("--junit", "--sarif"), ("--sarif", "--junit")):
        assert run("audit", release, option, "record").status == 0
        before = (people / "record").read_bytes()
        assert run("audit", release, option, "record").status == 0
        assert run("audit", release, other, "record").status == 2
        assert b"record" in before or (people / "record").read_bytes()[:20] == before[:20]
        (people / "record").unlink()
    for kept in ("people.csv", release):
        before = (people / kept).read_bytes()
        assert run("audit", release, "--junit", kept).status == 2
        assert (people / kept).read_bytes() == before


def test_several_files_are_checked_in_python(release: str, people: Path, settings: Settings) -> None:
    found = discreet.check([people / release], settings=settings)
    assert (found.passed, found.status) == (True, 0)
    assert "all checks passed" in str(found)
    roles: dict[str, Any] = {"quasi_identifiers": ["age"], "sensitive": ["disease"]}
    worse = discreet.check(
        [people / "people.csv"], **roles, criteria=[AlphaDeassociation(0.1)], settings=settings
    )
    assert (worse.passed, worse.status) == (False, 1)
    with pytest.raises(InputError, match="no file was given"):
        discreet.check([])


def test_permuted_release_is_checked_by_its_groups(run: Run, people: Path) -> None:
    written = run("publish", "discreet.toml", "--model", "permutation", "--k", "2", "--output", "p.csv")
    assert written.status == 0, written.err
    done = run("audit", "p.csv", "--json")
    assert done.status == 0
    (people / "j.xml").unlink(missing_ok=True)
    assert run("audit", "p.csv", "--junit", "j.xml").status == 0
    assert cases(people / "j.xml") == [("p.csv", "groups", [])]


# --- files for pipelines ------------------------------------------------------------------------------------


def test_module_runs_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "discreet", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"discreet {discreet.__version__}\n")


def test_pre_commit_hook_runs_the_command(run: Run, release: str) -> None:
    """pre-commit appends the names of the changed files."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    program, *words = shlex.split(hook["entry"])
    assert program == "discreet"
    assert run(*words, "--k", "2", release).status == 0
    assert run(*words, *COLUMNS, "--k", "2", release, "people.csv").status == 1


@pytest.mark.skipif(os.name == "nt", reason="the action's steps are run by bash")
def test_github_action_runs_the_command(release: str, people: Path) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    *_, step = action["runs"]["steps"]
    assert set(step["env"]) == {name.upper() for name in action["inputs"]}
    (people / "discreet").write_text(f'#!/bin/sh\nexec {sys.executable} -m discreet "$@"\n', encoding="utf-8")
    (people / "discreet").chmod(0o700)

    def stepped(**inputs: str) -> int:
        given = {name.upper(): inputs.get(name, "") for name in action["inputs"]}
        path = f"{people}{os.pathsep}{os.environ['PATH']}"
        command = ["bash", "-e", "-o", "pipefail", "-c", step["run"]]
        done = subprocess.run(
            command, cwd=people, env={**os.environ, **given, "PATH": path}, capture_output=True
        )
        return done.returncode

    assert stepped(files=f"{release}\n\n", junit="j.xml") == 0
    assert cases(people / "j.xml") == [(release, "k", [])]
    assert stepped(files=f"{release}\npeople.csv\n", options="--k 2 --quasi-identifier age") == 1
    # A later line is as binding as the first one, and quotes protect a name with a blank.
    several = "--quasi-identifier age\n--k 1000\n"
    assert stepped(files="people.csv", options=several) == 1
    (people / "blank.csv").write_text("home town,sex\nBonn,m\nBonn,m\n", encoding="utf-8")
    assert stepped(files="blank.csv", options="--k 2 --quasi-identifier 'home town'") == 0
    assert stepped(files="blank.csv", options="--k 2 --quasi-identifier 'home town") != 0
    assert "mapfile" not in step["run"], "the bash of macOS, 3.2, has no mapfile"
    assert stepped(files="$(touch ran)\n") == 2
    assert not (people / "ran").exists()


NAMES = dict.fromkeys(
    (
        *(f"a{chr(code)}b.csv" for code in (*range(1, 47, 3), *range(0x7F, 0xA1, 4))),
        *(f"a{sign}b.csv" for sign in ("\ufffe", "\uffff", "\ufffd", "\ue000", "\U0001f600", "\U0001fffe")),
        *(f"a{sign}b.csv" for sign in ("\udc80", "\udcff", "&", "<", ">", "'", "]]>", "-->", "\x1b[31m")),
    )
)


def test_records_of_files_of_every_name_can_be_read(run: Run, people: Path) -> None:
    rows = (people / "people.csv").read_bytes()
    for number, name in enumerate(NAMES):
        (people / name).write_bytes(rows if number % 2 else b"a\x01\x02,b\n1,2\n")
    records = ("--junit", "r.xml", "--sarif", "r.json", "--json")
    done = run("audit", *NAMES, "--quasi-identifier", "age", "--k", "2", *records)
    assert done.status == InputError.exit_status  # some files cannot be checked
    assert len(json.loads(done.out.encode("utf-8", "strict"))["files"]) == len(NAMES)
    suites = ElementTree.parse(people / "r.xml").getroot()
    names = [suite.attrib["name"] for suite in suites]
    assert len(set(names)) == len(names) == len(NAMES)
    assert "a\\x01b.csv" in names
    assert "a\\udcffb.csv" in names
    results = json.loads((people / "r.json").read_text("utf-8"))["runs"][0]["results"]
    places = {r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in results}
    assert "a%01b.csv" in places or "a%04b.csv" in places
    assert all(os.fsdecode(unquote_to_bytes(place)) in NAMES for place in places)
