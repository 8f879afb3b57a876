"""Public hierarchies that a recipient names by file, confirmed by the digests of a manifest."""

from __future__ import annotations

from pathlib import Path

import pytest

import discreet
from discreet.cli.main import main
from discreet.errors import InputError
from discreet.settings import Settings
from discreet.verbs.release_query import query

LEVELS = "Bonn;north;*\nKiel;north;*\nUlm;south;*\nRiga;abroad;*\n"
QUERY = "SELECT COUNT(*), SUM(pay) FROM release WHERE town = 'Kiel'"


@pytest.fixture
def release(tmp_path: Path, settings: Settings) -> Path:
    """Publish level 1 of towns from a hierarchy file."""
    (tmp_path / "towns.csv").write_text(LEVELS, encoding="utf-8")
    rows = "".join(f"{town},{pay}\n" for pay, town in enumerate(("Bonn", "Kiel", "Ulm", "Kiel", "Ulm")))
    (tmp_path / "people.csv").write_text(f"town,pay\n{rows}", encoding="utf-8")
    spec = {
        "attributes": {
            "town": {"role": "quasi-identifier", "hierarchy": str(tmp_path / "towns.csv")},
            "pay": {"role": "sensitive"},
        }
    }
    table = discreet.open(tmp_path / "people.csv", spec, settings=settings)
    table.publish({"town": 1}, tmp_path / "out.csv", k=2)
    return tmp_path / "out.csv"


def test_file_gives_the_values_of_labels(
    release: Path, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    towns = release.with_name("towns.csv")
    found = query(release, QUERY, hierarchies={"town": towns}, settings=settings)
    assert [(row.lower, row.upper) for row in found.rows] == [(0, 3), (0, 4)]
    assert main(["query", str(release), QUERY, "--hierarchy", f"town={towns}"]) == 0
    assert "COUNT(*) 0 3" in " ".join(capsys.readouterr().out.split())


def test_another_file_and_another_name_are_refused(release: Path, settings: Settings) -> None:
    other = release.with_name("other.csv")
    other.write_text(LEVELS.replace("Riga;abroad", "Oslo;abroad"), encoding="utf-8")
    with pytest.raises(InputError, match="not the hierarchy that 'town' was generalized by"):
        query(release, QUERY, hierarchies={"town": other}, settings=settings)
    with pytest.raises(InputError, match="a hierarchy of 'twon'") as error:
        query(release, QUERY, hierarchies={"twon": other}, settings=settings)
    assert "town" in str(error.value)


def test_option_requires_attribute_and_file(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", str(release), QUERY, "--hierarchy", "town"]) == 2
    assert "ATTRIBUTE=FILE" in capsys.readouterr().err
