"""``discreet publish`` and ``discreet audit`` on several tables."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run
from tests.verbs.related import clinic


def test_tables_are_published_audited_and_refused(run: Run, tmp_path: Path) -> None:
    spec = clinic(tmp_path, 1).written()
    done = run("publish", spec, "--output", "release")
    assert done.status == 0, done.err
    assert "Published 3 tables in release" in done.out
    assert "discreet audit release" in done.out
    found = run("audit", "release", "--json")
    assert found.status == 0
    assert found.json["passed"]
    assert list(found.json["tables"]) == ["patients", "visits", "lab"]
    single = run("audit", "release/lab.csv")
    assert single.status == 0
    assert "subject" in single.out
    assert "Published unchanged and unchecked: 'visit'" not in single.out
    Path("release/lab.csv").write_text("visit,kind,taken,patient\n")
    shown = run("audit", "release")
    assert shown.status == 1
    assert "Audit failed: 3 tables" in shown.out
    for arguments, message in (
        (("publish", spec, "--output", "release", "--k", 3), "--k cannot be combined with a relational spec"),
        (("publish", spec), "no folder was given"),
        (("publish", spec, "--output", "release"), "release exists"),
        (("audit", "release", "--sql"), "--sql cannot be combined with tables"),
        (("negotiate", spec, "--k", 3), "describes several tables"),
    ):
        refused = run(*arguments)
        assert refused.status == 2
        assert message in " ".join(refused.err.split())


def test_one_document_and_parquet(run: Run, tmp_path: Path) -> None:
    tables = clinic(tmp_path, 1)
    tables.more = 'format = "parquet"'
    done = run("publish", tables.written(), "--output", "release", "--json")
    assert done.status == 0, done.err
    assert [each["name"] for each in done.json["tables"]] == ["patients", "visits", "lab"]
    assert sorted(path.name for path in Path("release").glob("*.parquet")) == [
        "lab.parquet",
        "patients.parquet",
        "visits.parquet",
    ]
    assert run("audit", "release").status == 0


def test_proposed_relational_spec_is_published(run: Run, tmp_path: Path) -> None:
    clinic(tmp_path, 1, people=40).written()
    data = [tmp_path / f"{name}.csv" for name in ("patients", "visits", "lab")]
    command = ("init", data[0], "--related", data[1], "--related", data[2], "--output", "study.toml")
    done = run(*command, "--json")
    assert done.status == 0, done.err
    assert done.json["spec"] == {
        "subjects": "patients",
        "tables": {
            "patients": {"spec": "patients.toml", "key": "patient"},
            "visits": {"spec": "visits.toml", "key": "visit", "references": {"patient": "patients"}},
            "lab": {"spec": "lab.toml", "references": {"visit": "visits"}},
        },
    }
    for name in ("patients", "visits", "lab"):
        path = Path(f"{name}.toml")
        path.write_text(path.read_text() + '[request]\nk = 2\nmax_suppressed = "90%"\n')
    assert run("publish", "study.toml", "--output", "release").status == 0
    assert run("audit", "release").status == 0
    Path("new").mkdir()
    for arguments, message in (
        (command, "exists"),
        ((*command, "--subject", "patient"), "cannot be combined with --related"),
        (("init", data[0], "--related", tmp_path / "clinic.csv", "--output", "new/x.toml"), "clinic.csv"),
        (
            ("init", data[0], "--related", data[2], "--output", "new/x.toml"),
            "no column of patients is unique",
        ),
    ):
        refused = run(*arguments)
        assert refused.status == 2
        assert message in " ".join(refused.err.split())
    assert not list(Path("new").iterdir())
