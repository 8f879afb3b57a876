"""``discreet.open`` and the methods of a table, from files and from tables in memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pandas
import polars
import pyarrow
import pytest

import discreet
from discreet.settings import Settings

PEOPLE = {
    "name": ["Ada", "Bob", "Cem", "Dia", "Eva", "Fay", "Gus", "Hal"],
    "age": ["23", "24", "27", "28", "41", "44", "47", "63"],
    "city": ["Berlin", "Berlin", "Berlin", "Bonn", "Bonn", "Bonn", "Berlin", "Bremen"],
    "disease": ["flu", "cold", "flu", "asthma", "flu", "cold", "flu", "asthma"],
}
SPEC: dict[str, Any] = {
    "attributes": {
        "name": {"role": "identifier"},
        "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [10, 20]}},
        "city": {"role": "quasi-identifier"},
        "disease": {"role": "sensitive"},
    }
}
MAKERS = {"pandas": pandas.DataFrame, "polars": polars.DataFrame, "arrow": pyarrow.table}


@pytest.fixture
def table(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> discreet.Table:
    monkeypatch.setenv("DISCREET_COMPILE", "never")
    return discreet.open(pandas.DataFrame(PEOPLE), SPEC, settings=settings)


@pytest.mark.parametrize("library", MAKERS)
def test_table_in_memory_is_negotiated_and_published(
    library: str, settings: Settings, tmp_path: Path
) -> None:
    data = MAKERS[library](PEOPLE)
    table = discreet.open(data, SPEC, settings=settings)
    negotiation = table.lattice().negotiate(k=3, max_suppressed=1)
    assert negotiation.exact is not None
    assert negotiation.exact.levels == {"age": 1, "city": 1}
    release = table.publish(negotiation.exact, tmp_path / "release.csv")
    assert release.audit.passed
    assert (release.suppressed, release.levels) == (1, {"age": 1, "city": 1})


def test_file_opens_with_a_mapping_and_with_a_spec_file(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pandas.DataFrame(PEOPLE).to_csv("people.csv", index=False)
    by_mapping = discreet.open("people.csv", SPEC, settings=settings)
    Path("discreet.toml").write_text(
        '[source]\npath = "people.csv"\n[attributes.city]\nrole = "quasi-identifier"\n', encoding="utf-8"
    )
    by_file = discreet.open(Path("discreet.toml"), settings=settings)
    assert by_mapping.frequency_set.rows == by_file.frequency_set.rows == 8
    assert by_file.lattice().lattice.attributes == ("city",)


@pytest.mark.parametrize(
    ("source", "spec", "words"),
    [
        ("people.csv", None, "is data, not a spec"),
        (pandas.DataFrame(PEOPLE), None, "without a spec"),
        ("nowhere.toml", None, "does not exist"),
        (42, SPEC, "int"),
        ("people.csv", {"source": 3, **SPEC}, "source"),
        ("people.csv", {"attributes": {"age": {"role": "quasi"}}}, "quasi"),
    ],
)
def test_unusable_sources_are_refused(source: object, spec: Any, words: str, settings: Settings) -> None:
    with pytest.raises(discreet.InputError, match=words):
        discreet.open(source, spec, settings=settings).frequency_set  # noqa: B018


def test_rows_are_counted_once(table: discreet.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    assert table.frequency_set.rows == 8
    monkeypatch.setattr("discreet.verbs.table_context.count_frequency_set", None)
    assert table.inspect().rows == 8
    assert table.lattice() is table.lattice()
    assert table.lattice(sensitive=["disease"]) is table.lattice()
    assert table.lattice(sensitive=[]) is table.lattice(), "the larger one answers too"


def test_lattice_counts_only_requested_attributes(table: discreet.Table) -> None:
    assert table.lattice(sensitive=[]).evaluated.sensitive_attributes == ()
    assert table.lattice(sensitive=["disease"]).evaluated.sensitive_attributes == ("disease",)
    with pytest.raises(discreet.InputError, match="'age' is not a sensitive attribute"):
        table.lattice(sensitive=["age"])


def test_answers_report_relaxation_and_levels(table: discreet.Table) -> None:
    negotiation = table.lattice().negotiate(k=4, max_level={"age": 1})
    assert (negotiation.outcome, negotiation.exact, negotiation.rows) == ("relaxed", None, 8)
    height = negotiation.relaxation("height")
    assert height is not None
    assert (height.relaxed, height.k, height.l, height.rows) == ("height", 4, None, 8)
    assert height.height == sum(height.levels.values())
    assert negotiation.relaxation("l") is None
    assert [a.relaxed for a in negotiation.answers][:2] == ["max_suppressed", "height"]


def test_levels_are_published_within_the_limit(table: discreet.Table, tmp_path: Path) -> None:
    path = tmp_path / "release.csv"
    with pytest.raises(discreet.NoSolution, match="suppress 1 of 8 rows"):
        table.publish({"age": 1, "city": 1}, path, k=2)
    with pytest.raises(discreet.InputError, match="no privacy criterion"):
        table.publish({"age": 1, "city": 1}, path)
    assert list(tmp_path.iterdir()) == []
    release = table.publish({"age": 1, "city": 1}, path, k=2, l=2, max_suppressed="12.5%")
    assert (release.suppressed, release.audit.k, release.audit.l) == (1, 3, {"disease": 2})


def test_publication_without_an_answer_is_refused(table: discreet.Table, tmp_path: Path) -> None:
    path = tmp_path / "release.csv"
    with pytest.raises(discreet.NoSolution, match="no answer can be published"):
        table.publish(None, path)
    negotiation = table.lattice().negotiate(k=9)
    assert negotiation.relaxation("max_suppressed") is None
    with pytest.raises(discreet.NoSolution, match="all 8 rows would be suppressed"):
        table.publish({"age": 0, "city": 0}, path, k=9, max_suppressed="100%")
    with pytest.raises(discreet.InputError, match="drop, star"):
        table.publish({"age": 3, "city": 1}, path, k=2, suppressed_rows="hide")
    assert list(tmp_path.iterdir()) == []


def test_everything_prints_in_a_terminal_and_in_a_notebook(
    table: discreet.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "get_terminal_size", lambda *_: os.terminal_size((60, 24)))
    monkeypatch.setenv("COLUMNS", "60")
    lattice = table.lattice()
    negotiation = lattice.negotiate(k=4, l=2, max_level={"age": 1})
    results = [
        table,
        table.inspect(),
        lattice,
        negotiation,
        negotiation.answers[0],
        lattice.frontier(k=2, max_suppressed=1),
        lattice.neighbours(negotiation.answers[0]),
        lattice.neighbours({"age": 1}, k=2),
        lattice.suppression(k=2),
        table.publish({"age": 3, "city": 1}, tmp_path / "release.csv", k=2),
        discreet.audit(tmp_path / "release.csv", k=9),
        discreet.init(pandas.DataFrame(PEOPLE)),
    ]
    for result in results:
        text, html = str(result), result._repr_html_()
        assert repr(result) == text
        assert text.strip()
        assert "<table>" in html or "<p" in html
        assert "<script" not in html
        assert all(len(line) <= 60 or str(tmp_path) in line for line in text.splitlines())


def test_proposal_opens_its_data(settings: Settings) -> None:
    data = pandas.DataFrame(PEOPLE)
    proposal = discreet.init(data, settings=settings)
    assert proposal.path is None
    table = discreet.open(data, proposal.mapping, settings=settings)
    assert table.lattice().lattice.attributes == ("age", "city")


def test_subjects_are_counted(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_COMPILE", "never")
    visits = {
        "who": ["a", "a", "a", "b", "c", "d"],
        "city": ["X", "X", "X", "Y", "Y", "Y"],
        "disease": ["flu", "cold", "flu", "flu", "cold", "flu"],
    }
    spec = {
        "source": {"subject": "who"},
        "attributes": {"city": {"role": "quasi-identifier"}, "disease": {"role": "sensitive"}},
    }
    table = discreet.open(pandas.DataFrame(visits), spec, settings=settings)
    inspection = table.inspect()
    assert (inspection.rows, inspection.smallest_class) == (6, 1)
    assert list(table.lattice().suppression(k=2).values) == [3, 0]
    assert list(table.lattice().suppression(k=1, l=2).values) == [3, 0]
    release = table.publish({"city": 0}, tmp_path / "release.csv", k=2, l=2, max_suppressed=3)
    assert (release.suppressed, release.audit.k) == (3, 3)
