"""File formats from `init` to the audit: encodings, delimiters, decimal marks, units, dates."""

from __future__ import annotations

import codecs
import tomllib
from pathlib import Path
from typing import Any

import pytest

import discreet
from tests.cli.conftest import Run

NAMES = ("Zürich", "Köln", "Łódź", "Ostend")


def people_text(rows: int = 24) -> str:
    """Return a table with non-ASCII letters in its header and its cells."""
    lines = ["Alter;Größe;Diagnose"]
    lines += [f"{20 + i % 6};{150 + i % 3};{('Röteln', 'Grippe – A', 'Husten')[i % 3]}" for i in range(rows)]
    return "\n".join(lines) + "\n"


def source_in(path: Path) -> dict[str, Any]:
    """Return the ``[source]`` table of a spec."""
    found: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))["source"]
    return found


@pytest.mark.parametrize(
    ("data", "encoding", "message"),
    [
        (people_text().replace("–", "-").encode("latin-1"), "latin-1", "a guess: the bytes are not UTF-8"),
        (people_text().encode("windows-1252"), "windows-1252", "a guess: the bytes are not UTF-8"),
        (people_text().encode("utf-16"), "utf-16", "its byte order mark"),
        (codecs.BOM_UTF16_BE + people_text().encode("utf-16-be"), "utf-16", "its byte order mark"),
        (people_text().encode("utf-16-le"), "utf-16-le", "every other byte is zero"),
        (people_text().encode("utf-16-be"), "utf-16-be", "every other byte is zero"),
        (people_text().encode("utf-8-sig"), None, "The delimiter was read as semicolon"),
    ],
    ids=["latin-1", "windows-1252", "utf-16", "big end first", "no mark", "no mark, big end first", "utf-8"],
)
def test_encoding_is_detected_written_and_read(
    data: bytes, encoding: str | None, message: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_bytes(data)
    found = run("init", "people.csv")
    assert found.status == 0, found.err
    assert message in " ".join(found.out.split())
    source = source_in(Path("discreet.toml"))
    assert (source.get("encoding"), source["delimiter"]) == (encoding, ";")
    assert run("negotiate", "discreet.toml", "--k", "2").status == 0
    published = run("publish", "discreet.toml", "--k", "2", "--output", "release.csv")
    assert published.status == 0, published.err
    assert Path("release.csv").read_text(encoding="utf-8").startswith("Alter,Größe,Diagnose\n")
    assert run("audit", "release.csv").status == 0


def test_explicit_reading_options_are_written_to_the_spec(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"'{name}';{i % 2};{'-' if i else 'x'};p{i // 2}\n" for i, name in enumerate(NAMES * 3))
    Path("people.dat").write_bytes(("'town, now';sex;Diagnosis;patient\n" + rows).encode("windows-1250"))
    found = run("init", "people.dat")
    assert found.status == 2
    assert "or where the file is named, as in --format csv" in " ".join(found.err.split())
    given = ("--format", "csv", "--encoding", "windows-1250", "--delimiter", "semicolon", "--quote", "'")
    cells = ("--null", "-", "--null-policy", "drop", "--subject", "patient", "--strip", "--decimal", ",")
    found = run("init", "people.dat", *given, *cells)
    assert found.status == 0, found.err
    assert source_in(Path("discreet.toml")) == {
        "path": "people.dat",
        "format": "csv",
        "encoding": "windows-1250",
        "delimiter": ";",
        "quote": "'",
        "decimal": ",",
        "strip": True,
        "null_values": ["-"],
        "null_policy": "drop",
        "subject": "patient",
    }
    spec = tomllib.loads(Path("discreet.toml").read_text(encoding="utf-8"))
    assert spec["attributes"]["patient"] == {"role": "identifier"}
    assert "town, now" in spec["attributes"]
    mapping = discreet.init(
        "people.dat", format="csv", encoding="windows-1250", quote="'", subject="patient", null_values=["-"]
    ).mapping
    assert mapping["source"]["subject"] == "patient"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--encoding", "latin-one"), "encoding 'latin-one' is unknown"),
        (("--encoding", "ascii"), "line 1: bytes that are not ascii"),
        (("--delimiter", ";;"), "delimiter ';;'"),
        (("--decimal", ";"), "decimal mark ';'"),
        (("--null-policy", "keep"), "null_policy 'keep'"),
        (("--subject", "Altter"), "Did you mean 'Alter'?"),
        (("--format", "xlsx"), "people.csv is not a readable spreadsheet"),
    ],
)
def test_wrong_reading_options_are_refused(
    given: tuple[str, ...], message: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_bytes(people_text().encode("windows-1252"))
    found = run("init", "people.csv", *given)
    assert (found.status, found.out) == (2, "")
    assert message in " ".join(found.err.split())
    assert not Path("discreet.toml").exists()


def test_foreign_files_are_audited_and_linked_in_their_encoding(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("theirs.csv").write_bytes(people_text().encode("windows-1252"))
    found = run("audit", "theirs.csv", "--quasi-identifier", "Größe", "--k", "8", "--json")
    assert (found.status, found.json["k"]) == (0, 8)
    assert "windows-1252 (a guess" in " ".join(found.err.split())
    found = run("audit", "theirs.csv", "--quasi-identifier", "Größe", "--encoding", "utf-8")
    assert found.status == 2
    assert "as in --encoding latin-1" in found.err
    found = run("audit", "theirs.csv", "--quasi-identifier", "Diagnose", "--null", "Husten", "--json")
    assert (found.status, found.json["classes"]) == (2, 3)  # nothing is required
    Path("known.csv").write_bytes("Größe\n150\n".encode("utf-16"))
    assert run("init", "theirs.csv").status == 0
    columns = ("--quasi-identifier", "Größe", "--spec", "discreet.toml")
    found = run("attack", "theirs.csv", *columns, "--outside", "known.csv", "--json")
    assert found.status == 0, found.out


def test_german_amounts_and_mixed_dates_from_init_to_the_audit(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = ["PLZ;Geburtsdatum;Gehalt"]
    for i in range(120):
        day, month, year = 13 + i % 15, 1 + i % 12, 1950 + i % 40
        date = f"{year}-{month:02}-{day:02}" if i % 5 == 0 else f"{day:02}.{month:02}.{year}"
        lines.append(f"{('01234', '01299', '16842', 'NA')[i % 4]};{date};{2 + i % 40}.100,50 €")
    Path("people.csv").write_bytes("\r\n".join(lines).encode("windows-1252"))
    assert run("init", "people.csv").status == 0
    spec = tomllib.loads(Path("discreet.toml").read_text(encoding="utf-8"))["attributes"]
    assert spec["Gehalt"] == {
        "role": "sensitive",
        "format": {"decimal": ",", "thousands": ".", "unit": "€"},
    }
    assert spec["Geburtsdatum"]["format"] == {"dates": ["%d.%m.%Y", "%Y-%m-%d"]}
    assert spec["PLZ"]["hierarchy"]["kind"] == "mask"
    assert run("negotiate", "discreet.toml", "--k", "3", "--max-suppressed", "20%").status == 0
    levels = ("--level", "PLZ=0", "--level", "Geburtsdatum=3")
    assert run("publish", "discreet.toml", "--k", "2", *levels, "--output", "release.csv").status == 0
    rows = Path("release.csv").read_text(encoding="utf-8").splitlines()
    assert "01234,1950-1959,2100.5" in rows
    assert run("audit", "release.csv").status == 0
    manifest = Path("release.csv.manifest.json").read_text(encoding="utf-8")
    assert '"unit": "€"' in manifest
    permuted = ("--model", "permutation", "--k", "3", "--e", "500", "--output", "permuted.csv")
    found = run("publish", "discreet.toml", *permuted)
    assert found.status == 0, found.err
    assert run("audit", "permuted.csv").status == 0
    wrong = Path("discreet.toml").read_text(encoding="utf-8").replace(', unit = "€"', "")
    Path("wrong.toml").write_text(wrong, encoding="utf-8")
    found = run("publish", "wrong.toml", *permuted[:-1], "other.csv")
    assert (found.status, Path("other.csv").exists()) == (2, False)
    assert "120 cells of the column 'Gehalt' do not match the format of the spec" in " ".join(
        found.err.split()
    )
