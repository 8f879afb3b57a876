"""Partial lattices from Python: requested, as the fallback, and printed."""

from __future__ import annotations

from pathlib import Path

import pandas
import pytest

import discreet
from discreet.errors import InputError, LimitReached
from discreet.results.table_lattice import TableLattice
from discreet.results.table_partial_lattice import TablePartialLattice
from discreet.settings import Settings
from discreet.verbs.run_context import SilentReporter
from discreet.verbs.table import Table
from tests.verbs.test_table import PEOPLE, SPEC


class Listening(SilentReporter):
    """A reporter that collects the notices."""

    def __init__(self) -> None:
        self.notices: list[str] = []

    def notice(self, text: str) -> None:
        self.notices.append(text)


@pytest.fixture
def listening() -> Listening:
    return Listening()


@pytest.fixture
def table(settings: Settings, listening: Listening, monkeypatch: pytest.MonkeyPatch) -> Table:
    monkeypatch.setenv("DISCREET_COMPILE", "never")
    return discreet.open(pandas.DataFrame(PEOPLE), SPEC, settings=settings, reporter=listening)


@pytest.fixture
def too_large(table: Table, monkeypatch: pytest.MonkeyPatch) -> Table:
    """Return the same table, with a lattice that exceeds the limit."""

    def refuse(*_arguments: object, **_named: object) -> None:
        raise LimitReached("the lattice has 12 nodes", advice="Raise the limit.")

    monkeypatch.setattr("discreet.verbs.table_context.evaluate_lattice", refuse)
    return table


def test_partial_lattice_of_all_nodes_negotiates_like_the_full_lattice(table: Table) -> None:
    whole, partial = table.lattice(), table.partial_lattice("100%", metric="gamma")
    for options in ({"k": 3, "max_suppressed": 1}, {"k": 4, "max_level": {"age": 1}}, {"k": 2, "l": 3}):
        expected, found = whole.negotiate(**options), partial.negotiate(**options)  # type: ignore[arg-type]
        assert [a.as_json() for a in found.answers] == [a.as_json() for a in expected.answers]
        assert (expected.basis, found.basis is None) == (None, False)
        near, far = whole.neighbours(expected.answers[0]), partial.neighbours(found.answers[0])
        assert near.as_json() == far.as_json()
        ours = partial.attribute_suppression(**options).as_json()  # type: ignore[arg-type]
        assert ours == whole.attribute_suppression(**options).as_json()  # type: ignore[arg-type]
    assert partial.neighbours({"age": 1}, k=2).as_json() == whole.neighbours({"age": 1}, k=2).as_json()
    assert (partial.rows, partial.lattice) == (whole.rows, whole.lattice)


def test_partial_lattice_counts_only_requested_l(table: Table) -> None:
    assert table.partial_lattice("10%", sensitive=[]).partial.sensitive_attributes == ()
    assert table.partial_lattice("10%").partial.sensitive_attributes == ("disease",)
    with pytest.raises(InputError, match="'age' is not a sensitive attribute"):
        table.partial_lattice("10%", sensitive=["age"])


def test_negotiate_evaluates_a_lattice_within_the_limit(table: Table, listening: Listening) -> None:
    negotiation = table.negotiate(k=3, max_suppressed=1)
    assert negotiation.basis is None
    assert negotiation.exact is not None
    assert isinstance(table.negotiable_lattice_for(negotiation.request.requirement), TableLattice)
    assert listening.notices == []


def test_negotiate_falls_back_with_one_notice(too_large: Table, listening: Listening) -> None:
    negotiation = too_large.negotiate(k=3, max_suppressed=1)
    assert listening.notices == ["the lattice has 12 nodes. A partial lattice answers instead."]
    assert negotiation.basis is not None
    assert negotiation.basis.descended
    lattice = too_large.negotiable_lattice_for(negotiation.request.requirement)
    assert isinstance(lattice, TablePartialLattice)
    assert too_large.negotiate(k=4).basis is not None
    assert len(listening.notices) == 1
    assert too_large.negotiate(k=2, l=2).as_json()["lattice"] == "partial"
    assert len(listening.notices) == 2
    with pytest.raises(LimitReached):
        too_large.lattice()


def test_answer_of_a_partial_lattice_is_published(too_large: Table, tmp_path: Path) -> None:
    negotiation = too_large.negotiate(k=3, max_suppressed=1)
    release = too_large.publish(negotiation.exact, tmp_path / "release.csv")
    assert release.audit.passed
    assert release.suppressed == negotiation.answers[0].suppressed


def test_documents_describe_the_partial_lattice(table: Table) -> None:
    partial = table.partial_lattice("10%")
    text = str(partial)
    assert text.startswith("Partial lattice: 5 nodes of 8 (62.5%)")
    assert "relative importance" in text
    assert "level statistics" in text
    negotiation = partial.negotiate(k=4, max_level={"age": 0})
    assert "Answered from a partial lattice: 5 nodes of 8" in str(negotiation).replace("\n", " ")
    assert "so there is no exact answer" in " ".join(str(negotiation).split())
    given_up = partial.attribute_suppression(k=4, max_level={"age": 0})
    assert "With one attribute at its top, k=4:" in str(given_up)
    assert "<table" in given_up._repr_html_()


def test_partial_lattice_without_the_requested_node_may_find_no_exact_answer(table: Table) -> None:
    negotiation = table.partial_lattice("1%", runtime=False).negotiate(
        k=2, max_suppressed=1, max_level={"age": 0, "city": 1}, min_level={"city": 1}
    )
    assert [a.relaxed for a in negotiation.answers] == ["height"]
    text = " ".join(str(negotiation).split())
    assert "No exact answer was found for k=2." in text
    assert "at least 1 row must be suppressed within the levels; an exact answer may exist." in text
