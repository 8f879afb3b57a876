"""Warnings on classes (few people, one sensitive value, single values) against counts of the file."""

from __future__ import annotations

import csv
import json
import random
from collections import Counter, defaultdict
from pathlib import Path

import pytest

import discreet
from discreet.settings import Settings
from tests.cli.conftest import Run, run

__all__ = ["run"]

SPEC = """
[source]
path = "visits.csv"
{source}

[attributes.resp_id]
role = "identifier"

[attributes.sex]
role = "quasi-identifier"

[attributes.born]
role = "quasi-identifier"
hierarchy = {{ kind = "intervals", widths = [10, 50] }}

[attributes.region]
role = "quasi-identifier"

[attributes.illness]
role = "sensitive"

[attributes.income]
role = "{income}"

[request]
k = 4
max_suppressed = "100%"
"""


def write(folder: Path, source: str = "", income: str = "identifier", seed: int = 1) -> list[dict[str, str]]:
    """Write 200 people with one to six rows each; a number in each row identifies it."""
    draw, rows = random.Random(seed), []
    for person in range(200):
        own = {
            "resp_id": f"R{person * 37 % 1009}",
            "sex": draw.choice("mf"),
            "born": str(draw.randrange(1930, 2000)),
            "region": draw.choice("abcd"),
            "illness": draw.choice(["flu", "flu", "flu", "cold", "gout"]),
        }
        rows += [{**own, "income": str(draw.randrange(2000))} for _ in range(draw.choice([1, 1, 2, 6]))]
    draw.shuffle(rows)
    write_rows(folder, rows)
    (folder / "discreet.toml").write_text(SPEC.format(source=source, income=income))
    return rows


def write_rows(folder: Path, rows: list[dict[str, str]]) -> None:
    with (folder / "visits.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def write_numbered(folder: Path) -> list[dict[str, str]]:
    """Write rows whose published income is their number, so that plain Python can identify each person."""
    rows = [{**row, "income": str(n)} for n, row in enumerate(write(folder, income="insensitive"))]
    write_rows(folder, rows)
    return rows


def at(levels: dict[str, int], row: dict[str, str]) -> tuple[object, ...]:
    """Return the class of a row at the given levels."""
    year = int(row["born"])
    born = [row["born"], year // 10, year // 50, "*"][levels["born"]]
    return (*("*" if levels[name] else row[name] for name in ("sex", "region")), born)


def expected(rows: list[dict[str, str]], levels: dict[str, int], k: int) -> tuple[int, int, int]:
    """Count the classes of at least k rows, those of fewer than k people, and those of one illness."""
    classes: dict[tuple[object, ...], list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        classes[at(levels, row)].append(row)
    kept = [own for own in classes.values() if len(own) >= k]
    few = sum(len({row["resp_id"] for row in own}) < k for own in kept)
    return len(kept), few, sum(len({row["illness"] for row in own}) < 2 for own in kept)


@pytest.mark.parametrize("seed", range(2))
def test_class_warnings_of_an_answer_equal_plain_python(
    tmp_path: Path, settings: Settings, seed: int
) -> None:
    rows = write(tmp_path, seed=seed)
    table = discreet.open(tmp_path / "discreet.toml", settings=settings)
    result = table.negotiate(max_level={"sex": 0, "region": 0})
    classes, few, alike = expected(rows, result.exact.levels, 4)
    assert few
    assert alike
    texts = [text for text in result.warnings if "groups" in text]
    assert texts[0].startswith(f"{few} of {classes} groups contain fewer than 4 different resp_id:")
    assert texts[1].startswith(f"In {alike} of {classes} groups all people have the same illness:")
    released = table.publish(result.exact, tmp_path / "out.csv")
    assert [text for text in released.release.warnings if "groups" in text] == texts
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert [w["text"] for w in manifest["warnings"] if "groups" in w["text"]] == texts
    audited = discreet.audit(tmp_path / "out.csv", settings=settings)
    assert [text for text in audited.report.warnings if "groups" in text] == texts
    assert str(audited).splitlines()[0].startswith(f"Warning: {few} of")


def groups_in(path: Path) -> dict[tuple[str, ...], list[dict[str, str]]]:
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    found: dict[tuple[str, ...], list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        found[row["sex"], row["born"], row["region"]].append(row)
    return found


@pytest.mark.parametrize("model", ["mondrian", "local", "full-domain"])
def test_class_warnings_of_a_model_equal_those_of_its_file(
    tmp_path: Path, settings: Settings, model: str
) -> None:
    rows = write_numbered(tmp_path)
    spec = (tmp_path / "discreet.toml").read_text()
    (tmp_path / "discreet.toml").write_text(spec.replace('"100%"', '"50%"'))
    table = discreet.open(tmp_path / "discreet.toml", settings=settings)
    released = table.publish(model, tmp_path / "out.csv")
    groups = groups_in(tmp_path / "out.csv")
    few = sum(len({rows[int(row["income"])]["resp_id"] for row in own}) < 4 for own in groups.values())
    reported = [text for text in released.release.warnings if "different resp_id" in text]
    if few:
        assert reported[0].startswith(
            f"{few} of {len(groups)} groups contain fewer than 4 different resp_id:"
        )
    else:
        assert not reported
    alike = sum(len({row["illness"] for row in own}) < 2 for own in groups.values())
    same = [text for text in released.release.warnings if "all people have the same illness" in text]
    assert [text.split(":")[0] for text in same] == (
        [f"In {alike} of {len(groups)} groups all people have the same illness"] if alike else []
    )


def test_few_people_of_drawn_rows_are_reported_as_uncounted(tmp_path: Path, settings: Settings) -> None:
    rows = [
        {"resp_id": f"R{i // 8}", "sex": "m", "born": "1950", "region": "a", "illness": f"i{i % 3}"}
        for i in range(64)
    ]
    write(tmp_path)
    write_rows(tmp_path, [{**row, "income": "1"} for row in rows])
    table = discreet.open(tmp_path / "discreet.toml", settings=settings)
    (warning,) = [
        text
        for text in table.publish("relaxed-mondrian", tmp_path / "out.csv").release.warnings
        if "resp_id" in text
    ]
    assert "Groups were not counted by it: rows are drawn into groups at random." in warning


def test_few_people_of_permuted_groups_are_reported(tmp_path: Path, settings: Settings) -> None:
    rows = write_numbered(tmp_path)
    table = discreet.open(tmp_path / "discreet.toml", settings=settings)
    released = table.publish("permutation", tmp_path / "out.csv", k=2)
    facts = released.release.permutation
    groups: dict[str, set[str]] = defaultdict(set)
    with (tmp_path / "out.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            groups[row[facts.group_column]].add(rows[int(row["income"])]["resp_id"])
    few = sum(len(people) < 2 for people in groups.values())
    reported = [text for text in released.release.warnings if "different resp_id" in text]
    assert [text.split(" groups")[0] for text in reported] == ([f"{few} of {len(groups)}"] if few else [])


@pytest.mark.parametrize("source", ["rows_are_people = true", 'subject = "resp_id"'])
def test_few_people_are_not_reported_if_the_spec_declares_people(
    tmp_path: Path, settings: Settings, source: str
) -> None:
    write(tmp_path, source)
    table = discreet.open(tmp_path / "discreet.toml", settings=settings)
    result = table.negotiate()
    assert not any("resp_id" in text for text in result.warnings)
    released = table.publish(result.exact, tmp_path / "out.csv")
    assert not any("resp_id" in text for text in released.release.warnings)
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert manifest.get("rows_are_people", False) is source.startswith("rows")


def test_rows_as_people_with_a_subject_are_refused(tmp_path: Path, settings: Settings) -> None:
    write(tmp_path, 'rows_are_people = true\nsubject = "resp_id"')
    with pytest.raises(discreet.InputError, match=r"rows_are_people = true with source\.subject"):
        discreet.open(tmp_path / "discreet.toml", settings=settings)


def test_few_people_are_counted_by_pseudonyms_unless_rows_are_people(
    tmp_path: Path, settings: Settings
) -> None:
    """An audit counts pseudonyms independently of the manifest, unless rows are declared to be people."""
    write(tmp_path)
    spec = (tmp_path / "discreet.toml").read_text()
    way = spec.replace(
        'role = "identifier"', 'role = "identifier"\npseudonymization = { method = "per-release" }', 1
    )
    (tmp_path / "discreet.toml").write_text(way)
    table = discreet.open(tmp_path / "discreet.toml", settings=settings)
    table.publish(table.negotiate().exact, tmp_path / "out.csv")
    place = tmp_path / "out.csv.manifest.json"
    manifest = json.loads(place.read_text())
    texts = [w["text"] for w in manifest["warnings"] if w["code"] == "few-people"]
    assert len(texts) == 1
    manifest["warnings"] = []
    place.write_text(json.dumps(manifest))
    audited = discreet.audit(tmp_path / "out.csv", settings=settings).report.warnings
    assert [text for text in audited if "different resp_id" in text] == texts
    place.write_text(json.dumps({**manifest, "rows_are_people": True}))
    quiet = discreet.audit(tmp_path / "out.csv", settings=settings).report.warnings
    assert not [text for text in quiet if "resp_id" in text]


def test_few_people_without_pseudonyms_are_counted_by_the_spec(tmp_path: Path, settings: Settings) -> None:
    write(tmp_path)
    table = discreet.open(tmp_path / "discreet.toml", settings=settings)
    table.publish(table.negotiate().exact, tmp_path / "out.csv")
    place = tmp_path / "out.csv.manifest.json"
    manifest = json.loads(place.read_text())
    texts = [w["text"] for w in manifest["warnings"] if w["code"] == "few-people"]
    place.write_text(json.dumps({**manifest, "warnings": []}))
    release = tmp_path / "out.csv"
    assert "few" not in " ".join(discreet.audit(release, settings=settings).report.warnings)
    found = discreet.audit(release, spec=tmp_path / "discreet.toml", settings=settings).report.warnings
    assert [text for text in found if "different resp_id" in text] == texts


def test_people_of_unlisted_columns_are_reported(tmp_path: Path, settings: Settings) -> None:
    write(tmp_path)
    spec = (tmp_path / "discreet.toml").read_text()
    spec = spec.replace('[attributes.resp_id]\nrole = "identifier"\n', "").replace(
        '[attributes.income]\nrole = "identifier"\n', ""
    )
    (tmp_path / "discreet.toml").write_text(spec)
    result = discreet.open(tmp_path / "discreet.toml", settings=settings).negotiate()
    assert "different resp_id" in result.warnings[0]


def test_single_values_are_reported_by_every_verb(tmp_path: Path, settings: Settings) -> None:
    rows = write(tmp_path, "rows_are_people = true", income="sensitive")
    incomes = Counter(row["income"] for row in rows)
    unique = sum(n == 1 for n in incomes.values())
    table = discreet.open(tmp_path / "discreet.toml", settings=settings)
    beginning = f"income: {unique} of {len(rows)} rows have a value that no other has"
    assert any(text.startswith(beginning) for text in table.inspect().warnings)
    result = table.negotiate(k=4)
    assert any(text.startswith(beginning) and "intervals" in text for text in result.warnings)
    released = table.publish(result.exact, tmp_path / "out.csv")
    groups = groups_in(tmp_path / "out.csv")
    shown = [row for own in groups.values() for row in own]
    in_file = Counter(row["income"] for row in shown)
    unique = sum(n == 1 for n in in_file.values())
    of_groups = [Counter(row["income"] for row in own) for own in groups.values()]
    within = sum(n == 1 for counts in of_groups for n in counts.values())
    text = (
        f"income: {unique} of {len(shown)} rows have a value that no other row has; anyone who knows it "
        f"finds the row. Within their group {within} are the only ones with theirs."
    )
    assert released.release.warnings.count(text) == 1
    assert str(released).count("that no other row has") == 1
    assert text in discreet.audit(tmp_path / "out.csv", settings=settings).report.warnings
    attacked = discreet.attack(tmp_path / "out.csv", settings=settings)
    (found,) = [each for each in attacked.single_values if each.column == "income"]
    assert (found.unique_rows, found.in_class, found.rows) == (unique, within, len(shown))
    assert "Rows that one published value singles out" in str(attacked)
    page = tmp_path / "report.html"
    discreet.report(tmp_path / "out.csv", output=page, settings=settings)
    assert f"income: {unique:,} have a value that no other row has" in page.read_text()


def test_single_values_of_insensitive_columns_are_reported(tmp_path: Path, settings: Settings) -> None:
    rows = write(tmp_path, "rows_are_people = true", income="insensitive")
    unique = sum(n == 1 for n in Counter(row["income"] for row in rows).values())
    result = discreet.open(tmp_path / "discreet.toml", settings=settings).negotiate()
    assert any(text.startswith(f"income: {unique} of {len(rows)} rows") for text in result.warnings)


def test_class_warnings_are_in_the_first_lines(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path)
    options = ("discreet.toml", "--k", "4", "--max-level", "sex=0", "--max-level", "region=0")
    for found in (
        run("negotiate", *options),
        run("publish", *options, "--output", "out.csv"),
        run("audit", "out.csv"),
    ):
        assert found.status == 0, found.err
        text = " ".join(found.out.split())
        assert text.startswith("Warning: ")
        assert text.index("different resp_id") < text.index("all people have the same illness") < 700
        assert text.count("different resp_id") == text.count("all people have the same illness") == 1
