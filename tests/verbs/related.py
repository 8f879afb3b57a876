"""Random tables of patients, visits and laboratory tests, with their specs."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np

Rows = list[dict[str, str]]

PATIENTS = """
[source]
path = "patients.csv"
[attributes.age]
role = "quasi-identifier"
hierarchy = {kind = "intervals", widths = [20]}
[attributes.sex]
role = "quasi-identifier"
[request]
k = 2
max_suppressed = "60%"
max_level = {age = 0, sex = 0}
"""
VISITS = """
[source]
path = "visits.csv"
[attributes.ward]
role = "quasi-identifier"
[attributes.admitted]
role = "insensitive"
date_shift = {days = 30, key = "keys/shift.key"}
[request]
k = 2
max_suppressed = "80%"
max_level = {ward = 0}
"""
LAB = """
[source]
path = "lab.csv"
[attributes.kind]
role = "quasi-identifier"
[attributes.taken]
role = "insensitive"
date_shift = {days = 30, key = "keys/shift.key"}
[request]
k = 2
max_suppressed = "80%"
max_level = {kind = 0}
"""
CLINIC = """
subjects = "patients"
{more}
[tables.patients]
spec = "patients.toml"
key = "patient"
pseudonymization = {{method = "pseudonym", key = "keys/patients.list"}}
[tables.lab]
spec = "lab.toml"
references = {{visit = "visits"}}
{lab}
[tables.visits]
spec = "visits.toml"
key = "visit"
pseudonymization = {{method = "pseudonym", key = "keys/visits.list"}}
references = {{patient = "patients"}}
{visits}
"""


@dataclass
class Clinic:
    """The rows of the three tables, as written and as a release shows them."""

    folder: Path
    patients: Rows
    visits: Rows
    lab: Rows
    more: str = ""
    of_visits: str = ""
    of_lab: str = ""
    specs: dict[str, str] = field(
        default_factory=lambda: {"patients": PATIENTS, "visits": VISITS, "lab": LAB}
    )

    def written(self) -> Path:
        """Write all tables and specs; return the path of the relational spec."""
        for name in ("patients", "visits", "lab"):
            rows: Rows = getattr(self, name)
            with (self.folder / f"{name}.csv").open("w", newline="") as file:
                writer = csv.DictWriter(file, list(rows[0]))
                writer.writeheader()
                writer.writerows(rows)
            (self.folder / f"{name}.toml").write_text(self.specs[name], "utf-8")
        path = self.folder / "clinic.toml"
        path.write_text(CLINIC.format(more=self.more, visits=self.of_visits, lab=self.of_lab), "utf-8")
        return path


def clinic(folder: Path, seed: int, people: int = 14) -> Clinic:
    """Draw random tables: some people have no visit, some visits no test."""
    random = np.random.default_rng(seed)

    def one(*values: str) -> str:
        return str(random.choice(values))

    patients = [
        {"patient": f"P{i:03}", "age": one("20", "30", "50"), "sex": one("m", "f")} for i in range(people)
    ]
    visits: Rows = []
    lab: Rows = []
    for patient in patients:
        for _ in range(int(random.integers(0, 3))):
            day = date(2024, 1, 1) + timedelta(int(random.integers(50)))
            visit = f"V{len(visits):03}"
            visits.append(
                {
                    "visit": visit,
                    "patient": patient["patient"],
                    "ward": one("heart", "bones"),
                    "admitted": day.isoformat(),
                }
            )
            for _ in range(int(random.integers(0, 3))):
                taken = day + timedelta(int(random.integers(4)))
                lab.append({"visit": visit, "kind": one("blood", "urine"), "taken": taken.isoformat()})
    return Clinic(folder, patients, visits, lab)


def rows_of(path: Path) -> Rows:
    """Return the rows of a CSV file."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def people_by_view(folder: Path) -> dict[Any, list[str]]:
    """Group people by the nested rows that all released tables show of them, in plain Python."""
    tests, visits = defaultdict(list), defaultdict(list)
    for row in rows_of(folder / "lab.csv"):
        tests[row["visit"]].append(row["kind"])
    for row in rows_of(folder / "visits.csv"):
        visits[row["patient"]].append((row["ward"], tuple(sorted(tests[row["visit"]]))))
    found = defaultdict(list)
    for row in rows_of(folder / "patients.csv"):
        view = (row["age"], row["sex"], tuple(sorted(visits[row["patient"]])))
        found[view].append(row["patient"])
    return found


def in_company(rows: Rows, columns: tuple[str, ...], person: dict[str, str], k: int = 2) -> Rows:
    """Return the rows whose class has at least k people."""
    classes = defaultdict(set)
    for row in rows:
        classes[tuple(row[c] for c in columns)].add(person[row.get("visit") or row["patient"]])
    return [row for row in rows if len(classes[tuple(row[c] for c in columns)]) >= k]


def kept_rows(tables: Clinic, people: set[str]) -> tuple[Rows, Rows, Rows]:
    """Return the released rows of some people per table, referenced tables first."""
    person = {row["visit"]: row["patient"] for row in tables.visits}
    person |= {row["patient"]: row["patient"] for row in tables.patients}
    patients = in_company(
        [row for row in tables.patients if row["patient"] in people], ("age", "sex"), person
    )
    released_people = {row["patient"] for row in patients}
    visits = in_company(
        [row for row in tables.visits if row["patient"] in released_people], ("ward",), person
    )
    known = {row["visit"] for row in visits}
    lab = in_company([row for row in tables.lab if row["visit"] in known], ("kind",), person)
    return patients, visits, lab


def pseudonyms(folder: Path, name: str) -> dict[str, str]:
    """Read a list of pseudonyms: text to pseudonym."""
    found: dict[str, str] = json.loads((folder / "keys" / f"{name}.list").read_text())
    return found
