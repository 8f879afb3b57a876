"""Tables to negotiate on: the documentation's example, and Adult with its hierarchies."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tests.waiting import wait_for

if TYPE_CHECKING:
    from starlette.testclient import TestClient

ClientKind = TypeVar("ClientKind", bound="TestClient")

PEOPLE = """name,age,work_class,education,hours_per_week
Thales,39,Private,HS-grad,40
Anaximander,38,Private,HS-grad,50
Anaximenes,37,Private,HS-grad,40
Pythagoras,38,Private,11th,45
Gorgias,28,Local-gov,Bachelors,30
Heraclitus,31,Federal-gov,Masters,50
Empedocles,30,State-gov,Bachelors,60
Leucippus,32,Self-emp-not-inc,Bachelors,50
Democritus,35,Self-emp-inc,Prof-school,54
Protagoras,33,Self-emp-inc,Assoc-acdm,40
"""

SPEC = """[source]
path = "philosophers.csv"

[attributes.name]
role = "identifier"

[attributes.age]
role = "quasi-identifier"
hierarchy = {kind = "intervals", widths = [5, 10, 20], anchor = 17}

[attributes.work_class]
role = "quasi-identifier"

[attributes.work_class.hierarchy]
kind = "taxonomy"

[attributes.work_class.hierarchy.tree.With-pay]
Gov = ["Federal-gov", "Local-gov", "State-gov"]
Private = ["Private"]
Self-emp = ["Self-emp-inc", "Self-emp-not-inc"]

[attributes.education]
role = "quasi-identifier"

[attributes.education.hierarchy]
kind = "taxonomy"

[attributes.education.hierarchy.tree]
Without-post-secondary = ["11th", "HS-grad"]
Post-secondary = ["Assoc-acdm", "Bachelors", "Masters", "Prof-school"]

[attributes.hours_per_week]
role = "sensitive"
"""

ADULT_6 = ("age", "education", "marital_status", "occupation", "race", "work_class")
ADULT_5 = ("age", "education", "marital_status", "race", "work_class")


def write_philosophers(folder: Path) -> Path:
    """Write table and spec of the documentation's example, which has 60 nodes."""
    (folder / "philosophers.csv").write_text(PEOPLE, encoding="utf-8")
    spec = folder / "philosophers.toml"
    spec.write_text(SPEC, encoding="utf-8")
    return spec


def write_adult(folder: Path, data: Path, names: tuple[str, ...] = ADULT_6) -> Path:
    """Write a spec of Adult with some quasi-identifiers and the hierarchies of the negotiation paper."""
    home = data.resolve() / "adult"
    lines = ["[source]", f'path = "{home}/adult_30162.csv"']
    for name in names:
        lines += [f"[attributes.{name}]", 'role = "quasi-identifier"']
        lines += [f'hierarchy = "{home}/hierarchies_negotiation/{name}.csv"']
    lines += ["[attributes.relationship]", 'role = "sensitive"']
    spec = folder / "adult.toml"
    spec.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return spec


def write_large(folder: Path, rows: int = 200) -> Path:
    """Write a table of few rows whose lattice has 180,000 nodes."""
    chance = random.Random(7)
    heights = {"a": 4, "b": 4, "c": 4, "d": 5, "e": 4, "f": 3, "g": 3, "h": 1}
    lines = [",".join(heights)]
    for _ in range(rows):
        place = chance.randrange(8)
        lines.append(",".join(str(8 * place + chance.randrange(8)) for _ in heights))
    (folder / "large.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    spec = ["[source]", 'path = "large.csv"']
    for name, height in heights.items():
        widths = [2 * 2**i for i in range(height - 1)]
        hierarchy = f'{{kind = "intervals", widths = {widths}}}' if widths else '{kind = "mask"}'
        spec += [f"[attributes.{name}]", 'role = "quasi-identifier"', f"hierarchy = {hierarchy}"]
    path = folder / "large.toml"
    path.write_text("\n".join(spec) + "\n", encoding="utf-8")
    return path


def evaluated(client: ClientKind, body: dict[str, Any] | None = None) -> ClientKind:
    """Evaluate the lattice, for ``body`` if given, and wait for the job."""
    started = client.post("/api/negotiate/evaluation", json=body).json()
    if started["job"] is not None:
        job = f"/api/jobs/{started['job']}"
        wait_for(lambda: is_done(client.get(job).json()), "the lattice is evaluated")
    return client


def is_done(job: dict[str, Any]) -> bool:
    """Return whether a job is done; a failed or cancelled job fails the test."""
    assert job["state"] in ("queued", "running", "done"), job
    return bool(job["state"] == "done")
