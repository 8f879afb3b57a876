"""The negotiation reproduction compared with the printed figures."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from discreet.settings import Settings
from papers import negotiation_study, negotiation_suppression
from papers.negotiation import count_visited, growth_by_height, suppressed_rows, walk_through_section
from papers.negotiation_study import AdultStudy
from papers.negotiation_suppression import average_histograms
from papers.reproduction import Context


@pytest.fixture(scope="module")
def study(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> AdultStudy:
    scratch = tmp_path_factory.mktemp("study")
    settings = Settings(memory_limit=2 * 10**9, threads=1, private_log=scratch / "log.jsonl")
    return AdultStudy(Context(data_dir, settings, quick=True, scratch=scratch))


def test_cumulative_histogram_at_two_rows_equals_the_printed_suppression(study: AdultStudy) -> None:
    found = average_histograms(study, "k", (1, 2, 9))
    printed = [float(figure) for figure in negotiation_study.NEGOTIATION_FIGURES["averages_k3"]["3"]]
    known = 4  # 8.727, printed as 8.5
    assert [round(at_two, 1) for _, at_two, _ in found[:known]] == printed[:known]
    assert found[0][2] == 1_921  # printed for k = 10
    assert all(a <= b for counts in found for a, b in itertools.pairwise(counts))


@pytest.mark.parametrize("privacy", ["k", "l"])
def test_cumulative_counts_never_grow_with_height(privacy: str, study: AdultStudy) -> None:
    found = average_histograms(study, privacy, (1, 3, 8))
    assert len(found) == 10
    assert found[0][2] > 1_000
    for below, above in itertools.pairwise(found):
        assert all(a <= b for a, b in zip(above, below, strict=True))


def test_walk_through_is_annotated_as_printed(study: AdultStudy) -> None:
    """The slides print 111 with 17 rows and 121 with 11; 400 is the closest height."""
    notes = suppressed_rows(study.of_attributes(("age", "work_class", "race")), 3)
    assert len(notes) == 5 * 4 * 3
    assert (notes[1, 1, 1], notes[1, 2, 1], notes[4, 0, 0]) == (17, 11, 4)
    (plot,) = walk_through_section(study).plots
    assert ">121<" in plot.svg
    assert "exact, within 20 rows: 111" in plot.svg


def test_growth_per_quasi_identifier_exceeds_the_papers(study: AdultStudy) -> None:
    ratios = growth_by_height(study, 3, 4)
    printed = negotiation_study.NEGOTIATION_FIGURES["averages_k3"]
    assert ratios[0] == pytest.approx(float(printed["4"][0]) / float(printed["3"][0]))
    assert min(ratios) > 3


def test_visited_nodes_for_limits_and_for_l(study: AdultStudy) -> None:
    """The middle limit is that of the charts, where k is 10: about 18 and 50 nodes there."""
    for size, by_limit in ((3, [25, 16, 21]), (4, [76, 50, 16])):
        assert count_visited(study, size, "k", "limit") == by_limit
        assert count_visited(study, size, "k", "k")[1] == by_limit[1]
        assert count_visited(study, size, "l", "l")[1] == count_visited(study, size, "l", "limit")[1]
    assert count_visited(study, 3, "l", "l") == [19, 11, 9]


def test_all_ten_distinct_counts_are_compared(study: AdultStudy) -> None:
    """Sex, native country and salary are not quasi-identifiers of the experiments."""
    (first, *_) = list(negotiation_suppression.suppression_sections(study))
    (table,) = first.tables
    assert [row[0] for row in table.rows] == list(negotiation_study.NEGOTIATION_FIGURES["distinct_values"])
    assert len(table.rows) == 10
    ours = {row[0]: row[1].ours for row in table.rows}  # type: ignore[union-attr]
    assert (ours["sex"], ours["native_country"], ours["salary_class"]) == (2, 41, 2)
    assert [cell.reason for cell in table.comparisons if cell.reason] == [
        "The slide counts White and others, the values of level 1."
    ]
