"""``publish`` and ``audit`` on eight people: written files, refusals, messages."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.cli.conftest import SPEC, Run

PUBLISH = "publish discreet.toml --output release.csv"


def rows_of(path: Path) -> list[tuple[str, ...]]:
    with path.open(encoding="utf-8", newline="") as file:
        return sorted(tuple(row) for row in csv.reader(file))


def test_exact_answer_is_published_and_audited(run: Run, people: Path) -> None:
    found = run(*PUBLISH.split(), "--k", "3", "--max-suppressed", "1", "--json")
    assert (found.status, found.err) == (0, "")
    assert found.json["path"] == "release.csv"
    assert found.json["manifest"] == "release.csv.manifest.json"
    assert (found.json["k"], found.json["l"], found.json["relaxed"]) == (3, None, None)
    assert found.json["audit"]["passed"]
    assert rows_of(people / "release.csv") == sorted(
        [
            ("age", "city", "disease"),
            *(
                (age, "B", disease)
                for age, disease in [("20-29", "flu"), ("20-29", "cold"), ("20-29", "flu")]
            ),
            ("20-29", "B", "asthma"),
            *(("40-49", "B", disease) for disease in ("flu", "cold", "flu")),
        ]
    )
    audit = run("audit", "release.csv", "--json")
    assert audit.status == 0
    assert {
        key: audit.json[key] for key in ("passed", "rows", "classes", "k", "l", "starred", "failing")
    } == {
        "passed": True,
        "rows": 7,
        "classes": 2,
        "k": 3,
        "l": {"disease": 2},
        "starred": 0,
        "failing": [],
    }


def test_publish_and_audit_in_text(run: Run, people: Path) -> None:
    found = run(*PUBLISH.split(), "--k", "3", "--max-suppressed", "1")
    assert found.status == 0
    assert "Published release.csv for k=3" in found.out
    assert "Audit passed: 7 rows in 2 classes." in found.out
    assert "  discreet audit release.csv" in found.out
    failed = run("audit", "release.csv", "--k", "4")
    assert failed.status == 1
    assert "Audit failed" in failed.out
    assert "1 class fails" in failed.out
    assert "40-49" in failed.out


def test_only_an_exact_answer_is_published_without_accept(run: Run, people: Path) -> None:
    options = ("--k", "4", "--max-level", "age=1", "--max-suppressed", "1")
    refused = run(*PUBLISH.split(), *options, "--json")
    assert refused.status == 3
    assert refused.json["error"]["kind"] == "no-solution"
    assert "max_suppressed, height, k" in refused.json["error"]["allowed"]
    assert not (people / "release.csv").exists()
    relaxed = {a["relaxed"]: a for a in run("negotiate", "discreet.toml", *options, "--json").json["answers"]}
    for part in ("max_suppressed", "height", "k"):
        found = run(*PUBLISH.split(), *options, "--accept-relaxation", part, "--overwrite", "--json")
        assert found.status == 0
        assert found.json["relaxed"] == part
        assert found.json["levels"] == relaxed[part]["levels"]
        assert found.json["suppressed"] == relaxed[part]["suppressed"]
        assert found.json["audit"]["k"] >= relaxed[part]["k"]
    text = run(*PUBLISH.split(), *options, "--accept-relaxation", "k", "--overwrite")
    assert "with k relaxed" in text.out


def test_accept_with_an_exact_answer_has_no_effect(run: Run, people: Path) -> None:
    found = run(*PUBLISH.split(), "--k", "2", "--max-suppressed", "2", "--accept-relaxation", "k", "--json")
    assert (found.status, found.json["relaxed"], found.json["k"]) == (0, None, 2)


def test_given_levels_are_published(run: Run, people: Path) -> None:
    found = run(
        *PUBLISH.split(),
        "--k",
        "2",
        "--level",
        "age=1",
        "--level",
        "city=1",
        "--max-suppressed",
        "1",
        "--json",
    )
    assert found.status == 0
    assert found.json["levels"] == {"age": 1, "city": 1}
    assert found.json["suppressed"] == 1
    refused = run(*PUBLISH.split(), "--k", "2", "--level", "age=1", "--overwrite", "--json")
    assert refused.status == 3
    assert "--max-suppressed" in refused.json["error"]["advice"]


def test_levels_respect_the_least_levels_of_the_spec(run: Run, people: Path) -> None:
    (people / "discreet.toml").write_text(SPEC + "\n[request]\nk = 1\n[request.min_level]\ncity = 1\n")
    found = run(*PUBLISH.split(), "--level", "age=1", "--json")
    assert found.json["levels"] == {"age": 1, "city": 1}
    refused = run(*PUBLISH.split(), "--level", "city=0", "--overwrite", "--json")
    assert (refused.status, refused.json["error"]["kind"]) == (2, "bad-input")


def test_given_levels_are_published_without_evaluating_the_lattice(
    run: Run, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the lattice was evaluated")

    monkeypatch.setattr("discreet.verbs.table_context.evaluate_lattice", refuse)
    found = run(
        *PUBLISH.split(),
        "--k",
        "4",
        "--l",
        "3",
        "--level",
        "age=2",
        "--level",
        "city=2",
        "--max-suppressed",
        "4",
        "--json",
    )
    assert found.status == 0
    assert found.json["suppressed"] == 4


def test_audit_of_a_foreign_file_reports_its_classes(run: Run, people: Path) -> None:
    found = run(
        "audit",
        "people.csv",
        "--quasi-identifier",
        "city",
        "--sensitive",
        "disease",
        "--k",
        "2",
        "--l",
        "2",
        "--json",
    )
    assert found.status == 1
    assert found.json["failing"] == [{"values": {"city": "Bremen"}, "rows": 1}]
    assert (found.json["k"], found.json["l"]) == (1, {"disease": 1})
    by_name = run(
        "audit",
        "people.csv",
        "--quasi-identifier",
        "city",
        "--sensitive",
        "disease",
        "--l",
        "disease=1",
        "--json",
    )
    assert by_name.status == 0


def test_audit_of_a_changed_file_fails(run: Run, people: Path) -> None:
    assert run(*PUBLISH.split(), "--k", "3", "--max-suppressed", "1").status == 0
    with (people / "release.csv").open("a", encoding="utf-8") as file:
        file.write("20-29,B,flu\n")
    found = run("audit", "release.csv")
    assert found.status == 1
    assert "Warning" in found.out
