"""A criterion in one file (``toy_criterion.py``), through the whole program by its public interfaces."""

from __future__ import annotations

import csv
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from types import ModuleType

import pytest

import discreet
from discreet.errors import InputError
from discreet.verbs.models.model_registry import MODELS
from tests.cli.conftest import Run, run
from tests.extending.registered import toy_criterion

__all__ = ["run", "toy_criterion"]

pytestmark = pytest.mark.usefixtures("toy_criterion")

SPEC = """\
[source]
path = "people.csv"

[attributes.age]
role = "quasi-identifier"
hierarchy = {kind = "intervals", widths = [10, 20]}

[attributes.city]
role = "quasi-identifier"

[attributes.disease]
role = "sensitive"

[attributes.wage]
role = "sensitive"
"""
HEIGHTS = {"age": 3, "city": 1}
Row = tuple[str, str, str, str]


def draw(number: int = 120) -> list[Row]:
    """Draw people of two cities; half of them have the flu."""
    chance = random.Random(3)
    return [
        (
            str(chance.randrange(20, 60)),
            chance.choice(["Bonn", "Jena"]),
            chance.choice(["flu", "flu", "flu", "cold", "asthma", "gout", ""]),
            chance.choice(["low", "mean", "high"]),
        )
        for _ in range(number)
    ]


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """Write a table of people and its spec to the folder in which commands run."""
    folder = tmp_path / "work"
    folder.mkdir(exist_ok=True)
    with (folder / "people.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("age", "city", "disease", "wage"), *draw()])
    (folder / "discreet.toml").write_text(SPEC, encoding="utf-8")
    return folder / "discreet.toml"


# --- the oracle: classes, counted in plain Python ----------------------------------------------------------


def generalized(row: Row, levels: tuple[int, int]) -> tuple[object, object]:
    """Return the quasi-identifiers of a row at a node."""
    age, city = int(row[0]), row[1]
    width = (1, 10, 20, 1000)[levels[0]]
    return age // width, city if levels[1] == 0 else "*"


def largest_share(classes: Iterable[list[Row]], column: int = 2, *, known: bool = False) -> float:
    """Return the largest share of a value in any class; an empty text is NULL, which is not a value.

    With ``known`` the share is relative to the rows that have a value.
    """
    shares = []
    for rows in classes:
        held = Counter(row[column] for row in rows if row[column])
        shares.append(max(held.values(), default=0) / (held.total() or 1 if known else len(rows)))
    return max(shares, default=0.0)


def suppressed_rows(
    rows: list[Row], levels: tuple[int, int], k: int, most: float, *, known: bool = False
) -> int:
    """Count the rows of classes that are smaller than k, or whose largest disease share exceeds ``most``."""
    classes: defaultdict[object, list[Row]] = defaultdict(list)
    for row in rows:
        classes[generalized(row, levels)].append(row)
    failing = [c for c in classes.values() if len(c) < k or largest_share([c], known=known) > most]
    return sum(map(len, failing))


def solutions(k: int, most: float, limit: int) -> set[tuple[int, int]]:
    """Return every node that suppresses at most ``limit`` rows."""
    nodes = product(range(HEIGHTS["age"] + 1), range(HEIGHTS["city"] + 1))
    return {node for node in nodes if suppressed_rows(draw(), node, k, most) <= limit}


def published_classes(path: Path) -> list[list[Row]]:
    """Return the equivalence classes of a written CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [(r["age"], r["city"], r["disease"], r["wage"]) for r in csv.DictReader(file)]
    classes: defaultdict[object, list[Row]] = defaultdict(list)
    for row in rows:
        classes[row[:2]].append(row)
    return list(classes.values())


# --- the command line --------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["lattice", "negotiate", "search", "publish", "audit"])
def test_help_names_the_criterion(verb: str, run: Run) -> None:
    text = " ".join(run(verb, "--help").out.split())
    assert "Further criteria:" in text
    assert "--homogeneity VALUE|ATTR=VALUE Homogeneity of a sensitive value" in text
    assert "a number from 0 to 1; repeatable." in text
    assert "--homogeneity-base rows|values All rows, or those that have a value. [rows]" in text


def test_verbs_without_a_requirement_do_not_name_the_criterion(run: Run, spec: Path) -> None:
    assert "homogeneity" not in run("inspect", "--help").out
    assert run("inspect", spec, "--homogeneity", 0.5).status == 2


def test_negotiation_relaxes_the_criterion(run: Run, spec: Path) -> None:
    options = ["--k", 2, "--homogeneity", "disease=0.3"]
    found = run("negotiate", spec, *options, "--json").json
    assert found["outcome"] == "relaxed"
    answers = {answer["relaxed"]: answer for answer in found["answers"]}
    relaxed = answers["homogeneity"]
    assert (relaxed["k"], relaxed["l"], relaxed["suppressed"]) == (2, None, 0)
    share = relaxed["homogeneity"]["disease"]
    assert share == pytest.approx(largest_share([draw()]), abs=1e-6)
    assert answers["max_suppressed"]["homogeneity"] == {"disease": 0.3}

    text = run("negotiate", spec, *options).out
    assert "No exact answer for k=2, homogeneity(disease)=0.3" in text
    assert any(line.split()[:1] == ["homogeneity(disease)"] for line in text.splitlines())
    assert "--k 2 --homogeneity disease=0.3" in text


def test_every_node_suppresses_the_rows_of_the_oracle(run: Run, spec: Path) -> None:
    found = run("lattice", spec, "--k", 3, "--homogeneity", "disease=0.6", "--json").json
    assert {(a, c): rows for a, c, rows in found["nodes"]} == {
        (a, c): suppressed_rows(draw(), (a, c), 3, 0.6) for a, c, _ in found["nodes"]
    }


@pytest.mark.parametrize("algorithm", ["exhaustive", "optimal"])
def test_search_applies_the_criterion(algorithm: str, run: Run, spec: Path) -> None:
    wanted = solutions(3, 0.6, 0)
    found = run("search", spec, "--algorithm", algorithm, "--k", 3, "--homogeneity", "disease=0.6", "--json")
    levels = {(s["levels"]["age"], s["levels"]["city"]) for s in found.json["solutions"]}
    assert levels
    assert levels <= wanted
    assert levels == wanted or algorithm == "optimal"


def test_fixed_part_applies_to_all_or_one_attribute(run: Run, spec: Path) -> None:
    for part in ("values", "disease=values"):
        options = ["--k", 3, "--homogeneity", "disease=0.6", "--homogeneity-base", part]
        found = run("lattice", spec, *options, "--json").json
        assert {(a, c): rows for a, c, rows in found["nodes"]} == {
            (a, c): suppressed_rows(draw(), (a, c), 3, 0.6, known=True) for a, c, _ in found["nodes"]
        }
    text = run(
        "negotiate", spec, "--k", 2, "--homogeneity", "disease=0.3", "--homogeneity-base", "values"
    ).out
    assert "--homogeneity disease=0.3 --homogeneity-base disease=values" in text
    assert any(line.startswith("homogeneity(disease, base=values)") for line in text.splitlines())


WHOLE, BASE = "--homogeneity", "--homogeneity-base"


@pytest.mark.parametrize(
    ("given", "message", "allowed"),
    [
        ([WHOLE, "half"], "--homogeneity half", "a number from 0 to 1"),
        ([WHOLE, "disease=half"], "--homogeneity disease half", "a number from 0 to 1"),
        ([WHOLE, "=0.5"], "--homogeneity =0.5", "ATTR=VALUE, VALUE a number from 0 to 1"),
        ([WHOLE, "2"], "homogeneity = 2", "a number from 0 to 1"),
        (
            [WHOLE, "0.5", WHOLE, "0.6"],
            "--homogeneity 0.5 --homogeneity 0.6",
            "one --homogeneity VALUE, or",
        ),
        ([WHOLE, "0.5", WHOLE, "disease=0.6"], "--homogeneity 0.5", "ATTR=VALUE"),
        ([WHOLE, "disease=0.5", WHOLE, "disease=0.6"], "names 'disease' twice", "one value"),
        ([WHOLE, "age=0.5"], "'age', which is not a sensitive attribute", "disease, wage"),
        ([BASE, "values"], "--homogeneity-base without --homogeneity", ""),
        ([WHOLE, "0.6", BASE, "cells"], "base 'cells' of homogeneity", "rows, values"),
        (
            [WHOLE, "0.6", BASE, "wage=values"],
            "--homogeneity-base wage=values",
            "--homogeneity is not given per attribute",
        ),
        (
            [WHOLE, "disease=0.6", BASE, "wage=values"],
            "--homogeneity-base wage=values",
            "rows, values, or ATTR=VALUE of disease",
        ),
        (
            [WHOLE, "0.6", BASE, "rows", BASE, "values"],
            "--homogeneity-base rows --homogeneity-base values",
            "one VALUE, or ATTR=VALUE of each",
        ),
    ],
)
def test_wrong_option_is_refused(given: list[str], message: str, allowed: str, run: Run, spec: Path) -> None:
    found = run("negotiate", spec, "--k", 2, *given, "--json")
    assert found.status == 2
    assert message in found.json["error"]["message"]
    assert allowed in (found.json["error"]["allowed"] or "")


# --- the spec ----------------------------------------------------------------------------------------------


def test_spec_requires_the_criterion(run: Run, spec: Path) -> None:
    plain = run("negotiate", spec, "--k", 3, "--homogeneity", "disease=0.6", "--json").json
    spec.write_text(SPEC + "\n[request]\nk = 3\nhomogeneity = {disease = 0.6}\n", encoding="utf-8")
    assert run("negotiate", spec, "--json").json == plain
    looser = run("negotiate", spec, "--homogeneity", "disease=0.9", "--json").json
    assert looser["answers"][0]["homogeneity"] == {"disease": 0.9}
    fixed = ["--homogeneity", "disease=0.6", "--homogeneity-base", "values"]
    typed = run("negotiate", spec, "--k", 3, *fixed, "--json").json
    table = '{value = 0.6, attribute = "disease", base = "values"}'
    spec.write_text(SPEC + f"\n[request]\nk = 3\nhomogeneity = [{table}]\n", encoding="utf-8")
    assert run("negotiate", spec, "--json").json == typed


# --- Python ------------------------------------------------------------------------------------------------


def test_criterion_is_negotiated_in_python(spec: Path, toy_criterion: ModuleType) -> None:
    table, criteria = discreet.open(spec), [toy_criterion.Homogeneity(0.6, "disease")]
    negotiation = table.negotiate(k=3, criteria=criteria)
    assert negotiation.exact is not None
    assert (negotiation.exact.levels["age"], negotiation.exact.levels["city"]) in solutions(3, 0.6, 0)
    assert [str(criterion) for criterion in negotiation.exact.criteria] == ["k=3", "homogeneity(disease)=0.6"]
    lattice = table.lattice(criteria=criteria)
    assert lattice.negotiate(k=3, criteria=criteria).exact == negotiation.exact
    node = negotiation.exact.levels
    assert lattice.node(node, k=3, criteria=criteria).suppressed == 0
    assert lattice.preview(node, k=3, criteria=criteria, number=2).rows
    assert table.search("exhaustive", k=3, criteria=criteria).solutions
    with pytest.raises(InputError, match="but the classes were not counted for it"):
        discreet.open(spec).lattice().negotiate(k=3, criteria=criteria)


def test_one_lattice_answers_every_value(spec: Path, toy_criterion: ModuleType) -> None:
    table, kind = discreet.open(spec), toy_criterion.Homogeneity
    lattice = table.lattice(sensitive=[], criteria=[kind(0.5)])
    assert table.lattice(sensitive=[], criteria=[kind(0.9, "wage")]) is lattice
    assert table.lattice(sensitive=["wage"]) is lattice, "l is counted where values are"
    assert table.lattice(sensitive=[]) is lattice


@pytest.mark.parametrize("model", [model.name for model in MODELS.all()])
def test_every_model_meets_the_criterion_or_refuses_it(
    model: str, spec: Path, toy_criterion: ModuleType, tmp_path: Path
) -> None:
    table, criteria = discreet.open(spec), [toy_criterion.Homogeneity(0.6)]
    try:
        release = table.publish(model, tmp_path / "out.csv", k=3, criteria=criteria)
    except InputError as error:
        assert "homogeneity" in str(error)  # noqa: PT017 - a refusal is right, too
        return
    assert release.audit.passed
    manifest = json.loads(Path(f"{release.path}.manifest.json").read_text(encoding="utf-8"))
    assert manifest["requirement"] == {"k": 3, "l": None, "homogeneity": 0.6}
    classes = published_classes(release.path)
    assert len(classes) > 1
    assert min(map(len, classes)) >= 3
    assert max(largest_share(classes, 2), largest_share(classes, 3)) <= 0.6


# --- the release -------------------------------------------------------------------------------------------


@pytest.fixture
def released(run: Run, spec: Path) -> Path:
    """Publish a release whose classes have a share of at most 0.6 of one disease."""
    options = ["--k", 3, "--homogeneity", "disease=0.6", "--output", "out.csv", "--json"]
    found = run("publish", spec, *options)
    assert found.status == 0, found.out + found.err
    assert found.json["homogeneity"] == {"disease": 0.6}
    return spec.parent / "out.csv"


def test_release_is_audited_and_reported_with_the_criterion(released: Path, run: Run) -> None:
    assert largest_share(published_classes(released)) <= 0.6
    manifest = json.loads(Path(f"{released}.manifest.json").read_text(encoding="utf-8"))
    assert manifest["requirement"] == {"k": 3, "l": None, "homogeneity": {"disease": 0.6}}
    assert run("audit", released).status == 0
    text = run("audit", released).out
    assert "homogeneity of a sensitive value" in text
    assert run("audit", released, "--homogeneity", "disease=0.6").status == 0
    share = largest_share(published_classes(released))
    assert run("audit", released, "--homogeneity", f"disease={share - 0.01}").status == 1
    assert run("report", released).status == 0
    report = Path(f"{released}.report.html").read_text(encoding="utf-8")
    assert "homogeneity of a sensitive value" in report


def test_fixed_part_is_recorded_and_audited(run: Run, spec: Path) -> None:
    options = ["--k", 3, "--homogeneity", "disease=0.7", "--homogeneity-base", "values"]
    found = run("publish", spec, *options, "--max-suppressed", "30%", "--output", "out.csv", "--json")
    assert found.status == 0, found.out + found.err
    path = spec.parent / "out.csv"
    classes = published_classes(path)
    assert len(classes) > 1
    assert largest_share(classes, known=True) <= 0.7
    manifest = json.loads(Path(f"{path}.manifest.json").read_text(encoding="utf-8"))
    required = [{"value": 0.7, "attribute": "disease", "base": "values"}]
    assert manifest["requirement"]["homogeneity"] == required
    audited = run("audit", path, "--json").json
    (finding,) = audited["criteria"]
    assert finding["with"] == {"base": "values"}
    assert finding["found"] == pytest.approx(largest_share(classes, known=True), abs=1e-6)
    assert run("report", path).status == 0
    assert "0.7, base values" in Path(f"{path}.report.html").read_text(encoding="utf-8")


def test_file_that_violates_the_criterion_fails_its_audit(released: Path, run: Run) -> None:
    text = released.read_text(encoding="utf-8")
    age, city, *_ = text.splitlines()[1].split(",")
    found = released.with_name("found.csv")
    found.write_text(text + f"{age},{city},flu,low\n" * 200, encoding="utf-8")
    columns = ["--quasi-identifier", "age", "--quasi-identifier", "city", "--sensitive", "disease"]
    assert run("audit", found, *columns, "--k", 3).status == 0
    assert run("audit", found, *columns, "--k", 3, "--homogeneity", 0.6).status == 1
