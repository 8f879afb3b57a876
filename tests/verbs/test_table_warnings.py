"""Warnings about the rows of a table reach every verb, and observations on a release every audit."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

import discreet
from discreet.audit import release_warnings
from discreet.audit.release_warnings import ObservedRelease
from discreet.engines.base import Engine, SourceTable
from discreet.model.coded_warnings import CodedWarning
from discreet.model.table_spec import TableSpec
from discreet.profile import table_warnings
from discreet.settings import Settings
from tests.verbs.related import clinic

NOTICE = "The rows are odd."
SECRET = "The oldest is 99."
SEEN = "The release is odd."

TABLE = """
[source]
path = "people.csv"

[attributes.age]
role = "quasi-identifier"
hierarchy = { kind = "intervals", widths = [10, 50] }

[attributes.zip]
role = "quasi-identifier"
hierarchy = { kind = "mask", pad = true, length = 5 }

[attributes.pay]
role = "sensitive"

[request]
k = 2
l = 2
max_suppressed = "100%"
"""


@pytest.fixture
def table(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> discreet.Table:
    """Return a table of twelve people for which one check and one observation always warn."""
    calls = []

    def check(engine: Engine, table: SourceTable, spec: TableSpec) -> Iterable[CodedWarning]:
        assert spec.quasi_identifiers
        assert not calls, "the warnings of a table are found once"
        calls.append(engine.fetch_rows(f"SELECT count({table.column('age')}) FROM {table.relation}"))
        yield CodedWarning("odd-rows", NOTICE)
        yield CodedWarning("odd-rows", NOTICE)
        yield CodedWarning("odd-secret", SECRET, private=True)

    def observe(engine: Engine, release: ObservedRelease) -> Iterable[CodedWarning]:
        assert engine.fetch_rows(f"SELECT count(*) FROM {release.table.relation}")
        yield CodedWarning("odd-release", SEEN)

    monkeypatch.setattr(table_warnings, "TABLE_CHECKS", (check,))
    monkeypatch.setattr(release_warnings, "OBSERVATIONS", (observe,))
    rows = [f"{20 + 5 * (i // 2)},{53710 + i % 3},{1000 + i // 2}" for i in range(12)]
    (tmp_path / "people.csv").write_text("age,zip,pay\n" + "\n".join(rows) + "\n")
    (tmp_path / "discreet.toml").write_text(TABLE)
    return discreet.open(tmp_path / "discreet.toml", settings=settings)


def test_negotiate_and_inspect_repeat_warnings_of_the_table(table: discreet.Table) -> None:
    result = table.negotiate()
    assert result.warnings == (NOTICE, SECRET)
    assert result.as_json()["warnings"] == [NOTICE, SECRET]
    lines = str(result).splitlines()
    first = next(number for number, line in enumerate(lines) if line.endswith("were allowed."))
    assert lines[first + 1] == f"Warning: {NOTICE}", "directly under the outcome"
    local = table.negotiate_local()
    assert local.as_json()["warnings"] == [NOTICE, SECRET]
    assert str(local).index(NOTICE) < str(local).index("height")
    assert table.inspect().warnings[:2] == (NOTICE, SECRET)


MODELS = ("full-domain", "mondrian", "permutation")


@pytest.mark.parametrize("model", MODELS)
def test_every_model_publishes_warnings_of_the_table(
    table: discreet.Table, tmp_path: Path, settings: Settings, model: str
) -> None:
    released = table.publish(model, tmp_path / "out.csv", **({"k": 2} if model == "permutation" else {}))
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    texts = [each["text"] for each in manifest["warnings"]]
    assert texts.count(NOTICE) == 1
    assert texts.count(SEEN) == 1
    assert SECRET not in texts, "a manifest names no value of a row"
    printed = str(released)
    assert printed.count(NOTICE) == printed.count(SECRET) == printed.count(SEEN) == 1
    assert released.release.warnings.count(SECRET) == 1
    assert SEEN in discreet.audit(tmp_path / "out.csv", settings=settings).report.warnings
    assert SEEN in discreet.check([tmp_path / "out.csv"], settings=settings).files[0].warnings


def test_answers_and_levels_publish_warnings_of_the_table(table: discreet.Table, tmp_path: Path) -> None:
    for name, answer in (("a", table.negotiate().exact), ("b", {"age": 2, "zip": 5})):
        assert NOTICE in table.publish(answer, tmp_path / f"{name}.csv").release.warnings


@pytest.mark.parametrize("model", ["levels", "mondrian"])
def test_warnings_of_a_table_above_the_memory_limit_are_published(
    table: discreet.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    from discreet.errors import LimitReached
    from discreet.verbs.table_context import TableContext

    def refuse(self: TableContext, requirement: object) -> None:
        raise LimitReached("the rows do not fit")

    monkeypatch.setattr(TableContext, "counted_for", refuse)
    answer = {"age": 2, "zip": 5} if model == "levels" else model
    assert NOTICE in table.publish(answer, tmp_path / "out.csv").release.warnings


def test_apply_and_lock_repeat_warnings_of_the_table(
    table: discreet.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    table.publish({"age": 2, "zip": 5}, tmp_path / "first.csv")
    monkeypatch.setattr(table_warnings, "TABLE_CHECKS", (lambda *_: [CodedWarning("odd-rows", NOTICE)],))
    applied = discreet.apply(
        tmp_path / "first.csv",
        tmp_path / "people.csv",
        tmp_path / "second.csv",
        spec=tmp_path / "discreet.toml",
        settings=settings,
    )
    assert NOTICE in applied.release.warnings


def test_related_tables_repeat_warnings_of_the_table(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_warnings, "TABLE_CHECKS", (lambda *_: [CodedWarning("odd-rows", NOTICE)],))
    tables = discreet.open_tables(clinic(tmp_path, 3).written(), settings=settings)
    released = tables.publish(tmp_path / "out")
    assert str(released).count(NOTICE) == len(released.tables)
