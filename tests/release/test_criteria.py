"""A criterion in addition to k and l in a release: recorded, audited from the record, or refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

import discreet
from discreet.audit.release_audit import audit_release
from discreet.engines.base import Engine
from discreet.errors import InputError, RequirementNotMet
from discreet.frequency.table_scan import count_frequency_set
from discreet.model.audit_report import Release
from discreet.model.criteria.base import Criterion
from discreet.model.requirement import Requirement
from discreet.model.search_result import FullDomainRecoding, SuppressionPolicy
from discreet.model.table_spec import TableSpec
from discreet.release.manifest import read_manifest
from discreet.release.publication import publish_release
from discreet.report.report import report
from discreet.results.audit_result import AuditResult
from discreet.settings import Settings
from discreet.verbs.table import Table
from tests.criteria_of_tests import Share
from tests.oracle.patients import patients
from tests.report.test_report import words

Publish = Callable[..., Release]


@pytest.fixture
def published(
    engine: Engine, settings: Settings, tmp_path: Path, out: Path, share: type[Criterion]
) -> Publish:
    """Publish the patients at ages by tens: five in Kiel, five in Bonn, two of five with flu or cold."""

    def run(*criteria: Criterion, k: int | None = 3, star: bool = False, **source: Any) -> Release:
        spec: TableSpec = patients(tmp_path, **source)
        counted = count_frequency_set(engine, spec, settings)
        policy = SuppressionPolicy.STAR if star else SuppressionPolicy.DROP
        requirement = Requirement(k, criteria=criteria)
        recoding = FullDomainRecoding(counted.attributes, (1, 0), requirement, policy)
        output = out / "r.csv"
        return publish_release(engine, spec, counted, recoding, output, overwrite=False, settings=settings)

    return run


def log_of(settings: Settings) -> list[dict[str, Any]]:
    path = settings.private_log
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def codes_of(manifest: dict[str, Any]) -> list[str]:
    return [warning["code"] for warning in manifest["warnings"]]


FOUND = {
    "name": "share",
    "title": "share of a value",
    "attribute": "diagnosis",
    "required": 0.75,
    "found": 0.6,
    "failing_classes": 0,
}


@pytest.mark.parametrize("star", [False, True])
def test_criterion_is_recorded_and_audited_by_the_record(
    published: Publish, engine: Engine, settings: Settings, out: Path, star: bool
) -> None:
    release = published(Share(0.75), star=star)
    document = json.loads(release.manifest_path.read_text())
    assert document["requirement"] == {"k": 3, "l": None, "share": 0.75}
    assert document["audit"]["criteria"] == [FOUND] == release.audit.as_json()["criteria"]
    assert codes_of(document) == ["low-k", "no-hierarchy", "high-suppression"]
    assert log_of(settings)[-1]["requirement"] == document["requirement"]
    manifest = read_manifest(out / "r.csv")
    assert (manifest.k, manifest.l, manifest.as_json()) == (3, None, document)
    again = audit_release(engine, out / "r.csv")
    assert again.passed
    assert again.as_json() == release.audit.as_json()
    assert release.audit.starred == (2 if star else 0)


def test_all_parts_of_a_criterion_are_recorded(published: Publish, engine: Engine) -> None:
    """All parts of a criterion are recorded; with two spared rows per value, flu has one of five rows."""
    release = published(Share(0.25, "diagnosis", spare=2))
    document = json.loads(release.manifest_path.read_text())
    assert document["requirement"]["share"] == [{"value": 0.25, "attribute": "diagnosis", "spare": 2}]
    again = audit_release(engine, release.path)
    assert [found.criterion for found in again.criteria] == [Share(0.25, "diagnosis", 2)]
    assert again.as_json()["criteria"][0]["with"] == {"spare": 2}
    text = " ".join(str(AuditResult(again)).split())
    assert "(share): 0.25, spare 2 required, 0.2 in the worst class" in text
    assert again.passed


@dataclass(frozen=True)
class Lenient(Share):
    """A criterion that passes every class in Python but not in SQL."""

    name: ClassVar[str] = "lenient"

    def scores(self, sizes: Any, values: Any) -> Any:
        """Return scores as if no row had a value."""
        del values
        return sizes * 0 + 1000


def test_audit_refuses_a_release_that_the_search_accepted(
    published: Publish, out: Path, settings: Settings
) -> None:
    with pytest.raises(RequirementNotMet) as error:
        published(Lenient(0.5))
    assert "k=3, lenient=0.5 was required, but 1 of its 2 classes fail (k=5" in error.value.message
    assert error.value.message.endswith(", l(diagnosis)=3, lenient(diagnosis)=0.6)")
    assert not list(out.iterdir())
    assert not log_of(settings)


def test_uncountable_criterion_is_refused_before_writing(
    published: Publish, out: Path, settings: Settings
) -> None:
    with pytest.raises(InputError, match="share of a value does not support subjects"):
        published(Share(0.75), subject="name")
    assert not list(out.iterdir())
    assert not settings.private_log.exists()


def spoil(path: Path) -> None:
    """Change the release so that four of five in Kiel have flu: k and l hold, the share does not."""
    text = path.read_text()
    for lost in ("30s,Kiel,gout", "30s,Kiel,cold"):
        text = text.replace(lost, "30s,Kiel,flu", 1)
    path.write_text(text.replace("30s,Kiel,flu", "30s,Kiel,ache", 1))


def test_release_changed_later_fails_its_audit(published: Publish, engine: Engine, out: Path) -> None:
    published(Share(0.75))
    spoil(out / "r.csv")
    found = audit_release(engine, out / "r.csv")
    assert not found.passed
    assert (found.k, found.l, found.failing_classes) == (5, {"diagnosis": 2}, 1)
    assert [each.values for each in found.failing] == [{"age": "30s", "town": "Kiel"}]
    assert [(each.found, each.failing_classes) for each in found.criteria] == [(0.8, 1)]


@pytest.mark.parametrize(
    ("requirement", "message"),
    [
        ({"k": 3, "l": None, "unheard": 0.2}, "'unheard' is not a criterion of this installation"),
        ({"k": 3, "l": None, "share": 1.5}, "share = 1.5"),
        ({"k": 3, "l": None, "share": "0.5"}, "share = 0.5"),
        ({"k": 3, "l": None, "share": None}, "share = None"),
        ({"k": 3, "l": None, "share": {}}, "no value was given for share"),
        ({"k": 3, "l": None, "share": {"diagnosis": 2}}, "share of diagnosis = 2"),
        ({"k": 3, "l": None, "share": [{"value": 0.5, "spares": 1}]}, "share = "),
        ({"k": 0, "l": None}, "k = 0"),
    ],
)
def test_invalid_recorded_requirement_is_an_error(
    published: Publish, engine: Engine, out: Path, requirement: dict[str, Any], message: str
) -> None:
    published()
    path = out / "r.csv.manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"requirement": requirement}))
    with pytest.raises(InputError) as error:
        audit_release(engine, out / "r.csv")
    assert message in error.value.message
    assert error.value.message.startswith("the manifest ")


@pytest.mark.usefixtures("share")
def test_audit_of_groups_refuses_a_recorded_criterion(settings: Settings, tmp_path: Path, out: Path) -> None:
    table = Table(patients(tmp_path), settings)
    table.publish("permutation", out / "p.csv", k=2)
    path = out / "p.csv.manifest.json"
    document = json.loads(path.read_text())
    document["requirement"]["share"] = 0.5
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match=r"requires share=0\.5, which the audit does not count in groups"):
        discreet.audit(out / "p.csv", settings=settings)


def test_report_names_the_failing_criterion(published: Publish, settings: Settings, out: Path) -> None:
    published(Share(0.75))
    spoil(out / "r.csv")
    found = report(out / "r.csv", settings=settings)
    assert not found.passed
    text = words(found.path.read_text(encoding="utf-8"))
    assert "share of a value of diagnosis required 0.75: the largest share" in text
    assert "share of a value of diagnosis, of this test 0.8 0.75 not passed: 1 class" in text
    assert "smallest class 5 3 passed fewest distinct values of diagnosis in a class" in text
    assert "1 class fails." in " ".join(str(found).split())
