"""Three messy files become audited releases, using only README and --help."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, run
from tests.first_hour.messy_tables import hospital, payroll, survey

__all__ = ["run"]

REQUEST = ("--k", "5", "--max-suppressed", "5%")


def first_hour(run: Run, write: Callable[[Path], None], path: str, *more: str) -> tuple[str, dict[str, Any]]:
    """Publish and audit a file; return ``init``'s output in one line, and the spec's attributes.

    Run four commands; three if ``init`` gets ``more`` options, since ``publish`` negotiates itself.
    """
    write(Path(path))
    found = run("init", path, *more)
    assert found.status == 0, found.err
    if not more:
        assert run("negotiate", "discreet.toml", *REQUEST).status == 0
    published = run("publish", "discreet.toml", *REQUEST, "--output", "release.csv")
    assert published.status == 0, published.err
    audited = run("audit", "release.csv", "--json")
    assert audited.status == 0, audited.err
    assert audited.json["k"] >= 5
    spec = tomllib.loads(Path("discreet.toml").read_text(encoding="utf-8"))["attributes"]
    for entry in spec.values():  # masking a date would show its day and month
        hierarchy = entry.get("hierarchy")
        assert not (isinstance(hierarchy, dict) and hierarchy["kind"] == "mask" and "dates" in entry)
    return " ".join(f"{found.out} {found.err}".split()), spec


def kinds(spec: dict[str, Any]) -> dict[str, str]:
    """Return the kind of each hierarchy."""
    return {name: entry["hierarchy"]["kind"] for name, entry in spec.items() if "hierarchy" in entry}


@pytest.mark.parametrize("subject", [False, True])
def test_hospital_table_is_published_in_the_first_hour(run: Run, *, subject: bool) -> None:
    more = ("--subject", "PatNr") if subject else ()
    rows = 300 if subject else 450
    printed, spec = first_hour(run, lambda path: hospital(path, rows), "admissions.csv", *more)
    roles = {name: entry["role"] for name, entry in spec.items()}
    assert {n for n, role in roles.items() if role == "identifier"} == {"PatNr", "Fallnummer", "Name"}
    assert roles["Diagnose"] == "sensitive"
    assert spec["Aufnahme"]["format"] == {"dates": ["%d.%m.%Y", "%Y-%m-%d"]}
    assert spec["Kosten"]["format"] == {"decimal": ","}
    assert kinds(spec).items() >= {"Geburtsdatum": "dates", "Aufnahme": "dates", "PLZ": "mask"}.items()
    assert printed.count("[source]") == (0 if subject else 1)
    assert ('the spec sets subject = "PatNr" in [source]' in printed) is not subject
    assert tomllib.loads(Path("discreet.toml").read_text(encoding="utf-8"))["source"]["subject"] == "PatNr"
    assert "differ only in capitals or blanks, in 'Geschlecht'" in printed


def test_survey_table_is_published_in_the_first_hour(run: Run) -> None:
    printed, spec = first_hour(run, survey, "survey.parquet")
    dropped = {name for name, entry in spec.items() if entry["role"] == "identifier"}
    assert dropped == {"respondent", "weight", "media", "q*"}
    assert len(run("inspect", "discreet.toml", "--json").json["patterns"]["q*"]) == 141
    assert set(kinds(spec)) == {"age", "region", "isco08", "income_net", "interview"}
    assert "q001 … q141" in printed
    assert "'age' holds -9, which is not an age" in printed
    assert "set subject" not in printed


def test_spreadsheet_is_published_in_the_first_hour(run: Run) -> None:
    printed, spec = first_hour(run, payroll, "payroll.csv")
    roles = {name: entry["role"] for name, entry in spec.items()}
    name = 'Name "as in passport"'
    assert {n for n, role in roles.items() if role == "identifier"} == {"Employee", name}
    assert spec["Salary"]["format"] == {"decimal": ".", "thousands": ",", "unit": "$"}
    assert spec["DOB"]["format"] == {"dates": ["%m/%d/%Y"]}
    assert spec["Hire Date"]["format"]["dates"] == ["%m/%d/%y"]
    assert kinds(spec).items() >= {"DOB": "dates", "Hire Date": "dates", "Salary": "intervals"}.items()
    assert "nearly unique cells included: 25." in printed
    assert "'Age' holds -1" in printed
    assert "'Dept' (6 values, then 4)" in printed
    assert "set subject" not in printed  # numbers of employees repeat only in duplicate rows
