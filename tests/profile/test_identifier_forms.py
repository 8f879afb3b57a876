"""Forms of identifiers are reported but never chosen; a spec that sets one is valid and publishable."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

import discreet
from discreet.profile.roles import propose_pseudonym
from discreet.settings import Settings
from tests.profile.test_propose import COLUMN


@pytest.mark.parametrize(
    ("changes", "subject", "way"),
    [
        ({"name": "patient_id", "distinct": 300}, False, {"method": "per-release"}),
        ({"name": "x"}, True, {"method": "per-release"}),
        (
            {"name": "Fall-Nr.", "distinct": 1000, "once": 1000, "most": 1},
            False,
            {"method": "pseudonym", "key": "keys/Fall_Nr.list"},
        ),
        ({"name": "surname", "distinct": 1000, "once": 1000, "most": 1}, False, None),
        ({"name": "email", "distinct": 1000, "once": 1000, "most": 1}, False, None),
        ({"name": "notes", "distinct": 1000, "once": 1000, "most": 1}, False, None),
    ],
)
def test_pseudonymization_is_proposed_by_the_form(
    changes: dict[str, object], subject: bool, way: dict[str, str] | None
) -> None:
    found = propose_pseudonym(replace(COLUMN, **changes), subject=subject)  # type: ignore[arg-type]
    assert (None if found is None else dict(found.pseudonymization)) == way


def test_spec_shows_a_form_in_a_comment_and_accepts_it(tmp_path: Path, settings: Settings) -> None:
    rows = "".join(f"p{i // 2},{20 + i // 4 % 5},a{i % 3}\n" for i in range(80))
    (tmp_path / "visits.csv").write_text("patient_id,age,diagnosis\n" + rows, encoding="utf-8")
    found = discreet.init(
        tmp_path / "visits.csv", tmp_path / "discreet.toml", subject="patient_id", settings=settings
    )
    text = (tmp_path / "discreet.toml").read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if "pseudonymization = {" in line)
    assert line.startswith("#")
    assert "pseudonymization" not in tomllib.loads(text)["attributes"]["patient_id"]
    assert "'patient_id' is left out; instead, pseudonymization" in str(found)
    proposed = {a["name"]: a["pseudonymization"] for a in found.as_json()["attributes"]}
    assert proposed == {"patient_id": {"method": "per-release"}, "age": None, "diagnosis": None}
    document = found.mapping
    document["attributes"]["patient_id"]["pseudonymization"] = proposed["patient_id"]
    table = discreet.open(tmp_path / "visits.csv", document, settings=settings)
    table.publish({"age": 0}, tmp_path / "out.csv", k=2)
    assert "patient_id" in (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()[0]
