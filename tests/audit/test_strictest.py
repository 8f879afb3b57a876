"""The strictest value of every criterion passes when required, and a stricter one fails."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.audit.class_audit import audit_source
from discreet.audit.criterion_checks import GeneralizedPopulation
from discreet.cli.main import main
from discreet.engines.base import Engine
from discreet.model.audit_report import NEVER_MET, AuditReport, StrictestValue
from discreet.model.criteria.base import AuditedBy, Criterion, Need, Parameter
from discreet.model.criteria.lkc_privacy import LKCPrivacy
from discreet.model.criteria.population_uniques import PopulationUniques
from discreet.model.criteria.proximity import Proximity
from discreet.model.criteria.registry import CRITERIA, register
from discreet.model.criteria.t_closeness import TCloseness
from discreet.model.criterion_inputs import ClassValues
from discreet.model.requirement import Requirement
from discreet.model.table_spec import SourceSpec
from discreet.verbs.audits import audit
from tests.criteria.known_tables import known
from tests.drawing import NEW


def written(path: Path, names: Sequence[str], rows: Sequence[Sequence[str]]) -> Path:
    path.write_text("".join(",".join(row) + "\n" for row in [names, *rows]), encoding="utf-8")
    return path


TOO_LONG = "takes long for this many classes and values: request it separately"


def strictest_audit(
    engine: Engine, path: Path, *criteria: Criterion, people: Path | None = None, **options: object
) -> AuditReport:
    population = None if people is None else GeneralizedPopulation(SourceSpec(path=people), ("q",), 0)
    return audit_source(
        engine,
        SourceSpec(path=path),
        quasi_identifiers=["q"],
        sensitive=options.pop("sensitive", ["ill", "wage"]),  # type: ignore[arg-type]
        requirement=Requirement(criteria=criteria),
        population=population,
        **options,  # type: ignore[arg-type]
    )


def random_file(folder: Path, seed: int) -> tuple[Path, Path]:
    """Write a file of a few classes with at least one value each, and the people to whom the rows belong."""
    random = Random(seed)
    rows = []
    for q in "abc"[: random.randint(1, 3)]:
        for place in range(random.randint(2, 9)):
            ill, wage = random.choice(["flu", "gout", "ulcer"]), str(random.choice([9, 10, 12.5, 40]))
            rows.append((q, ill if place == 0 or random.random() < 0.9 else "", wage))
    path, people = folder / f"{seed}.csv", folder / f"{seed}-people.csv"
    written(path, ["q", "ill", "wage"], rows)
    written(people, ["q"], [(q,) for q, *_ in rows] + [("a",)] * random.randint(0, 3))
    return path, people


@pytest.mark.parametrize("seed", range(10 if NEW else 2))
def test_strictest_value_passes_and_a_stricter_one_fails(engine: Engine, tmp_path: Path, seed: int) -> None:
    path, people = random_file(tmp_path, seed)
    illnesses = known(["flu", "gout", "ulcer", "cancer", "flu"] if seed % 2 else ["flu", "gout", "ulcer"])
    whole = {"ill": illnesses}
    found = strictest_audit(engine, path, people=people, strictest=True, known=whole).strictest
    assert {one.criterion for one in found} == set(CRITERIA)
    met = [one.criterion(one.value, one.attribute, **one.parts) for one in found if one.reason is None]
    assert strictest_audit(engine, path, *met, people=people, known=whole).passed
    stricter = [each for each in map(stricter_than, met) if each is not None]
    assert len(stricter) > 10
    own = [each for each in stricter if each.name in ("k", "l")]
    assert not any(strictest_audit(engine, path, each).passed for each in own)
    rest = [each for each in stricter if each not in own]
    report = strictest_audit(engine, path, *rest, people=people, known=whole)
    assert [each.criterion for each in report.criteria if not each.passed] == rest


def stricter_than(criterion: Criterion) -> Criterion | None:
    """Return the same criterion with the next threshold that has a value, or None."""
    parameter = criterion.parameter
    value = criterion.value_of(criterion.threshold + 1)
    if not parameter.least <= value <= parameter.most:
        return None
    found = replace(criterion, value=value)
    return found if found.threshold > criterion.threshold else None


@dataclass(frozen=True)
class Silent(Criterion):
    """A criterion without SQL."""

    name: ClassVar[str] = "silent"
    title: ClassVar[str] = "what no audit counts"
    audited_by: ClassVar[AuditedBy] = AuditedBy.NOTHING
    citation: ClassVar[str] = "of this test"
    parameter: ClassVar[Parameter] = Parameter("any number")
    need: ClassVar[Need] = Need.SIZE
    of_attribute: ClassVar[bool] = False

    def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
        """Return the sizes."""
        del values
        return sizes


@pytest.fixture
def silent() -> Iterator[None]:
    register(Silent)
    yield
    CRITERIA.remove("silent")


def one(found: Sequence[StrictestValue], name: str, **parts: object) -> StrictestValue:
    """Return the strictest value of a criterion by name, for the first attribute."""
    return next(each for each in found if each.criterion.name == name and parts.items() <= each.parts.items())


FILE = [("1", "flu", "10"), ("1", "gout", "9"), ("1", "flu", "10"), ("2", "flu", "9"), ("2", "gout", "40")]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    written(tmp_path / "f.csv", ["q", "ill", "wage"], FILE)
    return tmp_path / "f.csv"


@pytest.mark.usefixtures("silent")
def test_registered_criteria_report_a_value_or_a_reason(
    engine: Engine, path: Path, share: type[Criterion]
) -> None:
    found = strictest_audit(engine, path, strictest=True).strictest
    assert [(e.attribute, e.value) for e in found if e.criterion is share] == [
        ("ill", 0.666),
        ("wage", 0.666),
    ]
    assert one(found, "share").parts == {"spare": 0}
    assert [(each.value, each.reason) for each in found if each.criterion is Silent] == [
        (None, "has no SQL for an audit")
    ]
    assert [one(found, name).reason for name in ("k_map", "delta_presence")] == [
        "needs the population, which the publisher's --spec may name"
    ] * 2
    assert (
        one(found, "t", distance="ordered").reason == "needs an order, which the publisher's --spec may have"
    )
    ordered = [each for each in found if each.attribute == "wage" and each.parts.get("distance") == "ordered"]
    assert [each.reason for each in ordered] == [None]
    assert all((each.value is None) == (each.reason is not None) for each in found)


def test_class_without_values_meets_no_value_of_a_criterion(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    written(path, ["q", "ill", "wage"], [*FILE, ("3", "", "9")])
    found = strictest_audit(engine, path, strictest=True).strictest
    of_ill = [
        each for each in found if each.attribute == "ill" and each.parts.get("distance", "equal") == "equal"
    ]
    assert of_ill
    assert {each.reason for each in of_ill} == {NEVER_MET, "needs numbers"}
    assert {each.criterion.name for each in of_ill if each.reason != NEVER_MET} == {
        "range_e",
        "epsilon_m",
        "weighted_k",
    }
    people = tmp_path / "people.csv"
    written(people, ["q"], [("1",)])
    found = strictest_audit(engine, path, people=people, strictest=True).strictest
    assert [one(found, name).reason for name in ("k_map", "delta_presence")] == [NEVER_MET] * 2


def test_missing_classes_or_sensitive_attributes_are_reasons(
    engine: Engine, tmp_path: Path, path: Path
) -> None:
    empty = tmp_path / "empty.csv"
    written(empty, ["q", "ill", "wage"], [("*", "*", "*")])
    found = strictest_audit(engine, empty, strictest=True).strictest
    assert {each.criterion for each in found} == set(CRITERIA)
    assert {each.reason for each in found} == {"there is no class"}
    found = strictest_audit(engine, path, sensitive=[], strictest=True).strictest
    needing = {each.criterion for each in found if each.reason == "needs a sensitive attribute"}
    assert needing == {kind for kind in CRITERIA if kind.of_attribute or kind is LKCPrivacy}
    assert one(found, "k").value == 2


def test_slow_criteria_report_a_reason_above_the_line_limit(engine: Engine, tmp_path: Path) -> None:
    """Slow criteria report their cost when they are requested.

    Each of the 3 classes of 3 rows has 9 pairs; a distance has at most one line per row.
    """
    rows = [(q, "flu", str(wage)) for q in "abc" for wage in (9, 10, 12 if q == "a" else 40)]
    path = written(tmp_path / "f.csv", ["q", "ill", "wage"], rows)
    criteria = TCloseness(0.9, "wage", distance="ordered"), Proximity(2, "wage")
    sizes = {3: 3}
    assert [each.audit_lines(sizes, 4) for each in criteria] == [9, 27]
    for most, reasons in ((26, [None, TOO_LONG]), (27, [None, None])):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys.modules["discreet.audit.class_audit"], "MAX_QUERY_LINES", most)
            found = strictest_audit(engine, path, strictest=True, sensitive=["wage"]).strictest
        ordered, near = one(found, "t", distance="ordered"), one(found, "epsilon_m")
        assert [ordered.reason, near.reason] == reasons


@dataclass(frozen=True)
class OfThree(PopulationUniques):
    """A population that is smaller than the table."""

    population: Any = 3

    name: ClassVar[str] = "of_three"


def test_population_smaller_than_the_table_is_reported(engine: Engine, path: Path) -> None:
    register(OfThree)
    try:
        found = one(strictest_audit(engine, path, strictest=True).strictest, "of_three")
    finally:
        CRITERIA.remove("of_three")
    assert found.reason is not None
    assert found.reason.startswith("a population of 3 people is smaller than the table")


def test_strictest_values_in_the_command_and_in_python(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["audit", str(path), "--quasi-identifier", "q", "--sensitive", "ill"]
    assert main([*words, "--json"]) == 2  # nothing is required
    assert "strictest" not in json.loads(capsys.readouterr().out)
    assert main([*words, "--strictest", "--k", "3", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert {
        "name": "t",
        "title": "t-closeness",
        "attribute": "ill",
        "with": {"distance": "equal"},
        "value": 0.1,
        "reason": None,
        "compared_with": "release",
    } in document["strictest"]
    assert main([*words, "--strictest"]) == 0
    printed = capsys.readouterr().out
    assert "t-closeness" in printed
    assert "Not computed (needs the population, which the publisher's --spec may name): --k-map" in " ".join(
        printed.split()
    )
    found = audit(path, quasi_identifiers=["q"], sensitive=["ill"], strictest=True)
    assert [each.as_json() for each in found.strictest] == document["strictest"]
    assert audit(path, quasi_identifiers=["q"], sensitive=["ill"]).strictest == ()
