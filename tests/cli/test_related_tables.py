"""``discreet publish`` and ``discreet audit`` of several tables."""

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
    assert "as they are, outside every check: 'visit'" not in single.out
    Path("release/lab.csv").write_text("visit,kind,taken,patient\n")
    shown = run("audit", "release")
    assert shown.status == 1
    assert "Audit failed: 3 tables" in shown.out
    for arguments, told in (
        (("publish", spec, "--output", "release", "--k", 3), "--k beside a relational spec"),
        (("publish", spec), "no folder was named"),
        (("publish", spec, "--output", "release"), "release exists"),
        (("audit", "release", "--sql"), "--sql beside tables"),
        (("negotiate", spec, "--k", 3), "speaks of several tables"),
    ):
        refused = run(*arguments)
        assert refused.status == 2
        assert told in " ".join(refused.err.split())


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
