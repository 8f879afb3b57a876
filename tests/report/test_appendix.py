"""The appendix: statements that run with the file only, and names that they never contain."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import duckdb
import pytest

import discreet
from discreet import models
from discreet.cli.main import main
from discreet.model.criteria.t_closeness import TCloseness
from discreet.report.report import report
from discreet.settings import Settings
from tests.attacks.test_linkage import table_of
from tests.audit.test_statements import failing
from tests.oracle.permuted_tables import staff

ILLNESSES = ("quinsy", "scurvy", "typhus")
PEOPLE = [
    {"name": f"p{i}", "age": str(20 + i % 3), "city": "Bonn", "disease": ILLNESSES[i // 3 % 3]}
    for i in range(18)
]


def appendix(path: Path) -> tuple[str, str]:
    """Return the script that a report contains, and the report's whole text."""
    text = path.read_text(encoding="utf-8")
    found = re.findall(r"<pre>(.*?)</pre>", text, re.DOTALL)
    assert len(found) == 1
    return html.unescape(found[0]), text


def test_script_runs_in_the_folder_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_of(tmp_path, PEOPLE)
    path = tmp_path / "it's out.csv"
    table.publish({"age": 0}, path, k=6, l=2)
    script, text = appendix(report(path).path)
    assert str(tmp_path) not in text
    assert "The statements count rows" not in text
    assert "read_csv('it''s out.csv'" in script
    monkeypatch.chdir(tmp_path)
    assert failing(script) == [0, 0]
    with path.open("a", encoding="utf-8") as file:
        file.write("99,Bonn,quinsy\n")
    assert failing(script) == [1, 1]


def test_script_without_values_of_the_data(tmp_path: Path) -> None:
    table = table_of(tmp_path, PEOPLE)
    path = tmp_path / "out.csv"
    table.publish({"age": 0}, path, k=6, criteria=[TCloseness(0.5, "disease")])
    assert all(value in discreet.audit_sql(path).script for value in ILLNESSES)
    found = report(path)
    script, text = appendix(found.path)
    assert not any(value in text + json.dumps(found.as_json()["statements"]) for value in ILLNESSES)
    assert "print it by discreet audit --sql" in script
    assert failing_of(script, tmp_path) == [0]


def test_document_contains_the_statements(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    table_of(tmp_path, PEOPLE).publish({"age": 0}, tmp_path / "out.csv", k=6)
    assert main(["report", str(tmp_path / "out.csv"), "--json"]) == 0
    printed = json.loads(capfd.readouterr().out)["statements"]
    assert printed["for"] == "duckdb"
    assert [one["guarantee"].partition(":")[0] for one in printed["statements"]] == ["k = 6"]
    assert str(tmp_path) not in json.dumps(printed)


@pytest.mark.parametrize("form", ["one-table", "two-tables"])
def test_script_of_groups_runs(
    tmp_path: Path, settings: Settings, out: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = staff(tmp_path, settings)
    table.publish(models.Permutation(e=1000, form=form), out / "p.csv", k=2)
    script, _ = appendix(report(out / "p.csv", settings=settings).path)
    assert str(out) not in script
    monkeypatch.chdir(out)
    assert failing(script) == [0, 0]


def test_report_without_a_requirement_has_no_script(tmp_path: Path) -> None:
    table_of(tmp_path, PEOPLE).publish({"age": 0}, tmp_path / "out.csv", k=6)
    manifest = tmp_path / "out.csv.manifest.json"
    document = json.loads(manifest.read_text(encoding="utf-8"))
    manifest.write_text(json.dumps(document | {"requirement": {"k": None, "l": None}}), encoding="utf-8")
    found = report(tmp_path / "out.csv")
    text = found.path.read_text(encoding="utf-8")
    assert "There are no statements for this release" in text
    assert "<pre>" not in text
    assert found.as_json()["statements"] is None


def failing_of(script: str, folder: Path) -> list[int]:
    """Run ``failing`` with queries that name files within a folder."""
    with duckdb.connect(config={"file_search_path": str(folder)}) as connection:
        found = [connection.execute(one.query).fetchall() for one in duckdb.extract_statements(script)]
    return [rows[0][-1] for rows in found]
